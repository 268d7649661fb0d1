"""A model with its weights, layer by layer or as one flat list; and such a model without its wrappers (`Unwrapped`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from unnest.core.architecture import read
from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.weight_counts_by_config import trained_count
from unnest.core.model import JsonObject, Tensor
from unnest.core.recognition_results import NearMiss, Template, Wrapper
from unnest.core.weight_assignment.flat_list.divide_flat_list import divide_flat_list
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights, flat_list
from unnest.findings import Finding


class ModelWithWeights(NamedTuple):
    """A model with its weights: by layer if that is known, else as one flat list.

    A nested model's weights are stored flat, and stay so until they are needed by layer, unless the container stores
    their owners: then they are `owned`.
    """

    model: JsonObject
    groups: Mapping[str, LayerWeights] | None = None
    flat: LayerWeights = LayerWeights()
    owned: bool = False

    @classmethod
    def of_nested(cls, model: JsonObject, weights: LayerWeights) -> ModelWithWeights:
        """Return a nested model with the weights that the container stores for it. Raises Ambiguous."""
        if weights.tensors and all(t.owner for t in weights.tensors):
            return cls(model, divide_flat_list(weights.tensors, read(model)), owned=True)
        return cls(model, flat=weights)

    def by_layer(self) -> Mapping[str, LayerWeights]:
        """Layer name -> its weights. Raises Ambiguous."""
        return (
            divide_flat_list(self.flat.tensors, read(self.model))
            if self.groups is None
            else self.groups
        )

    def as_flat_list(self) -> LayerWeights:
        """Return the weights as a nested model stores them."""
        if self.groups is None:
            return self.flat
        shares = [self._share(name) for name in read(self.model).layers]
        trained = tuple(t for share in shares for t in share.trained)
        return LayerWeights(trained, flat_list(shares)[len(trained) :])

    def _share(self, name: str) -> LayerWeights:
        """Return a layer's weights in the order of the model's flat list, with owners if the container names them."""
        share = (self.groups or {}).get(name, LayerWeights())
        if not self.owned:
            return share
        trained, rest = (
            [t._replace(owner=(name, *t.owner)) for t in part]
            for part in (share.trained, share.rest)
        )
        return share._replace(trained=(*trained,), rest=(*rest,))

    def of_layer(self, name: str) -> LayerWeights | None:
        """Return one layer's weights, or None if they are in doubt."""
        try:
            return self.by_layer().get(name)
        except Ambiguous:
            return None

    def with_layer(self, old: str, new: str, share: LayerWeights) -> ModelWithWeights:
        """Return the weights by layer with one layer's name and weights exchanged; a flat list stays unchanged."""
        if self.groups is None:
            return self
        groups = {new if name == old else name: group for name, group in self.groups.items()}
        return self._replace(groups={**groups, new: share})

    def trained_in_order(self) -> list[Tensor] | None:
        """Return the weights for which the optimizer has state, each once, in its order; None if in doubt."""
        layers = read(self.model).layers
        by_layer = [
            _trained(layers[name], share)
            for name, share in self.by_layer().items()
            if name in layers
        ]
        known = [trained for trained in by_layer if trained is not None]
        once = {t.ref: t for trained in known for t in trained}
        return [*once.values()] if len(known) == len(by_layer) else None


def _trained(layer: Layer, share: LayerWeights) -> tuple[Tensor, ...] | None:
    """Return a layer's trained weights; None if neither they nor its config show which those are."""
    if share.sorted_out or not share.tensors:
        return share.trained
    if layer.is_model:
        try:
            shares = divide_flat_list(share.tensors, read(layer.stored))
        except Ambiguous:
            return None
        return tuple(t for inner in shares.values() for t in inner.trained)
    count = trained_count(layer, len(share.tensors))
    return None if count is None else share.tensors[:count]


class Unwrapped(NamedTuple):
    """A top-level model without its wrappers, and what was found on the way.

    `left` is what is left of the model, with its weights; `template` the innermost template. `outputs` leads from the
    output names of the parallel model to those of `left`, as Keras compiles for them, `positions` from its outputs to
    those of `left` by number; `moved`: layers stand in another
    order than before; `removed`: names of the slice and merge layers that are gone; `refusal` is why the weights
    cannot be placed, and then `left` is the parallel model itself.
    """

    left: ModelWithWeights
    wrappers: tuple[Wrapper, ...]
    template: Template | None
    findings: tuple[Finding, ...]
    outputs: Mapping[str, str]
    positions: tuple[int, ...]
    moved: bool
    removed: frozenset[str]
    refusal: str | None
    near_misses: tuple[NearMiss, ...] = ()
