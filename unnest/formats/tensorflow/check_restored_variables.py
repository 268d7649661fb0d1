"""Compare the tensors that a SavedModel restores when it is loaded with those in its `variables/`.

`saver.restore` names an operation of the flat graph. It leads, by its inputs and control edges and the functions that
are called, to the `RestoreV2` operations, whose second input is a constant with the names of the tensors. (Source:
files written by TensorFlow 1.13 to 2.21.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from unnest.budget import charge_steps
from unnest.core.architecture.graph import reached
from unnest.core.wrappers.serving_graph.describe_serving_wrapper import VARIABLE_OPS
from unnest.errors import Unreadable
from unnest.formats.tensorflow.object_graph import KEY
from unnest.formats.tensorflow.protobuf_messages import Message
from unnest.formats.tensorflow.read_tensor_bundle import Bundle

#: Operations that put a value in a variable: the variable, the value.
ASSIGNMENTS = frozenset({"Assign", "AssignVariableOp"})


class Restored(NamedTuple):
    """A tensor that loading reads, by name, and the shape of its variable; None if the graph does not say."""

    name: str
    shape: tuple[int, ...] | None = None


class _Body(NamedTuple):
    """A flat graph's or a function's nodes by name; `arguments` are the variables that a function is called with."""

    nodes: Mapping[str, Message]
    arguments: Mapping[str, Message | None]


def check_stored(meta: Message, bundle: Bundle | None, index: str) -> None:
    """Raise Unreadable if a variable that the MetaGraph restores is missing from the bundle, or has another shape.

    `index` is where the bundle's index belongs.
    """
    restored = list(_restored(meta))
    if bundle is None:
        in_objects = any(n.WhichOneof("kind") == "variable" for n in meta.objects.nodes)
        if in_objects or any(r.name != KEY for r in restored):
            raise Unreadable(
                "missing-file",
                f"{index}: missing; the model is not complete without it: copy it, too",
            )
        return
    for name, shape in restored:
        entry = bundle.entries.get(name)
        if entry is None:
            raise Unreadable(
                "missing-weight",
                f"{index}: {name!r}, which the graph restores, is not stored; copy the model's own variables again",
            )
        if shape is not None and entry.shape != shape:
            raise Unreadable(
                "wrong-shape",
                f"{index}: {name!r} is {list(entry.shape)} where the graph restores {list(shape)}; "
                "copy the model's own variables again",
            )


def _restored(meta: Message) -> Iterator[Restored]:
    """Yield the tensors that loading reads."""
    for body in _bodies(meta):
        shapes = _variable_shapes(body)
        for node in body.nodes.values():
            if node.op != "RestoreV2" or len(node.input) < len(("prefix", "names", "parts")):
                continue
            parts = _texts(body, node.input[2])
            for k, name in enumerate(_texts(body, node.input[1])):
                is_whole = not any(parts[k : k + 1])
                yield Restored(name, shapes.get((node.name, k)) if is_whole else None)


def _bodies(meta: Message) -> Iterator[_Body]:
    """Yield the part of the flat graph that the restoring operation needs, and the functions that it calls."""
    nodes = {n.name: n for n in meta.graph.node}
    restore = _producer(meta.saver.restore)
    if restore not in nodes:
        return

    def reads(name: str) -> list[str]:
        charge_steps(1 + len(nodes[name].input))
        return [i for i in map(_producer, nodes[name].input) if i in nodes]

    functions = {f.signature.name: f for f in meta.graph.library.function}
    pending = [_Body({name: nodes[name] for name in reached([restore], reads)}, {})]
    while pending:
        body = pending.pop()
        yield body
        for node in body.nodes.values():
            callee = functions.pop(node.attr["f"].func.name, None) if "f" in node.attr else None
            if callee is not None:
                variables = (_variable(body, i) for i in node.input)
                arguments = dict(
                    zip((a.name for a in callee.signature.input_arg), variables, strict=False)
                )
                pending.append(_Body({n.name: n for n in callee.node_def}, arguments))


def _variable_shapes(body: _Body) -> dict[tuple[str, int], tuple[int, ...]]:
    """(operation, output number) -> shape of the variable that is assigned to it."""
    shapes: dict[tuple[str, int], tuple[int, ...]] = {}
    for node in body.nodes.values():
        if node.op not in ASSIGNMENTS or len(node.input) < len(("variable", "value")):
            continue
        variable, value = _variable(body, node.input[0]), node.input[1]
        producer = body.nodes.get(_producer(value))
        if producer is not None and producer.op == "Identity":
            value = producer.input[0]
        if (
            variable is None
            or "shape" not in variable.attr
            or variable.attr["shape"].shape.unknown_rank
        ):
            continue
        shape = tuple(int(d.size) for d in variable.attr["shape"].shape.dim)
        if all(d >= 0 for d in shape):
            number = value.rpartition(":")[2]
            shapes[_producer(value), int(number) if number.isdecimal() else 0] = shape
    return shapes


def _variable(body: _Body, tensor_name: str) -> Message | None:
    """Return the variable that a tensor is, or is a handle of; None without one."""
    node = body.nodes.get(_producer(tensor_name), body.arguments.get(tensor_name))
    return node if node is not None and node.op in VARIABLE_OPS else None


def _texts(body: _Body, tensor_name: str) -> list[str]:
    """Return a constant's strings; [] for what is no constant."""
    node = body.nodes.get(_producer(tensor_name))
    if node is None or node.op != "Const" or "value" not in node.attr:
        return []
    return [t.decode("utf-8", "surrogateescape") for t in node.attr["value"].tensor.string_val]


def _producer(tensor_name: str) -> str:
    """Return the operation that makes a tensor, or that a control edge leads to."""
    return tensor_name.removeprefix("^").partition(":")[0]
