"""What operations in front of the towers do with axis 0, before anything is computed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.recognise.one_layer import called, lane, op_function, op_keras_3, op_node
from unnest.core.recognise.slice_claims import Slice
from unnest.core.recognise.slice_steps import Step, step

HALF: Any = {"start": None, "stop": 4, "step": None}
REST: Any = {"start": 4, "stop": None, "step": None}
WHOLE: Any = {"start": None, "stop": None, "step": None}


def split(*outputs: int, function: str = "split", **arguments: Any) -> list[Slice]:
    layer, call = op_function(function, **arguments)
    return [Slice(layer, call, output) for output in outputs]


def getitem(*specs: Any) -> list[Slice]:
    pairs = [op_function("__operators__.getitem", slice_spec=spec) for spec in specs]
    return [Slice(layer._replace(name=f"l{i}"), call, 0) for i, (layer, call) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("slices", "result"),
    [
        (split(0, 1, num_or_size_splits=2, axis=0), Step.CUTS),
        (split(0, 1, num_or_size_splits=2, axis=1), Step.CANNOT),
        (split(0, 1, num_or_size_splits=2, axis=-1), Step.CANNOT),
        (split(1, 0, num_or_size_splits=2, axis=0), Step.UNKNOWN),
        (split(0, 2, num_or_size_splits=3, axis=0), Step.UNKNOWN),
        (split(0, 1, num_or_size_splits=2), Step.UNKNOWN),
        (split(0, 1, function="unstack", axis=0), Step.INDEXES),
        (split(0, 1, function="unstack", axis=1), Step.CANNOT),
    ],
    ids=["axis 0", "axis 1", "the last axis", "the wrong way round", "one left out", "no axis", "unstack", "of axis 1"],
)
def test_one_operation_with_an_output_per_tower(slices: list[Slice], result: Step) -> None:
    assert step(slices) is result


@pytest.mark.parametrize(
    ("slices", "result"),
    [
        (getitem(HALF, REST), Step.CUTS),
        (getitem([HALF], [REST]), Step.CUTS),
        (getitem([WHOLE, HALF], [WHOLE, REST]), Step.CANNOT),
        (getitem(HALF, WHOLE), Step.CANNOT),
        (getitem({**WHOLE, "step": 2}, {**WHOLE, "start": 1, "step": 2}), Step.CUTS),
        (getitem(0, 1), Step.INDEXES),
        (getitem(0, HALF), Step.CANNOT),
        (getitem("...", HALF), Step.UNKNOWN),
        (lane(op_function("reverse", axis=[1]), op_function("identity")), Step.CANNOT),
        (lane(op_function("gather", indices=[0])), Step.UNKNOWN),
        (lane(op_node("StridedSlice", {}, 4, begin_mask={"i": "1"}, end_mask={"i": "1"})), Step.CANNOT),
        (lane(op_keras_3("GetItem", {"class_name": "__slice__", "config": HALF})), Step.CUTS),
    ],
    ids=["halves", "in a list", "of another axis", "and the whole", "each second", "indices", "an index and a half",
         "an ellipsis", "a flip", "a gather", "open masks", "Keras 3"],
)  # fmt: skip
def test_an_operation_per_tower(slices: list[Slice], result: Step) -> None:
    """A slice of another axis leaves axis 0 whole, and is none."""
    assert step(slices) is result


def test_a_layer_of_keras_s_own_cuts_nothing() -> None:
    half, _ = getitem(HALF, REST)
    dropout = Slice(*called("Dropout", rate=0.5, trainable=True, name="d"), 0)
    mine = Slice(*called("Rows", trainable=True, name="d"), 0)
    assert step([half, dropout]) is Step.CANNOT
    assert step([half, mine]) is Step.UNKNOWN
