"""What the call of an operation layer says, read in every dialect: a function and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from unnest.core.architecture.graph import Call, Layer
from unnest.core.model import Json, JsonObject
from unnest.core.recognise.operations import node_def


class Said(NamedTuple):
    """A function's name without its dialect's decoration, and its arguments as they are stored."""

    name: str
    args: Sequence[Json]
    kwargs: JsonObject


def said(layer: Layer, call: Call) -> Said | None:
    """What an operation layer's call says; None for real layers, stored code, and forms not known."""
    config = layer.settings
    if "node_def" in config:
        return _of_node_def(node_def(config["node_def"]), config, call.stored)
    if isinstance(config.get("function"), str) and "arguments" not in config:
        return _of_function(str(config["function"]), call.stored)
    if "trainable" not in config and isinstance(call.stored, Mapping):
        return _of_keras_3(layer.class_name, config, call.stored)
    return None


def _plain(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").lower()


def _of_function(function: str, stored: Json) -> Said | None:
    """`["x", 0, 0, {...}]`, or a list of these where the first argument is a list."""
    if not isinstance(stored, Sequence) or isinstance(stored, str) or not stored:
        return None
    several = not isinstance(stored[0], str)
    nodes_of_first = stored if several else [stored]
    first: list[Json] = []
    kwargs: JsonObject = {}
    for node in nodes_of_first:
        if not isinstance(node, Sequence) or isinstance(node, str) or len(node) not in (3, 4):
            return None
        first.append(node[2] if node[0] == "_CONSTANT_VALUE" else node[:3])
        kwargs = next((part for part in node[3:] if isinstance(part, Mapping)), kwargs)
    return Said(_plain(function), [first if several else first[0]], kwargs)


def _of_keras_3(class_name: str, config: JsonObject, stored: JsonObject) -> Said | None:
    args, kwargs = stored.get("args"), stored.get("kwargs", {})
    if not isinstance(args, Sequence) or isinstance(args, str) or not isinstance(kwargs, Mapping):
        return None
    name = _plain(class_name)
    return Said(f"k3{name}" if name in SAME_NAME else name, args, {**config, **kwargs})


SAME_NAME = ("slice", "split")
"""Keras 3's classes whose arguments are not those of TensorFlow's function of that name."""


def _of_node_def(node: JsonObject | None, config: JsonObject, stored: Json) -> Said | None:
    """Inputs go by number: the constants are numbered, the layer's inputs fill the rest."""
    node = node or {}
    inputs, constants, attributes = node.get("input"), config.get("constants") or {}, node.get("attr") or {}
    if not isinstance(inputs, list) or not isinstance(stored, Sequence) or not stored:
        return None
    if not isinstance(constants, Mapping) or not isinstance(attributes, Mapping):
        return None
    refs = iter([stored] if isinstance(stored[0], str) else stored)
    count = sum(1 for name in inputs if not str(name).startswith("^"))
    known = {str(k): v for k, v in constants.items()}
    args = [known[str(n)] if str(n) in known else _tensor(next(refs, None)) for n in range(count)]
    op = str(node.get("op"))
    attrs = {str(key): _attribute(value) for key, value in attributes.items()}
    return NODES[op](args, attrs) if op in NODES else Said(op.lower(), args, {})


def _tensor(ref: Json) -> Json:
    return ref[:3] if isinstance(ref, Sequence) else ref


def _attribute(value: Json) -> Json:
    """`{"i": "1"}` and its like: JSON spells whole numbers as text."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return None
    ((kind, inner),) = value.items()
    if kind == "list":
        found = inner.get("i") if isinstance(inner, Mapping) else None
        return [int(str(i)) for i in found] if isinstance(found, Sequence) else []
    return int(str(inner)) if kind == "i" else inner


def _strided(args: Sequence[Json], attrs: JsonObject) -> Said:
    masks = {k: v for k, v in attrs.items() if k.endswith("_mask")}
    return Said("stridedslice", [args[0], list(args[1:4]), masks], {})


NODES: dict[str, Callable[[Sequence[Json], JsonObject], Said]] = {
    "Split": lambda x, a: Said("split", [x[1], a.get("num_split"), x[0]], {}),
    "SplitV": lambda x, _: Said("split", x, {}),
    "ConcatV2": lambda x, _: Said("concat", [list(x[:-1]), x[-1]], {}),
    "Concat": lambda x, _: Said("concat", [list(x[1:]), x[0]], {}),
    "Pack": lambda x, a: Said("stack", [list(x), a.get("axis", 0)], {}),
    "Unpack": lambda x, a: Said("unstack", [x[0], a.get("num"), a.get("axis", 0)], {}),
    "GatherV2": lambda x, a: Said("gather", x[:2], {"axis": x[2], "batch_dims": a.get("batch_dims", 0)}),
    "StridedSlice": _strided,
    "Squeeze": lambda x, a: Said("squeeze", x, {"axis": a.get("squeeze_dims") or None}),
    "Cast": lambda x, a: Said("cast", [x[0], a.get("DstT")], {}),
    "DynamicPartition": lambda x, a: Said("dynamicpartition", [*x, a.get("num_partitions")], {}),
    "Cumsum": lambda x, a: Said("cumsum", x, {k: a.get(k) for k in ("exclusive", "reverse")}),
    "DynamicStitch": lambda x, _: Said("dynamicstitch", [list(x[: len(x) // 2]), list(x[len(x) // 2 :])], {}),
    "ParallelDynamicStitch": lambda x, _: Said("dynamicstitch", [list(x[: len(x) // 2]), list(x[len(x) // 2 :])], {}),
    "Mean": lambda x, a: Said("reducemean", x, {"keepdims": a.get("keep_dims")}),
    "AddN": lambda x, _: Said("addn", [list(x)], {}),
    "Sum": lambda x, a: Said("reducesum", x, {"keepdims": a.get("keep_dims")}),
    "Prod": lambda x, a: Said("reduceprod", x, {"keepdims": a.get("keep_dims")}),
}
"""Operations whose inputs and attributes are in another order than the arguments of the function."""
