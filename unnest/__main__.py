"""`unnest` and `python -m unnest`: load the rest with the signals already handled.

The imports at the top are those that Python has loaded anyway, or loads in no time: until `main` runs, Ctrl-C is
Python's. Nothing can be earlier: before it Python starts itself and runs `site`; this package adds about 2 ms to that.
"""

from __future__ import annotations

import os
import signal
import sys

from unnest.signals_and_exit_codes import (
    INTERRUPTED,
    NOTHING_LEFT,
    interrupt,
    leave_at_once,
    received,
    set_handlers,
    write_stderr,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    try:
        set_handlers(leave_at_once)
        _open_streams()
        import gc

        gc.disable()  # while modules are loaded, nothing is garbage; looking for it takes 6 % of a short run
        from unnest.cli.app import run

        set_handlers(interrupt)
        code: int | None = run()
        if received:
            raise KeyboardInterrupt  # noqa: TRY301 - as if it had come through
        # Done: what is left is Python's own leaving, which a signal would only make ugly.
        set_handlers(signal.SIG_IGN)
    except KeyboardInterrupt:
        set_handlers(signal.SIG_IGN)
        write_stderr(f"unnest: interrupted; {_state()}\n")
        _leave(128 + received[0] if received else INTERRUPTED)
    except (MemoryError, SystemError):
        # While modules are loaded, or while `run` reported another one; C code that lacks memory may raise SystemError.
        code = None
    if code is None:  # reported here, where the memory that the exception held is free again
        write_stderr(
            "unnest: the machine has not enough memory left; end other programs, or use a larger machine\n"
        )
        code = 2
    _leave(code)


def _state() -> str:
    """Return what an interrupted run leaves. Outputs that were complete stay, and a signal may arrive that late."""
    interrupts = sys.modules.get("unnest.files.interrupts")
    completed = interrupts.completed_outputs if interrupts is not None else []
    if not completed:
        return NOTHING_LEFT
    if len(completed) > 1:
        return f"{len(completed)} outputs are complete, {NOTHING_LEFT}"
    from unnest.report.escape_stored_names import plain

    return f"{plain(completed[0])} is complete, {NOTHING_LEFT}"


def _leave(code: int) -> NoReturn:
    """Exit with this code after running exit handlers, without Python's object-by-object teardown.

    That takes a tenth of a short run, and does not always keep the code: an interrupt in text that is run by `exec`, as
    in the making of a dataclass, stays noted in the interpreter even where it is answered, and CPython, run as a
    module, ends itself by SIGINT then. No thread of ours is left at this point, and every file is closed.
    """
    import atexit
    import contextlib

    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()  # noqa: SLF001 - there is no public name for it
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _open_streams() -> None:
    """Open the null device for a closed stdout or stderr, whose number the next opened file (a model?) would get."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                null = os.open(os.devnull, os.O_RDWR)
                if null != number:
                    os.dup2(null, number)
                    os.close(null)
                setattr(
                    sys,
                    name,
                    open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False),  # noqa: SIM115 - it stays open
                )
            except OSError:
                pass  # no device for nothing, either


if __name__ == "__main__":
    main()
