"""The rule for layers that are TensorFlow operations."""

from __future__ import annotations

from collections.abc import Sequence

from unnest.core.frontends.node_defs_as_op_calls import parse_node_def
from unnest.core.keras3.conversion_context import OldLayer
from unnest.core.keras3.graph.functional_model_json import SHAPE_OR_NUMBER
from unnest.core.keras3.lambdas import tensor_nodes
from unnest.core.keras3.layer_replacements import (
    Expansion,
    LayerArguments,
    NodeTree,
    Piece,
)
from unnest.core.keras3.operations.graph_nodes_as_function_calls import NO_NODE, node_called
from unnest.core.keras3.operations.random_ops_as_lambdas import (
    random_lambda_of_function,
    random_lambda_of_node,
)
from unnest.core.keras3.operations.symbolic_arguments import CallValues, holds_tensors
from unnest.core.keras3.operations.translate_stored_function_call import function_called
from unnest.core.keras3_op_node import GraphTensor, Operand, OpNode
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    CORE,
    Const,
    ConstantArray,
    Items,
    ShapeTuple,
    Size,
    SymbolicTensor,
    SymbolicValue,
    constant,
)


def rule(old: OldLayer) -> Piece:
    """Convert a TFOpLambda, SlicingOpLambda or TensorFlowOpLayer."""
    function = old.config.get("function")
    node = parse_node_def(old.config.get("node_def")) or {}
    called_by = function if isinstance(function, str) else node.get("op")

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        values = CallValues(call, old.context)
        try:
            if isinstance(function, str):
                drawn = random_lambda_of_function(function, old.name, values)
            else:
                drawn = random_lambda_of_node(node, old.config, old.name, values)
            if drawn is not None:
                return [drawn]
            if isinstance(function, str):
                value = function_called(function, call.args, call.kwargs, values)
            else:
                value = node_called(node, old.config, values)
            if isinstance(value, ConstantArray):
                value = values.constant_tensor(value)
            operands = _operands(value, call.tensors[:1])
        except Unknown as reason:
            raise old.refused(f"{called_by} is not translated: {reason}") from reason
        except (IndexError, ValueError) as why:
            raise old.refused(f"{called_by} is not translated: {NO_NODE}") from why
        old.note("tf-operation")
        old.context.graph.results.setdefault(old.name, value)
        return operands  # type: ignore[return-value]  # operands without an Input are trees

    return Expansion(outputs)


def _operands(value: SymbolicValue, read: Sequence[GraphTensor]) -> list[Operand]:
    """Return the operations of the result; of a shape or a number, one that reads a tensor. Raises Unknown."""
    if isinstance(value, Items) and holds_tensors(value):
        return [_operand(each) for each in value.items]
    if isinstance(value, Size) and value.number is not None:
        return [_operand(value.number)]
    if isinstance(value, ShapeTuple | Size | Const | Items):
        return [OpNode(CORE, SHAPE_OR_NUMBER, {}, tuple(read))]
    return [_operand(value)]


def _operand(value: SymbolicValue) -> Operand:
    if not isinstance(value, SymbolicTensor):
        raise Unknown("a result that is no tensor")
    return (
        tensor_nodes.calculation("Multiply", value, constant(1)).operand
        if isinstance(value.operand, GraphTensor)
        else value.operand
    )
