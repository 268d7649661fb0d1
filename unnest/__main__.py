"""`unnest` and `python -m unnest`: load the rest with the signals already in hand."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

#: Signals that end the run as Ctrl-C does; the exit code is 128 and their number.
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
INTERRUPTED = 128 + signal.SIGINT

#: The signals that came, the first one first. They end the run even where a library swallows the exception.
received: list[int] = []


def main() -> None:
    """Run the command line and leave with its exit code."""
    _open_streams()
    gc.disable()  # while modules are loaded, nothing that is made is garbage; looking for it takes 6 % of a short run
    try:
        _answer(_interrupt)
        from unnest.cli.app import run

        code = run()
        if received:
            raise KeyboardInterrupt  # noqa: TRY301 - as if it had come through
        # Done: what is left is Python's own leaving, which a signal would only make ugly.
        _answer(signal.SIG_IGN)
    except KeyboardInterrupt:
        _answer(signal.SIG_IGN)
        with contextlib.suppress(OSError):
            sys.stderr.write("unnest: interrupted; nothing half-written is left\n")
            sys.stderr.flush()
        _leave(128 + received[0] if received else INTERRUPTED)
    except MemoryError:  # while modules are loaded; `run` lets none out
        sys.stderr.write("unnest: the machine has not enough memory left to start\n")
        code = 2
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """Exit with this code, which Python's own way out does not always keep.

    An interrupt in text that is run by `exec`, as in the making of a dataclass, stays noted in the interpreter even
    where it is answered: run as a module, CPython ends itself by SIGINT then.
    """
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()  # noqa: SLF001 - there is no public name for it
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a handler is given
    received.append(number)
    raise KeyboardInterrupt


def _answer(how: object) -> None:
    """Set what the signals do; those that are ignored from outside (nohup) stay so."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, how)  # type: ignore[arg-type]


def _open_streams() -> None:
    """A closed stdout or stderr leaves its number to the next file that is opened, which may be a model."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):
                null = os.open(os.devnull, os.O_RDWR)
                if null != number:
                    os.dup2(null, number)
                    os.close(null)
                setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    main()
