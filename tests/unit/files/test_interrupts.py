"""Interrupts: what they are wrapped in, and the exit code wherever they come."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from unnest.files import interrupts

MADE = "import os, signal; os.kill(os.getpid(), signal.{})"
WITHIN_EXEC = "from unnest import __main__; from unnest.cli import app; app.run = lambda: exec({!r}); __main__.main()"


def chained(errors: Sequence[BaseException]) -> BaseException:
    """The first error, made of the second, and so on."""
    for error, cause in pairwise(errors):
        error.__cause__ = cause
    return errors[0]


@pytest.mark.parametrize(
    ("errors", "is_behind"),
    [
        ([KeyboardInterrupt()], True),
        ([RuntimeError("Error calling __set_name__"), KeyboardInterrupt()], True),
        ([ImportError(), RuntimeError(), KeyboardInterrupt()], True),
        ([RuntimeError("KeyboardInterrupt")], False),
        ([RuntimeError(), ValueError()], False),
    ],
)
def test_what_an_error_was_made_of(errors: list[BaseException], is_behind: bool) -> None:
    """Its cause, or that one's; never its words."""
    assert interrupts.is_behind(chained(errors)) == is_behind


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no signal to one process")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_within_text_that_is_run(name: str, tmp_path: Path) -> None:
    """Python remembers an interrupt that came within `exec`, and must not end by SIGINT for it."""
    (tmp_path / "entry.py").write_text(WITHIN_EXEC.format(MADE.format(name)))
    command = [sys.executable, "-m", "entry"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        128 + getattr(signal, name),
        "unnest: interrupted; nothing half-written is left\n",
    )
