"""The leaf layers of a model, nested models included, and their weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from unnest.core.architecture import is_model, read
from unnest.core.architecture.nested import LeafPath
from unnest.core.assign.flat_list import split
from unnest.core.model import Group, JsonObject, Tensor

Shape: TypeAlias = "tuple[int, ...]"
WeightsByLeaf: TypeAlias = "Mapping[LeafPath, tuple[Tensor, ...]]"


class TargetOptimizer(NamedTuple):
    """The optimizer of a compiled model: its class, the shape of each of its variables, in order, and its config.

    `trained` are the weights that it trains, in order: the leaf layer, and the position among its weights.
    """

    class_name: str
    shapes: tuple[Shape, ...]
    trained: tuple[tuple[LeafPath, int], ...] = ()
    config: JsonObject = MappingProxyType({})


class TargetModel(NamedTuple):
    """A built Keras 3 model that takes weights: its JSON, and the weight shapes of each leaf layer, in Keras's order.

    `shapes` has leaf layers with weights alone. `optimizer` is None for a model that is not compiled.
    """

    architecture: JsonObject
    shapes: Mapping[LeafPath, tuple[Shape, ...]]
    optimizer: TargetOptimizer | None = None


def weights_by_leaf(model: JsonObject, groups: Sequence[Group]) -> dict[LeafPath, tuple[Tensor, ...]]:
    """Return the weights of each leaf layer; `groups` bear the names of the layers of `model`.

    Raises:
        Ambiguous: a nested model's flat list fits its layers in no way, or in several.

    """
    return dict(_by_leaf(model, {g.name: g.tensors for g in groups}, ()))


def _by_leaf(
    model: JsonObject, shares: Mapping[str, tuple[Tensor, ...]], path: LeafPath
) -> Iterator[tuple[LeafPath, tuple[Tensor, ...]]]:
    for name, layer in read(model).layers.items():
        tensors = shares.get(name, ())
        if not is_model(layer.stored):
            yield (*path, name), tensors
            continue
        inner = split(tensors, read(layer.stored))
        yield from _by_leaf(layer.stored, {n: share.tensors for n, share in inner.items()}, (*path, name))


def groups_of(model: JsonObject, weights: WeightsByLeaf) -> tuple[Group, ...]:
    """Return one group per layer of `model`; a nested model's weights bear their layers' names as `owner`.

    Within a layer the order of `weights` stays, whatever is trained.
    """
    return tuple(
        Group(name, tuple(_of_layer(layer.stored, weights, (name,)))) for name, layer in read(model).layers.items()
    )


def _of_layer(entry: JsonObject, weights: WeightsByLeaf, path: LeafPath) -> Iterator[Tensor]:
    if not is_model(entry):
        for tensor in weights.get(path, ()):
            yield tensor._replace(owner=(*path[1:], *tensor.owner), trained=True)
        return
    for name, layer in read(entry).layers.items():
        yield from _of_layer(layer.stored, weights, (*path, name))
