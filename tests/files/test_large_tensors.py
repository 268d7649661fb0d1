"""Large tensors, which HDF5 does not copy: where they come to lie, what is shared with the input, what is not."""

from __future__ import annotations

import errno
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import h5py
import numpy as np
import pytest

import unnest
from tests import makeh5
from tests.judged import check_verdict
from unnest.files import reflinks
from unnest.files.reflinks import FS_BLOCK, Range
from unnest.formats.hdf5 import compare_tensors
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.hdf5.legacy_h5_writer import H5Container

#: The kernel has 4 rows of so many float32, more than a MiB.
WIDTH = 70_003
KERNEL = "model_weights/d1/d1/kernel:0"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A parallel model with a large kernel, at no whole block of the file."""
    path = makeh5.parallel_file(tmp_path / "m.h5", width=WIDTH)
    with h5py.File(path) as file:
        assert file["model_weights/tmpl/d1/kernel:0"].id.get_offset() % FS_BLOCK
    return path


def kernel_of(path: Path) -> h5py.Dataset:
    """The large one."""
    with h5py.File(path) as file:
        name = next(n for n in (KERNEL, "model_weights/tmpl/d1/kernel:0") if n in file)
        return file[name].id.get_offset(), file[name][()]


def test_same_place_within_a_block(large: Path, tmp_path: Path) -> None:
    """Behind all else, bit for bit; and made from what was made, it stays as it is."""
    assert unnest.fix(large, tmp_path / "o.h5").action == "fixed"
    (there, expected), (here, got) = kernel_of(large), kernel_of(tmp_path / "o.h5")
    assert (there - here) % FS_BLOCK == 0
    assert here + 4 * 4 * WIDTH == (tmp_path / "o.h5").stat().st_size
    assert expected.tobytes() == got.tobytes()
    check_verdict(unnest.inspect(tmp_path / "o.h5"), "clean")
    assert unnest.fix(tmp_path / "o.h5", tmp_path / "again.h5").action == "unchanged"


@pytest.mark.parametrize("options", [{"to": "keras"}, {"keras": "3"}, {"to": "weights"}], ids=str)
def test_into_other_containers(options: dict[str, Any], large: Path) -> None:
    """The same bytes, and a sound zip."""
    result = unnest.fix(large, **options)
    assert result.error is None
    assert result.output is not None
    content = Path(result.output).read_bytes()
    assert content.count(kernel_of(large)[1].tobytes()) == 1
    if zipfile.is_zipfile(result.output):
        with zipfile.ZipFile(result.output) as archive:
            assert archive.testzip() is None


@pytest.mark.parametrize("dtype", [">f4", "<f2", "|b1", "<i8"])
@pytest.mark.parametrize("noted", [False, True], ids=["", "noted"])
def test_of_any_type(dtype: str, noted: bool, tmp_path: Path) -> None:
    """Type and attributes of the dataset stay."""
    path = makeh5.parallel_file(tmp_path / "m.h5", width=WIDTH * 2)
    with h5py.File(path, "r+") as file:
        group = file["model_weights/tmpl/d1"]
        values = np.random.default_rng(0).integers(0, 2, group["kernel:0"].shape).astype(dtype)
        del group["kernel:0"]
        group["kernel:0"] = values
        if noted:
            group["kernel:0"].attrs["note"] = "mine"
    assert unnest.fix(path, tmp_path / "o.h5").error is None
    with h5py.File(tmp_path / "o.h5") as file:
        assert file[KERNEL].dtype == np.dtype(dtype)
        assert file[KERNEL][()].tobytes() == values.tobytes()
        assert dict(file[KERNEL].attrs) == ({"note": "mine"} if noted else {})


def sharing(
    monkeypatch: pytest.MonkeyPatch, *, honest: bool = True, told: bool = True
) -> list[tuple[int, int]]:
    """A file system that clones, or says so; and reports it, or not. What it was asked to clone: offset and size."""
    cloned: list[tuple[int, int]] = []

    def clone(source: Range, file: IO[bytes], offset: int) -> bool:
        cloned.append((source.offset, source.size))
        assert not source.offset % FS_BLOCK | offset % FS_BLOCK | source.size % FS_BLOCK
        data = os.pread(source.file.fileno(), source.size, source.offset)
        os.pwrite(file.fileno(), data if honest else bytes(len(data)), offset)
        return True

    monkeypatch.setattr(reflinks, "clone", clone)
    monkeypatch.setattr(compare_tensors, "are_shared", lambda *_: told)
    return cloned


@pytest.mark.parametrize("told", [True, False])
def test_where_the_file_system_clones(
    told: bool, large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All whole blocks of the kernel, once; and the same file as elsewhere."""
    unnest.fix(large, tmp_path / "plain.h5")
    cloned = sharing(monkeypatch, told=told)
    assert unnest.fix(large, tmp_path / "o.h5").error is None
    start, end = reflinks.whole_blocks(kernel_of(large)[0], 4 * 4 * WIDTH)
    assert cloned == [(start, end - start)]
    assert (tmp_path / "o.h5").read_bytes() == (tmp_path / "plain.h5").read_bytes()


def test_a_clone_that_is_none(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that reports a clone is not believed unless it says that the blocks are shared."""
    sharing(monkeypatch, honest=False, told=False)
    result = unnest.fix(large, tmp_path / "o.h5")
    assert result.error is not None
    assert (result.action, result.error.code) == ("failed", "read-back")
    assert os.listdir(tmp_path) == ["m.h5"]


@pytest.mark.parametrize("where", ["before", "behind"])
def test_the_edges_are_read_back(
    where: str, large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes in blocks that are shared in part are read back."""
    sharing(monkeypatch)
    write = H5Container.write

    def write_wrong(self: H5Container, *arguments: Any) -> None:  # noqa: ANN401 - whatever `write` takes
        write(self, *arguments)
        path = Path(arguments[2])
        with h5py.File(path) as file:
            start, size = file[KERNEL].id.get_offset(), file[KERNEL].id.get_storage_size()
        content = bytearray(path.read_bytes())
        content[start if where == "before" else start + size - 1] ^= 1
        path.write_bytes(content)

    monkeypatch.setattr(H5Container, "write", write_wrong)
    result = unnest.fix(large, tmp_path / "o.h5")
    assert result.error is not None
    assert (result.action, result.error.code) == ("failed", "read-back")


class Failing(io.FileIO):
    """A file on a disk that cannot read."""

    def readinto(self, _buffer: object) -> int:
        """Not at all."""
        raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("kind", [Failing, lambda _: io.BytesIO()], ids=["fails", "ends"])
def test_an_input_that_cannot_be_read(
    kind: Callable[[Path], IO[bytes]], large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The input is to blame, by the weight's name in it."""
    with kind(large) as raw:
        monkeypatch.setattr(GuardedFile, "raw", raw)
        result = unnest.fix(large, tmp_path / "o.h5")
    assert result.error is not None
    assert result.error.code == "cannot-read"
    assert result.error.message.startswith(
        f"{large}: /model_weights/tmpl/d1/kernel:0 cannot be read"
    )
    assert os.listdir(tmp_path) == ["m.h5"]
