"""Figures of the long examinations: a JSON file each, which their commands write and SECURITY.md is made from."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def record(name: str, figures: dict[str, Any], folder: Path = FOLDER) -> None:
    """Write `name`.json, with the day and the machine that the figures are of.

    Args:
        name: of the examination.
        figures: anything that JSON can hold.
        folder: elsewhere than in the tree, for a run whose figures are not to be kept.

    """
    day = dt.datetime.now(dt.timezone.utc).date().isoformat()
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    text = json.dumps({"day": day, "machine": machine, **figures}, indent=1, sort_keys=False)
    (folder / f"{name}.json").write_text(text + "\n", "utf8")


def recorded(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """The figures that were last written under a name; empty where none were."""
    path = folder / f"{name}.json"
    figures: dict[str, Any] = json.loads(path.read_text("utf8")) if path.exists() else {}
    return figures
