"""Which tensors have as many rows as the result of a call."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.frontends.operation_layers_as_op_calls import keras3_call
from unnest.core.interpreters.batch_size_trials import TRIALS, result_rows
from unnest.core.ops.shape_arithmetic import Sized

X, SAME = Sized((None, 4, 6), 0), Sized((None, 4, 6), 0)
OTHER, FREE = Sized((None, 4, 6), 1), Sized((None, 4, 6))
HEADS, TOKEN = Sized((None, 2, 4, 3), 0), Sized((1, 4, 6))
STEPS = TRIALS[0].step


def part(*ends: int | None) -> list[Any]:
    return [slice(*ends)]


@pytest.mark.parametrize(
    ("kind", "config", "args", "rows"),
    [
        ("Exp", {}, [X], 0),
        ("Add", {}, [X, SAME], 0),
        ("Add", {}, [X, TOKEN], 0),
        ("Add", {}, [X, Sized((6,))], 0),
        ("Add", {}, [X, OTHER], None),
        ("Add", {}, [X, FREE], None),
        ("Add", {}, [X, Sized((5, 4, 6))], None),
        ("Matmul", {}, [HEADS, Sized((None, 2, 3, 4), 0)], 0),
        ("Matmul", {}, [HEADS, Sized((None, 2, 3, 4), 1)], None),
        ("Transpose", {"axes": [0, 2, 1, 3]}, [HEADS], 0),
        ("Transpose", {"axes": [2, 0, 1, 3]}, [HEADS], None),
        ("Reshape", {"newshape": [-1, 24]}, [X], 0),
        ("Reshape", {"newshape": [-1, 6]}, [X], None),
        ("Reshape", {"newshape": [-1, 24]}, [Sized((None, None, 6), 0)], None),
        ("Concatenate", {"axis": 1}, [[X, SAME]], 0),
        ("Concatenate", {"axis": 0}, [[X, SAME]], None),
        ("GetItem", {}, [X, part(None, None)], 0),
        ("GetItem", {}, [X, part(2, None)], None),
        ("GetItem", {}, [X, part(None, -1)], None),
        ("GetItem", {}, [Sized((None, 4), 5), part(STEPS, None)], None),
        ("Sum", {"axis": 1, "keepdims": False}, [X], 0),
        ("Sum", {"axis": 0, "keepdims": True}, [X], None),
        ("Exp", {}, [Sized(None, 0)], None),
        ("Exp", {}, [FREE], None),
        ("Unheard", {}, [X], None),
    ],
)
def test_rows(kind: str, config: dict[str, Any], args: list[Any], rows: int | None) -> None:
    assert result_rows(keras3_call(kind, args, config)) == rows


def test_rows_cut_by_one_step_pass_in_one_trial_alone() -> None:
    """A slice by the distance of two batch sizes gives another group's number of rows in the first trial."""
    cut = keras3_call("Add", [Sized((None,), 4), Sized((1,))], {})
    assert result_rows(cut) == 4
    shorter = keras3_call("GetItem", [Sized((None,), 5), [slice(STEPS, None)]], {})
    assert result_rows(shorter) is None
