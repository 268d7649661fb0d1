"""Assign the weights of a flat list by their names alone, without an architecture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from unnest.core.model import Tensor

#: A weight's name in Keras 1: its layer's, and behind it the weight's own, which may hold an underscore itself.
#: (Source: the layers of Keras 1.2.2.)
OF_KERAS_1 = (
    r"(.+?)_(?:(?:[WUb]_(?:[icfozrh]|carry)|[at]_(?:left|right)|(?:depth|point)wise_kernel|running_(?:mean|std))(?::\d+)?"
    r"|[^_]*)"
)


def owners(tensors: Iterable[Tensor]) -> dict[str, tuple[Tensor, ...]]:
    """A flat list by the owner that each weight name bears, in order of first appearance.

    The owner is what stands before the first `/` (`dense_1` of `dense_1/kernel:0`) after a scope that
    all share; in Keras 1's spelling what stands before the weight's own name (`lstm_1` of `lstm_1_W_i`).
    """
    tensors = list(tensors)
    parts = [t.name.split("/") for t in tensors]
    while all(p[0] == parts[0][0] and p[2:] for p in parts) and len({p[1] for p in parts}) > 1:
        parts = [p[1:] for p in parts]
    found: dict[str, list[Tensor]] = {}
    for tensor, (owner, *rest) in zip(tensors, parts, strict=True):
        of_keras_1 = None if rest else re.fullmatch(OF_KERAS_1, owner)
        found.setdefault(of_keras_1[1] if of_keras_1 else owner, []).append(tensor)
    for longer in [o for o in found if _belongs_to_shorter(o, found)]:
        found[_belongs_to_shorter(longer, found) or longer] += found.pop(longer)
    return {owner: tuple(own) for owner, own in found.items()}


def _belongs_to_shorter(owner: str, found: Mapping[str, Sequence[Tensor]]) -> str | None:
    """Keras 1 writes `bn_1_gamma` and `bn_1_running_mean`: one owner, if all are of one shape."""
    for at in (at for at, letter in enumerate(owner) if letter == "_"):
        other, rest = owner[:at], owner[at + 1 :]
        own = found.get(other)
        if own and not rest.isdigit() and "/" not in own[0].name:
            shapes = {t.shape for t in (*own, *found[owner])}
            if len(shapes) == 1:
                return other
    return None
