"""Signals that end a run: their handlers, and those that have arrived; and the exit codes of the process.

Loaded before anything else, so it imports only modules that Python has loaded already.
"""

from __future__ import annotations

import io
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

#: Signals that end the run as Ctrl-C does; the exit code is 128 and their number.
ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
#: The exit code of a run that Ctrl-C ended.
INTERRUPTED = 128 + signal.SIGINT
DONE, FOUND, TROUBLE = 0, 1, 2
#: Exit code -> what it says, as the documentation has it.
EXITS = {
    DONE: "inspect: every file is clean. fix: every file is clean now",
    FOUND: "inspect: at least one parallel model. fix --dry-run: something would change",
    TROUBLE: "a file could not be read or fixed, or the command line is wrong",
    INTERRUPTED: "interrupted (other signals: 128 and their number); nothing half-written is left",
}

#: The signals that came, the first one first. They end the run even if a library swallows the exception.
received: list[int] = []

#: The end of the line that an interrupted run writes.
NOTHING_LEFT = "nothing half-written is left"


def set_handlers(handler: object) -> None:
    """Set the handler of the signals that end a run; those that are ignored from outside (nohup) stay so."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)  # type: ignore[arg-type]  # one of those below, or the module's own


def leave_at_once(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - what a handler is given
    """Exit at once on a signal while modules are loaded: nothing is open yet, and an exception would be shown."""
    write_stderr(f"unnest: interrupted; {NOTHING_LEFT}\n")
    os._exit(128 + number)


def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a handler is given
    """Note the signal and raise KeyboardInterrupt, as Python does for Ctrl-C."""
    received.append(number)
    raise KeyboardInterrupt


def write_stderr(line: str) -> None:
    """Write a line to stderr, in whatever state a run that ends has left it."""
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except (
        io.UnsupportedOperation,
        MemoryError,
    ):
        # What is left of it where memory ran out while it was set up.
        os.write(2, line.encode())
    except OSError:
        pass  # the reader has closed the pipe
