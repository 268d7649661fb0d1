"""Ctrl-C between two steps, never within one.

A KeyboardInterrupt can come up between any two instructions, also between making a file and
noting that it was made, or in the middle of taking it away. While `Held`, Ctrl-C is noted and
raised at the end; the long parts in between are `released`, and end at once.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from threading import current_thread, main_thread
from types import FrameType, TracebackType


class Held:
    """A stretch of work that a single Ctrl-C cannot tear apart."""

    def __init__(self) -> None:
        # Only the main thread gets signals, and only it may say what they do.
        handler = signal.getsignal(signal.SIGINT) if current_thread() is main_thread() else None
        self._usual = handler if callable(handler) else None
        self._pending = False

    def __enter__(self) -> Held:  # noqa: PYI034 - Self came with Python 3.11
        self._hold()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()
        if self._pending:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """A long part, for which Ctrl-C means what it always means."""
        self._restore()
        try:
            if self._pending:
                raise KeyboardInterrupt
            yield
        finally:
            self._hold()

    def _hold(self) -> None:
        if self._usual is not None:
            signal.signal(signal.SIGINT, self._note)

    def _restore(self) -> None:
        if self._usual is not None:
            signal.signal(signal.SIGINT, self._usual)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - what a handler is given
        self._pending = True
