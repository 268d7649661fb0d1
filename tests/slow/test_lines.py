"""The line that `fix` prints loads what it wrote, in whatever container, and the model predicts what was recorded.

Runs in the Python that UNNEST_TF names (tensorflow, tf_keras and keras): one process for each of the two Kerases.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES, SCRIPTS
from tests.slow.verdicts import HALF_TOLERANCE, TOLERANCE

pytestmark = pytest.mark.slow

PATIENCE = 1800

#: What cannot be written, in one line that says why; all else must load.
REFUSED = {
    "cannot-convert": "Keras 1's JSON is read by no software that knows .keras",
    "no-architecture": "a graph alone",
}
#: Suffixes to write, by the source's container (the stack's folder for .h5, which have one of their own).
WAYS = {
    "h5": ("keras",), "keras_zip": ("h5", "keras"), "saved_model": ("h5", "keras"), "checkpoint": ("h5",),
    "weights_h5": ("h5",),
}  # fmt: skip
#: Whose .keras files with models in them today's tf_keras does not load, the template's own saves either: what was
#: recorded is compared alone.
OLDER_PATHS = ("tf212", "tf213", "tf214")
FILES = {
    "h5": "parallel.h5", "keras_zip": "parallel.keras", "saved_model": "parallel", "checkpoint": "parallel.ckpt",
    "weights_h5": "parallel.weights.h5",
}  # fmt: skip


def written(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every fixture in every container that it can become: which Keras loads it, with which arguments."""
    for container, name in FILES.items():
        pattern = f"*/*/{name}" if container == "h5" else f"{container}/*/*/{name}"
        found = FIXTURES.glob(pattern + (".index" if container == "checkpoint" else ""))
        for case in sorted(p.parent for p in found):
            if container == "checkpoint" and not (case / "model.json").exists():
                continue  # bare tensors, for the reader of bundles
            for suffix in WAYS[container]:
                number = len(list(folder.iterdir()))
                yield from _written(case, name, folder / f"{number}.{suffix}")


def _written(case: Path, name: str, output: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    architecture = case / "model.json" if name not in ("parallel.h5", "parallel") else None
    given = architecture if architecture and architecture.exists() else None
    done = unnest.fix(case / name, output, architecture=given)
    if done.error is not None:
        assert (done.action, done.error.code in REFUSED) == ("refused", True), done.error
        return
    assert done.load is not None
    note = json.loads((case / "case.json").read_text())
    if "safe_mode=False" in done.load and not note.get("python", "3.11").startswith("3.11"):
        return  # stored code is for the Python that wrote it
    if "# in Keras" in done.load:
        return  # for the writer's own software, whose lines test_predictions.py runs
    is_loaded = case.parent.name not in OLDER_PATHS
    bases = [case / n for n in ("base.h5", "base.keras") if is_loaded and (case / n).exists()]
    io = case / "io.npz"
    half = (case / "parallel.h5").exists() and b"float16" in (case / "parallel.h5").read_bytes()
    yield done.load.split(";")[0].removeprefix("import "), {
        "id": f"{case.relative_to(FIXTURES)} -> {output.suffix}", "line": done.load, "half": half,
        "io": str(io) if io.exists() else None, "base": str(bases[0]) if bases else None,
    }  # fmt: skip


def answers(
    python: str, api: str, cases: list[dict[str, Any]], folder: Path
) -> list[dict[str, Any]]:
    """Return the answers of `lines.py` on each case."""
    told, out = folder / f"{api}.json", folder / f"{api}.jsonl"
    told.write_text(json.dumps({"scripts": str(SCRIPTS), "api": api, "own": False, "cases": cases}))
    env = {
        "PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "",
    }  # fmt: skip
    done = subprocess.run(
        [python, str(Path(__file__).with_name("lines.py")), str(told), str(out)], env=env, cwd=folder,
        capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_printed_lines_load(tmp_path: Path) -> None:
    """As typed by a user who has the model's own classes at hand."""
    python = os.environ.get("UNNEST_TF")
    if not python:
        pytest.skip("UNNEST_TF names no Python with tensorflow, tf_keras and keras")
    (tmp_path / "files").mkdir()
    by_api: dict[str, list[dict[str, Any]]] = {}
    for api, told in written(tmp_path / "files"):
        by_api.setdefault(api, []).append(told)
    assert set(by_api) == {"keras", "tf_keras"}
    for api, cases in by_api.items():
        wrong, compared = [], 0
        for case, said in zip(cases, answers(python, api, cases, tmp_path), strict=True):
            limit = HALF_TOLERANCE if case["half"] else TOLERANCE
            compared += said["off"] is not None
            if said["error"] or (said["off"] is not None and said["off"] > limit):
                wrong.append(said)
        assert wrong == []
        assert compared == len(cases)
