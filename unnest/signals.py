"""Signals that end a run, and those that have arrived. Loaded before anything else, so it imports next to nothing."""

from __future__ import annotations

import signal

#: Signals that end the run as Ctrl-C does; the exit code is 128 and their number.
ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
#: The exit code of a run that Ctrl-C ended.
INTERRUPTED = 128 + signal.SIGINT

#: The signals that came, the first one first. They end the run even if a library swallows the exception.
received: list[int] = []
