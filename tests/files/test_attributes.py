"""Permissions of an output: as after `cp`, or in place as before."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import unnest
from tests import makeh5
from tests.files.test_force import CHECKPOINT, CLEAN_SAVED_MODEL, INDEX, SAVED_MODEL, SHARD
from unnest.formats.hdf5 import legacy_h5_writer

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no such bits")


def mode(path: Path) -> int:
    """Permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o022, 0o077, 0o002], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """The caller's umask."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o644, 0o666, 0o444, 0o400])
def test_a_file(bits: int, umask: int, tmp_path: Path) -> None:
    """The input's bits less the umask, fixed or copied."""
    for make in (makeh5.parallel_file, makeh5.clean_file):
        source = make(tmp_path / "m.h5")
        source.chmod(bits)
        output = tmp_path / "out.h5"
        assert unnest.fix(source, output).error is None
        assert mode(output) == bits & ~umask
        output.unlink()
        source.unlink()


@pytest.mark.usefixtures("umask")
def test_nobody_reads_a_private_model_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first byte on there is a folder in the way that only its owner opens."""
    source = makeh5.parallel_file(tmp_path / "m.h5")
    source.chmod(0o600)
    looked: list[int] = []
    write = legacy_h5_writer.H5Container.write

    def look(
        self: legacy_h5_writer.H5Container, model: object, read: object, path: str, progress: object
    ) -> None:
        looked.append(mode(Path(path).parent.parent))
        write(self, model, read, path, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(legacy_h5_writer.H5Container, "write", look)
    assert unnest.fix(source).error is None
    assert looked == [0o700]


@pytest.mark.parametrize("source", [SAVED_MODEL, CLEAN_SAVED_MODEL])
def test_a_folder(source: Path, umask: int, tmp_path: Path) -> None:
    """Every file and folder has the bits of its namesake."""
    model = shutil.copytree(source, tmp_path / "m")
    (model / "variables" / "variables.index").chmod(0o640)
    (model / "saved_model.pb").chmod(0o604)
    model.chmod(0o750)
    assert unnest.fix(model, tmp_path / "out").error is None
    for name in ("variables/variables.index", "saved_model.pb", "variables", ""):
        assert mode(tmp_path / "out" / name) == mode(model / name) & ~umask | (
            0o700 if (model / name).is_dir() else 0
        )


@pytest.mark.parametrize(
    ("folder", "file", "expected"), [(0o700, 0o644, 0o600), (0o755, 0o600, 0o600)]
)
def test_a_file_out_of_a_folder(folder: int, file: int, expected: int, tmp_path: Path) -> None:
    """Whom the folder, or one of its files, kept out is kept out of what comes out of it."""
    model = shutil.copytree(
        SAVED_MODEL.parents[1] / "saved_model-official-named-adam/parallel", tmp_path / "m"
    )
    (model / "variables" / "variables.data-00000-of-00001").chmod(file)
    model.chmod(folder)
    result = unnest.fix(model, tmp_path / "out.h5")
    assert result.error is None
    assert mode(tmp_path / "out.h5") == expected


def test_a_checkpoint(umask: int, tmp_path: Path) -> None:
    """As a file."""
    for part in (INDEX, SHARD):
        shutil.copyfile(f"{CHECKPOINT}{part}", tmp_path / f"m{part}")
        (tmp_path / f"m{part}").chmod(0o640)
    assert unnest.fix(tmp_path / "m", tmp_path / "out").error is None
    for part in (INDEX, SHARD):
        assert mode(tmp_path / f"out{part}") == 0o640 & ~umask


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("bits", [0o600, 0o664, 0o444])
def test_in_place(bits: int, tmp_path: Path) -> None:
    """Mode, owner and extended attributes stay, whatever the umask."""
    source = makeh5.parallel_file(tmp_path / "m.h5")
    source.chmod(bits)
    if os.geteuid() == 0:
        os.chown(source, 12345, 54321)
    tagged = _tagged(source)
    before = source.stat()
    assert unnest.fix(source, in_place=True).action == "fixed"
    after = source.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    assert after.st_ino != before.st_ino
    if tagged:
        assert os.getxattr(source, "user.origin") == b"training run 7"


def _tagged(path: Path) -> bool:
    try:
        os.setxattr(path, "user.origin", b"training run 7")
    except (OSError, AttributeError):
        return False
    return True
