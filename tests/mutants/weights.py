"""Weights that are missing, in another order, called otherwise or of another shape; judged by their positions.

Keras gives a layer its weights by their order in the file. So a tensor of the extraction must be the one that now lies
where the genuine file's lay, or nothing may be written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import TypeAlias

from unnest.core.model import Group, Stored, Tensor

Tensors: TypeAlias = tuple[Tensor, ...]
Change: TypeAlias = Callable[[Random, Tensors], "Tensors | None"]


def missing(random: Random, tensors: Tensors) -> Tensors | None:
    """One is gone."""
    at = random.randrange(len(tensors))
    return (*tensors[:at], *tensors[at + 1 :])


def surplus(random: Random, tensors: Tensors) -> Tensors | None:
    """One more than there are."""
    one = random.choice(tensors)
    return (*tensors, one._replace(name=one.name + "_more", ref=one.ref + "_more"))


def names_shuffled(random: Random, tensors: Tensors) -> Tensors | None:
    """Their names belong to others of them."""
    names = [t.name for t in tensors]
    random.shuffle(names)
    return tuple(t._replace(name=name) for t, name in zip(tensors, names, strict=True))


def names_lost(_: Random, tensors: Tensors) -> Tensors | None:
    """Numbers for names."""
    return tuple(t._replace(name=f"w{k}") for k, t in enumerate(tensors))


def two_change_places(random: Random, tensors: Tensors) -> Tensors | None:
    """Two of one shape lie in each other's place, with their names."""
    alike = [(a, b) for a in tensors for b in tensors if a.ref < b.ref and a.shape == b.shape]
    if not alike:
        return None
    one, other = random.choice(alike)
    return tuple({one.ref: other, other.ref: one}.get(t.ref, t) for t in tensors)


def shape(random: Random, tensors: Tensors) -> Tensors | None:
    """One has more rows."""
    at = random.randrange(len(tensors))
    wrong = tensors[at].shape
    if not wrong:
        return None
    return (
        *tensors[:at],
        tensors[at]._replace(shape=(wrong[0] + 1, *wrong[1:])),
        *tensors[at + 1 :],
    )


CHANGES: Mapping[str, Change] = {
    change.__name__.replace("_", " "): change
    for change in (missing, surplus, names_shuffled, names_lost, two_change_places, shape)
}
#: Changes after which Keras refuses the file: the layers do not get what their configs promise.
HOPELESS = frozenset({"missing", "surplus", "shape"})


def mutants(
    stored: Stored, template: str, name: str, each: int
) -> Iterator[tuple[str, Tensors, Stored]]:
    """(kind, the template's tensors as they now lie, the model) for a file of this name."""
    group = next((g for g in stored.groups if g.name == template), None)
    if group is None or not group.tensors:
        return
    for kind, change in CHANGES.items():
        tried: set[Tensors] = {group.tensors}
        for number in range(each):
            changed = change(Random(f"{name} {kind} {number}"), group.tensors)
            if changed is not None and changed not in tried:
                tried.add(changed)
                groups = tuple(
                    g._replace(tensors=changed) if g is group else g for g in stored.groups
                )
                yield kind, changed, stored._replace(groups=groups)


def fate(
    kind: str, before: Stored, now: Tensors, template: str, genuine: Stored, result: Stored | None
) -> str:
    """Return `refused`, `right`, `wrong`, or `as broken` (Keras refuses the output) for a mutant.

    `genuine` is what is taken out of the genuine file.
    """
    if result is None:
        return "refused"
    if kind in HOPELESS:
        return "as broken"
    was = next(g.tensors for g in before.groups if g.name == template)
    instead = {old.ref: new.ref for old, new in zip(was, now, strict=True)}
    if _refs(result.groups) == [
        [instead.get(r, r) for r in refs] for refs in _refs(genuine.groups)
    ]:
        return "right"
    return "wrong" if _shapes(result.groups) == _shapes(genuine.groups) else "as broken"


def is_told_by_names(before: Stored, template: str, genuine: Stored) -> bool:
    """Return True if names alone show which weight of the template is which.

    So it is where the weights are not in the order of the layers though no layer's config says that it is frozen (a
    Sequential of Keras 2.1 does not say it): then Keras itself, which goes by position, would load them mixed up.
    """
    lie = [t.ref for g in before.groups if g.name == template for t in g.tensors]
    belong = [ref for refs in _refs(genuine.groups) for ref in refs if ref in lie]
    return lie != belong and '"trainable": false' not in json.dumps(
        before.architecture, default=dict
    )


def _shapes(groups: tuple[Group, ...]) -> list[list[tuple[int, ...]]]:
    return [[t.shape for t in g.tensors] for g in groups]


def _refs(groups: tuple[Group, ...]) -> list[list[str]]:
    return [[t.ref for t in g.tensors] for g in groups]
