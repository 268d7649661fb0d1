"""Run by a Python that has Keras 3 and never sees unnest: loads files, trains them one step more, and predicts.

    train_today.py JOBS.json ANSWERS.json

JOBS: [{"file": path of a .keras, "io": path of an .npz: x0 goes in, t and u0... are the step's batch and targets,
z0... what the file's own stack predicted after that step, r0... what it did after it had loaded its file again, where
that was something else}]. ANSWERS: for each {"off": the largest difference, relative to the largest output, "step": how
far the step moved the outputs, likewise} or {"error": text}.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.simplefilter("ignore")

import keras  # noqa: E402 - the log level first
import numpy as np  # noqa: E402


def arrays(io: Any, letter: str) -> list[Any]:
    """`letter` and a number, in order."""
    return [io[k] for k in sorted(io.files) if k[0] == letter and k[1:].isdigit()]


def predicted(model: Any, x: Any) -> list[Any]:
    """The outputs for a batch, in inference."""
    made = model(x, training=False)
    return [
        keras.ops.convert_to_numpy(m).astype("f8")
        for m in (made if isinstance(made, list | tuple) else [made])
    ]


def apart(found: list[Any], wanted: list[Any]) -> float:
    """The largest difference, relative to the largest of `wanted`."""
    largest = max(float(np.max(np.abs(w))) for w in wanted)
    return max(float(np.max(np.abs(f - w))) for f, w in zip(found, wanted, strict=True)) / largest


def trained(job: dict[str, str]) -> dict[str, float | str]:
    """One answer."""
    model = keras.models.load_model(job["file"])
    model.run_eagerly = True  # one step: nothing is worth tracing
    with np.load(job["io"]) as io:
        x, batch = io["x0"], io["t"]
        targets, after, again = (arrays(io, letter) for letter in "uzr")
    before = predicted(model, x)
    model.train_on_batch(batch, targets if len(targets) > 1 else targets[0])
    now = predicted(model, x)
    off = min(apart(now, wanted) for wanted in (after, again) if wanted)
    return {"off": off, "step": apart(before, after)}


def answer(job: dict[str, str]) -> dict[str, float | str]:
    """The differences, or the error."""
    try:
        return trained(job)
    except Exception as e:  # noqa: BLE001 - whatever Keras raises is the answer
        return {"error": f"{type(e).__name__}: {' '.join(str(e).split())[:300]}"}
    finally:
        keras.backend.clear_session(free_memory=False)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        jobs = json.load(file)
    answers = [answer(job) for job in jobs]
    assert "unnest" not in sys.modules
    with open(sys.argv[2], "w") as file:
        json.dump(answers, file)
