"""A file or a folder that goes to the disk while it is written and read back, by a thread of its own."""

from __future__ import annotations

import _thread
import contextlib
import os
from types import TracebackType
from typing import TYPE_CHECKING

from unnest.files import portable_file_operations

if TYPE_CHECKING:
    from typing_extensions import Self

#: Seconds between two syncs of what is still being written; what is written sooner is synced once.
PAUSE = 0.02


class BackgroundSync:
    """Sync `path` in the background while the `with` body writes it, and once more after `writing_is_over()`.

    The end of the `with` statement waits until everything is on the disk. It raises the OSError of whichever sync
    failed: a system reports an error of the disk once only.

    Not a `threading.Thread`: if memory runs out in its first steps, the thread that starts it waits for ever. (Source:
    CPython 3.11, threading.py: start waits for what the new thread sets.)
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.error: BaseException | None = None
        self._is_written = False
        self._has_begun, self._is_over, self._is_done = (_thread.allocate_lock() for _ in range(3))
        self._is_over.acquire()
        self._is_done.acquire()

    def __enter__(self) -> Self:
        # No room for one more thread: the end does it.
        with contextlib.suppress(RuntimeError, MemoryError):
            _thread.start_new_thread(self._run, ())
        return self

    def writing_is_over(self) -> None:
        """Note that all is written: the rest of the body only reads, so the last sync may begin."""
        self._is_written = True
        self._is_over.release()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if not self._is_written:
            self._is_over.release()
        self._run()
        with self._is_done:
            pass
        if error is None and self.error is not None:
            raise self.error

    def _run(self) -> None:
        """Sync the files again and again until all is written; the first error is kept."""
        if not self._has_begun.acquire(blocking=False):
            return
        try:
            while not self._is_over.acquire(timeout=PAUSE) and self._may_still_be_written():
                _sync_newest(self.path)
            if self._is_written:
                self._sync()
        except BaseException as e:  # noqa: BLE001 - raised again in the thread that waits
            self.error = e
        finally:
            self._is_done.release()

    def _may_still_be_written(self) -> bool:
        """True while the folder to write in exists; an interrupt may hide the end of the work from this thread."""
        return os.path.isdir(os.path.dirname(self.path) or ".")

    def _sync(self) -> None:
        for path in _files(self.path):
            portable_file_operations.sync(path)
        for folder, _, _ in os.walk(self.path):
            portable_file_operations.sync_folder(folder)


def _files(path: str) -> list[str]:
    """Return the path of a file, or of all files in a folder."""
    return [*portable_file_operations.files_in(path)] if os.path.isdir(path) else [path]


def _sync_newest(path: str) -> None:
    """Sync a file that is being written, or the newest file in a folder; do nothing while there is no file.

    Syncing all files of the folder would be slow: each sync also flushes the disk's cache, however little is new.
    """
    with contextlib.suppress(FileNotFoundError):  # not yet, or not any more
        newest = max(_files(path), key=lambda file: os.stat(file).st_mtime_ns, default=None)
        if newest is not None:
            portable_file_operations.sync_data(newest)
