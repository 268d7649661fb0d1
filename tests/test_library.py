"""The library as programs and notebooks use it: many files, methods of reports, logging."""

from __future__ import annotations

import inspect
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import unnest
import unnest.report.result
from unnest.options import FixArguments, FixOptions


def test_dir_shows_what_is_public() -> None:
    """Every name that it shows is there, and the functions have docstrings."""
    assert {"fix", "fix_many", "inspect", "inspect_many", "Report", "Result"} <= set(dir(unnest))
    for name in set(dir(unnest)) - {"__version__"}:
        assert getattr(unnest, name).__doc__, name


def test_keras_is_loaded_where_it_is_asked_for() -> None:
    """As an attribute of the package, too, as its documents write it."""
    code = "import sys, unnest; assert 'keras' not in sys.modules; print(unnest.keras.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "unnest.keras\n" or "unnest.keras needs a backend" in done.stderr


def test_a_folder_is_no_model(bad: Path) -> None:
    """The message names what takes folders."""
    for report in (unnest.inspect(bad.parent), unnest.fix(bad.parent)):
        assert report.error == (
            "no-model",
            f"{bad.parent}: is a folder and no model; pass one of its files, or the folder to inspect_many or fix_many",
        )


def test_many(bad: Path, clean: Path, tmp_path: Path) -> None:
    """Files, folders, iterators, in the order given; a bad file is a report; nothing is done before it is asked for."""
    torn = tmp_path / "torn.h5"
    torn.write_bytes(b"no model")

    def paths() -> Iterator[Path]:
        yield from (bad, clean, torn)

    assert [r.verdict for r in unnest.inspect_many(paths())] == ["parallel", "clean", "unreadable"]
    assert [r.verdict for r in unnest.inspect_many(bad)] == ["parallel"]
    assert {r.path for r in unnest.inspect_many(tmp_path)} >= {str(bad), str(clean)}
    results = unnest.fix_many([bad, clean], tmp_path / "all")
    assert not (tmp_path / "all").exists()
    assert [r.action for r in results] == ["fixed", "unchanged"]
    assert (tmp_path / "all" / "m.h5").exists()


def test_many_in_processes(bad: Path, clean: Path) -> None:
    """The same reports in the same order."""
    assert [r.verdict for r in unnest.inspect_many([bad, clean], jobs=2)] == ["parallel", "clean"]


def test_a_mistake_is_raised_at_once(bad: Path) -> None:
    """Before any result is asked for."""
    with pytest.raises(unnest.UsageError, match="contradict"):
        unnest.fix_many([bad], "all", in_place=True)


def test_raise_for_error(bad: Path, tmp_path: Path) -> None:
    """Nothing for a good file; the message of the report for a bad one."""
    unnest.inspect(bad).raise_for_error()
    torn = tmp_path / "torn.h5"
    torn.write_bytes(b"no model")
    report = unnest.inspect(torn)
    assert report.error is not None
    with pytest.raises(ValueError, match="torn") as raised:
        report.raise_for_error()
    assert str(raised.value) == report.error.message


def test_a_picture(bad: Path, tmp_path: Path) -> None:
    """In three forms, from a report that was made without."""
    report = unnest.inspect(bad)
    assert report.drawing is None
    svg = report.diagram()
    assert svg.startswith("<svg")
    assert svg == unnest.inspect(bad, draw=True).diagram()
    assert svg._repr_html_() == svg
    assert "flowchart" in report.diagram("mmd") or "graph" in report.diagram("mmd")
    assert report.diagram("mmd")._repr_html_() is None
    torn = tmp_path / "torn.h5"
    torn.write_bytes(b"no model")
    with pytest.raises(ValueError, match="torn"):
        unnest.inspect(torn).diagram()


def test_in_a_notebook(bad: Path, clean: Path, tmp_path: Path) -> None:
    """Verdict, picture, next step; names out of a file are escaped."""
    shown = unnest.inspect(bad)._repr_html_()
    assert all(part in shown for part in ("parallel", "<svg", "next: <code>unnest.fix("))
    result = unnest.fix(bad)
    shown = result._repr_html_()
    assert all(part in shown for part in ("fixed", "<svg", "m.unnested.h5", "load_model"))
    assert "load_model" in unnest.inspect(clean)._repr_html_()
    hostile = replace(unnest.inspect(tmp_path / "none.h5"), path="<script>alert(1)</script>")
    assert "<script>" not in hostile._repr_html_()


def test_logging(bad: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One line a file, with the logger `unnest`."""
    caplog.set_level(logging.INFO, logger="unnest")
    unnest.inspect(bad)
    unnest.fix(bad)
    list(unnest.inspect_many([bad]))
    assert [r.getMessage().split(":")[0].split()[0] for r in caplog.records] == [
        "inspect",
        "fix",
        "inspect",
    ]
    assert {r.name for r in caplog.records} == {"unnest"}


def test_a_meter(bad: Path) -> None:
    """Told bytes, never fewer than before, up to all of them."""
    told: list[tuple[int, int]] = []
    unnest.fix(bad, meter=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1] > 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_meter_of_many(bad: Path, tmp_path: Path, jobs: int) -> None:
    """The bytes of all files together, never fewer than before, up to all of them."""
    other = tmp_path / "other.h5"
    other.write_bytes(bad.read_bytes())
    (alone, moved) = (list[tuple[int, int]](), list[tuple[int, int]]())
    unnest.fix(bad, tmp_path / "alone.h5", meter=lambda *at: alone.append(at))
    results = unnest.fix_many([bad, other], jobs=jobs, meter=lambda *at: moved.append(at))
    assert [r.action for r in results] == ["fixed", "fixed"]
    assert moved == sorted(moved)
    assert moved[-1] == (2 * alone[-1][0], 2 * alone[-1][1])


@pytest.mark.parametrize("function", [unnest.fix, unnest.fix_many])
def test_arguments_of_fix(function: Callable[..., object], bad: Path) -> None:
    """`help` shows them with their defaults; another one is a TypeError, before anything is written."""
    shown = inspect.signature(function).parameters
    assert (shown["backup"].default, shown["slice_layers"].default, shown["meter"].default) == (
        ".bak",
        (),
        None,
    )
    assert set(FixArguments.__annotations__) - {"meter", "slice_layers"} < set(FixOptions._fields)
    with pytest.raises(TypeError, match="fix has no argument 'inplace'"):
        function(bad, inplace=True)
    assert [*bad.parent.glob("*.unnested.*")] == []
