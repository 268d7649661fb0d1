"""Which operation a layer stands for, in every dialect; real layers and stored code stand for none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.core.recognise.one_layer import called, code_lambda, op_function, op_keras_3, op_node
from unnest.core.architecture.graph import Call, Layer
from unnest.core.model import Json
from unnest.core.recognise.op_calls import node_def
from unnest.core.recognise.operations import find, operation


@pytest.mark.parametrize(
    ("layer", "name", "key", "values"),
    [
        (op_function("split", num_or_size_splits=2, axis=0), "split", "axis", [0]),
        (op_function("__operators__.getitem", slice_spec={"start": 1}), "getitem", "slice_spec", [{"start": 1}]),
        (op_node("Split", {"0": 0}), "split", "axis", [0]),
        (op_node("SplitV", {"1": [1, 2], "2": 0}, 3), "splitv", "axis", [0]),
        (op_node("ConcatV2", {"10": 1, "2": 5}, 11), "concatv2", "axis", [1]),
        (op_node("Reshape", {"1": [2, -1]}), "reshape", "shape", [[2, -1]]),
        (op_node("Unpack", {}, 1, axis={"i": "1"}), "unstack", "axis", [1]),
        (op_node("Unpack", {}, 1), "unstack", "axis", [0]),
        (op_keras_3("Concatenate", axis=0), "concatenate", "axis", [0]),
    ],
)
def test_name_and_arguments(layer: tuple[Layer, Call], name: str, key: str, values: list[Json]) -> None:
    known = operation(*layer)
    assert known is not None
    assert (known.name, list(known.find(key))) == (name, values)


@pytest.mark.parametrize(
    ("masks", "first"),
    [
        ({"shrink_axis_mask": {"i": "1"}}, 0),
        ({"shrink_axis_mask": {"i": "2"}}, {"start": "given", "stop": "given"}),
        ({"begin_mask": {"i": "1"}}, {"start": None, "stop": "given"}),
        ({"begin_mask": {"i": "3"}, "end_mask": {"i": "1"}}, {"start": None, "stop": None}),
        ({"begin_mask": {"i": "2"}, "end_mask": {"i": 2}}, {"start": "given", "stop": "given"}),
    ],
)
def test_what_the_masks_of_a_slice_say_of_axis_0(masks: dict[str, Json], first: Json) -> None:
    """The lowest bit is the first axis's."""
    known = operation(*op_node("StridedSlice", {}, 4, **masks))
    assert known is not None
    assert (known.name, list(known.find("slice_spec"))) == ("getitem", [[first]])


def test_the_subscript_of_keras_3() -> None:
    part: Any = {"class_name": "__slice__", "config": {"start": 0, "stop": 4, "step": None}}
    keys: list[Json] = [part, [part], {"class_name": "__tuple__", "config": {"value": [part]}}]
    for key in keys:
        known = operation(*op_keras_3("GetItem", key))
        assert known is not None
        (spec,) = known.find("slice_spec")
        assert (spec[0] if isinstance(spec, Sequence) else spec) == part["config"]


@pytest.mark.parametrize(
    "layer",
    [
        called("Dense", units=3, trainable=True),
        called("Lambda", function="mean", arguments={}),
        code_lambda(lambda x: x[1:]),
        called("Rows", trainable=True),
    ],
    ids=["a layer", "a function of somebody's own", "code", "a class of somebody's own"],
)
def test_a_real_layer_is_no_operation(layer: tuple[Layer, Call]) -> None:
    assert operation(*layer) is None


@pytest.mark.parametrize(
    ("stored", "node"),
    [
        ({"op": "Split"}, {"op": "Split"}),
        ('{"op": "Split"}', {"op": "Split"}),
        ('name: "s"\nop: "Split"\ninput: "x"', {"op": "Split"}),
        ("no node", None),
        ("[1]", None),
        (None, None),
    ],
)
def test_a_node_in_all_its_forms(stored: Json, node: Json) -> None:
    assert node_def(stored) == node


def test_a_key_is_found_at_any_depth() -> None:
    assert list(find({"a": 1, "b": [{"a": {"a": 2}}, "a"]}, "a")) == [1, {"a": 2}, 2]
