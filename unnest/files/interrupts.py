"""Ctrl-C, SIGTERM and SIGHUP between two steps, never within one.

A signal's handler can run between any two instructions, also between making a file and noting that it was made, or in
the middle of taking it away. While `DeferredSignals` is entered, the signals that end a program are noted and answered
at the end; in the long parts in between they are `allowed`, and end the program at once.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from threading import current_thread, main_thread
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Self

#: What ends a program and can be answered: Ctrl-C, `kill` and `docker stop`, a closed terminal (not on Windows).
SIGNALS: tuple[signal.Signals, ...] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

#: The outputs that this process gave their names: an interrupt that comes later finds them whole.
completed_outputs: list[str] = []

Handler: TypeAlias = "Callable[[int, FrameType | None], object] | int"


def caused_by_interrupt(error: BaseException) -> bool:
    """True if an interrupt caused an error: Python 3.11 wraps what is raised while a class is made."""
    causes = [error]
    while (cause := causes[-1].__cause__) is not None and cause not in causes:
        causes.append(cause)
    return any(isinstance(cause, KeyboardInterrupt) for cause in causes)


def raised_by_signal_handler(error: BaseException) -> BaseException | None:
    """Return the exception that a signal handler raised during our work, if it caused this one; else None.

    A caller's timeout ends our work this way. The handler's code object is in the traceback of such an exception.
    """
    handlers = {
        code
        for number in signal.valid_signals()
        if (code := _code_of(signal.getsignal(number))) is not None
    }
    causes = [error]
    while (
        cause := causes[-1].__cause__ or causes[-1].__context__
    ) is not None and cause not in causes:
        causes.append(cause)
    return next(
        (cause for cause in causes if not handlers.isdisjoint(_codes(cause.__traceback__))), None
    )


def _code_of(handler: object) -> CodeType | None:
    """Return the code object of a function, a method, or a callable object; None without one."""
    of_object = vars(type(handler)).get("__call__")
    codes = (
        getattr(each, "__code__", None)
        for each in (handler, getattr(handler, "__func__", None), of_object)
    )
    return next((code for code in codes if isinstance(code, CodeType)), None)


def _codes(trace: TracebackType | None) -> Iterator[CodeType]:
    """Yield the code object of every function between where an exception was raised and where it was caught."""
    while trace is not None:
        yield trace.tb_frame.f_code
        trace = trace.tb_next


class DeferredSignals:
    """A block of work in which SIGINT, SIGTERM and SIGHUP wait until its end, and then are delivered."""

    def __init__(self) -> None:
        self._handlers: dict[int, Handler] = {}
        # Only the main thread gets signals, and only it may say what they do.
        if current_thread() is main_thread():
            for number in SIGNALS:
                handler = signal.getsignal(number)
                # Ignored (nohup) stays ignored; None is a handler that Python knows nothing of.
                if handler is not None and handler != signal.SIG_IGN:
                    self._handlers[number] = handler
        self._pending: list[int] = []

    def __enter__(self) -> Self:
        self._defer()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()
        self._deliver()

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Deliver what has been held back, and let signals through within the block."""
        self._restore()
        try:
            self._deliver()
            yield
        finally:
            self._defer()

    def _defer(self) -> None:
        for number in self._handlers:
            signal.signal(number, self._note)

    def _restore(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _deliver(self) -> None:
        """Deliver the first signal that was held back, as if it arrived now."""
        if self._pending:
            first, self._pending = self._pending[0], []
            signal.raise_signal(first)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - what a handler is given
        self._pending.append(number)
