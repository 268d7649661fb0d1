"""Reading the best value so far out of the names of checkpoints that an earlier run left."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from string import Formatter

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


def values(pattern: str, monitor: str) -> Iterator[float]:
    """The values of `monitor` in the names of existing files that `pattern` could have named.

    `pattern` is a checkpoint's path with placeholders in its last part. Names that do not
    hold the monitored value, and values such as `nan`, tell nothing.
    """
    folder, name = os.path.split(pattern)
    expression = _expression(name, monitor)
    if expression is None or "{" in folder or "://" in folder or not os.path.isdir(folder or "."):
        return
    for entry in sorted(os.listdir(folder or ".")):
        match = expression.fullmatch(entry.removesuffix(".index"))
        if match:
            yield float(match["best"])


def _expression(name: str, monitor: str) -> re.Pattern[str] | None:
    parts, has_value = [], False
    for literal, field, _, _ in Formatter().parse(name):
        parts.append(re.escape(literal))
        if field == monitor and not has_value:
            parts.append(f"(?P<best>{NUMBER})")
            has_value = True
        elif field is not None:
            parts.append(".+?")
    return re.compile("".join(parts)) if has_value else None
