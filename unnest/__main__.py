"""`unnest` and `python -m unnest`: load the rest with Ctrl-C already in hand."""

from __future__ import annotations

import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        from unnest.cli import run

        code = run()
        # Done: what is left is Python's own leaving, which Ctrl-C would only make ugly.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        sys.stderr.write("unnest: interrupted; nothing half-written is left\n")
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
