"""Two ways to run a Lambda without Keras: the functions that its source calls, and the operations that it became."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

import numpy as np

from unnest.core.keras3_op_node import Input, Operand, OpNode, Part

Array: TypeAlias = "np.ndarray[Any, Any]"


def sigmoid(x: Array) -> Array:
    """The logistic function."""
    return cast(Array, 1 / (1 + np.exp(-x)))


def softmax(x: Array, axis: int = -1) -> Array:
    """Along the last axis."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return cast(Array, e / e.sum(axis=axis, keepdims=True))


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def reduction(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction with TensorFlow's arguments."""
    return lambda x, axis=None, keepdims=False: compute(x, axis=_axes(axis), keepdims=keepdims)


def l2_normalize(x: Array, axis: Any = None, epsilon: float = 1e-12) -> Array:
    """TensorFlow's: the square of the norm is what epsilon bounds."""
    squares = np.sum(np.square(x), axis=_axes(axis), keepdims=True)
    return cast(Array, x / np.sqrt(np.maximum(squares, epsilon)))


def names() -> dict[str, Any]:
    """Return NumPy functions for the names that the sources of `fixtures/lambda_code` call."""
    backend = SimpleNamespace(
        mean=reduction(np.mean),
        sum=reduction(np.sum),
        std=reduction(np.std),
        var=reduction(np.var),
        square=np.square,
        sqrt=lambda x: np.sqrt(np.maximum(x, 0)),
        exp=np.exp,
        tanh=np.tanh,
        sigmoid=sigmoid,
        softmax=softmax,
        clip=np.clip,
        maximum=np.maximum,
        relu=lambda x: np.maximum(x, 0),
        hard_sigmoid=lambda x: np.clip(0.2 * x + 0.5, 0, 1),
        l2_normalize=l2_normalize,
        epsilon=lambda: 1e-7,
        cast=lambda x, dtype: x.astype(dtype),
        argmax=lambda x, axis=-1: np.argmax(x, axis=axis),
        gather=lambda x, indices: np.take(x, indices, axis=0),
        expand_dims=lambda x, axis=-1: np.expand_dims(x, axis),
        concatenate=lambda tensors, axis=-1: np.concatenate(tensors, axis=axis),
        stack=lambda tensors, axis=0: np.stack(tensors, axis=axis),
        permute_dimensions=np.transpose,
        reshape=np.reshape,
        repeat_elements=lambda x, rep, axis: np.repeat(x, rep, axis=axis),
        batch_flatten=lambda x: np.reshape(x, (len(x), -1)),
    )
    tensorflow = SimpleNamespace(
        sigmoid=sigmoid,
        add=np.add,
        minimum=np.minimum,
        reduce_sum=reduction(np.sum),
        reduce_max=reduction(np.max),
        expand_dims=np.expand_dims,
        concat=lambda values, axis: np.concatenate(values, axis=axis),
        stack=lambda values, axis=0: np.stack(values, axis=axis),
        reshape=np.reshape,
        tile=np.tile,
        pad=np.pad,
        add_n=sum,
        split=np.split,
        matmul=lambda a, b, transpose_b: a @ np.swapaxes(b, -1, -2) if transpose_b else a @ b,
        nn=SimpleNamespace(relu=lambda x: np.maximum(x, 0), l2_normalize=l2_normalize),
        math=SimpleNamespace(log=np.log),
        keras=SimpleNamespace(backend=backend),
    )
    return {"K": backend, "tf": tensorflow, "keras": tensorflow.keras, "np": np, "math": math}


#: Keras 3's operations by class, as NumPy functions of their operands and their config.
OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "Rescaling": lambda x, scale, offset, dtype: (x * scale + offset).astype(dtype),
    "Add": np.add,
    "Subtract": np.subtract,
    "Multiply": np.multiply,
    "Divide": np.divide,
    "FloorDivide": np.floor_divide,
    "Mod": np.mod,
    "Power": np.power,
    "Negative": np.negative,
    "Absolute": np.abs,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Matmul": np.matmul,
    "Swapaxes": np.swapaxes,
    "Exp": np.exp,
    "Log": np.log,
    "Square": np.square,
    "Sqrt": np.sqrt,
    "Tanh": np.tanh,
    "Sigmoid": sigmoid,
    "Softmax": softmax,
    "Relu": lambda x: np.maximum(x, 0),
    "Clip": lambda x, x_min, x_max: x.clip(x_min, x_max),
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "LogicalAnd": np.logical_and,
    "LogicalNot": np.logical_not,
    "Mean": reduction(np.mean),
    "Sum": reduction(np.sum),
    "Std": reduction(np.std),
    "Var": reduction(np.var),
    "Max": reduction(np.max),
    "Argmax": np.argmax,
    "Normalize": lambda x, axis, order, epsilon: l2_normalize(x, axis, epsilon**order),
    "GetItem": lambda x, key: x[tuple(key)],
    "Cast": lambda x, dtype: x.astype(dtype),
    "ExpandDims": np.expand_dims,
    "Concatenate": np.concatenate,
    "Stack": np.stack,
    "Transpose": np.transpose,
    "Reshape": lambda x, newshape: x.reshape(newshape),
    "Repeat": np.repeat,
    "Tile": lambda x, repeats: np.tile(x, tuple(repeats)),
    "Take": np.take,
    "Pad": np.pad,
    "Split": np.split,
}


def computed(operand: Operand, inputs: Sequence[Array]) -> Any:
    """An operand's value."""
    if isinstance(operand, Input):
        return inputs[operand.index]
    if isinstance(operand, Part):
        return computed(operand.of, inputs)[operand.index]
    if isinstance(operand, OpNode):
        args = [computed(arg, inputs) for arg in operand.args]
        kwargs = {name: computed(arg, inputs) for name, arg in operand.kwargs.items()}
        return OPERATIONS[operand.class_name](*args, **kwargs, **operand.config)
    if isinstance(operand, Mapping):
        return _constant(operand["class_name"], cast(Mapping[str, Any], operand["config"]))
    if isinstance(operand, Sequence) and not isinstance(operand, str):
        return [computed(part, inputs) for part in operand]
    return operand


def _constant(class_name: Any, config: Mapping[str, Any]) -> Any:
    if class_name == "__numpy__":
        return np.array(config["value"], config["dtype"])
    return (
        slice(config["start"], config["stop"], config["step"]) if class_name == "__slice__" else ...
    )
