"""The leaf layers of a model, nested models included, their weights, and names that differ by Keras's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from unnest.core.architecture import read
from unnest.core.architecture.nested_models import LeafPath, leaves
from unnest.core.model import Group, JsonObject, Tensor

WeightShape: TypeAlias = "tuple[int, ...]"

#: The first Keras that reads the layout of today's `.weights.h5`.
KERAS_3 = "3.0.0"

WeightsByLeaf: TypeAlias = "Mapping[LeafPath, tuple[Tensor, ...]]"


class TargetOptimizer(NamedTuple):
    """The optimizer of a compiled model: its class, the shape of each of its variables, in order, and its config.

    `trained` are the weights that it trains, in order: the leaf layer, and the position among its weights.
    """

    class_name: str
    shapes: tuple[WeightShape, ...]
    trained: tuple[tuple[LeafPath, int], ...] = ()
    config: JsonObject = MappingProxyType({})


class TargetModel(NamedTuple):
    """A built model of Keras 3 or tf_keras that takes weights: its JSON, and the weight shapes of each leaf layer.

    `shapes` has leaf layers with weights alone, these in Keras's order. `optimizer` is None for a model that is not
    compiled. `keras_version` is that of a tf_keras model, and for Keras 3 the first that reads the layout.
    """

    architecture: JsonObject
    shapes: Mapping[LeafPath, tuple[WeightShape, ...]]
    optimizer: TargetOptimizer | None = None
    keras_version: str = KERAS_3

    @property
    def is_keras_3(self) -> bool:
        """True for a model of Keras 3, False for one of tf_keras."""
        return self.keras_version.startswith("3.")


def groups_of(model: JsonObject, weights: WeightsByLeaf) -> tuple[Group, ...]:
    """Return one group per layer of `model`; a nested model's weights bear their layers' names as `owner`.

    Within a layer the order of `weights` stays, whatever is trained.
    """
    tensors_by_layer: dict[str, list[Tensor]] = {name: [] for name in read(model).layers}
    for path, _ in leaves(model):
        tensors_by_layer[path[0]] += [
            t._replace(owner=(*path[1:], *t.owner), trained=True) for t in weights.get(path, ())
        ]
    return tuple(Group(name, tuple(tensors)) for name, tensors in tensors_by_layer.items())
