"""State that a `.keras` of Keras 2 holds beside its weights, or not at all: a Keras is named if it loads that again."""

from __future__ import annotations

import json

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "archive_state"
LOADED = {
    f"{stack.stem}-{name}": is_loaded
    for stack in sorted(FOLDER.glob("*.json"))
    for name, is_loaded in json.loads(stack.read_text()).items()
}


@pytest.mark.parametrize("name", LOADED)
def test_its_own_keras_is_named_if_it_loads_the_file(name: str) -> None:
    """Nor is there a line to load a file that no Keras loads."""
    report = unnest.inspect(FOLDER / f"{name}.keras")
    names_its_writer = any("which wrote it" in software for software in report.loads_in)
    assert (names_its_writer, report.load is not None) == (LOADED[name], LOADED[name])


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
