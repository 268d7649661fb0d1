"""A call that is made beside other work: most of the time it waits for the disk, or needs no Python."""

from __future__ import annotations

import _thread
import contextlib
from collections.abc import Callable


class InBackground:
    """A call in a thread of its own, if there is room for one more; else `wait` makes it. `error` is what it raised.

    No `threading.Thread`: where memory runs out in its first steps, whoever starts it waits for ever. (Source: CPython
    3.11, threading.py: start waits for what the new thread sets.)
    """

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self.error: BaseException | None = None
        self._begun, self._done = _thread.allocate_lock(), _thread.allocate_lock()
        self._done.acquire()

    def start(self) -> None:
        """Begin, if there is room for a thread."""
        with contextlib.suppress(RuntimeError, MemoryError):
            _thread.start_new_thread(self._run, ())

    def wait(self) -> None:
        """Until it has been made, or `error` says why it was not."""
        self._run()
        with self._done:
            pass

    def _run(self) -> None:
        """Whoever comes first does it."""
        if not self._begun.acquire(blocking=False):
            return
        try:
            self._call()
        except BaseException as e:  # noqa: BLE001 - whoever waits for it is told
            self.error = e
        finally:
            self._done.release()
