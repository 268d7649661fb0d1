"""How a path-keyed file numbers the layers of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import pytest

from tests.unit.core.build import DENSE, functional, layer, nested, sequential, source
from unnest.core.architecture import read
from unnest.core.model import JsonObject
from unnest.core.plan import Move
from unnest.errors import Refused
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.keras3.path_keyed_tree import PathKeyedTree
from unnest.formats.keras3.sub_tree_moves import moves_to
from unnest.formats.keras3.weights_from_paths import Placement

DEPENDENCIES = "_layer_checkpoint_dependencies"
#: Three Dense layers with weights and, between them, two of a custom class without.
MODEL: JsonObject = {
    "class_name": "Sequential",
    "config": {
        "name": "s",
        "layers": [
            {
                "class_name": kind,
                "config": {"name": f"layer_{k}", **({"units": 1} if kind == "Dense" else {})},
            }
            for k, kind in enumerate(("Dense", "Scale", "Dense", "Scale", "Dense"))
        ],
    },
}
ONCE = ["dense", "scale", "dense_1", "scale_1", "dense_2"]
TWICE = ["dense", "scale", "dense_2", "scale_1", "dense_4"]


def tree_of(
    path: Path, attribute: str, with_weights: list[str], version: str | None = None
) -> PathKeyedTree:
    """A file with these layers' weights, and the two layers without."""
    with h5py.File(path, "w") as file:
        for name in with_weights:
            file[f"{attribute}/{name}/vars/0"] = [1.0]
        for name in ("scale", "scale_1"):
            file.create_group(f"{attribute}/{name}/vars")
    return PathKeyedTree(GuardedFile(str(path)), version)


@pytest.mark.parametrize(
    ("attribute", "with_weights", "version", "numbered"),
    [
        (DEPENDENCIES, ["dense", "dense_2", "dense_4"], None, TWICE),  # Keras 2.12 and 2.13
        (DEPENDENCIES, ["dense", "dense_1", "dense_2"], None, ONCE),  # Keras 2.14
        ("layers", ["dense", "dense_1", "dense_2"], None, ONCE),  # later
        # No number shows it; the version does, if stored.
        (DEPENDENCIES, ["dense"], "2.14.0", ONCE),
        (DEPENDENCIES, ["dense"], "2.13.1", TWICE),
        (DEPENDENCIES, ["dense"], "2.12.0", TWICE),
        (DEPENDENCIES, ["dense"], None, TWICE),
    ],
)
def test_numbers(
    attribute: str,
    with_weights: list[str],
    version: str | None,
    numbered: list[str],
    tmp_path: Path,
) -> None:
    """A layer of a class takes the next number; in Keras 2.12 and 2.13 the one after, behind a layer with weights."""
    tree = tree_of(tmp_path / "m.h5", attribute, with_weights, version)
    layers = tree.layers_numbered_as_written(
        MODEL, "", lambda layer, _: layer.class_name == "Dense"
    )
    assert [path for _, path in layers] == [f"{attribute}/{name}" for name in numbered]


def test_a_group_that_is_no_layer_tells_nothing(tmp_path: Path) -> None:
    """Numbers below an attribute of a layer, such as its cells, are counted once by every Keras."""
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as file:
        for name in ("dense/cells/lstm_cell", "dense/cells/lstm_cell_1", "dense_2"):
            file[f"{DEPENDENCIES}/{name}/vars/0"] = [1.0]
    assert PathKeyedTree(GuardedFile(str(path))).counts_weights_twice


INNER = sequential(layer("a", **DENSE), name="inner")
TWO_MODELS = functional(source("x"), nested(INNER, ["x"]), layer("y", ["inner"], **DENSE))
WEIGHTS = [
    f"layers/{path}/vars/{k}" for path in ("sequential/layers/dense", "dense") for k in (0, 1)
]


def placement(
    path: Path, model: dict[str, Any] = TWO_MODELS, weights: list[str] = WEIGHTS
) -> Placement:
    """Of a model in a file with these weights, and all groups around them."""
    with h5py.File(path / "m.h5", "w") as file:
        for weight in weights:
            file[weight] = [1.0]
        file.create_group("layers/input_layer/vars")
        file.create_group("vars")
    return Placement(PathKeyedTree(GuardedFile(str(path / "m.h5")), "3.15.0"), model)


def test_the_weights_of_each_layer(tmp_path: Path) -> None:
    """Those of a nested model bear its layers' names."""
    groups = {g.name: [(t.ref, t.owner) for t in g.tensors] for g in placement(tmp_path).groups}
    assert groups == {
        "x": [],
        "inner": [(w, ("a",)) for w in WEIGHTS[:2]],
        "y": [(w, ()) for w in WEIGHTS[2:]],
    }


def test_a_layer_is_found_by_its_weights(tmp_path: Path) -> None:
    """And by its name and class where it has none."""
    where = placement(tmp_path)
    layers = read(TWO_MODELS).layers
    by_name = {g.name: g.tensors for g in where.groups}
    assert where.path_of(layers["y"], by_name["y"]) == "layers/dense"
    assert where.path_of(layers["inner"], by_name["inner"]) == "layers/sequential"
    assert where.path_of(layers["x"], ()) == "layers/input_layer"


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (WEIGHTS[:2], "/layers/dense is not 'y'"),
        ([*WEIGHTS, "layers/gru/vars/0"], "/layers/gru/vars/0 is of no layer"),
    ],
)
def test_another_architecture(weights: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=said):
        placement(tmp_path, weights=weights)


def test_the_template_of_a_wrapper_moves_out(tmp_path: Path) -> None:
    where = placement(tmp_path)
    shares = {"a": tuple(t._replace(owner=()) for t in where.groups[1].tensors)}
    assert moves_to(where, INNER, shares, "layers/sequential") == [
        Move("layers/sequential", "", recursive=False),
        Move("layers/sequential/layers/dense", "layers/dense"),
    ]


def test_a_model_that_another_layer_has_stored(tmp_path: Path) -> None:
    """Nothing of it lies in the second that holds it, whose own group moves alone."""
    steps = [layer(name, kind="TimeDistributed", layer=INNER) for name in ("t", "u")]
    stored = [f"layers/time_distributed/layer/layers/dense/vars/{k}" for k in (0, 1)]
    groups = [f"layers/{name}/vars" for name in ("time_distributed", "time_distributed_1")]
    with h5py.File(tmp_path / "m.h5", "w") as file:
        for weight in stored:
            file[weight] = [1.0]
        for group in groups:
            file.create_group(group)
    model = sequential(*steps)
    where = Placement(PathKeyedTree(GuardedFile(str(tmp_path / "m.h5")), "2.21.0"), model)
    layers = read(model).layers
    first, second = (group.rpartition("/")[0] for group in groups)
    assert where.moves_of(layers["u"], second, "layers/b") == [Move(second, "layers/b")]
    assert Move(f"{first}/layer", "layers/a/layer") in where.moves_of(
        layers["t"], first, "layers/a"
    )
