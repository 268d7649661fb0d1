"""Shapes and dtypes of results, as far as they are known."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.graph.test_graph_builder import NUMPY, started
from unnest.core.keras3.graph.result_specs import dtype_of, layer_rows, layer_spec
from unnest.core.keras3.layer_replacements import LayerArguments, LayerCall, NewLayer
from unnest.core.keras3_op_node import UNKNOWN_DTYPE, GraphTensor, OpNode
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import Json, JsonObject

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
    whole = builder.place(OpNode("keras.src.ops.core", "Cast", {"dtype": "int32"}, (x,)), "c", "c")
    found = builder.place(OpNode(NUMPY, "Trace", {}, (whole,)), "f", "f")  # type: ignore[arg-type]
    assert isinstance(found, GraphTensor)
    assert builder.specs[found] is None
    assert LayerArguments((found,), {}, builder.specs, builder.dtypes).dtype(found) == "int32"


def test_a_shape_is_known_behind_what_masks() -> None:
    config: JsonObject = {"input_dim": 9, "output_dim": 3, "mask_zero": True, "dtype": "float32"}
    embedding: JsonObject = {"module": "keras.layers", "class_name": "Embedding", "config": config}
    assert layer_spec(embedding, [INTS]) == Spec((*INTS.shape, 3), "float32")


def test_a_shape_is_known_behind_operations() -> None:
    """And behind a Reshape that states all of it, whatever was before."""
    builder, x = started(None, 4)
    turned = builder.place(OpNode(NUMPY, "Sum", {"axis": 1, "keepdims": True}, (x,)), "s", "s")
    found = builder.place(OpNode(NUMPY, "Trace", {}, (turned,)), "t", "t")  # type: ignore[arg-type]
    config: JsonObject = {"name": "r", "target_shape": [2, 3], "dtype": "float32"}
    shaped = builder.place(LayerCall(NewLayer("r", "Reshape", config), (found,)), "r")
    assert isinstance(turned, GraphTensor)
    assert isinstance(shaped, GraphTensor)
    assert builder.specs[turned] == Spec((None, 1), "float32")
    assert builder.specs[shaped] == Spec((None, 2, 3), "float32")


X, Y = Spec((None, 4), "float32"), Spec((None, 3, 4), "float32")


def layer(kind: str, module: str | None = "keras.layers", **config: Json) -> JsonObject:
    return {"module": module, "class_name": kind, "config": {"dtype": "float32", **config}}


INPUT, DENSE = layer("InputLayer"), layer("Dense", units=3)


@pytest.mark.parametrize(
    ("entry", "given", "rows"),
    [
        (DENSE, [(X, 7)], 7),
        (DENSE, [(None, 7)], 7),
        (layer("LSTM", units=3), [(Y, 7)], 7),
        (layer("Add"), [(X, 7), (Y, 7)], 7),
        (layer("Add"), [(X, 7), (X, 8)], None),
        (layer("Add"), [(X, 7), (Spec((1, 4), "float32"), 8)], 7),
        (layer("Concatenate", axis=-1), [(X, 7), (X, 7)], 7),
        (layer("Concatenate", axis=0), [(X, 7), (X, 7)], None),
        (layer("Concatenate", axis=-1), [(None, 7), (None, 7)], None),
        (layer("CategoryEncoding", output_mode="multi_hot"), [(Spec((None,), "int32"), 7)], None),
        (layer("Lambda"), [(X, 7)], None),
        (layer("Bidirectional", layer=layer("LSTM", units=3)), [(Y, 7)], 7),
        (layer("Bidirectional", layer=layer("RNN", cell=layer("Mine", None))), [(Y, 7)], None),
        (layer("TimeDistributed", layer=layer("Lambda")), [(Y, 7)], None),
        (layer("Mine", None), [(X, 7)], None),
        (layer("Functional", "keras.src.models.functional", layers=[INPUT, DENSE]), [(X, 7)], 7),
        (layer("Functional", "keras.src.models.functional", layers=[INPUT, layer("Lambda")]), [(X, 7)], None),
        (layer("Functional", "keras.src.models.functional", layers=[INPUT, INPUT]), [(X, 7), (X, 7)], None),
        (layer("Functional", "keras.src.models.functional", layers=[INPUT, layer("GetItem", NUMPY)]), [(X, 7)], None),
    ],
)  # fmt: skip
def test_the_rows_of_a_layer(
    entry: JsonObject, given: list[tuple[Spec | None, int]], rows: int | None
) -> None:
    assert layer_rows(entry, given) == rows
