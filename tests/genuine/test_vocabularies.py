"""Words that lie in tables of a SavedModel, in files, or in a summary: they go into the configs of their layers.

`tests/keras/test_keras_vocabularies.py` compares the predictions.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.model import Json
from unnest.formats.open_container import open_container

FOLDER = FIXTURES / "vocabularies"
#: The words of StringLookup, most frequent first; of a file in its order.
COLOURS = ["red", "green", "grey", "blue"]
FILED = ["red", "green", "blue"]


def words_in(architecture: Json) -> dict[str, Json]:
    """Class -> words, of the lookup layers of a model."""
    configs = ((str(e["class_name"]), e.get("config")) for e in layer_entries(architecture))
    return {
        kind: config["vocabulary"]
        for kind, config in configs
        if isinstance(config, dict) and "vocabulary" in config
    }


def words(path: Path) -> dict[str, Json]:
    """Class -> words, of the lookup layers of a file."""
    with open_container(str(path)).open(str(path)) as source:
        return words_in(source.stored.architecture)


@pytest.mark.parametrize("stack", ["tf23", "tf27", "tf210", "tf215"])
def test_words_of_a_saved_model(stack: str) -> None:
    """Of layers in the model and in a model in it."""
    found = words(FOLDER / f"{stack}-everything")
    assert found["StringLookup"] == COLOURS
    text = found["TextVectorization"]
    assert isinstance(text, list)
    assert (text[0], sorted(map(str, text))) == (
        "the",
        ["and", "cat", "dog", "mat", "on", "sat", "the"],
    )
    assert stack == "tf23" or found["IntegerLookup"] == [42, 12, 1138, 36, 7]


@pytest.mark.parametrize("stack", ["tf23", "tf27", "tf210", "tf215"])
def test_words_of_an_asset(stack: str, tmp_path: Path) -> None:
    """Not the name of a file on the machine of then; and no file is said to be left out."""
    assert words(FOLDER / f"{stack}-file") == {"StringLookup": FILED}
    done = unnest.fix(FOLDER / f"{stack}-file", tmp_path / "out.keras", keras="3")
    assert (done.action, [f.code for f in done.findings]) == ("converted", [])


@pytest.mark.parametrize("stack", ["tf213", "tf215"])
def test_words_of_a_keras_archive(stack: str, tmp_path: Path) -> None:
    """They lie in files below the paths of their layers, of a text's below those of the lookup in it too."""
    done = unnest.fix(FOLDER / f"{stack}-archive.keras", tmp_path / "out.keras", keras="3")
    assert words(tmp_path / "out.keras")["StringLookup"] == COLOURS
    assert [f.code for f in done.findings] == []
    assert done.conversions[0].rule == "vocabulary"


def test_words_of_several_layers_of_a_class(tmp_path: Path) -> None:
    """Keras 2.13 counts a layer twice whose words `adapt` found, and once where its config has them."""
    unnest.fix(FOLDER / "tf213-several.keras", tmp_path / "out.keras", keras="3")
    with open_container(str(tmp_path / "out.keras")).open(str(tmp_path / "out.keras")) as source:
        layers = [(e["class_name"], e["config"]) for e in layer_entries(source.stored.architecture)]
    found = [
        config.get("vocabulary")
        for kind, config in layers
        if kind == "StringLookup" and isinstance(config, dict)
    ]
    assert found == [
        COLOURS,
        ["teal", "pink", "blue"],
        ["blue", "teal", "green"],
        ["blue", "red", "pink"],
    ]


def test_words_of_a_template(tmp_path: Path) -> None:
    """They lie below the path that the template has in the wrapper's file; without `--keras 3` they move with it."""
    path = FOLDER / "tf213-wrapped.keras"
    done = unnest.fix(path, tmp_path / "out.keras", keras="3")
    assert (done.action, words(tmp_path / "out.keras")) == ("fixed", {"StringLookup": COLOURS})
    unnest.fix(path, tmp_path / "same.keras")
    with zipfile.ZipFile(tmp_path / "same.keras") as same:
        assert (
            "assets/_layer_checkpoint_dependencies/string_lookup/vocabulary.txt" in same.namelist()
        )


def test_words_go_into_an_h5(tmp_path: Path) -> None:
    """An `.h5` holds words in the config alone."""
    done = unnest.fix(FOLDER / "tf210-everything", tmp_path / "out.h5", to="h5")
    assert [f.code for f in done.findings] == []
    with h5py.File(tmp_path / "out.h5") as file:
        assert words_in(json.loads(file.attrs["model_config"]))["StringLookup"] == COLOURS


@pytest.mark.parametrize(
    ("stack", "own"), [("tf27", []), ("tf210", ["Keras 2.10.0, which wrote it"])]
)
def test_an_h5_that_its_own_release_reads_otherwise(
    stack: str, own: list[str], tmp_path: Path
) -> None:
    """TensorFlow 2.7 loads it, and pads no text: only tf_keras is said to load it."""
    done = unnest.fix(FOLDER / f"{stack}-everything", tmp_path / "out.h5", to="h5")
    assert done.loads_in == ("tf_keras (Keras 2)", *own)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "tf23-inverted",
            "keeps what adapt() found outside of its config",
        ),  # counts from 1, its config says from 2
        ("tf27-weighted", "which weights of"),  # how often each word was met
        ("tf215-weighted", "which weights of"),
    ],
)
def test_what_is_refused(name: str, reason: str, tmp_path: Path) -> None:
    """A layer that its words alone would not restore is refused."""
    done = unnest.fix(FOLDER / name, tmp_path / "out.keras", keras="3")
    assert done.error is not None
    assert (done.action, reason in done.error.message) == ("refused", True)
