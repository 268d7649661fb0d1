"""The h5 layout with lists of names: where the layers of a file are, whatever they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import makeh5
from unnest.formats.hdf5.legacy_h5_reader import H5Source
from unnest.formats.open_container import open_plain_hdf5

#: The groups of a whole model's file, and the names of attributes and groups of other layouts.
LAYER_NAMES = ("model_weights", "optimizer_weights", "top_level_model_weights", "layers", "vars")


@pytest.mark.parametrize("name", LAYER_NAMES)
def test_a_layer_may_be_called_as_a_group_of_the_layout(tmp_path: Path, name: str) -> None:
    """Weights alone list their layers at the root, so that no name there says that a file is a whole model's."""
    path = makeh5.write(tmp_path / "w.h5", None, {"first": makeh5.dense(), name: makeh5.dense()})
    with H5Source(str(path)) as source:
        stored = source.stored
    assert stored.contents == "weights"
    assert [group.name for group in stored.groups] == ["first", name]
    assert [tensor.shape for tensor in stored.groups[1].tensors] == [(4, 2), (2,)]
    assert stored.optimizer is None
    read_fast = open_plain_hdf5(str(path))
    assert read_fast is not None
    assert read_fast.stored.groups == stored.groups


def test_a_whole_model_keeps_its_layers_below_model_weights(tmp_path: Path) -> None:
    """There a layer of that name is one below it."""
    graph = makeh5.template()
    path = makeh5.write(tmp_path / "m.h5", graph, {"x": [], "model_weights": makeh5.dense()})
    with H5Source(str(path)) as source:
        assert source.stored.contents == "model"
        assert [group.name for group in source.stored.groups] == ["x", "model_weights"]
