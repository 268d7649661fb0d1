"""The console blocks of the documents, run as a reader would: `python -m tests.doc_blocks` writes their output anew.

A page names the files that its commands read in a comment: `<!-- with: model.h5=path/in/the/repository -->`. All its
blocks run in one folder, in order. `...` alone on a line of output stands for any number of lines.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WITH = re.compile(r"^<!-- with: (.*?) -->$", re.MULTILINE)
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if WITH.search(page.read_text(encoding="utf-8"))
)


def set_up(page: str, folder: Path) -> dict[str, str]:
    """The files that a page wants, and the environment that its commands run in."""
    for pair in " ".join(WITH.findall(page)).split():
        name, _, source = pair.partition("=")
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / source).is_dir() else shutil.copy)(ROOT / source, target)
    programs = folder.parent / f"{folder.name}-bin"
    programs.mkdir(exist_ok=True)
    program = programs / "unnest"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m unnest "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "80"}


def ran(block: str, folder: Path, environment: dict[str, str]) -> str:
    """The block with the output that its commands have."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        done = subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines += [f"$ {command}", *done.stdout.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def agrees(told: str, done: str) -> bool:
    """Return True if a block shows what its commands print."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(f"{line}\n") for line in told.splitlines()
    )
    return re.fullmatch(pattern, done) is not None


def blocks(path: Path) -> Iterator[tuple[str, str]]:
    """(what a page says, what its commands do) for each of its blocks."""
    page = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "work"
        folder.mkdir()
        environment = set_up(page, folder)
        for match in BLOCK.finditer(page):
            yield match[1], ran(match[1], folder, environment)


if __name__ == "__main__":
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        for told, done in blocks(path):
            if not agrees(told, done):
                page = page.replace(f"```console\n{told}```", f"```console\n{done}```")
        path.write_text(page, encoding="utf-8")
