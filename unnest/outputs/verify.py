"""--verify: load and run the result in the Keras that it is for, in a separate process with limits of time and memory.

Stored code is not run, and custom classes are not available: a result that needs them is reported as not verified. If
the input runs in that Keras too, both predict for the same generated inputs, and the predictions are compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from unnest.core.keras_facts.custom_objects_needed_to_load import Needs
from unnest.errors import UsageError
from unnest.findings import Code
from unnest.report.result import Problem, Report, Result

#: Seconds, and bytes of address space beside what the files themselves may take.
PATIENCE, MEMORY, PER_BYTE = 900, 24 << 30, 16
#: float32 sums in another order, as a share of the largest prediction.
TOLERANCE = 1e-4
#: Rows for every tower.
ROWS_PER_TOWER = 4
#: In the order in which they are chosen where TensorFlow, Keras's own default, is not installed.
BACKENDS = ("tensorflow", "jax", "torch")
SOFTWARE = {"keras": "Keras 3", "tf_keras": "tf_keras"}


def check_installed() -> None:
    """Raise UsageError if no Keras is installed to verify with, or no backend of it."""
    if not all(any(find_spec(name) for name in names) for names in (BACKENDS, SOFTWARE)):
        raise UsageError(
            "usage",
            "--verify needs Keras and its backend: pip install tensorflow keras tf_keras",
        )


def verify_output(result: Result, before: Report) -> Result:
    """Return the result with what was verified of its output; `before` is the report of the input.

    An output that does not load, or predicts something else, is a failed result; the output stays where it is.
    """
    module = "keras" if "Keras 3" not in result.does_not_load_in else "tf_keras"
    why = _reason_not_to_run(result, module)
    if why is not None:
        return _not_verified(result, why)
    original = result.backup or result.path
    loaded = [str(result.output), *([original] if _input_runs_too(before, module) else [])]
    job = {
        "keras": module, "output": loaded[0], "input": loaded[1] if len(loaded) > 1 else None,
        "rows": ROWS_PER_TOWER * _towers(before),
        "memory": MEMORY + PER_BYTE * sum(os.path.getsize(path) for path in loaded),
    }  # fmt: skip
    try:
        outcome = _run_worker(job)
    except subprocess.TimeoutExpired:
        return _not_verified(result, f"it took longer than {PATIENCE} s")
    return _with_outcome(result, outcome, SOFTWARE[module])


def _reason_not_to_run(result: Result, module: str) -> str | None:
    """Return why the result is not tried at all; None if it can be."""
    software, line, needs = SOFTWARE[module], result.load or "", result.needs
    names = ", ".join([*needs.classes, *needs.functions, *needs.of_keras])
    reasons = {
        "weights alone have no model to be run in": line.startswith("model.load_weights"),
        "a graph is not loaded by Keras": line.startswith("import tensorflow"),
        "it holds stored code, which is not run": needs.stored_code,
        f"it reads files that are not part of it: {', '.join(map(repr, needs.files))}": bool(
            needs.files
        ),
        f"it needs code that is not in the file: {names}": bool(names),
        f"{software} does not load it: {result.does_not_load_in.get(software)}": software
        in result.does_not_load_in,
        f"{software} is not installed": find_spec(module) is None,
    }
    return next((reason for reason, applies in reasons.items() if applies), None)


def _input_runs_too(before: Report, module: str) -> bool:
    """Return True if the input may be run beside the output: same Keras, and no custom code."""
    needs = before.needs
    own = needs == Needs()
    return own and before.container in ("h5", "keras") and before.contents == "model" and (
        SOFTWARE[module] not in before.does_not_load_in
    )  # fmt: skip


def _towers(before: Report) -> int:
    """Return the number of towers, however deep wrappers are nested, that the rows are divided among."""
    count = 1
    for wrapper in before.wrappers:
        count *= wrapper.towers or 1
    return count


def _run_worker(job: dict[str, Any]) -> dict[str, Any]:
    """Run the other process, and return its answer.

    Raises:
        TimeoutExpired: it takes too long.

    """
    env = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if find_spec("tensorflow") is None:
        env.setdefault("KERAS_BACKEND", next(filter(find_spec, BACKENDS)))
    if job["keras"] == "tf_keras":
        env["TF_USE_LEGACY_KERAS"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "unnest.keras.verify_worker"], input=json.dumps(job), env=env, capture_output=True,
        text=True, errors="replace", check=False, timeout=PATIENCE,
    )  # fmt: skip
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        return {
            "loaded": False,
            "ran": False,
            "why": f"the process that loaded it ended ({last[:200]})",
            "difference": None,
        }
    outcome: dict[str, Any] = json.loads(lines[-1])
    return outcome


def _with_outcome(result: Result, outcome: dict[str, Any], software: str) -> Result:
    """Return the result with the outcome of the worker process."""
    if not outcome["loaded"]:
        message = (
            f"{result.output}: does not load in {software}: {outcome['why']}; please report it"
        )
        return replace(result, action="failed", error=Problem("verify", message))
    checks = (*result.checks, f"loads in {software}")
    result = replace(result, checks=checks)
    if not outcome["ran"]:
        return _not_verified(
            result,
            f"it loads in {software}, but does not run on generated inputs ({outcome['why']})",
        )
    result = replace(result, checks=(*checks, "runs"))
    off = outcome["difference"]
    if off is None:
        why = outcome["why"] or f"the input does not run in {software}, or holds code"
        return _not_verified(
            result, f"it loads and runs in {software}, but there was nothing to compare with: {why}"
        )
    if off > TOLERANCE:
        message = f"{result.output}: predicts something else than the input (by {off:.1g} of the largest prediction)"
        return replace(
            result, action="failed", error=Problem("verify", f"{message}; please report it")
        )
    finding = Code.VERIFIED(software=software, off=f"{off:.0e}")
    return replace(
        result, checks=(*result.checks, "predictions"), findings=(*result.findings, finding)
    )


def _not_verified(result: Result, why: str) -> Result:
    return replace(result, findings=(*result.findings, Code.NOT_VERIFIED(why=why)))
