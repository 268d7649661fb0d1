"""Loads a written model in the Keras it is for, runs it, and compares it with the file that it came from.

    python -m unnest.keras.verify_worker < JOB.json        the last line of stdout is the outcome, as JSON

A job is `{"keras": "keras" | "tf_keras", "output": PATH, "input": PATH | null, "rows": N, "memory": BYTES}`.
The outcome is `{"loaded": bool, "ran": bool, "why": str | null, "difference": float | null}`: `why` is what went
wrong, and `difference` the largest between the two models' predictions, as a share of the largest prediction.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

#: Sizes tried, one after the other, for axes that a model leaves open.
TRIED_LENGTHS = (8, 32, 128)


def limit_memory(size: int) -> None:
    """Limit the process's address space to `size` bytes, if the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def load(keras: Any, path: str) -> Any:
    """Load the model, in safe mode and not compiled."""
    if not path.endswith(".json"):
        return keras.models.load_model(path, compile=False, safe_mode=True)
    with open(path, encoding="utf-8") as file:
        return keras.models.model_from_json(file.read())


def inputs(model: Any, rows: int, length: int) -> list[Any]:
    """Return random arrays for every input; integers are 0 or 1, which any vocabulary has."""
    rng = np.random.default_rng(0)
    arrays = []
    for tensor in model.inputs:
        shape = tuple(d or (rows if k == 0 else length) for k, d in enumerate(tuple(tensor.shape)))
        dtype = getattr(tensor.dtype, "name", tensor.dtype)
        is_integer = "int" in dtype or dtype in ("bool", "string")
        arrays.append(
            (rng.integers(0, 2, shape) if is_integer else rng.normal(size=shape)).astype(dtype)
        )
    return arrays


def outputs(keras: Any, model: Any, arrays: list[Any]) -> list[Any]:
    """Return the model's predictions, as a flat list of arrays."""
    predictions = model(arrays[0] if len(arrays) == 1 else arrays, training=False)
    # tf_keras has no ops.
    to_array = keras.ops.convert_to_numpy if hasattr(keras, "ops") else np.asarray
    return [to_array(tensor) for tensor in flat(predictions)]


def flat(tensors: Any) -> Iterator[Any]:
    """Yield the tensors of lists and dicts of any depth, those of a dict by their names."""
    if isinstance(tensors, dict):
        tensors = [tensors[name] for name in sorted(tensors)]
    if not isinstance(tensors, list | tuple):
        yield tensors
        return
    for tensor in tensors:
        yield from flat(tensor)


def run(keras: Any, model: Any, rows: int) -> tuple[list[Any], list[Any], str | None]:
    """Return (inputs, outputs, None) for the first length of open axes that the model takes, else ([], [], why not)."""
    why = None
    for length in TRIED_LENGTHS:
        arrays = inputs(model, rows, length)
        try:
            return arrays, outputs(keras, model, arrays), None
        except Exception as e:  # noqa: BLE001 - whatever a model raises, another length may suit it
            why = one_line(e)
    return [], [], why


def difference(predictions: list[Any], expected: list[Any]) -> float:
    """Return the largest difference over the largest prediction; infinite if shapes differ, or for no finite number."""
    if [a.shape for a in predictions] != [b.shape for b in expected]:
        return float("inf")
    finite = [np.isfinite(b) for b in expected]
    if any(
        not np.array_equal(np.isfinite(a), mask)
        for a, mask in zip(predictions, finite, strict=True)
    ):
        return float("inf")
    pairs = [(a[mask], b[mask]) for a, b, mask in zip(predictions, expected, finite, strict=True)]
    largest = max([1e-6, *(float(np.max(np.abs(b), initial=0)) for _, b in pairs)])
    return max([0.0, *(float(np.max(np.abs(a - b), initial=0)) for a, b in pairs)]) / largest


def one_line(error: BaseException) -> str:
    """Return an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def outcome(job: dict[str, Any]) -> dict[str, Any]:
    """Load the output, run it, and compare it with the input; return the result of each step."""
    result: dict[str, Any] = {"loaded": False, "ran": False, "why": None, "difference": None}
    keras = import_module(job["keras"])
    try:
        model = load(keras, job["output"])
        result["loaded"] = True
    except Exception as e:  # noqa: BLE001 - whatever a loader raises is the answer
        return {**result, "why": one_line(e)}
    arrays, predictions, why = run(keras, model, job["rows"])
    result |= {"ran": why is None, "why": why}
    if result["ran"] and job["input"] is not None:
        try:
            result["difference"] = difference(
                predictions, outputs(keras, load(keras, job["input"]), arrays)
            )
        except Exception as e:  # noqa: BLE001 - the input need not run
            result["why"] = one_line(e)
    return result


def main() -> None:
    """Read the job, write the outcome."""
    job = json.load(sys.stdin)
    limit_memory(job["memory"])
    print("\n" + json.dumps(outcome(job)))  # noqa: T201 - it is how this process answers


if __name__ == "__main__":
    main()
