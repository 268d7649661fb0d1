"""Run by a Python that has Keras 3 and never sees unnest: loads files in safe mode, and predicts.

    predict_today.py JOBS.json ANSWERS.json

JOBS: [{"file": path of a .keras, "io": path of an .npz with x0..., y0..., "compile": "no" to load without the
training configuration}]. ANSWERS: for each the largest difference
from y0..., relative to the largest number there, if above 1, or the error as text. KERAS_BACKEND says which
backend.
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


def difference(job: dict[str, str]) -> float | str:
    """The largest difference from the recorded outputs, or what is of another form."""
    model = keras.models.load_model(job["file"], compile=job.get("compile") != "no")
    with np.load(job["io"]) as io:
        x, y = ([io[k] for k in sorted(io.files) if k[0] == which] for which in "xy")
    given = x if len(x) > 1 else x[0]
    fixed = model.inputs[0].shape[0]
    if fixed is None or fixed == len(x[0]):
        made = model(given, training=False)
    else:
        made = model.predict(given, batch_size=fixed, verbose=0)
    arrays: list[Any] = [
        np.asarray(keras.ops.convert_to_numpy(m))
        for m in (made if isinstance(made, list | tuple) else [made])
    ]
    # What Keras 2's predict recorded of a model that gives one number is that number, once for each row.
    arrays = [
        np.broadcast_to(m, t.shape) if not m.shape else m for m, t in zip(arrays, y, strict=True)
    ]
    if [m.shape for m in arrays] != [t.shape for t in y]:
        return f"shapes {[m.shape for m in arrays]}, {[t.shape for t in y]} before"
    if any(t.dtype.kind in "SOU" for t in y):
        return (
            0.0
            if all(
                np.array_equal(np.char.decode(m.astype("S")), t)
                for m, t in zip(arrays, y, strict=True)
            )
            else "other text"
        )
    return max(
        float(np.max(np.abs(m.astype("f8") - t), initial=0.0))
        / float(np.max(np.abs(t), initial=1.0, where=np.isfinite(t)))
        for m, t in zip(arrays, y, strict=True)
    )


def answer(job: dict[str, str]) -> float | str:
    """The difference, or the error."""
    try:
        return difference(job)
    except Exception as e:  # noqa: BLE001 - whatever Keras raises is the answer
        return f"{type(e).__name__}: {' '.join(str(e).split())[:300]}"
    finally:
        keras.backend.clear_session(free_memory=False)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        jobs = json.load(file)
    answers = [answer(job) for job in jobs]
    assert "unnest" not in sys.modules
    with open(sys.argv[2], "w") as file:
        json.dump(answers, file)
