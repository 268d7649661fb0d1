"""Operations that draw random numbers: which become a function that the loader is given, and which are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.core.keras3.operations.calling import CORE, X, Y, node, outputs
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.layer_replacements import LayerCall
from unnest.core.keras3_op_node import OpNode
from unnest.core.ops.keras3_nodes.expression_values import (
    ShapeTuple,
    Size,
    SymbolicTensor,
    items,
)
from unnest.core.ops.keras3_nodes.expression_values import constant as number

NORMAL: dict[str, Any] = {"function": "random.normal"}


def context(given: Any, rows: int | None = 7) -> Context:
    """A conversion in which the layer `y` gave a shape, and the rows of `x` have the number 7."""
    made = Context()
    made.graph.rows[X] = 7
    made.graph.results["y"] = given
    assert rows is None or made.graph.rows[X] == rows
    return made


TENSOR = SymbolicTensor(X, "float32", "x", shape=(None, 4), rows=7)
ROWS, STEPS, OF_OTHERS = (
    Size("n", TENSOR),
    Size("t", TENSOR, axis=1),
    Size("n", replace(TENSOR, rows=9)),
)


def drawn(tree: Any) -> tuple[Any, Any]:
    """The config of the Lambda behind the cast, and the tensor that it is called on."""
    assert isinstance(tree, OpNode)
    assert (tree.module, tree.class_name, tree.config) == (CORE, "Cast", {"dtype": "float32"})
    (call,) = tree.args
    assert isinstance(call, LayerCall)
    return call.layer.config, call.args[0]


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        (ShapeTuple((ROWS, 4), "tensor", "s"), [4]),
        (ShapeTuple((ROWS,), "tensor", "s"), []),
        (items("list", [ROWS, number(3), number(5)]), [3, 5]),
    ],
)
def test_numbers_for_the_rows_of_a_tensor(shape: Any, sizes: list[int]) -> None:
    """The shape of a tensor, or its rows and other sizes."""
    made = context(shape)
    config, like = drawn(outputs("TFOpLambda", NORMAL, [Y], made, stddev=0.5, seed=3, name=None)[0])
    assert like == X
    assert config["function"] == "op_function"
    assert config["arguments"] == {"shape": sizes, "mean": 0.0, "stddev": 0.5}
    (finding,) = made.notes.findings
    assert finding.code == "lambda-kept"
    assert finding.message.startswith(
        "the operation 'op' was not converted: no layer or operation of Keras 3's own"
    )
    assert list(made.notes.custom) == ["op_function"]


@pytest.mark.parametrize(
    ("shape", "settings"),
    [
        (ShapeTuple((ROWS, STEPS), "tensor", "s"), {}),  # a size besides the rows is open
        (ShapeTuple((2, 4), "tensor", "s"), {}),  # the numbers are the same for each batch
        (ShapeTuple((OF_OTHERS, 4), "tensor", "s"), {}),  # rows of which no tensor is left
        (items("list", [number(3), ROWS]), {}),
        (ShapeTuple((ROWS, 4), "tensor", "s"), {"dtype": "float64"}),
        (ShapeTuple((ROWS, 4), "tensor", "s"), {"mean": Y}),
        (ShapeTuple((ROWS, 4), "tensor", "s"), {"alpha": 2.0}),
    ],
)
def test_what_a_function_of_one_tensor_does_not_draw(shape: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(CannotConvert, match="draws random numbers at inference"):
        outputs("TFOpLambda", NORMAL, [Y], context(shape), **settings)


@pytest.mark.parametrize("function", ["random.shuffle", "random.gamma", "random.categorical"])
def test_other_draws_are_refused(function: str) -> None:
    with pytest.raises(CannotConvert, match="is not translated"):
        outputs("TFOpLambda", {"function": function}, [X], context(ROWS))


@pytest.mark.parametrize(
    ("op", "settings"),
    [
        ("RandomStandardNormal", {"mean": 0.0, "stddev": 1.0}),
        ("TruncatedNormal", {"mean": 0.0, "stddev": 1.0}),
        ("RandomUniform", {"minval": 0.0, "maxval": 1.0}),
    ],
)
def test_nodes(op: str, settings: dict[str, float]) -> None:
    """TensorFlow 2.0 to 2.3 stores deviation and mean as operations of their own."""
    stored: dict[str, Any] = {
        "name": "op",
        "op": op,
        "attr": {"dtype": {"type": "DT_FLOAT"}, "T": {"type": "DT_INT32"}},
    }
    made = context(ShapeTuple((ROWS, 4), "tensor", "s"))
    config, _ = drawn(
        outputs("TensorFlowOpLayer", {"node_def": stored, "constants": {}}, [Y], made)[0]
    )
    assert config["arguments"] == {"shape": [4], **settings}


def test_a_node_of_constant_shape_is_refused() -> None:
    """Its numbers are not drawn for the rows of the batch."""
    with pytest.raises(CannotConvert, match="draws random numbers at inference"):
        node("RandomStandardNormal", constants={"0": [2, 4]}, dtype={"type": "DT_FLOAT"})
