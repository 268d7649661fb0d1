"""Interrupts: what they are wrapped in, and the exit code wherever they come."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

import unnest
from tests import makeh5
from unnest.files import interrupts

MADE = "import os, signal; os.kill(os.getpid(), signal.{})"
WITHIN_EXEC = "from unnest import __main__; from unnest.cli import app; app.run = lambda: exec({!r}); __main__.main()"


def chained(errors: Sequence[BaseException]) -> BaseException:
    """The first error, made of the second, and so on."""
    for error, cause in pairwise(errors):
        error.__cause__ = cause
    return errors[0]


@pytest.mark.parametrize(
    ("errors", "is_caused"),
    [
        ([KeyboardInterrupt()], True),
        ([RuntimeError("Error calling __set_name__"), KeyboardInterrupt()], True),
        ([ImportError(), RuntimeError(), KeyboardInterrupt()], True),
        ([RuntimeError("KeyboardInterrupt")], False),
        ([RuntimeError(), ValueError()], False),
    ],
)
def test_what_an_error_was_made_of(errors: list[BaseException], is_caused: bool) -> None:
    """Its cause, or that one's; never its words."""
    assert interrupts.caused_by_interrupt(chained(errors)) == is_caused


class Late(Exception):
    """A caller's timeout."""


def late(*_: object) -> None:
    raise Late


class Timer:
    """Handlers of the other kinds."""

    def late(self, *_: object) -> None:
        raise Late

    def __call__(self, *_: object) -> None:
        raise Late


@pytest.fixture
def handled() -> Iterator[Callable[[Callable[..., object]], None]]:
    """Sets what answers the signal that `unnest` leaves to its caller."""
    before = signal.getsignal(signal.SIGALRM)

    def handle(handler: Callable[..., object]) -> None:
        signal.signal(signal.SIGALRM, handler)

    yield handle
    signal.signal(signal.SIGALRM, before)


def met() -> BaseException:
    """Return the exception into which a library turns one that comes in its middle."""
    try:
        try:
            signal.raise_signal(signal.SIGALRM)
        except Late as e:
            raise RuntimeError("cannot read") from e
    except RuntimeError as e:
        return e
    return AssertionError("no signal came")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGALRM")
@pytest.mark.parametrize(
    "handler", [late, Timer().late, Timer()], ids=["function", "method", "object"]
)
def test_what_a_handler_raised(
    handler: Callable[..., object], handled: Callable[[Callable[..., object]], None]
) -> None:
    """However the library wrapped it; the same exception of other code is not a handler's."""
    handled(handler)
    error = met()
    assert interrupts.raised_by_signal_handler(error) is error.__cause__
    assert isinstance(error.__cause__, Late)
    assert interrupts.raised_by_signal_handler(chained([RuntimeError(), Late()])) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGALRM")
def test_a_callers_timeout_reaches_the_caller(
    handled: Callable[[Callable[..., object]], None], tmp_path: Path
) -> None:
    """In the middle of writing; nothing is left of the output."""
    makeh5.parallel_file(tmp_path / "m.h5")
    handled(late)
    with pytest.raises(Late):
        unnest.fix(
            tmp_path / "m.h5",
            tmp_path / "out.h5",
            meter=lambda *_: signal.raise_signal(signal.SIGALRM),
        )
    assert [path.name for path in tmp_path.iterdir()] == ["m.h5"]


#: A signal that comes while a module is looked for, in a place from which Python lets no exception out.
WHILE_LOADING = """
import os, signal, sys
from unnest import __main__
class Interrupting:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        sum(range(1000))
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "unnest.cli.app":
            Interrupting()
sys.meta_path.insert(0, Finder())
sys.argv = ["unnest", "--version"]
__main__.main()
"""

#: A signal that comes when the output has its name.
LATE = """
import os, signal, sys
from unnest import __main__
from unnest.outputs import publish_output
publish = publish_output.publish
def published(*args):
    done = publish(*args)
    os.kill(os.getpid(), signal.{name})
    return done
publish_output.publish = published
sys.argv = ["unnest", "fix", "m.h5"]
__main__.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no signal to one process")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(
    ("program", "state"),
    [(WHILE_LOADING, ""), (LATE, "m.unnested.h5 is complete, ")],
    ids=["early", "late"],
)
def test_early_and_late(name: str, program: str, state: str, tmp_path: Path) -> None:
    """One line, which says what is there, and the exit code."""
    makeh5.parallel_file(tmp_path / "m.h5")
    command = [sys.executable, "-c", program.format(name=name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == f"unnest: interrupted; {state}nothing half-written is left\n"
    assert done.returncode == 128 + getattr(signal, name)
    assert sorted(os.listdir(tmp_path)) == ["m.h5", "m.unnested.h5"][: 2 if state else 1]


#: A signal while the first output gets its name, in a library that lets no exception out.
SWALLOWED = """
import os, runpy, signal, sys
from unnest.outputs import publish_output
publish = publish_output.publish
def published(*args):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))
    except KeyboardInterrupt:
        pass
    return publish(*args)
publish_output.publish = published
sys.argv = ["unnest", "fix", "m.h5", "n.h5"]
{start}
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no signal to one process")
@pytest.mark.parametrize(
    "start",
    [
        "from unnest.__main__ import main; main()",
        'runpy.run_module("unnest", run_name="__main__", alter_sys=True)',
    ],
    ids=["unnest", "python -m unnest"],
)
def test_a_swallowed_interrupt_ends_the_run_all_the_same(start: str, tmp_path: Path) -> None:
    """After the file at hand: the next one is not begun."""
    for name in ("m.h5", "n.h5"):
        makeh5.parallel_file(tmp_path / name)
    command = [sys.executable, "-c", SWALLOWED.format(start=start)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGINT
    assert sorted(os.listdir(tmp_path)) == ["m.h5", "m.unnested.h5", "n.h5"]


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
