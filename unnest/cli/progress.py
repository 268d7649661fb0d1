"""Progress of long work, on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from unnest.cli.streams import try_on_stderr
from unnest.report.escape_stored_names import plain

if TYPE_CHECKING:
    from rich import progress

    from unnest.options import Phase, PhaseMeter

#: Copies shorter than this are over before anybody wonders.
LONG = 256 << 20
#: Seconds between two looks of the line.
OFTEN = 0.2
#: Columns of a bar, of a terminal that has no room for it, and of all that stands behind the bar.
BAR, NARROW = 10, 72
BYTES_RATE_AND_TIME = len(" 999.9/999.9 MB 999.9 MB/s 0:00:00")
#: Files a second from which no decimal is shown.
MANY = 10


class ProgressBar:
    """Progress of long work, for people only: bytes of large files, and files where stdout does not show them.

    Both say how many files are done, of how many where `count` knows it, the rate, and the time that is left. Drawn
    from the thread that works, so that there is no other to be interrupted.
    """

    def __init__(self, *, quiet: bool, count: Callable[[], int | None] = lambda: None) -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._counts = self._shown and not sys.stdout.isatty()
        self._bars: progress.Progress | None = None
        self._tasks: dict[str, progress.TaskID] = {}
        self._start = self._last = time.monotonic()
        self._files = 0
        self._count = cache(count)
        self._line = False

    def meter(self, path: str) -> PhaseMeter | None:
        """Return a function that draws a bar with the phase, rate and time left; None if stderr is not shown."""
        if not self._shown:
            return None

        is_complete = False

        def step(done: int, total: int, phase: Phase) -> None:
            nonlocal is_complete
            if total > LONG and not is_complete and (self._is_due() or done == total):
                is_complete = done == total
                try_on_stderr(lambda: self._move(plain(os.path.basename(path)), done, total, phase))

        return step

    def _is_due(self) -> bool:
        """Return True if the last look was long enough ago; then this is the next."""
        now = time.monotonic()
        if now - self._last <= OFTEN:
            return False
        self._last = now
        return True

    def count_file(self, path: str) -> None:  # noqa: ARG002 - their number is enough
        """Count files, if they are not listed on the same terminal."""
        self._files += 1
        if self._counts and self._is_due():
            self._line = True
            try_on_stderr(
                lambda: print(f"\r{self._of_files()}\x1b[K", end="", file=sys.stderr, flush=True)
            )

    def _of_files(self) -> str:
        """Files done of all files, their rate, and the time left."""
        rate = self._files / max(time.monotonic() - self._start, OFTEN)
        total = self._count()
        if total is None:
            return f"{self._files:,} files, {_rounded(rate)} a second"
        left = timedelta(seconds=round(max(0, total - self._files) / rate))
        return f"{self._files:,} of {total:,} files, {_rounded(rate)} a second, {left} left"

    def hide(self) -> None:
        """Take the bars away: something is going to be printed."""
        if self._bars is not None:
            try_on_stderr(self._bars.stop)
            self._bars, self._tasks = None, {}

    def close(self) -> None:
        """Leave nothing of it on the terminal."""
        self.hide()
        if self._line:
            try_on_stderr(lambda: print("\r\x1b[K", end="", file=sys.stderr, flush=True))

    def _move(self, name: str, done: int, total: int, phase: Phase) -> None:
        """Update the bar of a file; the bars are made when the first file has one."""
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        if self._bars is None:
            console = Console(stderr=True)
            columns = [
                progress.TextColumn(
                    "{task.description}", markup=False, table_column=Column(no_wrap=True)
                ),
                progress.BarColumn(BAR),
                progress.DownloadColumn(table_column=Column(no_wrap=True)),
                progress.TransferSpeedColumn(table_column=Column(no_wrap=True)),
                progress.TimeRemainingColumn(),
            ]
            if console.width < NARROW:
                del columns[1]
            self._bars = progress.Progress(
                *columns, console=console, transient=True, auto_refresh=False
            )
            self._bars.start()
        count = self._count()
        begin = "" if count is None or count == 1 else f"file {self._files + 1:,} of {count:,}: "
        line = _fitted(f"{begin}{phase} ", name, self._bars.console.width)
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(line, total=total)
        self._bars.update(self._tasks[name], completed=done, description=line)
        self._bars.refresh()
        if done >= total:
            self._bars.remove_task(self._tasks.pop(name))


def _fitted(begin: str, name: str, width: int) -> str:
    """Return the words before the bar; of a name that is too long for this terminal, only its end."""
    room = width - BYTES_RATE_AND_TIME - len(begin) - (BAR + 1 if width >= NARROW else 0)
    return begin + (
        name if len(name) <= room else f"…{name[len(name) - room + 1 :]}" if room > 1 else "…"
    )


def _rounded(rate: float) -> str:
    """Return a number of files, with a decimal where there are few."""
    return f"{rate:,.0f}" if rate >= MANY else f"{rate:.1f}"
