"""References to tensors in the calls of layers, in the spelling of each dialect.

    Keras 1        ["layer", node, tensor]
    Keras 2        ["layer", node, tensor, {"argument": ...}]      arguments may hold more of them
    op layers      the same, bare instead of in a list, with constants as ["_CONSTANT_VALUE", -1, value, {...}]
    Keras 3        {"class_name": "__keras_tensor__", "config": {..., "keras_history": ["layer", node, tensor]}}

All of them are found, and replaced, by one walk over whatever structure they sit in.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TypeAlias

from unnest.budget import charge_steps
from unnest.core import json_tree
from unnest.core.json_tree import OBJECT, is_list
from unnest.core.model import Json, JsonObject

#: Steps of the budget (`unnest.budget`) for each object and list of a node, whenever it is looked through.
STEPS_A_PART = 5

RawRef: TypeAlias = tuple[str, int, int]
"""Layer, node and tensor as the file numbers them."""

#: Entries of a reference as Keras 1 and 2 store it: without and with call arguments.
REF_LENGTHS = (3, 4)

KERAS_3_TENSOR = "__keras_tensor__"


def is_keras_3(node: Json) -> bool:
    """Return True if a stored node has Keras 3's form, `{"args": ..., "kwargs": ...}`."""
    return json_tree.is_object(node) and "args" in node


def keras_3(
    history: Json, shape: Sequence[int | None], dtype: str, kwargs: Mapping[str, Json]
) -> Json:
    """Return a Keras 3 call on one tensor; `history` is [layer, node, tensor], `dtype` is like `float32`."""
    tensor = {"shape": list(shape), "dtype": dtype, "keras_history": history}
    return {"args": [{"class_name": KERAS_3_TENSOR, "config": tensor}], "kwargs": kwargs}


def with_dtype(node: Json, history: Json, dtype: str) -> Json:
    """Return a Keras 3 node with another `dtype` in the tensor spec that has this `keras_history`."""

    def change(spec: JsonObject) -> JsonObject:
        return {**spec, "dtype": dtype} if spec.get("keras_history") == history else spec

    return _with_tensor_specs(node, change)


def with_rows(node: Json, rows: int) -> Json:
    """Return a Keras 3 node in which every tensor spec with a fixed batch has a batch of `rows`."""

    def change(spec: JsonObject) -> JsonObject:
        shape = spec.get("shape")
        is_fixed = isinstance(shape, list) and shape and shape[0] is not None
        return (
            {**spec, "shape": [rows, *shape[1:]]} if isinstance(shape, list) and is_fixed else spec
        )

    return _with_tensor_specs(node, change)


def _with_tensor_specs(node: Json, change: Callable[[JsonObject], JsonObject]) -> Json:
    """Return the node with each tensor spec (`config` of a `__keras_tensor__`) changed."""

    def changed(part: JsonObject, parts: dict[str, Json]) -> Json:
        spec = part.get("config")
        is_tensor = part.get("class_name") == KERAS_3_TENSOR and isinstance(spec, OBJECT)
        return {**part, "config": change(spec)} if is_tensor and isinstance(spec, OBJECT) else parts

    return json_tree.transform(node, changed)


def reads(node: Json, layers: Container[str]) -> list[RawRef]:
    """Return every tensor that a stored node, or a model's list of inputs or outputs, refers to, in textual order.

    Those of a dictionary stand in the order of its keys (source: Keras, and TensorFlow's `nest`, flatten it so).
    `layers` are the names that a reference can have: what looks like one otherwise is an argument.
    """
    refs: list[RawRef] = []

    def collect(ref: RawRef) -> RawRef:
        refs.append(ref)
        return ref

    rewrite(node, layers, collect)
    return refs


def noted_shapes(
    node: Json, layers: Container[str]
) -> Iterator[tuple[RawRef, tuple[int | None, ...]]]:
    """Yield the tensors of a stored node whose shape Keras 3 notes beside them, with it; an unknown size is None.

    Keras 3 cannot note that a rank is unknown. `--keras 3` notes such a tensor, behind a custom class, as a scalar, so
    a scalar's shape is not believed.
    """
    for part in json_tree.objects(node):
        spec = part.get("config") if part.get("class_name") == KERAS_3_TENSOR else None
        shape = spec.get("shape") if isinstance(spec, json_tree.OBJECT) else None
        if isinstance(shape, (list, tuple)) and shape:
            for ref in reads(part, layers):
                yield ref, tuple(size if isinstance(size, int) else None for size in shape)


def rewrite(node: Json, layers: Container[str], change: Callable[[RawRef], RawRef]) -> Json:
    """Return the structure with every tensor reference replaced by `change`; parts without one are the same objects."""
    # Most are, and asking an abstract class takes its time.
    if node is None or isinstance(node, (str, int, float)):
        return node
    charge_steps(STEPS_A_PART)
    if type(node) is not list and isinstance(node, OBJECT):
        return _rewrite_mapping(node, layers, change)
    if _is_ref(node, layers):
        name, number, tensor = change((str(node[0]), _int(node[1]), _int(node[2])))
        return [name, number, tensor, *(rewrite(rest, layers, change) for rest in node[3:])]
    parts = [rewrite(part, layers, change) for part in node]
    return node if all(a is b for a, b in zip(parts, node, strict=True)) else parts


def without_tensors(node: Json, layers: Container[str]) -> Json:
    """Return a call's arguments beside its tensors (`training=True`), to be compared: every tensor is null."""
    if type(node) in json_tree.LEAVES:
        return node
    if json_tree.is_object(node):
        if node.get("class_name") == KERAS_3_TENSOR:
            return None
        return {key: without_tensors(part, layers) for key, part in node.items()}
    if not is_list(node):
        return node
    if _is_ref(node, layers):
        return [None, *(without_tensors(arguments, layers) for arguments in node[3:] if arguments)]
    return [without_tensors(part, layers) for part in node]


def _rewrite_mapping(
    node: Mapping[str, Json], layers: Container[str], change: Callable[[RawRef], RawRef]
) -> Json:
    """Return a stored object with its references rewritten; a Keras 3 tensor is one reference."""
    if node.get("class_name") == KERAS_3_TENSOR:
        config = node.get("config")
        history = config.get("keras_history") if isinstance(config, OBJECT) else None
        if isinstance(config, OBJECT) and isinstance(history, list) and _is_ref(history, layers):
            return {**node, "config": {**config, "keras_history": rewrite(history, layers, change)}}
        return node
    if not node:  # as most arguments of calls
        return node
    parts = {key: rewrite(node[key], layers, change) for key in sorted(node)}
    return (
        node if all(parts[key] is node[key] for key in parts) else {key: parts[key] for key in node}
    )


def is_ref(node: Json, layers: Container[str]) -> bool:
    """Return True if a value is one tensor reference of Keras 1 or 2."""
    return is_list(node) and _is_ref(node, layers)


def has_negative_index(node: Json, layers: Container[str]) -> bool:
    """Return True if an entry of a Keras 1 or 2 node has negative numbers; entries are references, not settings."""
    # Asking an abstract class takes its time, and these are asked of every node.
    if not isinstance(node, list):
        return False
    for entry in node:
        if not isinstance(entry, list) or len(entry) not in REF_LENGTHS:
            continue
        name, number, tensor = entry[:3]
        below = (isinstance(number, int) and number < 0) or (isinstance(tensor, int) and tensor < 0)
        if below and isinstance(name, str) and name in layers:
            return True
    return False


def _is_ref(node: Sequence[Json], layers: Container[str]) -> bool:
    if len(node) not in REF_LENGTHS:
        return False
    name, number, tensor = node[:3]
    return (
        isinstance(name, str)
        and name in layers
        and _is_count(number)
        and _is_count(tensor)
        and all(isinstance(part, OBJECT) for part in node[3:])
    )


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _int(value: Json) -> int:
    assert isinstance(value, int)
    return value
