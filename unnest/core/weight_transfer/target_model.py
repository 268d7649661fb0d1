"""The leaf layers of a model, nested models included, their weights, and names that differ by Keras's numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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


STEM_AND_NUMBER = re.compile(r"(.*?)(?:_([1-9]\d{0,5}))?", re.DOTALL)


def stem_and_number(name: str) -> tuple[str, int]:
    """Return a name without Keras's number, and the number, 0 for none."""
    stem, number = STEM_AND_NUMBER.fullmatch(name).groups()  # type: ignore[union-attr] # any text is so
    return stem, int(number or 0)


def renumbered(names: Iterable[str], other_names: Iterable[str]) -> Mapping[str, str]:
    """Return the other name of each name that differs by Keras's number at most, in the order of the numbers.

    Names of a stem that has more or fewer names on the other side have none.
    """
    by_stem, others = _by_stem(names), _by_stem(other_names)
    return {
        name: other
        for stem, own in by_stem.items()
        if len(own) == len(others.get(stem, ()))
        for name, other in zip(own, others[stem], strict=True)
    }


def _by_stem(names: Iterable[str]) -> dict[str, list[str]]:
    by_stem: dict[str, list[str]] = {}
    for name in sorted(dict.fromkeys(names), key=lambda name: stem_and_number(name)[1]):
        by_stem.setdefault(stem_and_number(name)[0], []).append(name)
    return by_stem
