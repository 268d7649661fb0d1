"""Outputs for the genuine .h5 files load, and predict as the file that the same stack saved directly.

Two Kerases look at each file: the one that wrote it (UNNEST_STACKS: the folder of environments that
fixtures/scripts/make-stack makes) and today's (UNNEST_TF: a Python with tensorflow, tf_keras and
keras; tf_keras, or Keras 3 for files by Keras 3). One process per stack and Keras, one at a time.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
from pathlib import Path
from typing import Any

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES, SCRIPTS
from tests.slow.stacks import python_of
from tests.slow.verdicts import TABLE, Case, Run, Verdict, judge

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("stack.py")
#: Seconds for one stack's files in one Keras; the largest takes two minutes on a busy machine.
PATIENCE = 1800

#: Folder -> which environment of make-stack, and which Keras in it.
STACKS: dict[str, dict[str, str]] = runpy.run_path(str(SCRIPTS / "cases.py"))["STACKS"]


def sources(stack: str) -> list[Path]:
    """The parallel models of a stack: full saves, and weights."""
    return sorted(
        p for name in ("parallel.h5", "weights.h5") for p in FIXTURES.glob(f"{stack}/*/{name}")
    )


def config_of(path: Path) -> str:
    """The architecture that a full save holds, as text."""
    with h5py.File(path) as f:
        text = f.attrs.get("model_config", "")
    return text.decode() if isinstance(text, bytes) else str(text)


@pytest.fixture(scope="session")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Case, dict[str, Any]]]]:
    """Every parallel model fixed: stack -> its cases, and the stack-side script's input for each."""
    folder, made = tmp_path_factory.mktemp("fixed"), {}
    for stack in STACKS:
        made[stack] = [
            _fix(path, folder / f"{stack}-{path.parent.name}.h5") for path in sources(stack)
        ]
    return made


def _fix(path: Path, output: Path) -> tuple[Case, dict[str, Any]]:
    beside = {n: str(p) for n in os.listdir(path.parent) if (p := path.parent / n)}
    model = path.name == "parallel.h5"
    architecture = None if model else beside.get("model.json", beside.get("template.json"))
    result = unnest.fix(path, output, architecture=architecture)
    assert (result.action, result.error) == ("fixed", None)
    note, config = json.loads(path.with_name("case.json").read_text()), config_of(output)
    case = Case(
        f"{path.parent.parent.name}/{path.parent.name}", note["case"], model, not model and architecture is None,
        "float16" in config,
    )  # fmt: skip
    code = ".".join(note["python"].split(".")[:2]) if '"Lambda"' in config else None
    base = beside["base.h5" if model else "base_weights.h5"]
    return case, {
        "id": case.id, "line": case.line, "model": model, "flat": case.flat, "source": str(path),
        "io": beside.get("io.npz"), "files": {"fixed": str(output), "base": base}, "json": beside.get("base.json"),
        "code": code,
    }  # fmt: skip


def answers(python: str, job: dict[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """Return the stack-side script's answers by case; a process that dies leaves those it had."""
    told, out, home = folder / "job.json", folder / "out.jsonl", folder / "home"
    home.mkdir()
    told.write_text(json.dumps(job))
    env = {
        "PATH": os.defpath, "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "",
    }  # fmt: skip
    done = subprocess.run(
        [python, str(SCRIPT), str(told), str(out)], env=env, cwd=home, capture_output=True, text=True, errors="replace",
        check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert out.exists(), done.stderr[-3000:]
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert done.returncode == 0, (len(lines), job["cases"][len(lines) :][:1], done.stderr[-3000:])
    return {line["id"]: line for line in lines}


def looked_at(  # noqa: PLR0913 - who looks at what, and where it is kept
    stack: str,
    keras: str,
    python: str,
    api: str,
    made: list[tuple[Case, dict[str, Any]]],
    folder: Path,
    *,
    own: bool,
) -> Run:
    """Every case of a stack, judged."""
    if not made:
        pytest.skip(f"{stack}: no parallel models")
    job = {"scripts": str(SCRIPTS), "api": api, "own": own, "cases": [told for _, told in made]}
    said = answers(python, job, folder)
    verdicts = tuple(
        judge(case, said[case.id], own=own)
        if case.id in said
        else Verdict(case, wrong=("no answer",))
        for case, _ in made
    )
    return Run(stack, keras, verdicts)


def kept(request: pytest.FixtureRequest, run: Run) -> None:
    """Into the table; and nothing may be wrong."""
    request.config.stash.setdefault(TABLE, []).append(run)
    assert [(v.case.id, v.wrong) for v in run.verdicts if v.wrong] == []


def test_every_stack_is_in_the_table() -> None:
    """A folder that no stack reads would be passed by in silence."""
    told = {
        p.parent.parent.name
        for name in ("parallel.h5", "weights.h5")
        for p in FIXTURES.glob(f"*/*/{name}")
    }
    assert told == set(STACKS)


@pytest.mark.parametrize("stack", list(STACKS))
def test_in_the_original(
    stack: str,
    fixed: dict[str, list[tuple[Case, dict[str, Any]]]],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """The Keras that wrote the files."""
    env, api = STACKS[stack]["env"], STACKS[stack]["api"]
    python = python_of(env)
    kept(
        request,
        looked_at(stack, f"its own ({api})", str(python), api, fixed[stack], tmp_path, own=True),
    )


@pytest.mark.parametrize("stack", list(STACKS))
def test_in_todays(
    stack: str,
    fixed: dict[str, list[tuple[Case, dict[str, Any]]]],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Today's tf_keras; Keras 3 for what Keras 3 wrote."""
    python = os.environ.get("UNNEST_TF")
    if not python:
        pytest.skip("UNNEST_TF names no Python with tensorflow, tf_keras and keras")
    api = "keras" if stack == "keras3" else "tf_keras"
    keras = "Keras 3" if api == "keras" else api
    kept(request, looked_at(stack, keras, python, api, fixed[stack], tmp_path, own=False))
