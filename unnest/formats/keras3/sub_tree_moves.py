"""The moves of sub-trees of a path-keyed file that make the file of a model out of it: its template, for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import by_owner
from unnest.core.model import JsonObject, Tensor
from unnest.core.plan import Move
from unnest.formats.keras3.layer_paths import (
    counts_as_weighted,
    join_path,
)
from unnest.formats.keras3.shared_layers import SharedLayers
from unnest.formats.keras3.weights_from_paths import Placement


def moves_to(
    placement: Placement,
    model: JsonObject,
    shares: Mapping[str, tuple[Tensor, ...]],
    source_path: str,
    shared: SharedLayers | None = None,
) -> list[Move]:
    """Return the moves of sub-trees that make a tree of `model`; `placement` says where the input has them.

    `shares` are the weights of its layers by name, `source_path` is where the model itself (its own `vars`) was.
    `shared` are the layers that the models before this one have; None where the model's JSON makes each layer an
    object of its own.
    """
    return _Moves(placement, shared).of(model, shares, source_path, "")


class _Moves(NamedTuple):
    """The moves out of one file, model by model."""

    placement: Placement
    shared: SharedLayers | None

    def of(
        self,
        model: JsonObject,
        shares: Mapping[str, tuple[Tensor, ...]],
        source_path: str,
        target: str,
    ) -> list[Move]:
        """Return the moves of a model, and of those nested in it, from `source_path` to `target`."""
        moves = [Move(source_path, target, recursive=False)]
        tree, placed_paths = self.placement.tree, set[str]()

        def has_weights(layer: Layer, _: str) -> bool:
            return bool(shares.get(layer.name)) or counts_as_weighted(layer)

        for layer, path in tree.layers_numbered_as_written(
            model, target, has_weights, self._first_path
        ):
            if path in placed_paths or path.rpartition("/")[0] != join_path(target, tree.attribute):
                continue  # this model has it already, or one before it
            placed_paths.add(path)
            moves += self._of_layer(layer, shares.get(layer.name, ()), path)
        return moves

    def _first_path(self, layer: Layer, path: str) -> str | None:
        return None if self.shared is None else self.shared.first_path(layer, path, is_stored=False)

    def _of_layer(self, layer: Layer, tensors: Sequence[Tensor], target: str) -> list[Move]:
        source = self.placement.path_of(layer, tensors)
        if source is None:
            return [Move("", target, recursive=False, new_layer=layer.name)]
        if not layer.is_model:
            return self.placement.moves_of(layer, source, target)
        return self.of(layer.stored, by_owner(tensors), source, target)
