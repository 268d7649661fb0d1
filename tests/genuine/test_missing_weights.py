"""A weight that is not in the file: no container makes a model of the others, which Keras would refuse or fill in."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import h5py
import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.judged import check_verdict
from tests.makebundle import altered

#: What is called a layer's last statistic, in names and in paths.
STATISTIC = "moving_variance"

#: (the damaged file, options of fix).
Damaged: TypeAlias = tuple[Path, dict[str, Any]]


def without_name(group: h5py.Group) -> None:
    """A group of an .h5 without the last statistic, in its list of names and beside it."""
    names = [n.decode() if isinstance(n, bytes) else n for n in group.attrs["weight_names"]]
    (gone,) = [n for n in names if n.endswith(f"{STATISTIC}:0")]
    del group[gone]
    group.attrs["weight_names"] = np.array([n.encode() for n in names if n != gone])


def _h5(to: Path) -> Damaged:
    path = Path(
        shutil.copy(FIXTURES / "tf215/deviceslice-named-x1-sgdm-head/parallel.h5", to / "m.h5")
    )
    with h5py.File(path, "r+") as file:
        without_name(file["model_weights/classifier"])
    return path, {}


def _path_keyed(to: Path) -> Damaged:
    folder = FIXTURES / "weights_h5/keras3/weights_h5-carried-named-adam"
    path = Path(shutil.copy(folder / "parallel.weights.h5", to / "m.weights.h5"))
    with h5py.File(path, "r+") as file:
        del file["layers/functional/layers/batch_normalization/vars/3"]
    return path, {"architecture": folder / "model.json"}


def _keras(to: Path) -> Damaged:
    with zipfile.ZipFile(
        FIXTURES / "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras"
    ) as old:
        content = {name: old.read(name) for name in old.namelist()}
    weights = io.BytesIO(content["model.weights.h5"])
    with h5py.File(weights, "r+") as file:
        del file["layers/functional/layers/batch_normalization/vars/3"]
    with zipfile.ZipFile(to / "m.keras", "w") as new:
        for name, data in (content | {"model.weights.h5": weights.getvalue()}).items():
            new.writestr(name, data)
    return to / "m.keras", {}


def without_entry(index: Path) -> None:
    """An index without a last statistic; every checksum is right. A SavedModel numbers the variables."""

    def change(pairs: dict[bytes, bytes]) -> None:
        weights = [key for key in pairs if b"SLOT" not in key and b"Adam" not in key]
        del pairs[
            min(
                key for key in weights if STATISTIC.encode() in key or key.startswith(b"variables/")
            )
        ]

    altered(index, change)


def _checkpoint(case: str) -> Callable[[Path], Damaged]:
    def damaged(to: Path) -> Damaged:
        folder = shutil.copytree(FIXTURES / "checkpoint" / case, to / "case")
        without_entry(folder / "parallel.ckpt.index")
        return folder / "parallel.ckpt", {"architecture": folder / "model.json"}

    return damaged


def _saved_model(to: Path) -> Damaged:
    folder = FIXTURES / "saved_model/tf23/saved_model-official-named-adam/parallel"
    path = Path(shutil.copytree(folder, to / "m"))
    without_entry(path / "variables/variables.index")
    return path, {"to": "h5"}


CONTAINERS: dict[str, Callable[[Path], Damaged]] = {
    "h5": _h5,
    ".weights.h5": _path_keyed,
    ".keras": _keras,
    "checkpoint of objects": _checkpoint("tf23/checkpoint-official-named-adam"),
    "checkpoint of names": _checkpoint("k224/saver-official-named-adam"),
    "SavedModel": _saved_model,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_three_of_four_are_no_normalization(container: str, tmp_path: Path) -> None:
    """One line says so, and nothing is written; the same file with all of them is fixed."""
    path, options = CONTAINERS[container](tmp_path)
    output = tmp_path / "out.h5"
    done = unnest.fix(path, output, **options)
    assert done.error is not None, done.action
    assert done.action in ("refused", "failed")
    assert not output.exists()


@pytest.mark.parametrize(
    ("gone", "action", "code"),
    [("cell/vars/1", "failed", "missing-weight"), ("cell/vars/2", "refused", "weights-missing"),
     ("cell/vars", "refused", "weights-missing")],
    ids=["a gap in the numbers", "the last one", "all"],
)  # fmt: skip
def test_a_cell_has_all_its_weights(gone: str, action: str, code: str, tmp_path: Path) -> None:
    """Weights of inner layers count: the cell of a recurrent layer, forwards and backwards."""
    folder, prefix = (
        FIXTURES / "weights_h5/tf212/weights_h5-kuza-cells-x3",
        "_layer_checkpoint_dependencies",
    )
    path = Path(shutil.copy(folder / "parallel.weights.h5", tmp_path / "m.weights.h5"))
    assert (
        unnest.fix(path, tmp_path / "whole.weights.h5", architecture=folder / "model.json").action
        == "fixed"
    )
    with h5py.File(path, "r+") as file:
        del file[f"{prefix}/functional/{prefix}/bidirectional/backward_layer/{gone}"]
    done = unnest.fix(path, tmp_path / "out.weights.h5", architecture=folder / "model.json")
    assert done.error is not None, done.action
    assert (done.action, done.error.code) == (action, code)
    assert not (tmp_path / "out.weights.h5").exists()


@pytest.mark.parametrize("with_architecture", [True, False])
def test_weights_that_are_not_numbered_from_0_on(with_architecture: bool, tmp_path: Path) -> None:
    """Keras looks for `vars/1` and finds none: it would leave the bias as it was made."""
    folder = FIXTURES / "weights_h5/keras3/weights_h5-carried-named-adam"
    path = Path(shutil.copy(folder / "parallel.weights.h5", tmp_path / "m.weights.h5"))
    place = "layers/functional/layers/dense_1/vars"
    with h5py.File(path, "r+") as file:
        file.move(f"{place}/1", f"{place}/7")
    architecture = folder / "model.json" if with_architecture else None
    result = unnest.fix(path, tmp_path / "out.weights.h5", architecture=architecture)
    assert result.error is not None, result.action
    assert (result.verdict, result.error.code) == ("unreadable", "missing-weight")
    assert f"/{place} holds weights 0, 7, where Keras counts from 0" in result.error.message
    assert not (tmp_path / "out.weights.h5").exists()


def unlisted(path: Path, kept: Callable[[str], bool]) -> None:
    """Take layers out of the list of a model file's layers; their weights stay where they are."""
    with h5py.File(path, "r+") as file:
        attributes = file["model_weights"].attrs
        names = [n.decode() if isinstance(n, bytes) else n for n in attributes["layer_names"]]
        assert not all(map(kept, names))
        attributes["layer_names"] = np.array([n.encode() for n in names if kept(n)], dtype="S40")


OUTPUTS = [
    ("h5", {}),
    ("keras", {"to": "keras"}),
    ("h5", {"to": "weights"}),
    ("keras", {"keras": "3"}),
]


@pytest.mark.parametrize(("suffix", "options"), OUTPUTS)
@pytest.mark.parametrize(
    "kept", [lambda name: name != "classifier", lambda _: False], ids=["template", "all"]
)
def test_layers_of_a_parallel_model_that_are_not_listed(
    kept: Callable[[str], bool], suffix: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """Their weights are in the file, in places that no reader looks at."""
    path = Path(
        shutil.copy(
            FIXTURES / "tf215/deviceslice-named-x1-sgdm-head/parallel.h5", tmp_path / "m.h5"
        )
    )
    unlisted(path, kept)
    refused_for(path, tmp_path / f"o.{suffix}", options)


@pytest.mark.parametrize(("suffix", "options"), OUTPUTS[1:])
def test_layer_of_a_clean_model_that_is_not_listed(
    suffix: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """The weights of one layer, which other containers have to hold."""
    path = Path(
        shutil.copy(FIXTURES / "tf215/deviceslice-named-x1-sgdm-head/base.h5", tmp_path / "m.h5")
    )
    check_verdict(unnest.inspect(path), "clean")
    with h5py.File(path) as file:
        group = file["model_weights"]
        layer = next(
            name for name in group.attrs["layer_names"] if len(group[name].attrs["weight_names"])
        )
    unlisted(path, lambda name: name != (layer.decode() if isinstance(layer, bytes) else layer))
    refused_for(path, tmp_path / f"o.{suffix}", options)


def refused_for(path: Path, output: Path, options: dict[str, Any]) -> None:
    """Check that `fix` refuses the file for a missing weight, and writes nothing."""
    result = unnest.fix(path, output, **options)
    assert (result.action, result.error and result.error.code) == ("refused", "weights-missing")
    assert not output.exists()


def test_weights_of_a_template_that_lost_its_layers(tmp_path: Path) -> None:
    """A lone variable of the model itself shows no template, and nothing is written without layers."""
    path = tmp_path / "m.weights.h5"
    shutil.copy(
        FIXTURES / "weights_h5/keras3/weights_h5-carried-named-adam/parallel.weights.h5", path
    )
    with h5py.File(path, "a") as file:
        template = next(name for name in file["layers"] if "layers" in file["layers"][name])
        for name in file[f"layers/{template}/layers"]:
            del file[f"layers/{template}/layers/{name}/vars"]
        del file[f"layers/{template}/vars"]
        file[f"layers/{template}/vars"] = np.zeros(3, np.float32)
    check_verdict(unnest.inspect(str(path)), "clean")
    result = unnest.fix(str(path), str(tmp_path / "out.weights.h5"))
    assert (result.action, result.error) == ("unchanged", None)
