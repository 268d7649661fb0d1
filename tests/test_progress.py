"""The line that says how long work gets on: in a terminal, and nowhere else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from unnest.cli import progress

pty = pytest.importorskip("pty", reason="Windows has no pseudo terminals")

#: Every file counts as long, and every step is shown.
AS_LONG = """
import sys
from unnest.cli import progress
progress.LONG, progress.OFTEN = 0, 0.000001
sys.argv = ["unnest", *{words!r}]
from unnest.__main__ import main
main()
"""
COLUMNS = 80


def lines_in_terminal(*words: str, stdout_too: bool = True) -> list[str]:
    """Return the lines that a terminal of COLUMNS was shown, each as it was before the next took its place."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-c", AS_LONG.format(words=words)],
        stdin=theirs, stdout=theirs if stdout_too else subprocess.DEVNULL, stderr=theirs, env=environment,
    ) as child:  # fmt: skip
        os.close(theirs)
        shown = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # Linux, where the other end is closed
                break
            if not data:
                break
            shown += data
    os.close(ours)
    assert child.returncode in (0, 1)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", shown.decode())
    return [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip()]


def joined(lines: list[str]) -> str:
    """All that was shown, in one line."""
    return " ".join(lines)


def test_one_file(bad: Path, tmp_path: Path) -> None:
    """The line has phase, name, bytes of bytes, rate and time left; of one file no count."""
    shown = joined(lines_in_terminal("fix", str(bad), "-o", str(tmp_path / "out.h5")))
    for part in (f"copying {bad.name}", f"reading back {bad.name}", "bytes", "/s", "0:00:00"):
        assert part in shown
    assert "file 1 of" not in shown
    assert shown.index("copying") < shown.index("reading back") < shown.index("fixed")


def test_a_long_name_leaves_room(bad: Path, tmp_path: Path) -> None:
    """Of a name that is too long the end is shown; bytes and rate stay on the line."""
    long = bad.rename(bad.with_name(f"{'checkpoint of a training ' * 4}epoch-017.h5"))
    shown = joined(lines_in_terminal("fix", str(long), "-o", str(tmp_path / "out.h5")))
    assert re.search(r"reading back …[\w -]*epoch-017\.h5 [^…]* bytes [^…]*/s", shown)


def test_another_container_is_converted(bad: Path, tmp_path: Path) -> None:
    """And read back."""
    shown = joined(
        lines_in_terminal("fix", str(bad), "--to", "keras", "-o", str(tmp_path / "out.keras"))
    )
    assert f"converting {bad.name}" in shown
    assert f"reading back {bad.name}" in shown


def test_files_of_files(bad: Path, tmp_path: Path) -> None:
    """Of a folder, the line counts them."""
    (tmp_path / "zoo").mkdir()
    for name in ("a.h5", "b.h5"):
        shutil.copy(bad, tmp_path / "zoo" / name)
    shown = joined(lines_in_terminal("fix", str(tmp_path / "zoo"), "-o", str(tmp_path / "fixed")))
    assert shown.index("file 1 of 2") < shown.index("file 2 of 2")
    assert "file 2 of 2: copying b.h5" in shown


def test_a_folder_beside_a_pipe(bad: Path, tmp_path: Path) -> None:
    """With reports on stdout, stderr counts files of files, a second, and the time left; then it is empty."""
    (tmp_path / "zoo").mkdir()
    for name in ("a.h5", "b.h5", "c.h5"):
        shutil.copy(bad, tmp_path / "zoo" / name)
    lines = lines_in_terminal("inspect", str(tmp_path / "zoo"), "--json-lines", stdout_too=False)
    assert [
        line
        for line in lines
        if re.fullmatch(r"2 of 3 files, [\d.]+ a second, 0:00:0\d left", line)
    ]


@pytest.mark.parametrize("options", [[], ["-q"]])
def test_not_off_a_terminal(bad: Path, tmp_path: Path, options: list[str]) -> None:
    """A pipe, a file or a log gets none of it."""
    code = AS_LONG.format(words=["fix", str(bad), "-o", str(tmp_path / "out.h5"), *options])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_not_where_quiet_is_asked_for(bad: Path, tmp_path: Path) -> None:
    """The terminal stays as it was."""
    assert lines_in_terminal("fix", str(bad), "-q", "-o", str(tmp_path / "out.h5")) == []


def test_a_complete_line_does_not_begin_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A SavedModel's other files are read back, too: more bytes than its tensors have, of which the total is."""
    drawn: list[int] = []
    monkeypatch.setattr(progress, "LONG", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = progress.ProgressBar(quiet=False)
    monkeypatch.setattr(bar, "_move", lambda _, done, *__: drawn.append(done))
    step = bar.meter("model")
    assert step is not None
    for done in (4, 4, 4):
        step(done, 4, "reading back")
    assert drawn == [4]
