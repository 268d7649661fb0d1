"""Common to a `.keras` zip and its unzipped folder: the names of the members, and the model that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from unnest.core.architecture import is_model
from unnest.core.make_plan import plan
from unnest.core.model import JsonObject, Stored
from unnest.core.plan import Choices, Plan
from unnest.formats.container_interface import MARK
from unnest.formats.keras3.path_keyed_source import NOTHING_MOVED, PathKeyedSource
from unnest.formats.keras3.path_keyed_tree import PathKeyedTree
from unnest.formats.keras3.shared_layers import SharedLayers

CONFIG, METADATA, WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
#: The folder of the files that layers keep beside their weights.
ASSETS = "assets"
COMPILE = "compile_config"
MAX_JSON = 64 << 20


class KerasModelSource(PathKeyedSource):
    """A whole model with its own architecture."""

    container: ClassVar = "keras"

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """Plan with the file's own architecture; a given one is for weights alone."""
        assert self.stored.architecture is not None
        if not is_model(self.stored.architecture):
            return self.carrying(plan(self.stored, choices=choices), NOTHING_MOVED)
        return self.plan_model(self.stored, choices=choices)

    @property
    def assets(self) -> tuple[str, ...]:
        """The files of the layers."""
        return tuple(n for n in self.members if n.startswith(ASSETS + "/") and not n.endswith("/"))

    def vocabulary_members(self) -> Iterator[tuple[str, str]]:
        """Yield each layer with a vocabulary below its path: the one that the layer has in the model that was saved."""
        stored = {*self.members}
        if self.stored.architecture is not None:
            for name, path in _layer_paths(self.tree, self.stored.architecture, "", SharedLayers()):
                if (member := f"{ASSETS}/{path}/vocabulary.txt") in stored:
                    yield name, member


def _layer_paths(
    tree: PathKeyedTree, model: JsonObject, prefix: str, shared: SharedLayers
) -> Iterator[tuple[str, str]]:
    for layer, path in tree.layers_with_paths(model, prefix, shared):
        yield layer.name, path
        if layer.is_model:
            yield from _layer_paths(tree, layer.stored, path, shared)


def stored_model(config: JsonObject, metadata: JsonObject, tree: PathKeyedTree) -> Stored:
    """Return the model without its layers' weights, which a plan places."""
    training, version = config.get(COMPILE), metadata.get("keras_version")
    return Stored(
        "model",
        {k: v for k, v in config.items() if k != COMPILE},
        training if isinstance(training, Mapping) else None,
        optimizer=tree.optimizer(),
        keras_version=version if isinstance(version, str) else None,
        is_ours=MARK in metadata,
        is_of_windows=tree.hdf5.is_of_windows,
    )
