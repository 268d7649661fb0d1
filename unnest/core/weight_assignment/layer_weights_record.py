"""The share of a model's weights that one layer owns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from unnest.core.model import Tensor


class Ambiguous(Exception):
    """The weights cannot be placed without doubt; the message says why."""


class LayerWeights(NamedTuple):
    """One layer's weights: the trained ones, then the rest, each in stored order.

    Not `sorted_out`: all of them stand under `trained`, because it has not been needed yet.
    """

    trained: tuple[Tensor, ...] = ()
    rest: tuple[Tensor, ...] = ()
    sorted_out: bool = True

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The layer's list as it is stored."""
        return self.trained + self.rest


def trained_first(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Return weights in the order in which Keras lists them: the trained ones, then the rest."""
    return tuple(sorted(tensors, key=lambda tensor: not tensor.trained))


def flat_list(shares: Iterable[LayerWeights]) -> tuple[Tensor, ...]:
    """Return the flat list that a nested model with these layers stores."""
    shares = list(shares)
    return tuple(t for s in shares for t in s.trained) + tuple(t for s in shares for t in s.rest)
