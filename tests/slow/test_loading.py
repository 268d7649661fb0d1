"""Where a file loads, by the report and in fact: every fixture, in both Kerases of today."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.report.result import Report
from unnest.report.where_it_loads import UNPROMISED

NAMES = (
    "base.h5",
    "lookalike.h5",
    "clean.h5",
    "base.keras",
    "parallel.keras",
    "lookalike.keras",
    "base.json",
)
PATIENCE = 3600

LOADER = """
import importlib, json, sys
name, paths = sys.argv[1], json.load(sys.stdin)
keras = importlib.import_module(name)
for path in paths:
    keras.backend.clear_session()
    try:
        if path.endswith(".json"):
            keras.models.model_from_json(open(path).read())
        else:
            keras.models.load_model(path, compile=False, **({"safe_mode": False} if "weights" not in path else {}))
        print(json.dumps(None))
    except Exception as e:
        print(json.dumps(" ".join(f"{type(e).__name__}: {e}".split())[:300]))
    sys.stdout.flush()
"""


def files() -> list[Path]:
    """Every model of the fixtures that is a file, as genuine software wrote it."""
    return sorted(
        p
        for name in NAMES
        for p in FIXTURES.rglob(name)
        if ("keras_zip" in p.parts) == (p.suffix == ".keras")
    )


def loaded(python: str, keras: str, paths: list[Path], home: Path) -> list[str | None]:
    """Return why each file does not load in this Keras; None if it does."""
    env = {
        "PATH": os.defpath,
        "HOME": str(home),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
    }
    done = subprocess.run(
        [python, "-c", LOADER, keras], input=json.dumps([str(p) for p in paths]), env=env, cwd=home,
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def contradicts(report: Report, keras: str, error: str | None) -> bool:
    """Return True if the report is untrue; of older files in Keras 3 only a refusal is certain."""
    why = report.does_not_load_in.get({"keras": "Keras 3", "tf_keras": "tf_keras"}[keras])
    if report.needs.classes or report.needs.functions:
        return error is None
    if report.needs.stored_code and why is None:
        return False  # on the Python that wrote it
    promised = why is None
    return why != UNPROMISED and promised != (error is None)


@pytest.mark.parametrize("keras", ["keras", "tf_keras"])
def test_what_is_said_of_loading(keras: str, tmp_path: Path) -> None:
    """No promise that is not kept, no refusal of what loads."""
    python = os.environ.get("UNNEST_TF")
    if not python:
        pytest.skip("UNNEST_TF names no Python with tensorflow, tf_keras and keras")
    paths = files()
    assert len(paths) > 300
    errors = loaded(python, keras, paths, tmp_path)
    told = [(unnest.inspect(path), error) for path, error in zip(paths, errors, strict=True)]
    assert [(r.path, r.does_not_load_in, e) for r, e in told if contradicts(r, keras, e)] == []
