"""stdout and stderr: full disks, closed pipes, colours."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TextIO

from unnest.report.escape_stored_names import plain


class StdoutError(Exception):
    """The report cannot be written; the message says why."""


def print_stdout(line: str) -> None:
    """Print a line to stdout; a pipe that its reader closed is no error. Raises StdoutError."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as e:
        raise StdoutError(e.strerror) from e


def print_stderr(line: str) -> None:
    """Print a line to stderr; a closed stderr is no reason to stop."""
    try_on_stderr(lambda: print(line, file=sys.stderr, flush=True))


def try_on_stderr(show: Callable[[], object]) -> None:
    """Show something on stderr, where there is still a stderr."""
    try:
        show()
    except OSError:
        silence(sys.stderr)


def flush(stream: TextIO) -> None:
    """Flush a stream.

    Raises:
        BrokenPipeError: its reader is gone.
        StdoutError: it cannot be written.

    """
    try:
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as e:
        raise StdoutError(e.strerror) from e


def silence(stream: TextIO) -> None:
    """Point a stream at the null device, as Python flushes it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


#: What was complained of last, if anything was.
LAST_COMPLAINT: list[str] = []


def complain(message: str) -> None:
    """Print an error to stderr, in one line, without the credentials of a URL."""
    LAST_COMPLAINT[:] = [message]
    if "://" in message:
        from unnest.remote.urls import without_credentials

        message = without_credentials(message)
    print_stderr(f"unnest: {plain(message)}")


def has_colors(stream: TextIO) -> bool:
    """Return True if colours are wanted, and can be shown."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
