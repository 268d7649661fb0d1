"""A `.keras` that is looked at is read without HDF5's library, and is the model that the library reads."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.keras3 import keras_zip
from unnest.formats.keras3.keras_zip import KerasSource

FILES = sorted(path for path in FIXTURES.rglob("*.keras") if path.is_file())
#: Paths of Windows are left to the library.
OF_WINDOWS = FIXTURES / "windows_paths"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that HDF5's library opens."""
    paths: list[str] = []

    class Counted(GuardedFile):
        def __init__(self, path: str, *window: object) -> None:
            paths.append(path)
            super().__init__(path, *window)  # type: ignore[arg-type]  # of whatever types they were given

    monkeypatch.setattr(keras_zip, "GuardedFile", Counted)
    return paths


def test_the_fast_reader_and_the_library_read_the_same() -> None:
    """What is read at once, what is read later, and a tensor."""
    assert FILES
    for path in FILES:
        with KerasSource(str(path), fast=True) as source, KerasSource(str(path)) as by_library:
            assert source.stored == by_library.stored, path
            assert source.tensors == by_library.tensors
            groups = [group.rpartition("/")[0] for group in sorted(by_library.tree.groups)]
            assert [*map(source.tree.name, groups)] == [*map(by_library.tree.name, groups)]
            for tensor in by_library.tensors[-1:]:
                assert b"".join(source.blocks(tensor)) == b"".join(by_library.blocks(tensor))


def test_a_look_takes_the_short_way_and_a_copy_does_not(opened: list[str], tmp_path: Path) -> None:
    path = next(path for path in FILES if not path.is_relative_to(OF_WINDOWS))
    assert unnest.inspect(path).error is None
    assert opened == []
    unnest.fix(path, tmp_path / "out.keras")
    assert opened[0] == f"{path}: model.weights.h5"


def test_paths_of_windows_are_left_to_the_library(opened: list[str]) -> None:
    paths = [path for path in FILES if path.is_relative_to(OF_WINDOWS)]
    for path in paths:
        KerasSource(str(path), fast=True).close()
    assert [path.removesuffix(": model.weights.h5") for path in opened] == [*map(str, paths)]
    assert paths
