"""How a path-keyed file numbers the layers of a model."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

from unnest.core.model import JsonObject
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.keras3.path_tree import Tree

DEPENDENCIES = "_layer_checkpoint_dependencies"
#: Three Dense layers with weights and, between them, two of somebody's own class without.
MODEL: JsonObject = {
    "class_name": "Sequential",
    "config": {
        "name": "s",
        "layers": [
            {"class_name": kind, "config": {"name": f"layer_{k}", **({"units": 1} if kind == "Dense" else {})}}
            for k, kind in enumerate(("Dense", "Scale", "Dense", "Scale", "Dense"))
        ],
    },
}
ONCE = ["dense", "scale", "dense_1", "scale_1", "dense_2"]
TWICE = ["dense", "scale", "dense_2", "scale_1", "dense_4"]


def tree_of(path: Path, attribute: str, with_weights: list[str], version: str | None = None) -> Tree:
    """A file with these layers' weights, and the two layers without."""
    with h5py.File(path, "w") as file:
        for name in with_weights:
            file[f"{attribute}/{name}/vars/0"] = [1.0]
        for name in ("scale", "scale_1"):
            file.create_group(f"{attribute}/{name}/vars")
    return Tree(GuardedFile(str(path)), version)


@pytest.mark.parametrize(
    ("attribute", "with_weights", "version", "numbered"),
    [
        (DEPENDENCIES, ["dense", "dense_2", "dense_4"], None, TWICE),  # Keras 2.12 and 2.13
        (DEPENDENCIES, ["dense", "dense_1", "dense_2"], None, ONCE),  # Keras 2.14
        ("layers", ["dense", "dense_1", "dense_2"], None, ONCE),  # later
        # No number tells; the version does, where it is stored.
        (DEPENDENCIES, ["dense"], "2.14.0", ONCE),
        (DEPENDENCIES, ["dense"], "2.13.1", TWICE),
        (DEPENDENCIES, ["dense"], "2.12.0", TWICE),
        (DEPENDENCIES, ["dense"], None, TWICE),
    ],
)
def test_numbers(
    attribute: str, with_weights: list[str], version: str | None, numbered: list[str], tmp_path: Path
) -> None:
    """A layer of a class takes the next number; in Keras 2.12 and 2.13 the one after, behind a layer with weights."""
    tree = tree_of(tmp_path / "m.h5", attribute, with_weights, version)
    layers = tree.numbered(MODEL, "", lambda layer, _: layer.class_name == "Dense")
    assert [path for _, path in layers] == [f"{attribute}/{name}" for name in numbered]


def test_a_group_that_is_no_layer_tells_nothing(tmp_path: Path) -> None:
    """Numbers below an attribute of a layer, such as its cells, are counted once by every Keras."""
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as file:
        for name in ("dense/cells/lstm_cell", "dense/cells/lstm_cell_1", "dense_2"):
            file[f"{DEPENDENCIES}/{name}/vars/0"] = [1.0]
    assert Tree(GuardedFile(str(path))).counts_weights_twice
