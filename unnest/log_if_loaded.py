"""The library's logger `unnest`; a process that has not loaded `logging` pays nothing."""

from __future__ import annotations

import sys


def info(message: str, *values: object) -> None:
    """Log one line at INFO, if anything in this process uses logging."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger("unnest").info(message, *values)
