"""Operations on arrays: rows move, numbers are computed, and nothing is computed from the content of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from unnest.core.model import DataDependent, Ref, Unknown
from unnest.core.ops.apply_op_call_to_arrays import apply
from unnest.core.ops.call import OpCall
from unnest.core.ops.element_dtype_and_checks import ELEMENT
from unnest.core.ops.families.slicing import MAX_SPLIT_PARTS
from unnest.core.ops.registry import is_known

X, SHAPE = Ref("x", 0, 0), Ref("n", 0, 0)
SOURCE = np.arange(24, dtype=np.int32).view(ELEMENT).reshape(6, 4)


def done(name: str, /, *args: Any, **kwargs: Any) -> list[Any]:
    """The results on `x`, six rows of four elements, and `n`, the numbers 6 and 4."""
    values = {"x": SOURCE, "n": np.array([6, 4])}
    results = apply(OpCall(name, args, kwargs), lambda ref: values[ref.layer])
    return [np.asarray(result) for result in results]


def rows(result: np.ndarray) -> list[int]:
    """The rows of the source that a result holds, whole."""
    elements = result["element"] if result.dtype == ELEMENT else result
    assert elements.shape[1:] == (4,)
    assert (elements % 4 == np.arange(4)).all()
    return [int(first) // 4 for first in elements[:, 0]]


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "parts"),
    [
        ("split", [X, 2], {"axis": 0}, [[0, 1, 2], [3, 4, 5]]),
        ("split", [X], {"num_or_size_splits": [1, -1], "axis": 0}, [[0], [1, 2, 3, 4, 5]]),
        ("k3split", [X, [1, 4]], {"axis": 0}, [[0], [1, 2, 3], [4, 5]]),
        ("arraysplit", [X], {"indices_or_sections": 4, "axis": 0}, [[0, 1], [2, 3], [4], [5]]),
        ("arraysplit", [X, [1, 4]], {"axis": 0}, [[0], [1, 2, 3], [4, 5]]),
        ("getitem", [X], {"slice_spec": slice(1, None, 2)}, [[1, 3, 5]]),
        ("stridedslice", [X, [0], [4], [1]], {"begin_mask": 1}, [[0, 1, 2, 3]]),
        ("stridedslice", [X], {"begin": [2], "end": [4]}, [[2, 3]]),
        ("stridedslice", [X, [4], [0], [1]], {"end_mask": 1}, [[4, 5]]),
        ("gathernd", [X, [[4], [0]]], {}, [[4, 0]]),
        ("embeddinglookup", [X], {"ids": [4, 0]}, [[4, 0]]),
        ("slice", [X, [2, 0], [-1, -1]], {}, [[2, 3, 4, 5]]),
        ("gather", [X, [5, 0]], {"axis": 0}, [[5, 0]]),
        ("take", [X, [1]], {"axis": 0}, [[1]]),
        ("concat", [[X, X]], {"axis": 0}, [[*range(6), *range(6)]]),
        ("concat", [X, 0], {}, [[*range(6)]]),
        ("permutedimensions", [X], {"pattern": [0, 1]}, [[*range(6)]]),
        ("batchflatten", [X], {}, [[*range(6)]]),
        ("repeatelements", [X], {"rep": 1, "axis": 0}, [[*range(6)]]),
        ("reverse", [X, [0]], {}, [[5, 4, 3, 2, 1, 0]]),
        ("identity", [X], {}, [[*range(6)]]),
        ("ensureshape", [X, [None, 4]], {}, [[*range(6)]]),
        ("ensureshape", [X], {"shape": [6, 4]}, [[*range(6)]]),
        ("append", [X, X], {"axis": 0}, [[*range(6), *range(6)]]),
        ("tile", [X, [2, 1]], {}, [[*range(6), *range(6)]]),
        ("broadcastto", [X, np.shape(SOURCE)], {}, [[*range(6)]]),
        ("repeat", [X, 2], {"axis": 0}, [[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]]),
        ("repeat", [X, [1, 0, 0, 0, 0, 2]], {"axis": 0}, [[0, 5, 5]]),
        ("takealongaxis", [X, [[5] * 4, [0] * 4]], {"axis": 0}, [[5, 0]]),
        ("rot90", [X], {"k": 4, "axes": [0, 1]}, [[*range(6)]]),
    ],
)
def test_rows_are_moved(
    name: str, args: Sequence[Any], kwargs: dict[str, Any], parts: list[list[int]]
) -> None:
    assert is_known(OpCall(name, args, kwargs))
    assert [rows(result) for result in done(name, *args, **kwargs)] == parts


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "value"),
    [
        ("shape", [X], {}, [6, 4]),
        ("size", [X], {}, 24),
        ("floordiv", [SHAPE, 4], {}, [1, 1]),
        ("range", [1, 7, 2], {}, [1, 3, 5]),
        ("range", [3], {}, [0, 1, 2]),
        ("reduceprod", [SHAPE], {}, 24),
        ("cumsum", [SHAPE], {"exclusive": True}, [0, 6]),
        ("getitem", [SHAPE], {"slice_spec": 0}, 6),
        ("logicalnot", [[True, False]], {}, [False, True]),
    ],
)
def test_numbers_are_computed(
    name: str, args: Sequence[Any], kwargs: dict[str, Any], value: Any
) -> None:
    assert [result.tolist() for result in done(name, *args, **kwargs)] == [value]


@pytest.mark.parametrize(
    ("name", "args"),
    [("add", [X, 1]), ("mul", [X, X]), ("cast", [X, "float16"]), ("reducesum", [X]), ("cumsum", [X]),
     ("gather", [SHAPE, X]), ("where", [X]), ("logicaland", [X, X]), ("range", [X]), ("booleanmask", [SHAPE, X])],
)  # fmt: skip
def test_nothing_is_computed_of_what_the_rows_hold(name: str, args: Sequence[Any]) -> None:
    with pytest.raises(DataDependent):
        done(name, *args)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("split", [X, MAX_SPLIT_PARTS + 1], {"axis": 0}),
        ("split", [X, 1.5], {"axis": 0}),
        ("gather", [X, [0]], {"axis": 0, "batch_dims": 1}),
        ("gather", [X, [0.5]], {"axis": 0}),
        ("cumsum", [SHAPE], {"reverse": True}),
        ("identity", [X], {"unheard_of": 3}),
        ("range", [0, 10**12], {}),
        ("cast", [SHAPE, "text"], {}),
        ("concat", [[X, SHAPE]], {"axis": 0}),
        ("booleanmask", [X, [1, 0, 1, 0, 1, 0]], {}),
        ("takealongaxis", [X, [[0]]], {}),
    ],
    ids=["too many parts", "half a part", "a batch of indices", "half an index", "from behind", "an argument",
         "too large", "a dtype", "rows and numbers", "a mask of numbers", "along no axis"],
)  # fmt: skip
def test_arguments_that_are_not_understood(
    name: str, args: Sequence[Any], kwargs: dict[str, Any]
) -> None:
    with pytest.raises(Unknown):
        done(name, *args, **kwargs)


@pytest.mark.parametrize(
    ("name", "args"),
    [("split", [X, [1, 2]]), ("split", [X, 5]), ("slice", [X, [5, 0], [2, 4]]), ("slice", [X, [0], [1]]),
     ("booleanmask", [X, [True]]), ("ensureshape", [X, [5, 4]]), ("ensureshape", [X, [None, 4, None]]),
     ("matrixtranspose", [X[0]])],
    ids=["sizes that do not add up", "uneven", "beyond the end", "of one axis", "a short mask", "other sizes",
         "other axes", "no matrix"],
)  # fmt: skip
def test_what_tensorflow_refuses_is_refused(name: str, args: Sequence[Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        done(name, *args)


def test_axes_change_places() -> None:
    turned = SOURCE.transpose()
    for name, arguments in (
        ("swapaxes", [0, 1]),
        ("matrixtranspose", []),
        ("moveaxis", [0, -1]),
        ("moveaxis", [[0, 1], [1, 0]]),
    ):
        assert np.array_equal(done(name, X, *arguments)[0], turned)
    assert np.array_equal(done("rot90", X)[0], np.rot90(SOURCE))


def test_flat() -> None:
    assert done("flatten", X)[0].shape == (24,)
