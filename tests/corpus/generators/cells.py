"""The cases of a dialect in one file: `# %% NAME | STACK | API` begins each; lines above the first belong to all.

A case is run as a script of its own, so that its names are globals and automatic layer names repeat. What its author
says of it (how it came about, what is expected, doubts) is in its note: `python -m tests.corpus show NAME`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def cells(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield (name, stack, API, source) of every case in the files of a folder."""
    for path in sorted(folder.glob("*.py")):
        shared, *cases = re.split(r"^# %% ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for case in cases:
            head, source = case.split("\n", 1)
            name, stack, api = head.split(" | ")
            yield name, stack, api, shared + source


def notes(*containers: str) -> dict[str, dict[str, Any]]:
    """Return each case's note by the case's name; of a name in several containers that of the last."""
    sys.path.insert(0, str(ROOT))
    from tests.corpus.unpacked import CASES  # it unpacks the archives

    paths = [path for container in containers for path in (CASES / container).glob("*/case.json")]
    return {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}
