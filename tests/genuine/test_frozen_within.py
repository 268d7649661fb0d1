"""Models whose own Keras does not load them as they were: a frozen model within a nested one, or a state without it."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "frozen_within"
WHY = "a frozen model in nested, whose weights Keras gives to other layers"


def codes(report: unnest.Report) -> list[str]:
    """Return the codes of the findings, in order."""
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.h5")), ids=lambda path: path.stem)
def test_the_report_names_nothing_that_loads_it(path: Path, tmp_path: Path) -> None:
    """A file whose shapes agree, which Keras loads silently and wrongly, has no line that loads it."""
    report = unnest.inspect(path)
    assert (report.verdict, codes(report)) == ("clean", ["frozen-within"])
    assert (report.loads_in, report.load) == ((), None)
    if path.stem.startswith("k231"):  # of Keras 1 nothing of today loads anything
        assert report.does_not_load_in == {
            "tf_keras": WHY,
            "Keras 3": "a Sequential without an input layer",
        }
    copied = unnest.fix(path, tmp_path / "m.h5")
    assert (copied.action, codes(copied), copied.loads_in) == ("unchanged", ["frozen-within"], ())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.h5")), ids=lambda path: path.stem)
def test_files_that_call_weights_by_their_layers_load(path: Path, tmp_path: Path) -> None:
    """tests/keras has their predictions."""
    result = unnest.fix(path, tmp_path / "m.keras", keras="3")
    assert (result.action, result.loads_in) == ("converted", ("Keras 3",))
    assert "frozen-within" not in codes(result)


@pytest.mark.parametrize(
    ("name", "found", "loads"),
    [
        ("k122-frozen", ["frozen-state"], ()),
        ("k122-trained", [], ("Keras 1.2.2, which wrote it",)),
        (
            "k231-frozen",
            [],
            ("tf_keras (Keras 2)", "Keras 2.3.1, which wrote it"),
        ),  # with a fresh optimizer
    ],
)
def test_a_state_of_fewer_weights_than_keras_1_trains(
    name: str, found: list[str], loads: tuple[str, ...]
) -> None:
    """Its own Keras stops at it, though the model is as it would be saved."""
    report = unnest.inspect(FIXTURES / "frozen_state" / f"{name}.h5")
    assert (codes(report), report.loads_in) == (found, loads)
    assert (report.load is None) is (not loads)


def test_weights_alone_have_no_state(tmp_path: Path) -> None:
    """So that they load wherever the model is built."""
    written = unnest.fix(
        FIXTURES / "frozen_state" / "k122-frozen.h5", tmp_path / "w.h5", to="weights"
    )
    assert (written.action, codes(written)) == ("converted", ["not-held"])
    assert written.loads_in
