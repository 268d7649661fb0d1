"""Words that lie in tables of a SavedModel, in files, or in a summary: they go into the configs of their layers.

`tests/keras/test_keras_vocabularies.py` compares the predictions.
"""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.model import Json
from unnest.formats.container_interface import Target
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
    ],
)
def test_what_is_refused(name: str, reason: str, tmp_path: Path) -> None:
    """A layer that its words alone would not restore is refused."""
    done = unnest.fix(FOLDER / name, tmp_path / "out.keras", keras="3")
    assert done.error is not None
    assert (done.action, reason in done.error.message) == ("refused", True)


@pytest.mark.parametrize(
    "name", ["tf27-text", "tf23-text", "tf213-text.keras", "tf215-several.keras"]
)
def test_weights_of_words(name: str, tmp_path: Path) -> None:
    """They go with the words into the config, in their order, and stay a tensor of the layer's."""
    done = unnest.fix(FIXTURES / "word_weights" / name, tmp_path / "out.keras", keras="3")
    assert done.action == "converted"
    assert "word-state" in [conversion.rule for conversion in done.conversions]
    with open_container(str(tmp_path / "out.keras")).open(str(tmp_path / "out.keras")) as source:
        weighted = [
            config
            for entry in layer_entries(source.stored.architecture)
            if isinstance(config := entry.get("config"), dict)
            and config.get("output_mode") == "tf_idf"
        ]
    assert weighted
    for config in weighted:
        assert isinstance(config["vocabulary"], list)
        assert isinstance(config["idf_weights"], list)
        assert len(config["vocabulary"]) == len(config["idf_weights"])


@pytest.mark.parametrize("to", ["h5", "weights"])
@pytest.mark.parametrize("name", ["vocabularies/tf215-weighted", "word_weights/tf27-text"])
def test_weights_of_words_go_with_keras_3_alone(name: str, to: Target, tmp_path: Path) -> None:
    """No .h5 of Keras 2 holds them."""
    done = unnest.fix(FIXTURES / name, tmp_path / "out.h5", to=to)
    assert done.error is not None
    assert "only --keras 3 writes what it keeps beside its words" in done.error.message


def test_layers_of_one_name_keep_no_weights_of_words(tmp_path: Path) -> None:
    """Of two layers of a name, each in a model of its own, the file does not say whose words are whose."""
    path = tmp_path / "two.keras"
    with (
        zipfile.ZipFile(FIXTURES / "word_weights/tf215-several.keras") as whole,
        zipfile.ZipFile(path, "w") as changed,
    ):
        for member in whole.namelist():
            data = whole.read(member)
            if member == "config.json":
                outer = re.findall(rb'"TextVectorization", "config": {"name": ("\w+")', data)[0]
                data = data.replace(b'"inner_text"', outer)
            changed.writestr(member, data)
    done = unnest.fix(path, tmp_path / "out.keras", keras="3")
    assert done.action == "refused"
