"""Write the table of backends into docs/versions-tested.md: what of `unnest.keras` works on each, run here and now.

    python scripts/backend_table.py tensorflow=PYTHON jax=PYTHON torch=PYTHON

Each PYTHON has Keras 3, its backend and this package; `tests/keras/backend_process.py` is what it runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "versions-tested.md"
BEGIN, END = "<!-- backends: python scripts/backend_table.py -->\n", "<!-- /backends -->"
#: Sign for a task that a backend refuses in one line.
REFUSED = "says that it needs TensorFlow"


def outcome(backend: str, python: str) -> dict[str, Any]:
    """Return the answers of a process with that backend: `tasks` by name, `at_once` and `loaded` backends."""
    with tempfile.TemporaryDirectory() as folder:
        env = {
            **os.environ,
            "KERAS_BACKEND": backend,
            "CUDA_VISIBLE_DEVICES": "",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        command = [python, "-m", "tests.keras.backend_process", folder]
        done = subprocess.run(
            command, env=env, cwd=ROOT, capture_output=True, text=True, check=True
        )
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def table(outcomes: dict[str, dict[str, Any]]) -> str:
    """One row for each task, one column for each backend."""
    backends = list(outcomes)
    rows = [["", *backends], ["---"] * (len(backends) + 1)]
    for task in outcomes[backends[0]]["tasks"]:
        cells = [outcomes[backend]["tasks"][task] for backend in backends]
        rows.append([task, *(REFUSED if "need TensorFlow" in cell else cell for cell in cells)])
    rows.append(
        ["backends in memory at the end", *(", ".join(outcomes[b]["loaded"]) for b in backends)]
    )
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main(arguments: list[str]) -> None:
    """Run the processes and write the page."""
    pythons = dict(argument.split("=", 1) for argument in arguments)
    made = table({backend: outcome(backend, python) for backend, python in pythons.items()})
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + made + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
