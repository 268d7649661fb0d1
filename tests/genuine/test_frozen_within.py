"""Models whose own Keras does not load them as they were: a frozen model within a nested one."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest

FOLDER = Path(__file__).parents[2] / "fixtures" / "frozen_within"
WHY = "a frozen model in nested, whose weights Keras gives to other layers"


def codes(report: unnest.Report) -> list[str]:
    """What is found, in order."""
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.h5")), ids=lambda path: path.stem)
def test_the_report_names_nothing_that_loads_it(path: Path, tmp_path: Path) -> None:
    """Where shapes agree, Keras loads it without a word, and predicts something else."""
    report = unnest.inspect(path)
    assert (report.verdict, codes(report)) == ("clean", ["frozen-within"])
    assert (report.loads_in, report.load) == ((), None)
    if path.stem.startswith("k231"):  # of Keras 1 nothing of today loads anything
        assert report.does_not_load_in == {"tf_keras": WHY, "Keras 3": WHY}
    copied = unnest.fix(path, tmp_path / "m.h5")
    assert (copied.action, codes(copied), copied.loads_in) == ("unchanged", ["frozen-within"], ())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.h5")), ids=lambda path: path.stem)
def test_files_that_call_weights_by_their_layers_load(path: Path, tmp_path: Path) -> None:
    """tests/keras has their predictions."""
    result = unnest.fix(path, tmp_path / "m.keras", keras="3")
    assert (result.action, result.loads_in) == ("converted", ("Keras 3",))
    assert "frozen-within" not in codes(result)
