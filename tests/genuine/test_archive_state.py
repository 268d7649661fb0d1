"""State that a `.keras` of Keras 2 holds beside its weights, or not at all: a Keras is named if it loads that again."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.genuine.loaded_by_its_writer import answers, check_writer_is_named

FOLDER = FIXTURES / "archive_state"
LOADED = answers(FOLDER, "tf???.json")


@pytest.mark.parametrize("name", LOADED)
def test_its_own_keras_is_named_if_it_loads_the_file(name: str) -> None:
    """Nor is there a line to load a file that no Keras loads."""
    check_writer_is_named(FOLDER / f"{name}.keras", is_loaded=LOADED[name])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tf213-text", "what text_vectorization found by adapt(), where only Keras 2.13.1 looks"),
        ("tf213-text-weights", "weights where only Keras 2.13.1 looks for them"),
        ("tf215-bins", "what discretization found by adapt(), which no Keras 2 finds again"),
        ("tf215-residual-dense", "weights of rnn_1, which are not in the file"),
        ("tf215-residual-stack", "weights of rnn_2, which are not in the file"),
    ],
)
def test_the_reason_is_told(name: str, reason: str) -> None:
    """Of tf_keras; Keras 3 takes no `.keras` of that form."""
    report = unnest.inspect(FOLDER / f"{name}.keras")
    assert reason in report.does_not_load_in["tf_keras"]


@pytest.mark.parametrize("stack", ["tf213", "tf215"])
@pytest.mark.parametrize("name", ["bins", "text"])
def test_what_adapt_found_goes_into_a_file_of_keras_3(name: str, stack: str, tmp_path: str) -> None:
    """Though no Keras 2 finds it again."""
    done = unnest.fix(FOLDER / f"{stack}-{name}.keras", f"{tmp_path}/out.keras", keras="3")
    assert (done.error, done.loads_in) == (None, ("Keras 3",))


def test_a_layer_that_is_not_found_is_not_called_damaged(tmp_path: Path) -> None:
    """No copy of the file would help: the JSON notes one of three places of a layer, as some files do."""
    path = tmp_path / "in.keras"
    with zipfile.ZipFile(FOLDER / "tf215-thrice.keras") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "config.json":
                model = json.loads(data)
                (shared,) = (e for e in model["config"]["layers"] if e["name"] == "shared")
                del shared["shared_object_id"]
                data = json.dumps(model).encode()
            new.writestr(name, data)
    done = unnest.fix(path, tmp_path / "out.keras", keras="3")
    assert done.error is not None
    assert done.error.message.endswith("which no Keras finds again in a .keras; save an .h5")


def test_weights_of_an_activation_are_not_another_models(tmp_path: Path) -> None:
    """No other architecture would help."""
    name = FOLDER / "tf215-activation.ckpt"
    given = name.with_suffix(".json")
    done = unnest.fix(name, tmp_path / "out.keras", architecture=given, keras="3")
    assert done.error is not None
    assert "with a PReLU as its activation, whose weights are told apart" in done.error.message
