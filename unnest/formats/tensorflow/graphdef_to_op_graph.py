"""Between TensorFlow's GraphDef and FunctionDef messages and the graphs that the recogniser reads.

A GraphDef spells a tensor `node:1` (`node` for output 0) and a control edge `^node`; a FunctionDef spells it
`node:output_name:0`, and an argument by its bare name. (Source: files written by TensorFlow 1.13 to 2.21.)
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from unnest.budget import charge_memory, charge_steps
from unnest.core.wrappers.serving_graph.serving_op_graph import (
    GraphFunction,
    Op,
    OpGraph,
    StoredShape,
)
from unnest.errors import Unreadable
from unnest.formats.tensorflow import protobuf_messages
from unnest.formats.tensorflow.read_tensor_bundle import DTYPE_BY_NUMBER

#: What an operation costs, beside its inputs and attributes.
OP_STEPS, OP_BYTES = 5, 500
#: Constants above this (frozen weights) are compared by their bytes, not unpacked.
MAX_UNPACKED = 1 << 16
#: Bytes of an Array that states a dtype and a shape and nothing else.
EMPTY_ARRAY_BYTES = 1 << 10
#: Fields of an Array that hold its elements one by one, by NumPy kind.
ELEMENTS = ("float_val", "double_val", "int_val", "int64_val", "bool_val")


def main_graph(graph: protobuf_messages.Message, results: Iterable[str]) -> OpGraph:
    """Return the flat graph of a MetaGraph; `results` are the tensors that its signatures name."""
    return OpGraph("", {n.name: op(n) for n in graph.node}, (), tuple(tensor(r) for r in results))


def library(graph: protobuf_messages.Message) -> dict[str, OpGraph]:
    """Return the functions of a MetaGraph by name."""
    return {f.signature.name: function(f) for f in graph.library.function}


def function(f: protobuf_messages.Message) -> OpGraph:
    """Return the body of one function. Raises Unreadable."""
    args = tuple(a.name for a in f.signature.input_arg)
    missing = [o.name for o in f.signature.output_arg if o.name not in f.ret]
    if missing:
        raise Unreadable(
            "damaged-graph",
            f"the function {f.signature.name!r} does not make its output {missing[0]!r}",
        )
    rets = tuple(f.ret[o.name] for o in f.signature.output_arg)
    return OpGraph(
        f.signature.name,
        {n.name: op(n, inside=True) for n in f.node_def},
        args,
        rets,
        _argument_shapes(f, len(args)),
    )


def _argument_shapes(f: protobuf_messages.Message, count: int) -> tuple[StoredShape, ...]:
    """Return the shapes of a function's `count` arguments, from `arg_attr`, whose values are parsed here."""
    shapes: dict[int, StoredShape] = {}
    for raw in f.arg_attr:
        entry = protobuf_messages.parse("ArgAttr", raw, f.signature.name)
        value = (
            entry.value.attr.get("_output_shapes") if "_output_shapes" in entry.value.attr else None
        )
        if value is not None and value.list.shape:
            shapes[entry.key] = shape(value.list.shape[0])
    if not shapes and "_input_shapes" in f.attr:
        shapes = {k: shape(s) for k, s in enumerate(f.attr["_input_shapes"].list.shape)}
    return tuple(shapes.get(k) for k in range(count))


def tensor(name: str) -> str:
    """Return the name of a tensor in a flat graph in one spelling: `x:0` is `x`, `^x` is an operation."""
    return name if ":" in name else name + ":0"


def op(node: protobuf_messages.Message, *, inside: bool = False) -> Op:
    """Return a NodeDef as an operation, its inputs as tensor names."""
    charge_steps(OP_STEPS + len(node.input) + len(node.attr))
    charge_memory(OP_BYTES)
    data = tuple(i if inside else tensor(i) for i in node.input if not i.startswith("^"))
    attrs = {
        k: attribute(v)
        for k, v in node.attr.items()
        if k not in ("value", "_output_shapes", "_class")
    }
    shapes: tuple[StoredShape, ...] = ()
    if "_output_shapes" in node.attr:
        shapes = tuple(shape(s) for s in node.attr["_output_shapes"].list.shape)
    elif node.op.startswith("Placeholder") and "shape" in node.attr:
        shapes = (shape(node.attr["shape"].shape),)
    value = None
    if node.op == "Const" and "value" in node.attr:
        value = constant(node.attr["value"].tensor)
    controls = tuple(i[1:] for i in node.input if i.startswith("^"))
    return Op(node.name, node.op, data, controls, attrs, value, shapes)


def shape(message: protobuf_messages.Message) -> StoredShape:
    """Return a static shape, -1 for an open size; None for an open rank."""
    return None if message.unknown_rank else tuple(int(d.size) for d in message.dim)


def attribute(value: protobuf_messages.Message) -> object:
    """Return an attribute as something comparable: a plain value, a Function, or its bytes."""
    kind = value.WhichOneof("v")
    if kind == "func":
        return GraphFunction(value.func.name)
    if kind == "shape":
        return shape(value.shape)
    if kind in ("s", "i", "f", "b", "type", "placeholder"):
        return getattr(value, kind)
    if kind == "list" and value.list.func:
        return tuple(GraphFunction(f.name) for f in value.list.func)
    if kind == "list" and value.list.i:
        return tuple(value.list.i)
    return protobuf_messages.dump(value)


def constant(array: protobuf_messages.Message) -> np.ndarray:
    """Return a Const's array; strings, rare dtypes and large arrays as opaque, comparable bytes."""
    dims = tuple(int(d.size) for d in array.shape.dim)
    count = 1
    for d in dims:
        count *= max(d, 0)
    dtype_name = DTYPE_BY_NUMBER.get(array.dtype, "")
    if not dtype_name.startswith(("<", "|")) or count > MAX_UNPACKED:
        return np.array(protobuf_messages.dump(array))
    dtype = np.dtype(dtype_name)
    charge_memory(count * dtype.itemsize)
    charge_steps(count // 10)
    if array.content:
        if len(array.content) != count * dtype.itemsize:
            return np.array(array.content)
        return np.frombuffer(array.content, dtype).reshape(dims)
    for field in ELEMENTS:
        values = getattr(array, field)
        if len(values) and dtype.kind != "c" and dtype_name != "<f2":
            # Fewer elements than the shape says: the last one fills the rest.
            values_in_full = np.array(
                [*values, *([values[-1]] * max(0, count - len(values)))][:count]
            )
            return values_in_full.astype(dtype).reshape(dims)
    return np.zeros(dims, dtype) if _is_empty(array) else np.array(protobuf_messages.dump(array))


def _is_empty(array: protobuf_messages.Message) -> bool:
    """Return True if an Array stores no elements, which means zeros."""
    return {f.name for f, _ in array.ListFields()} <= {"dtype", "shape", "version"} and len(
        protobuf_messages.dump(array)
    ) < EMPTY_ARRAY_BYTES
