"""Functions of Python and NumPy on plain numbers, shapes and constant arrays, which stored code computes with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_entry import Theano

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import Const, ConstantArray, SymbolicValue
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall


def _of_number(functions: str, compute: Callable[[float], float]) -> None:
    """Register functions of one number. Raises Unknown."""

    @keras3(functions, "x")
    def nodes(call: FunctionCall) -> Const:
        try:
            value = compute(call.number("x"))
        except (ArithmeticError, ValueError) as error:
            raise Unknown("an impossible calculation") from error
        return call.constant_of_32_bits(value)


_of_number("np.sqrt math.sqrt", math.sqrt)
_of_number("np.log math.log", math.log)
_of_number("np.exp math.exp", math.exp)
_of_number("float np.float32 np.float64", float)
_of_number("int", int)


def _of_two_numbers(function_name: str, compute: Callable[[float, float], float]) -> None:
    """Register a function of two numbers."""

    @keras3(function_name, "x y")
    def nodes(call: FunctionCall) -> Const:
        return call.constant(compute(call.number("x"), call.number("y")))


_of_two_numbers("max", max)
_of_two_numbers("min", min)


@keras3("K.epsilon", "", theano=Theano.SAME)
def epsilon_nodes(call: FunctionCall) -> Const:
    """Return Keras's default value as a constant."""
    return call.constant(1e-7)


@keras3("K.floatx", "", theano=Theano.SAME)
def floatx_nodes(call: FunctionCall) -> Const:
    """Return Keras's default value as a constant."""
    return call.constant("float32")


@keras3("np.array np.asarray", "value|object dtype=null")
def numpy_array_nodes(call: FunctionCall) -> ConstantArray:
    """Nodes of `np.array`: float64 if one of the numbers is a float."""
    return call.array("value", call.numpy_dtype("dtype"))


@keras3("len", "x")
def len_nodes(call: FunctionCall) -> Const:
    """The length of a list, or of a shape, which Python takes for a list."""
    return call.constant(call.length("x"))


@keras3("np.prod", "x|a")
def product_nodes(call: FunctionCall) -> Const:
    """The product of known sizes. Raises Unknown if one is not known."""
    sizes = call.sizes("x")
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes) or call.is_shape_tensor("x"):
        raise Unknown("a product of sizes that are not known")
    return call.constant_of_32_bits(math.prod(known))


@keras3("sum", "x")
def sum_nodes(call: FunctionCall) -> SymbolicValue:
    """The sum of a list of tensors or numbers."""
    return call.sum("x")
