"""Progress of long work, on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from unnest.cli.streams import attempt
from unnest.report.escape import plain

if TYPE_CHECKING:
    from rich import progress

#: Copies shorter than this are over before anybody wonders.
LONG = 256 << 20
#: Seconds between two looks of a progress bar, and files between two looks of a count.
OFTEN, FILES = 0.2, 20


class ProgressBar:
    """Progress of long work, for people only: bytes of large files, and files where stdout does not show them.

    Drawn from the thread that works, so that there is no other to be interrupted.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._counts = self._shown and not sys.stdout.isatty()
        self._bars: progress.Progress | None = None
        self._tasks: dict[str, progress.TaskID] = {}
        self._last = 0.0
        self._files = 0

    def meter(self, path: str) -> Callable[[int, int], None] | None:
        """Return a function that draws a bar with rate and time left; None if stderr is not shown."""
        if not self._shown:
            return None

        def step(done: int, total: int) -> None:
            now = time.monotonic()
            if total > LONG and (now - self._last > OFTEN or done == total):
                self._last = now
                attempt(lambda: self._move(plain(os.path.basename(path)), done, total))

        return step

    def count_file(self, path: str) -> None:  # noqa: ARG002 - their number is enough
        """Count files, if they are not listed on the same terminal."""
        self._files += 1
        if self._counts and self._files % FILES == 0:
            attempt(lambda: print(f"\r{self._files:,} files\x1b[K", end="", file=sys.stderr, flush=True))

    def hide(self) -> None:
        """Take the bars away: something is going to be printed."""
        if self._bars is not None:
            attempt(self._bars.stop)
            self._bars, self._tasks = None, {}

    def close(self) -> None:
        """Leave nothing of it on the terminal."""
        self.hide()
        if self._counts and self._files >= FILES:
            attempt(lambda: print("\r\x1b[K", end="", file=sys.stderr, flush=True))

    def _move(self, name: str, done: int, total: int) -> None:
        from rich import progress
        from rich.console import Console

        if self._bars is None:
            self._bars = progress.Progress(
                progress.TextColumn("{task.description}", markup=False),
                progress.BarColumn(),
                progress.DownloadColumn(),
                progress.TransferSpeedColumn(),
                progress.TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                auto_refresh=False,
            )
            self._bars.start()
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total)
        self._bars.update(self._tasks[name], completed=done)
        self._bars.refresh()
        if done >= total:
            self._bars.remove_task(self._tasks.pop(name))
