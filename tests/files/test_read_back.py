"""No output that `inspect` then calls unreadable, or parallel; and HDF5 under another container's name."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import h5py
import pytest

import unnest
from tests import makeh5
from unnest import examine
from unnest.errors import Unreadable
from unnest.formats.hdf5 import legacy_h5


@pytest.mark.parametrize(
    ("change", "code"), [("unreadable", "read-back"), ("parallel", "still-parallel")], ids=["unreadable", "parallel"]
)
def test_inspect_is_part_of_it(change: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the container's own comparison says."""
    path = makeh5.parallel_file(tmp_path / "m.h5")
    known = examine.planned

    def told(source: legacy_h5.H5Source, *args: object, **options: bool) -> object:
        plan = known(source, *args, **options)  # type: ignore[arg-type]
        if source.path == str(path):
            return plan
        if change == "unreadable":
            raise Unreadable("not-a-graph", f"{source.path}: the stored architecture does not add up")
        return plan._replace(verdict="parallel")

    monkeypatch.setattr(examine, "planned", told)
    result = unnest.fix(path)
    assert result.error is not None
    assert (result.action, result.error.code) == ("failed", code)
    assert "unnest-tmp" not in result.error.message
    assert os.listdir(tmp_path) == ["m.h5"]


@pytest.mark.parametrize("make", [makeh5.parallel_file, makeh5.clean_file])
def test_hdf5_called_keras_stays_hdf5(make: object, tmp_path: Path) -> None:
    """Keras 2.2 wrote HDF5 under any name: what comes out is what --output without that suffix gives."""
    path = make(tmp_path / "x.keras")  # type: ignore[operator]
    result = unnest.fix(path, tmp_path / "y.keras")
    expected = unnest.fix(path, tmp_path / "y.h5")
    assert (result.error, result.action) == (None, expected.action)
    assert h5py.is_hdf5(tmp_path / "y.keras")
    assert (tmp_path / "y.keras").read_bytes() == (tmp_path / "y.h5").read_bytes()


def test_hdf5_called_keras_in_place(tmp_path: Path) -> None:
    """And in its own place."""
    path = makeh5.parallel_file(tmp_path / "x.keras")
    assert unnest.fix(path, in_place=True).action == "fixed"
    assert h5py.is_hdf5(path)


def test_asked_for_it_becomes_keras(tmp_path: Path) -> None:
    """With --to; and from a name that does not say so, the suffix of the output still counts."""
    path = makeh5.clean_file(tmp_path / "x.keras")
    assert unnest.fix(path, tmp_path / "y.keras", to="keras").action == "converted"
    assert zipfile.is_zipfile(tmp_path / "y.keras")
    other = makeh5.clean_file(tmp_path / "x.h5")
    assert unnest.fix(other, tmp_path / "z.keras").action == "converted"
    assert zipfile.is_zipfile(tmp_path / "z.keras")
