"""Shapes and dtypes of results, as far as they are known."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.graph.test_graph_builder import NUMPY, started
from unnest.core.keras3.graph.result_specs import dtype_of
from unnest.core.keras3.layer_replacements import GraphTensor, LayerArguments, LayerCall, NewLayer
from unnest.core.keras3_op_calls import UNKNOWN_DTYPE, OpNode
from unnest.core.keras_facts.shape_inference import Spec
from unnest.core.model import JsonObject

INTS = Spec((None, 4), "int32")


@pytest.mark.parametrize(
    ("entry", "spec", "given", "dtype"),
    [
        ({"module": NUMPY, "class_name": "Cast", "config": {"dtype": "int32"}}, None, ["float32"], "int32"),
        ({"module": NUMPY, "class_name": "Less", "config": {}}, None, ["float32"], "bool"),
        ({"module": NUMPY, "class_name": "Argmax", "config": {"axis": 1}}, None, ["float32"], "int32"),
        ({"module": NUMPY, "class_name": "Where", "config": {}}, None, ["bool", "float32", "float32"], "float32"),
        # A layer of Keras has that name, too, and gives floats.
        ({"module": NUMPY, "class_name": "Concatenate", "config": {}}, Spec((None, 8), "float32"), ["int32"], "int32"),
        ({"module": "keras.layers", "class_name": "Dense", "config": {}}, None, ["float32"], "float32"),
        ({"module": "keras.layers", "class_name": "Reshape", "config": {}}, None, ["int32"], "int32"),
        ({"module": "keras.layers", "class_name": "Reshape", "config": {}}, INTS, ["int32"], "int32"),
        ({"module": "keras.layers", "class_name": "Lambda", "config": {}}, None, ["float32"], UNKNOWN_DTYPE),
        ({"module": None, "class_name": "Mine", "config": {}}, None, ["float32"], UNKNOWN_DTYPE),
        (
            {"module": "keras.layers", "class_name": "StringLookup", "config": {"output_mode": "int"}},
            None, ["string"], "int64",
        ),
        (
            {"module": "keras.layers", "class_name": "StringLookup", "config": {"invert": True}},
            None, ["int64"], "string",
        ),
        (
            {"module": "keras.layers", "class_name": "Hashing", "config": {"output_mode": "count"}},
            None, ["string"], "float32",
        ),
    ],
)  # fmt: skip
def test_the_dtype_of_what_is_given(
    entry: JsonObject, spec: Spec | None, given: list[str], dtype: str
) -> None:
    assert dtype_of(entry, spec, given) == dtype


def test_a_dtype_is_known_where_a_shape_is_not() -> None:
    """Of an operation behind an operation, each told by the graph alone."""
    builder, x = started(None, 4)
    whole = builder.place(OpNode("keras.src.ops.core", "Cast", {"dtype": "int32"}, (x,)), "c", "c")  # type: ignore[arg-type]
    found = builder.place(OpNode(NUMPY, "Trace", {}, (whole,)), "f", "f")  # type: ignore[arg-type]
    assert isinstance(found, GraphTensor)
    assert builder.specs[found] is None
    assert LayerArguments((found,), {}, builder.specs, builder.dtypes).dtype(found) == "int32"


def test_a_shape_is_known_behind_operations() -> None:
    """And behind a Reshape that states all of it, whatever was before."""
    builder, x = started(None, 4)
    turned = builder.place(OpNode(NUMPY, "Sum", {"axis": 1, "keepdims": True}, (x,)), "s", "s")  # type: ignore[arg-type]
    found = builder.place(OpNode(NUMPY, "Trace", {}, (turned,)), "t", "t")  # type: ignore[arg-type]
    config: JsonObject = {"name": "r", "target_shape": [2, 3], "dtype": "float32"}
    shaped = builder.place(LayerCall(NewLayer("r", "Reshape", config), (found,)), "r")
    assert isinstance(turned, GraphTensor)
    assert isinstance(shaped, GraphTensor)
    assert builder.specs[turned] == Spec((None, 1), "float32")
    assert builder.specs[shaped] == Spec((None, 2, 3), "float32")
