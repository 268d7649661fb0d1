"""Nowhere to write the report, and signals: the right exit code, one line, nothing half done."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests import makeh5
from tests.corpus.unpacked import FIXTURES

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell's redirections, and signals")

FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`unnest` in a shell's line."""
    command = line.replace("unnest", f"{shlex.quote(sys.executable)} -m unnest")
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, **environment},
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    assert "internal error" not in said, said
    assert "Exception ignored" not in said, said
    return done


#: (line, exit code, lines on stderr, whether the output is there).
LINES = [
    ("unnest fix m.h5 >/dev/full", 2, 1, True),
    ("unnest fix m.h5 --json >/dev/full", 2, 1, True),
    ("unnest fix m.h5 clean.h5 >/dev/full", 2, 1, True),
    ("unnest fix -q m.h5 >/dev/full", 0, 0, True),
    ("unnest inspect m.h5 >/dev/full", 2, 1, False),
    ("unnest --help >/dev/full", 2, 1, False),
    ("unnest --version >/dev/full", 2, 1, False),
    ("unnest fix m.h5 >&-", 0, 0, True),
    ("unnest fix m.h5 --json >&-", 0, 0, True),
    ("unnest inspect m.h5 >&-", 1, 0, False),
    ("unnest inspect clean.h5 >&-", 0, 0, False),
    ("unnest fix m.h5 2>&-", 0, 0, True),
    ("unnest fix nothing.h5 2>&-", 2, 0, False),
    ("unnest fix nothing.h5 2>/dev/full", 2, 0, False),
    ("unnest fix m.h5 nothing.h5 2>/dev/full", 2, 0, True),
    ("unnest --nonsense 2>/dev/full", 2, 0, False),
    ("unnest fix m.h5 >&- 2>&-", 0, 0, True),
    ("unnest fix m.h5 <&- >&- 2>&-", 0, 0, True),
    ("unnest fix nothing.h5 >/dev/full 2>/dev/full", 2, 0, False),
    ("unnest fix m.h5 | true", 0, 0, True),
    ("unnest --help | true", 0, 0, False),
]


@FULL
@pytest.mark.parametrize(("line", "code", "lines", "made"), LINES, ids=[case[0] for case in LINES])
def test_nobody_can_read_it(line: str, code: int, lines: int, made: bool, tmp_path: Path) -> None:
    """The work is done all the same; what could not be told is exit 2, and a closed stream is no error."""
    makeh5.parallel_file(tmp_path / "m.h5")
    makeh5.clean_file(tmp_path / "clean.h5")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    done = shell(line, tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (code, lines), done.stderr
    after = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert after.pop("m.unnested.h5", None) is not None if made else "m.unnested.h5" not in after
    assert after == before


def test_a_closed_stderr_does_not_land_in_a_model(tmp_path: Path) -> None:
    """The next file that is opened has its number; nothing that is said may go there."""
    makeh5.parallel_file(tmp_path / "m.h5")
    shell("unnest fix m.h5 -o expected.h5", tmp_path)
    shell("unnest fix nothing.h5 m.h5 nothing2.h5 -v -o out >&- 2>&-", tmp_path)
    assert (tmp_path / "out" / "m.h5").read_bytes() == (tmp_path / "expected.h5").read_bytes()


KERAS = FIXTURES / "keras_zip/keras3/keras_zip-carried-nested"


def _zipped_again(folder: Path) -> None:
    """A .keras whose weights are compressed: they are unpacked into an unnamed file to be read."""
    packed = zipfile.ZipFile(folder / "m.keras", "w", zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(KERAS / "parallel.keras") as old, packed as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))


@pytest.mark.parametrize("temporary", ["/nowhere", "/proc"])
def test_no_temporary_folder(temporary: str, tmp_path: Path) -> None:
    """Temporary files lie beside the output."""
    _zipped_again(tmp_path)
    where = {"TMPDIR": temporary, "TEMP": temporary, "TMP": temporary}
    done = shell("unnest fix -q m.keras", tmp_path, **where)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(os.listdir(tmp_path)) == ["m.keras", "m.unnested.keras"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("delay", [0.05, 0.15, 0.25, 0.35, 0.45])
def test_signals_end_as_ctrl_c_does(name: str, delay: float, tmp_path: Path) -> None:
    """128 and the number, one line, nothing left."""
    makeh5.parallel_file(tmp_path / "m.h5", width=1_000_000)
    child = subprocess.Popen(
        [sys.executable, "-c", STARTED, "fix", "-q", "m.h5"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout
    assert child.stdout.readline() == "started\n"
    time.sleep(delay)
    number = getattr(signal, name)
    child.send_signal(number)
    _, said = child.communicate(timeout=600)
    left = sorted(os.listdir(tmp_path))
    if child.returncode == 0:
        assert left == ["m.h5", "m.unnested.h5"]
    else:
        assert child.returncode == 128 + number
        late = "m.unnested.h5 is complete, " if len(left) > 1 else ""
        assert said == f"unnest: interrupted; {late}nothing half-written is left\n"
    assert left in (["m.h5"], ["m.h5", "m.unnested.h5"])


#: Says so when the signals are ours to handle.
STARTED = """
import unnest.__main__ as program
set_handlers = program.set_handlers
def announce(handler):
    set_handlers(handler)
    if handler is program.interrupt:
        print("started", flush=True)
program.set_handlers = announce
program.main()
"""


def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """A run under nohup goes on when its terminal closes."""
    makeh5.parallel_file(tmp_path / "m.h5", width=1_000_000)
    child = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + STARTED,
         "fix", "-q", "m.h5"],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout
    assert child.stdout.readline() == "started\n"
    child.send_signal(signal.SIGHUP)
    child.communicate(timeout=600)
    assert child.returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["m.h5", "m.unnested.h5"]
