"""A user without unnest, who loads a checkpoint, looks at the weights and trains on.

    python stranger.py keras|tf_keras JOBS.json RESULTS.npz

Each job is {"path", "weights_only", "resume"}; results are the weights in order and the losses of the next steps.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np

STEPS = 3


def template(keras: Any, seed: int = 5) -> Any:
    """Two outputs with losses by name; nothing random and no BatchNormalization, so towers change nothing."""
    keras.utils.set_random_seed(seed)
    x = keras.Input((6,), name="x")
    hidden = keras.layers.Dense(5, activation="tanh", name="hidden")(x)
    outputs = [keras.layers.Dense(2, name="a")(hidden), keras.layers.Dense(1, name="b")(hidden)]
    return keras.Model(x, outputs, name="template")


def settings(keras: Any) -> dict[str, Any]:
    """Compile settings; losses as objects, since Keras 3 does not load an .h5 with `loss="mse"`."""
    losses = {"a": keras.losses.MeanSquaredError(), "b": keras.losses.MeanAbsoluteError()}
    return {
        "optimizer": keras.optimizers.Adam(0.01),
        "loss": losses,
        "loss_weights": {"a": 1.0, "b": 0.5},
    }


def data(batches: int) -> list[tuple[Any, list[Any]]]:
    """Batches of 8 rows, always the same."""
    rng = np.random.default_rng(11)
    made = []
    for _ in range(batches):
        x = rng.normal(size=(8, 6)).astype("f")
        made.append((x, [x[:, :2] ** 2, x[:, 2:3] - 1]))
    return made


def next_losses(model: Any) -> list[float]:
    """The losses of the next steps, one by one."""
    losses = []
    for x, y in data(STEPS):
        model.reset_metrics()
        losses.append(float(model.train_on_batch(x, y, return_dict=True)["loss"]))
    return losses


def load(keras: Any, job: dict[str, Any]) -> Any:
    """The model out of one file, compiled where it is to be trained on."""
    if not job["weights_only"]:
        return keras.models.load_model(job["path"], compile=job["resume"])
    model = template(keras, seed=6)
    if job["resume"]:
        model.compile(**settings(keras))
        model.optimizer.build(model.trainable_variables)
    model.load_weights(job["path"])
    return model


def main() -> None:
    """Do all jobs of a file."""
    name, jobs, out = sys.argv[1:]
    sys.modules["unnest"] = None  # type: ignore[assignment]
    keras = importlib.import_module(name)
    results: dict[str, Any] = {}
    with open(jobs, encoding="utf-8") as f:
        for k, job in enumerate(json.load(f)):
            model = load(keras, job)
            for i, weight in enumerate(model.get_weights()):
                results[f"{k}/{i}"] = weight
            if job["resume"]:
                results[f"{k}/losses"] = next_losses(model)
    np.savez(out, **results)


if __name__ == "__main__":
    main()
