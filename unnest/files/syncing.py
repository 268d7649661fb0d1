"""A file or a folder that goes to the disk while it is written and read back, by a thread of its own."""

from __future__ import annotations

import _thread
import contextlib
import os
from types import TracebackType
from typing import TYPE_CHECKING

from unnest.files import system

if TYPE_CHECKING:
    from typing_extensions import Self

#: Seconds between two syncs of what is still being written; what is written sooner is synced once.
PAUSE = 0.02


class Syncing:
    """Syncs what the `with` statement's body writes to `path`, all along and once more when it is `filled`.

    The end of the `with` statement waits until everything is on the disk. Raises the OSError of whichever sync failed:
    a system tells an error of the disk once, and not again to those who sync later.

    No `threading.Thread`: where memory runs out in its first steps, whoever starts it waits for ever. (Source: CPython
    3.11, threading.py: start waits for what the new thread sets.)
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.error: BaseException | None = None
        self._is_filled = False
        self._begun, self._written, self._done = (_thread.allocate_lock() for _ in range(3))
        self._written.acquire()
        self._done.acquire()

    def __enter__(self) -> Self:
        with contextlib.suppress(RuntimeError, MemoryError):  # no room for one more thread: the end does it
            _thread.start_new_thread(self._run, ())
        return self

    def filled(self) -> None:
        """All is written; what follows in the body only reads."""
        self._is_filled = True
        self._written.release()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not self._is_filled:
            self._written.release()
        self._run()
        with self._done:
            pass
        if error is None and self.error is not None:
            raise self.error

    def _run(self) -> None:
        """Whoever comes first does it."""
        if not self._begun.acquire(blocking=False):
            return
        try:
            while not self._written.acquire(timeout=PAUSE) and self._may_come():
                _sync_newest(self.path)
            if self._is_filled:
                self._sync()
        except BaseException as e:  # noqa: BLE001 - whoever waits for it is told
            self.error = e
        finally:
            self._done.release()

    def _may_come(self) -> bool:
        """Whether there is still a folder to write in: an interrupt may keep us from being told that it is over."""
        return os.path.isdir(os.path.dirname(self.path) or ".")

    def _sync(self) -> None:
        for path in _files(self.path):
            system.sync(path)
        for folder, _, _ in os.walk(self.path):
            system.sync_folder(folder)


def _files(path: str) -> list[str]:
    """A file, or all that are in a folder."""
    return [*system.files_in(path)] if os.path.isdir(path) else [path]


def _sync_newest(path: str) -> None:
    """Sync a file that is being written, or the one in a folder; nothing where there is none yet.

    Not all of a folder: each sync has the disk's own memory written out too, however little of the file is new.
    """
    with contextlib.suppress(FileNotFoundError):  # not yet, or not any more
        newest = max(_files(path), key=lambda file: os.stat(file).st_mtime_ns, default=None)
        if newest is not None:
            system.sync_data(newest)
