"""Results of recognition: the wrappers that were found, near misses, and the template, as reports show them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Scope: TypeAlias = Literal["whole", "head", "embedded"]


Confidence: TypeAlias = Literal["proven", "likely"]


class Wrapper(NamedTuple):
    """One wrapper that was found: slices, towers and merges around a template.

    `name` is that of the model that it makes up, None where that is not stored.
    """

    name: str | None
    template: str
    """The name of the model that each tower calls."""
    towers: int | None
    """The number of towers; None if weights alone do not show it."""
    scope: Scope
    """`whole`: from the model's inputs to its outputs; `head`: layers follow; `embedded`: inside a larger model."""
    merge: tuple[str, ...]
    """The layers that join the towers, one for each output."""
    depth: int
    """0 is the outermost."""
    confidence: Confidence
    """`proven` or `likely`."""
    evidence: tuple[str, ...]
    """Sentences."""


class NearMiss(NamedTuple):
    """The layer that comes nearest to being a merge, and one sentence that says why there is no wrapper around it."""

    layer: str
    """Its name."""
    reason: str
    """One sentence."""


class MixedRows(NearMiss):
    """A near miss with towers that weigh rows against each other: no other graph of the model can contradict it."""

    __slots__ = ()


class UnevenTowers(NearMiss):
    """A layer stands in some of the towers alone: they differ, whatever a graph that serves shows of it."""

    __slots__ = ()


class Template(NamedTuple):
    """The innermost template model, as a report shows it; None for what the file does not store."""

    class_name: str | None
    """The class, as in `Sequential`."""
    inputs: int | None
    """Number of input tensors."""
    outputs: int | None
    """Number of output tensors."""
    layers: int | None
    """Number of layers; a nested model is one."""
    parameters: int | None
    """Number of scalars in its weights."""
