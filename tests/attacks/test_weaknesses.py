"""The known weaknesses of model loaders, in every container that they concern: nothing runs, nothing else is read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.attacks import weaknesses
from tests.attacks.weaknesses import CONTAINERS, ELSEWHERE, PLANTED, STORES, TRAP
from tests.judged import check_verdict


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a trap in it that can be imported, and a file that must not be read."""
    (tmp_path / "trap.py").write_text(TRAP)
    (tmp_path / "secret").write_text(ELSEWHERE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def check(place: Path) -> None:
    """The trap is shut, and no file of ours holds what is in another."""
    assert "trap" not in sys.modules
    assert not (place / "ran").exists()
    others = [p for p in place.iterdir() if p.is_file() and p.name != "secret"]
    assert [p.name for p in others if ELSEWHERE.encode() in p.read_bytes()] == []


def tells(report: unnest.Report, words: str) -> bool:
    """Return True if the report names what loading would run or read."""
    return any(words in f.message for f in report.findings if f.code == "stored-code")


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("weakness", PLANTED)
def test_what_loading_would_run_is_told_and_not_run(
    weakness: str, container: str, place: Path
) -> None:
    """`inspect`, `fix` and `fix --keras 3` copy or refuse it; the report names it, of the input and of the output."""
    layer, words = PLANTED[weakness]
    path = CONTAINERS[container](place, layer)
    report = unnest.inspect(path)
    assert (report.verdict, tells(report, words)) == ("parallel", True)
    three = place / ("three.json" if container == "json" else "three.keras")
    for result in (unnest.fix(path), unnest.fix(path, three, keras="3")):
        assert result.action in ("fixed", "refused")
        assert tells(result, words)
        if result.output is not None:
            check_verdict(unnest.inspect(result.output), "clean")
        check(place)


@pytest.mark.parametrize("container", STORES)
@pytest.mark.parametrize(
    ("edit", "error"),
    [(weaknesses.external_storage, "external-storage"), (weaknesses.declared_size, "absurd-size")],
)
def test_tensors_that_are_not_in_the_file(
    container: str,
    edit: Any,  # noqa: ANN401 - a function of h5py's file
    error: str,
    place: Path,
) -> None:
    """External storage and declared terabytes are refused before anything is read or reserved."""
    path = STORES[container](place, edit)
    before = sorted(place.iterdir())
    for report in (
        unnest.inspect(path),
        unnest.fix(path),
        unnest.fix(path, place / "three.keras", keras="3"),
    ):
        assert report.error is not None
        assert (report.verdict, report.error.code) == ("unreadable", error)
        assert sorted(place.iterdir()) == before
        check(place)
