"""Layers that several models of one file share: a saver stores their weights once, at the first place that it meets.

The walk is depth first, in the order of the models' layers. The JSON notes a layer that is met again by
`shared_object_id`. The first place bears the number too where both are in one model; where the first is within a nested
model, whose config is a copy by then, it does not.
(Source: `.keras` files of Keras 2.15, 3.15 and tf_keras 2.16.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from unnest.core.architecture import is_input, is_model, read
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.model_json_as_saved_alone import SHARED_OBJECT_ID, without_numbers
from unnest.core.model import JsonObject
from unnest.errors import Refused


class _Met(NamedTuple):
    """A layer at the first place where a walk met it."""

    layer: Layer
    path: str


class SharedLayers:
    """The layers that a saver's walk has met so far, and where each of them was first."""

    def __init__(self) -> None:
        self._met: dict[tuple[str, str], list[_Met]] = {}

    def first_path(self, layer: Layer, path: str, *, is_stored: bool) -> str | None:
        """Return the path at which this layer was met before; None, and remember it, if it is met for the first time.

        `path`: its own place. `is_stored`: the file shows that it is there.

        Raises:
            Refused: several layers that were met before are alike.

        """
        number = layer.stored.get(SHARED_OBJECT_ID)
        met = self._met.setdefault((layer.name, layer.class_name), [])
        if isinstance(number, int) and not is_stored and not is_input(layer.stored):
            config = without_numbers(layer.config)
            alike = [each for each in met if without_numbers(each.layer.config) == config]
            numbered = [each for each in alike if each.layer.stored.get(SHARED_OBJECT_ID) == number]
            paths = [
                each.path
                for each in numbered or alike
                if each.layer.stored.get(SHARED_OBJECT_ID) in (None, number)
            ]
            if len(paths) > 1:
                raise Refused(
                    "ambiguous",
                    f"{layer.name!r} is shared with one of /{', /'.join(paths)}, which are alike",
                )
            if paths:
                return paths[0]
        met.append(_Met(layer, path))
        return None


def with_separate_layers(model: JsonObject) -> JsonObject:
    """Return the model without the marks of shared layers, so that its JSON is read as separate layers."""
    config = model.get("config")
    if not is_model(model) or not isinstance(config, Mapping):
        return model
    entries = [with_separate_layers(layer.stored) for layer in read(model).layers.values()]
    layers = [{k: v for k, v in entry.items() if k != SHARED_OBJECT_ID} for entry in entries]
    return {**model, "config": {**config, "layers": layers}}
