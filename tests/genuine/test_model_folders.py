"""Folders that are one model, or that tools keep one in: unzipped `.keras`, presets of KerasHub, flavours of MLflow."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import unnest
from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "keras_folder"
PARALLEL = FIXTURES / "k224/official-cnn-adam/parallel.h5"


def weights(path: Path) -> dict[str, bytes]:
    """The tensors of a `.keras`, zipped or not, by path."""
    found: dict[str, bytes] = {}
    member = "model.weights.h5"
    data = (path / member).read_bytes() if path.is_dir() else zipfile.ZipFile(path).read(member)
    with h5py.File(io.BytesIO(data)) as file:

        def note(name: str, each: h5py.Dataset | h5py.Group) -> None:
            if isinstance(each, h5py.Dataset):
                found[name] = np.asarray(each).tobytes()

        file.visititems(note)
    return found


@pytest.mark.parametrize("name", ["parallel", "base"])
def test_a_folder_is_what_its_zip_is(name: str) -> None:
    """But for its path."""
    found, zipped = unnest.inspect(FOLDER / name), unnest.inspect(FOLDER / f"{name}.keras")
    assert (found.container, found.contents, found.error) == ("keras", "model", None)
    assert (found.verdict, found.wrappers, found.template) == (
        zipped.verdict,
        zipped.wrappers,
        zipped.template,
    )
    assert found.loads_in == ("Keras 3",)


def test_what_comes_out_is_what_the_zip_gives(tmp_path: Path) -> None:
    """Zipped, beside the folder or where it is asked for, the optimizer's state included."""
    shutil.copytree(FOLDER / "parallel", tmp_path / "m.v2")
    done = unnest.fix(tmp_path / "m.v2")
    assert (done.action, done.output) == ("fixed", str(tmp_path / "m.v2.unnested.keras"))
    assert unnest.fix(FOLDER / "parallel.keras", tmp_path / "zip.keras").error is None
    assert weights(tmp_path / "m.v2.unnested.keras") == weights(tmp_path / "zip.keras")
    again = unnest.inspect(tmp_path / "m.v2.unnested.keras")
    assert (again.verdict, again.error) == ("clean", None)
    assert unnest.fix(tmp_path / "m.v2", tmp_path / "m.h5").action == "fixed"


def test_a_clean_one(tmp_path: Path) -> None:
    """It stays, or is zipped: weights and settings as they were."""
    assert unnest.fix(FOLDER / "base").action == "unchanged"
    for output in ("out.keras", "out"):
        done = unnest.fix(FOLDER / "base", tmp_path / output)
        assert (done.action, done.error) == ("converted", None)
        assert weights(tmp_path / output) == weights(FOLDER / "base")


@pytest.mark.parametrize("lost", ["config.json", "metadata.json", "model.weights.h5"])
def test_a_folder_that_lost_a_file_is_searched(lost: str, tmp_path: Path) -> None:
    """It is no such model any more."""
    shutil.copytree(FOLDER / "parallel", tmp_path / "m")
    (tmp_path / "m" / lost).unlink()
    report = unnest.inspect(tmp_path / "m")
    assert report.error is not None
    assert report.error.code == "no-model"


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("config.json", b"{", "bad-json"),
        ("config.json", b"[]", "bad-json"),
        ("config.json", b"{}", "not-keras"),
        ("metadata.json", b"\xff", "bad-json"),
        ("model.weights.h5", b"no HDF5 at all", None),
    ],
)
def test_a_broken_file(name: str, data: bytes, code: str | None, tmp_path: Path) -> None:
    """One line."""
    shutil.copytree(FOLDER / "parallel", tmp_path / "m")
    (tmp_path / "m" / name).write_bytes(data)
    report = unnest.inspect(tmp_path / "m")
    assert report.error is not None
    assert code in (None, report.error.code)
    assert unnest.fix(tmp_path / "m", tmp_path / "out.keras").action == "failed"
    assert not (tmp_path / "out.keras").exists()


def test_a_preset_of_keras_hub_is_one_model(tmp_path: Path, cli: Cli) -> None:
    """A custom model class keeps the layers in code; the files beside it belong to no model."""
    shutil.copytree(FOLDER / "base", tmp_path / "zoo/bert_tiny")
    preset = tmp_path / "zoo/bert_tiny"
    backbone = {
        "module": "keras_hub.src.models.bert.bert_backbone",
        "class_name": "BertBackbone",
        "config": {"name": "bert", "trainable": True, "num_layers": 2},
        "registered_name": "keras_hub>BertBackbone",
    }
    (preset / "config.json").write_text(json.dumps(backbone))
    (preset / "tokenizer.json").write_text(json.dumps({**backbone, "class_name": "BertTokenizer"}))
    (preset / "task.json").write_text(json.dumps({**backbone, "class_name": "BertClassifier"}))
    done = cli("inspect", "--json", str(tmp_path / "zoo"))
    files = json.loads(done.stdout)["files"]
    assert [(f["path"], f["container"], f["verdict"]) for f in files] == [
        (str(preset), "keras", "clean")
    ]
    assert "no-graph" in [f["code"] for f in files[0]["findings"]]


@pytest.mark.parametrize(
    ("flavour", "place"), [("keras", "data/model.h5"), ("tensorflow", "data/model.keras")]
)
def test_the_folder_of_an_mlflow_flavour(
    flavour: str, place: str, tmp_path: Path, cli: Cli
) -> None:
    """The model lies in `data`, and nothing beside it is taken for one.

    (Source: mlflow.keras and mlflow.tensorflow.)
    """
    model = tmp_path / "model"
    (model / place).parent.mkdir(parents=True)
    source = PARALLEL if place.endswith(".h5") else FOLDER / "parallel.keras"
    shutil.copy(source, model / place)
    (model / "MLmodel").write_text(
        f"artifact_path: model\nflavors:\n  {flavour}:\n    data: data\n    save_format: h5\n"
    )
    (model / "conda.yaml").write_text("name: mlflow-env\ndependencies:\n- python=3.7\n")
    (model / "requirements.txt").write_text("tensorflow\n")
    (model / "data/keras_module.txt").write_text("tensorflow.keras")
    done = cli("inspect", "--json", str(model))
    files = json.loads(done.stdout)["files"]
    assert [(f["path"], f["verdict"]) for f in files] == [(str(model / place), "parallel")]
