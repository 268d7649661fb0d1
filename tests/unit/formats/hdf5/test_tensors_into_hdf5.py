"""The fault if tensors cannot be copied: the input's, or the disk's."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5o, h5p

from tests import makeh5
from unnest.errors import Unreadable
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.hdf5.tensors_into_hdf5 import copy_dataset, new_hdf5

KERNEL = "model_weights/tmpl/d1/kernel:0"


class Full(io.FileIO):
    """A file on a disk that has room for so many bytes."""

    room = 4096

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """As much as there is room for."""
        if self.room == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = super().write(bytes(data)[: self.room])
        self.room -= done
        return done


def test_a_full_disk_is_told_as_one(tmp_path: Path) -> None:
    """HDF5 goes on with the error raised, and Python would make another one of it."""
    with (
        Full(tmp_path / "m.h5", "w+") as disk,
        pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as caught,
        new_hdf5(disk) as file,
    ):
        file["x"] = np.zeros(100_000)
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize(
    ("said", "kind"),
    [("invalid layout storage size", Unreadable), ("write failed: errno = 28", RuntimeError)],
)
def test_who_is_to_blame(
    said: str, kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that no system call raised is the input's fault."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(f"Unable to copy object ({said})")

    monkeypatch.setattr(h5o, "copy", fail)
    hdf5 = GuardedFile(str(makeh5.parallel_file(tmp_path / "m.h5")))
    with h5py.File(tmp_path / "out.h5", "w") as file, pytest.raises(kind, match=said) as caught:
        copy_dataset(hdf5, KERNEL, file.id, "kernel:0", h5p.create(h5p.LINK_CREATE))
    hdf5.close()
    assert ("m.h5" in str(caught.value)) == (kind is Unreadable)
