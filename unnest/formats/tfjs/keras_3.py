"""A `.keras` of Keras 3 that was converted: weights by their paths, and configs without the modules of classes.

What is made of it is the model as Keras 3's own `.h5` has it, in which classes have no modules either.
(Source: h5_v3_merged_saved_model_to_tfjs_format of tensorflowjs 4.22.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from unnest.core.model import Stored
from unnest.formats.hdf5.attributes import Attributes
from unnest.formats.hdf5.index import DatasetNode
from unnest.formats.keras3.path_order import as_h5_lists
from unnest.formats.keras3.path_placement import Placement
from unnest.formats.keras3.path_tree import Tree
from unnest.formats.tfjs.manifest import WeightEntry

COMPILE = "compile_config"


class ManifestIndex:
    """The weights of a manifest as the index of a path-keyed file, which had them under these names."""

    def __init__(self, path: str, entries: Iterable[WeightEntry]) -> None:
        self.path = path
        self.datasets = {e.name: DatasetNode(e.name, e.shape, e.dtype, 0, e.size) for e in entries}
        parts = (name.split("/")[:-1] for name in self.datasets)
        self.groups = {"/".join(path[:depth]) for path in parts for depth in range(len(path) + 1)} | {""}

    def attributes(self, path: str) -> Attributes:
        """The converter leaves them out."""
        return MappingProxyType({})


def stored_by_path(path: str, stored: Stored, entries: Sequence[WeightEntry]) -> Stored:
    """The model with its weights by layer, in Keras's order, and its optimizer's state. Raises Refused."""
    assert stored.architecture is not None
    training = stored.architecture.get(COMPILE)
    architecture = {key: value for key, value in stored.architecture.items() if key != COMPILE}
    tree = Tree(ManifestIndex(path, entries), stored.keras_version)
    model = stored._replace(
        architecture=architecture,
        training=training if isinstance(training, Mapping) and training else None,
        groups=Placement(tree, architecture).groups,
        optimizer=tree.optimizer(),
    )
    return as_h5_lists(model)
