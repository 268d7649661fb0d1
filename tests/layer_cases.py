"""The layer-by-layer fixtures: one layer class and argument a case, written and run by its own stack."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "fixtures" / "layers"


@dataclass(frozen=True)
class LayerCase:
    """One case: its stack, its name there, and its note."""

    stack: str
    name: str
    note: dict[str, Any]
    has_io: bool

    def extract(self, folder: Path) -> Path:
        """The model file, in a folder of its own with its inputs and outputs beside it."""
        with zipfile.ZipFile(FOLDER / f"{self.stack}.zip") as archive:
            members = [n for n in archive.namelist() if n.startswith(f"{self.name}/") and not n.endswith("/")]
            archive.extractall(folder, members)
        return next(p for p in (folder / self.name).iterdir() if p.stem == "model")


def stacks() -> list[str]:
    """Those that have cases."""
    return sorted(p.stem for p in FOLDER.glob("*.zip"))


def cases(stack: str) -> Iterator[LayerCase]:
    """All cases of a stack, by name."""
    with zipfile.ZipFile(FOLDER / f"{stack}.zip") as archive:
        names = set(archive.namelist())
        for note in sorted(n for n in names if n.endswith("/case.json")):
            name = note.removesuffix("/case.json")
            yield LayerCase(stack, name, json.loads(archive.read(note)), f"{name}/io.npz" in names)
