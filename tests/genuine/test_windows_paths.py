"""Path-keyed files of Keras 2.13 and 2.15 from Windows, where the paths of weights have backslashes.

`tests/keras/test_windows_paths.py` loads what comes out, and compares it with what the stack predicted.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.report.result import Report

FOLDER = FIXTURES / "windows_paths"
STACKS = ("tf213", "tf215")


def report_on(name: str) -> Report:
    """The report on a file of FOLDER."""
    return unnest.inspect(FOLDER / name)


@pytest.mark.parametrize(
    ("name", "loads"),
    [
        ("tf213-reader.keras", ("Keras 2.13.1, which wrote it, on Windows",)),
        (
            "tf215-reader.keras",
            ("tf_keras (Keras 2), on Windows", "Keras 2.15.0, which wrote it, on Windows"),
        ),
        ("tf213-reader.weights.h5", ("Keras 2.12 to 2.15, on Windows",)),
        ("tf215-parallel.weights.h5", ("Keras 2.12 to 2.15, on Windows",)),
    ],
)
def test_it_loads_on_windows_alone(name: str, loads: tuple[str, ...]) -> None:
    """On Linux its own Keras says of each layer: expected 2 variables, but received 0."""
    report = report_on(name)
    assert (report.error, report.loads_in) == (None, loads)
    assert report.load is not None
    assert "on Windows" in report.load


@pytest.mark.parametrize("stack", STACKS)
def test_a_wrapper_is_found_and_taken_out(stack: str, tmp_path: Path) -> None:
    """What is written has the paths that every system reads."""
    report = report_on(f"{stack}-parallel.keras")
    assert (report.verdict, report.wrappers[0].confidence) == ("parallel", "proven")
    result = unnest.fix(FOLDER / f"{stack}-parallel.keras", tmp_path / "out.keras")
    assert (result.action, result.error) == ("fixed", None)
    assert not any("on Windows" in software for software in result.loads_in)
    assert unnest.inspect(tmp_path / "out.keras").verdict == "clean"


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_it_is_converted(stack: str, suffix: str, tmp_path: Path) -> None:
    """For Keras 3, or the Keras 2 of every system."""
    source, output = FOLDER / f"{stack}-reader.keras", tmp_path / f"out{suffix}"
    keras_3 = suffix == ".keras"
    result = (
        unnest.fix(source, output, keras="3") if keras_3 else unnest.fix(source, output, to="h5")
    )
    assert (result.action, result.error) == ("converted", None)
    assert "on Windows" not in str(result.loads_in)


@pytest.mark.parametrize("stack", STACKS)
def test_weights_alone_fit_their_architecture(stack: str, tmp_path: Path) -> None:
    """The JSON shows the wrapper, and where each weight lies."""
    result = unnest.fix(
        FOLDER / f"{stack}-parallel.weights.h5",
        tmp_path / "out.keras",
        architecture=FOLDER / f"{stack}-parallel.json",
        keras="3",
    )
    assert (result.action, result.error) == ("fixed", None)


def test_two_paths_that_are_one_are_refused(tmp_path: Path) -> None:
    """No Keras writes a file of both systems."""
    path = tmp_path / "both.weights.h5"
    with h5py.File(path, "w") as file:
        file["vars/0"] = [1.0]
        file["layers\\dense/vars/0"] = [1.0]
        file["layers/dense/vars/0"] = [2.0]
    report = unnest.inspect(path)
    assert report.error is not None
    assert "two paths that are one on Windows" in report.error.message


def test_a_backslash_in_the_name_of_a_layer_is_no_path(tmp_path: Path) -> None:
    """The older layout lists its layers by name."""
    path = tmp_path / "named.h5"
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = [b"layers\\a"]
        file.attrs["keras_version"] = b"2.10.0"
        group = file.create_group("layers\\a")
        group.attrs["weight_names"] = [b"kernel:0"]
        group["kernel:0"] = [1.0]
        file.create_group("vars")
    report = unnest.inspect(path)
    assert report.error is None
    assert "Windows" not in str(report.loads_in)
