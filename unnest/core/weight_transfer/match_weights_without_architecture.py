"""Weights that a file lists under names of layers, without an architecture, in the layers of a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from unnest.core.architecture import children, read, snake_case
from unnest.core.architecture.automatic_names import match_names_by_number, stem_and_number
from unnest.core.architecture.nested_models import Leaf, LeafPath, leaves
from unnest.core.keras_facts.stored_class_names import (
    current_class_name,
    is_keras_layer,
)
from unnest.core.keras_facts.weight_counts_by_config import expected_weight_counts
from unnest.core.layers.catalog import LAYER_RECORDS, layer_record
from unnest.core.model import Group, Json, JsonObject, Shape, Tensor
from unnest.core.weight_assignment.flat_list.divide_flat_list import (
    divide_flat_list,
    layers_placed_by_order,
)
from unnest.core.weight_assignment.flat_list.owners_by_weight_name import KERAS_1_WEIGHT_NAME
from unnest.core.weight_assignment.layer_groups.divide_by_architecture import divide_parallel_groups
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.weight_transfer.target_model import TargetModel

#: What Keras calls layers that have no name -> the class of today that has their weights.
CLASS_OF_STEM = {
    snake_case(name): layer.renamed_to or layer.successor or layer.name
    for layer in LAYER_RECORDS.values()
    for name in (layer.name, *layer.other_names)
}

#: How a layer is called here that no stored weight is named after: no name of a file can begin so.
UNNAMED = "\0"

LeafWeights: TypeAlias = "dict[LeafPath, tuple[Tensor, ...]]"


class ListedWeights(NamedTuple):
    """Weights of each leaf layer, and the layers that order alone, without names, gave theirs."""

    weights: LeafWeights
    by_order: tuple[str, ...] = ()


def listed_weights(
    groups: Sequence[Group], target: TargetModel, *, is_keras_1: bool
) -> ListedWeights:
    """Return the weights of each leaf layer of the target, of groups that bear the names of another program's layers.

    Groups stand for layers in order, one group for all layers of a parallel model's template. Names may differ by
    Keras's numbers; where they contradict the order, and shapes allow both, nothing is placed.

    Raises:
        Ambiguous: the groups fit the layers in no way, or in several; the message says which layer.

    """
    groups = [group for group in groups if group.tensors]
    within = [leaf for leaf in leaves(target.architecture) if target.shapes.get(leaf.path)]
    names = _names(groups, within)
    for units in (_by_layer(within), [[leaf] for leaf in within]):
        if len(units) == len(groups):
            return _of_groups(groups, units, names, is_keras_1=is_keras_1)
    if len(groups) < len(within):
        try:
            return _of_list(groups, within, names, 0, is_keras_1=is_keras_1)
        except Ambiguous as e:
            if len(groups) == 1:
                raise Ambiguous("; ".join([str(e), *_misfits(groups[0].tensors, target)])) from None
    raise Ambiguous(_other_number(groups, within, names))


def leaves_by_name(
    names: Iterable[str], target: TargetModel
) -> tuple[JsonObject, dict[str, LeafPath]]:
    """Return the target's layers with weights as a chain, and the path of each by its name there.

    They are called as those of `names`, of variables, of which each differs by Keras's number at most.

    Raises:
        Ambiguous: no variable is named after a layer.

    """
    within = [leaf for leaf in leaves(target.architecture) if target.shapes.get(leaf.path)]
    known = _names([Group("", tuple(Tensor(name, (), "", "") for name in names))], within)
    if missing := [leaf.name for leaf in within if leaf.path[-1] not in known]:
        raise Ambiguous(f"no variable is named after {missing[0]!r}, a layer of your model")
    path_by_name = {known[leaf.path[-1]]: leaf.path for leaf in within}
    entries = [
        _renamed(leaf, name, is_frozen=False, is_keras_1=False)
        for name, leaf in zip(path_by_name, within, strict=True)
    ]
    return {
        "class_name": "Sequential",
        "config": {"name": UNNAMED, "layers": entries},
    }, path_by_name


def layer_name(tensors: Sequence[Tensor]) -> str | None:
    """Return the last name before the weight's own that all of a layer's weights share; None where they share none."""
    names = {tensor.name.rpartition("/")[0].rpartition("/")[2] for tensor in tensors}
    return names.pop() or None if len(names) == 1 else None


def check_names(
    stored_names: Mapping[LeafPath, str | None], weights: Mapping[LeafPath, tuple[Tensor, ...]]
) -> None:
    """Raise Ambiguous where layers' names in the file say otherwise than their places, and shapes allow both."""
    known = {
        path: name for path, name in stored_names.items() if name is not None and weights.get(path)
    }
    by_name = match_names_by_number([path[-1] for path in known], known.values())
    path_of = {name: path for path, name in known.items()}
    shapes = {path: [t.shape for t in weights[path]] for path in known}
    for path, name in known.items():
        named = by_name.get(path[-1], name)
        if named != name and shapes[path_of[named]] == shapes[path]:
            raise Ambiguous(f"{name!r} stands in the place of {named!r}, which has the same shapes")


def _other_number(groups: Sequence[Group], within: Sequence[Leaf], names: Mapping[str, str]) -> str:
    """Return why file and model differ in their number of layers with weights, with the names that differ."""
    stored = {group.name for group in groups}
    missing = [leaf.name for leaf in within if names.get(leaf.path[-1]) not in stored]
    surplus = sorted(stored - {names.get(leaf.path[-1], "") for leaf in within})
    parts = [
        f"the file has weights of {len(groups)} layers, your model {len(within)} layers with weights"
    ]
    parts += (
        [f"not in the file: {', '.join(missing[:3])}"]
        if missing and len(missing) < len(within)
        else []
    )
    parts += (
        [f"not in your model: {', '.join(surplus[:3])}"]
        if surplus and len(surplus) < len(groups)
        else []
    )
    return "; ".join(parts)


def _misfits(tensors: Sequence[Tensor], target: TargetModel) -> Iterator[str]:
    """Yield the first weight of each side that has no counterpart of its shape on the other; none where all have."""
    own = [(path[-1], shape) for path, shapes in target.shapes.items() for shape in shapes]
    stored = [(tensor.name, tensor.shape) for tensor in tensors]
    for name, shape in _weights_without_match(own, stored)[:1]:
        yield f"your layer {name!r} needs a weight of shape {shape}, which the file lacks"
    for name, shape in _weights_without_match(stored, own)[:1]:
        yield f"no layer of yours takes {name!r} of the file, of shape {shape}"


def _weights_without_match(
    weights: Sequence[tuple[str, Shape]], others: Sequence[tuple[str, Shape]]
) -> list[tuple[str, Shape]]:
    """Return the weights left, in order, when each of the others has taken one of its shape."""
    takers = Counter(shape for _, shape in others)
    left = []
    for name, shape in weights:
        takers[shape] -= 1
        if takers[shape] < 0:
            left.append((name, shape))
    return left


def _by_layer(within: Iterable[Leaf]) -> list[list[Leaf]]:
    """Return the leaf layers grouped by the outermost model's layer that they are in."""
    units: dict[str, list[Leaf]] = {}
    for leaf in within:
        units.setdefault(leaf.path[0], []).append(leaf)
    return list(units.values())


def _names(groups: Sequence[Group], within: Sequence[Leaf]) -> dict[str, str]:
    """Leaf layer's name -> its name in the file, where they differ by Keras's numbers at most."""
    count = Counter(leaf.path[-1] for leaf in within)
    stored = [name for group in groups for name in (group.name, *_parts(group.tensors))]
    return {k: v for k, v in match_names_by_number(count, stored).items() if count[k] == 1}


def _parts(tensors: Iterable[Tensor]) -> Iterator[str]:
    """Yield the parts of weights' names before their own names."""
    for tensor in tensors:
        *parts, own = tensor.name.split("/")
        yield from parts
        if not parts and (old := re.fullmatch(KERAS_1_WEIGHT_NAME, own)):
            yield old[1]


def _of_groups(
    groups: Sequence[Group],
    units: Sequence[Sequence[Leaf]],
    names: Mapping[str, str],
    *,
    is_keras_1: bool,
) -> ListedWeights:
    """Return the weights of a file with one group for each layer, in order. Raises Ambiguous."""
    weights: LeafWeights = {}
    by_order: list[str] = []
    shapes = {group.name: [t.shape for t in group.tensors] for group in groups}
    for group, unit in zip(groups, units, strict=True):
        if len(unit[0].path) > 1:
            inner = _of_list([group], unit, names, 1, is_keras_1=is_keras_1)
            weights |= inner.weights
            by_order += inner.by_order
            continue
        (leaf,) = unit
        named = names.get(leaf.path[-1])
        if _is_of_other_class(group.name, leaf):
            raise Ambiguous(
                f"{group.name!r} stands where your model has the {leaf.layer.class_name} {leaf.name!r}"
            )
        if named is None:
            by_order.append(leaf.name)
        elif named != group.name and shapes.get(named) == shapes[group.name]:
            raise Ambiguous(
                f"{group.name!r} stands in the place of {named!r}, which has the same shapes"
            )
        weights[leaf.path], unnamed = _in_leaf(leaf, group.tensors, is_keras_1=is_keras_1)
        by_order += unnamed
    return ListedWeights(weights, tuple(by_order))


def _in_leaf(
    leaf: Leaf, tensors: tuple[Tensor, ...], *, is_keras_1: bool
) -> tuple[tuple[Tensor, ...], list[str]]:
    """Return the weights of a leaf layer, those of the model in a TimeDistributed with the layers that own them.

    The second value names the layers of that model that order alone gave theirs. Raises Ambiguous.
    """
    held = [model for _, model in children(leaf.layer.stored)]
    if (
        current_class_name(leaf.layer.class_name) != "TimeDistributed"
        or len(held) != 1
        or not tensors
    ):
        return tensors, []
    unit = [*leaves(held[0])]
    inner = _of_list(
        [Group("", tensors)], unit, _names([Group("", tensors)], unit), 0, is_keras_1=is_keras_1
    )
    owned = tuple(t._replace(owner=path) for path, own in inner.weights.items() for t in own)
    return owned, [f"{leaf.name}/{name}" for name in inner.by_order]


def _is_of_other_class(name: str, leaf: Leaf) -> bool:
    """Return True if a name is one that Keras gives to layers of another class."""
    kind = CLASS_OF_STEM.get(stem_and_number(name)[0])
    is_keras = is_keras_layer(leaf.layer)
    return kind is not None and is_keras and kind != current_class_name(leaf.layer.class_name)


def _of_list(
    groups: Sequence[Group],
    unit: Sequence[Leaf],
    names: Mapping[str, str],
    depth: int,
    *,
    is_keras_1: bool,
) -> ListedWeights:
    """Return the flat list of a nested model, which may stand before the groups of a head. Raises Ambiguous."""
    parts: dict[LeafPath, list[Leaf]] = {}
    for leaf in unit:
        parts.setdefault(leaf.path[: depth + 1], []).append(leaf)
    name_of = {leaf.path: names.get(leaf.path[-1], f"{UNNAMED}{k}") for k, leaf in enumerate(unit)}
    called = {path: name_of.get(path, f"{UNNAMED}{path[-1]}") for path in parts}
    frozen = _frozen(groups[0].tensors, parts, name_of)
    entries = [
        _entry(own, called[path], name_of, is_frozen=path in frozen, is_keras_1=is_keras_1)
        for path, own in parts.items()
    ]
    chain: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "your model", "layers": entries},
    }
    if len(groups) > 1:
        placed, without_names = divide_parallel_groups(groups, chain)
        shares = {group.name: group.tensors for group in placed}
    else:
        split_list = divide_flat_list(groups[0].tensors, read(chain))
        without_names = layers_placed_by_order(split_list, read(chain))
        shares = {name: share.tensors for name, share in split_list.items()}
    weights: LeafWeights = {}
    by_order: list[str] = []
    for path, own in parts.items():
        tensors = shares[called[path]]
        if len(own[0].path) > depth + 1:
            inner = _of_list([Group("", tensors)], own, names, depth + 1, is_keras_1=is_keras_1)
            weights |= inner.weights
            by_order += inner.by_order
            continue
        weights[path], unnamed = _in_leaf(own[0], tensors, is_keras_1=is_keras_1)
        by_order += unnamed
        by_order += ["/".join(path)] if called[path] in without_names else []
    _check_told(weights, by_order)
    return ListedWeights(weights, tuple(by_order))


def _check_told(weights: LeafWeights, by_order: Sequence[str]) -> None:
    """Raise Ambiguous for two layers of the same shapes that no names tell apart: either may have been frozen."""
    shapes = {"/".join(path): tuple(t.shape for t in tensors) for path, tensors in weights.items()}
    count = Counter(shapes[name] for name in by_order)
    doubt = next((name for name in by_order if count[shapes[name]] > 1), None)
    if doubt is not None:
        raise Ambiguous(
            f"no name says which weights are those of {doubt!r}, and the file has several of its shapes"
        )


def _frozen(
    tensors: Sequence[Tensor],
    parts: Mapping[LeafPath, Sequence[Leaf]],
    name_of: Mapping[LeafPath, str],
) -> set[LeafPath]:
    """Return the layers that were frozen when the list was written.

    A list has the trained weights of all layers in order, then the rest. The border is where a layer follows that
    stands earlier in the model; a layer without a weight before the border was frozen.
    """
    order = {name_of[leaf.path]: k for k, own in enumerate(parts.values()) for leaf in own}
    owners = [order.get(next((p for p in _parts([t]) if p in order), ""), -1) for t in tensors]
    if -1 in owners or not owners:
        return set()
    border = next((k for k in range(1, len(owners)) if owners[k] < owners[k - 1]), None)
    if border is None:
        statistics = {k for k, own in enumerate(parts.values()) if _has_statistics(own)}
        border = (
            0 if any(owner in statistics for owner in owners if owner < owners[-1]) else len(owners)
        )
    trained = set(owners[:border])
    return {path for k, path in enumerate(parts) if k not in trained}


def _has_statistics(own: Sequence[Leaf]) -> bool:
    told = [expected_weight_counts(leaf.layer.class_name, leaf.layer.config) for leaf in own]
    return any(each is not None and each.statistics for each in told)


def _entry(
    own: Sequence[Leaf],
    name: str,
    name_of: Mapping[LeafPath, str],
    *,
    is_frozen: bool,
    is_keras_1: bool,
) -> JsonObject:
    """Return a layer's entry as the file's program may have had it; a model becomes a chain of its leaf layers."""
    if len(own) == 1 and name_of[own[0].path] == name:
        return _renamed(own[0], name, is_frozen=is_frozen, is_keras_1=is_keras_1)
    layers = [
        _renamed(leaf, name_of[leaf.path], is_frozen=False, is_keras_1=is_keras_1) for leaf in own
    ]
    return {"class_name": "Sequential", "config": {"name": name, "layers": layers}}


def _renamed(leaf: Leaf, name: str, *, is_frozen: bool, is_keras_1: bool) -> JsonObject:
    """Return a leaf layer's entry under another name, frozen or not, without the names of its inner layers."""
    kind = leaf.layer.class_name
    if is_keras_1 and layer_record(kind).keras_1_gates:  # has three weights a gate
        config: Json = {"name": name, "init": "", "trainable": not is_frozen}
        return {"class_name": kind, "config": config}
    config = {**_without_names(leaf.layer.settings), "name": name, "trainable": not is_frozen}
    entry = {k: v for k, v in leaf.layer.stored.items() if k not in ("inbound_nodes", "name")}
    return {**entry, "config": config}


def _without_names(config: JsonObject) -> JsonObject:
    return {key: _bare_entry(value) if isinstance(value, dict) and "class_name" in value else value
            for key, value in config.items()}  # fmt: skip


def _bare_entry(entry: JsonObject) -> JsonObject:
    config = entry.get("config")
    if not isinstance(config, dict) or "layers" in config:
        return entry
    return {**entry, "config": {k: v for k, v in _without_names(config).items() if k != "name"}}
