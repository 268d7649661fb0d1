"""Arguments of a stored call of an operation, as the reader of stored code has values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.lambdas import operators
from unnest.core.keras3.lambdas.names_and_calls import Keras3Call
from unnest.core.keras3.layer_replacements import LayerArguments, NodeTree
from unnest.core.keras3_op_node import GraphTensor
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    ConstantArray,
    Items,
    Libraries,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)
from unnest.core.ops.keras3_nodes.function_arguments import CAST_DTYPES


@dataclass(frozen=True, slots=True)
class CallValues:
    """One call's arguments as values, by what is known of the tensors that it is called on."""

    call: LayerArguments
    context: Context

    def tensor(self, tensor: GraphTensor) -> SymbolicValue:
        """Return the value of a tensor; a shape or a number if an operation gave one."""
        rows = self.context.graph.rows.setdefault(tensor, self.call.rows.of(tensor))
        made = (
            self.context.graph.results.get(tensor.layer)
            if (tensor.call_index, tensor.tensor) == (0, 0)
            else None
        )
        if made is not None and not isinstance(made, SymbolicTensor) and not holds_tensors(made):
            return made
        spec = self.call.spec(tensor)
        shape = None if spec is None else spec.shape
        if shape and rows in self.call.rows.inputs:
            shape = (None, *shape[1:])  # a batch size that is fixed is not that of Keras 3's calls
        if isinstance(made, SymbolicTensor):
            is_whole = made.shape is not None and made.shape[:1] != (None,)
            shape = made.shape if shape is None or is_whole else shape
            rows = rows if made.rows is None else made.rows
        return SymbolicTensor(
            tensor,
            self.call.dtype(tensor),
            "x",
            shape=shape,
            rows=rows,
        )

    def tensor_with_rows(self, rows: int | None) -> SymbolicTensor | None:
        """Return the first tensor of the graph with as many rows, or with any number of them; None without one."""
        for tensor, number in self.call.rows.numbers.items():
            if rows in (number, None) and self.call.dtype(tensor) in CAST_DTYPES:
                found = self.tensor(tensor)
                if isinstance(found, SymbolicTensor) and found.shape is not None:
                    return found
        return None

    def constant_tensor(self, array: ConstantArray) -> SymbolicTensor:
        """Return a constant as a tensor: zero, which an input of the model gives, and the numbers. Raises Unknown."""
        libraries = Libraries(tensor_with_rows=self.tensor_with_rows)
        return Keras3Call({}, libraries).array_as_tensor(array)

    def of(self, tree: NodeTree) -> SymbolicValue:
        """Return an argument as stored code has values. Raises Unknown."""
        if isinstance(tree, GraphTensor):
            return self.tensor(tree)
        if isinstance(tree, Mapping):
            if set(tree) <= {"start", "stop", "step"}:
                return operators.slice_of([self.of(tree.get(k)) for k in ("start", "stop", "step")])
            if tree.get("class_name") == "__ellipsis__" or tree.get("type") == "Ellipsis":
                return constant(...)
            raise Unknown("an argument of a form that is not known")
        if isinstance(tree, Sequence) and not isinstance(tree, str):
            values = [self.of(v) for v in tree]
            return items(
                "tuple" if any(not isinstance(v, SymbolicTensor) for v in values) else "list",
                values,
            )
        if tree is None or isinstance(tree, bool | int | float | str):
            return constant(tree)
        raise Unknown("an argument of a form that is not known")


def holds_tensors(value: SymbolicValue) -> bool:
    """Return True if it is a list of tensors, as functions that give several have it."""
    return isinstance(value, Items) and any(
        isinstance(each, SymbolicTensor) for each in value.items
    )
