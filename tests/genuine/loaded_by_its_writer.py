"""What stacks said of loading files that they had just written: `STACK.json` has an answer for each name of a file."""

from __future__ import annotations

import json
from pathlib import Path

import unnest


def answers(folder: Path, pattern: str = "*.json") -> dict[str, bool]:
    """Return by `STACK-NAME` whether the stack loaded the file that it had written; `pattern` is of its answers."""
    return {
        f"{stack.stem}-{name}": is_loaded
        for stack in sorted(folder.glob(pattern))
        for name, is_loaded in json.loads(stack.read_text()).items()
    }


def check_writer_is_named(file: Path, *, is_loaded: bool) -> None:
    """Check that a report names the writer, and has a line to load the file, if and only if the writer loaded it."""
    report = unnest.inspect(file)
    names_its_writer = any("which wrote it" in software for software in report.loads_in)
    assert (names_its_writer, report.load is not None) == (is_loaded, is_loaded)
