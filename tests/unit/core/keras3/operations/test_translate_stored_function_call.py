"""TensorFlow functions by name: the operations of Keras 3 that compute the same, or a refusal."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.operations.calling import NN, NUMPY, PLACES, X, Y, outputs
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.layer_replacements import NodeTree
from unnest.core.keras3_op_node import OpNode


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "made"),
    [
        ("math.exp", [X], {}, OpNode(NUMPY, "Exp", {}, (X,))),
        ("math.add", [X], {"y": Y, "name": None}, OpNode(NUMPY, "Add", {}, (X, Y))),
        ("__operators__.sub", [X, Y], {}, OpNode(NUMPY, "Subtract", {}, (X, Y))),
        ("__operators__.rsub", [X, 2.0], {}, OpNode(NUMPY, "Subtract", {}, (2.0, X))),
        ("__operators__.floordiv", [X, 2.0], {}, OpNode(NUMPY, "FloorDivide", {}, (X, 2.0))),
        ("compat.v1.nn.leaky_relu", [X], {"alpha": 0.3}, OpNode(NN, "LeakyRelu", {"negative_slope": 0.3}, (X,))),
        ("math.subtract", [Y, X], {}, OpNode(NUMPY, "Subtract", {}, (Y, X))),
        ("math.multiply", [X, X], {}, OpNode(NUMPY, "Multiply", {}, (X, X))),
        ("compat.v1.floor_div", [X], {"y": 0.5, "name": None}, OpNode(NUMPY, "FloorDivide", {}, (X, 0.5))),
        ("compat.v1.transpose", [X], {"perm": [0, 2, 1], "name": "transpose", "conjugate": False},
         OpNode(NUMPY, "Transpose", {"axes": [0, 2, 1]}, (X,))),
        ("compat.v1.gather", [X],
         {"indices": [0, 2], "validate_indices": None, "name": None, "axis": 1, "batch_dims": 0},
         OpNode(NUMPY, "Take", {"axis": 1}, (X, PLACES))),
        ("math.atan2", [Y], {"x": X}, OpNode(NUMPY, "Arctan2", {}, (Y, X))),
        ("math.divide_no_nan", [X, Y], {}, OpNode(NUMPY, "DivideNoNan", {}, (X, Y))),
        ("tensordot", [X], {"b": Y, "axes": [[2], [2]]}, OpNode(NUMPY, "Tensordot", {"axes": [[2], [2]]}, (X, Y))),
        ("sort", [X], {"axis": 1, "direction": "DESCENDING"},
         OpNode(NUMPY, "Flip", {"axis": 1}, (OpNode(NUMPY, "Sort", {"axis": 1}, (X,)),))),
    ],
)  # fmt: skip
def test_functions(
    function: str, args: list[NodeTree], kwargs: dict[str, NodeTree], made: OpNode
) -> None:
    context = Context()
    assert outputs("TFOpLambda", {"function": function}, args, context, **kwargs) == [made]
    assert [(c.rule, c.layers) for c in context.conversions()] == [("tf-operation", ("op",))]


@pytest.mark.parametrize(
    ("function", "args", "why"),
    [
        ("nn.no_such", [X], "nn.no_such is not translated"),
        ("__operators__.matmul", [X], "the operator matmul"),
        ("__operators__.rsomething", [X, Y], "the operator rsomething"),
        (
            "math.exp",
            [{"class_name": "Mine", "config": {}}],
            "an argument of a form that is not known",
        ),
        ("math.exp", [2.0], "not translated"),
        ("compat.v1.image.resize", [X, [2, 2]], "unknown height or width"),
        ("linalg.norm", [X, 3, 1], "`ord=3`"),
    ],
)
def test_functions_that_are_refused(function: str, args: list[NodeTree], why: str) -> None:
    """With the layer, its class and the function; nothing is noted."""
    context = Context()
    with pytest.raises(CannotConvert, match=rf"^'op' \(TFOpLambda\): .*{why}"):
        outputs("TFOpLambda", {"function": function}, args, context)
    assert context.conversions() == ()
