"""Copies of files: the comparison of two files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unnest.files.copy_and_compare import READ_BLOCK, files_equal

LONG = bytes(range(256)) * (2 * READ_BLOCK // 256) + b"end"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (b"", b"", True),
        (LONG, LONG, True),
        (LONG, LONG[:-1] + b"!", False),
        (b"!" + LONG[1:], LONG, False),
        (LONG, LONG[:-3], False),
        (b"", b"!", False),
    ],
)
def test_files_are_the_same_by_their_bytes(
    left: bytes, right: bytes, expected: bool, tmp_path: Path
) -> None:
    for name, data in (("left", left), ("right", right)):
        (tmp_path / name).write_bytes(data)
    assert files_equal(str(tmp_path / "left"), str(tmp_path / "right")) is expected


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_named_pipe_is_not_opened(tmp_path: Path) -> None:
    """Opening it would wait for a writer."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").write_bytes(b"")
    assert not files_equal(str(tmp_path / "empty"), str(tmp_path / "pipe"))
