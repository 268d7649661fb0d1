"""Run by a Python with Keras 3 on one backend: what of `unnest.keras` works there, as JSON on the last line.

python -m tests.keras.backend_process FOLDER          KERAS_BACKEND says which; FOLDER is empty
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.corpus.unpacked import FIXTURES

warnings.simplefilter("ignore")

import unnest.keras as uk  # noqa: E402 - the warnings first

AT_ONCE = {name for name in ("tensorflow", "jax", "torch") if name in sys.modules}

import keras  # noqa: E402 - what `unnest.keras` had loaded is asked before

TOLERANCE = 1e-5

#: Container and dialect -> a file; predictions were recorded beside it.
FILES = {
    "`.h5`, Keras 1": "k122/kuza-mlp-x2-adam/parallel.h5",
    "`.h5`, Keras 2": "k224/official-cnn-adam/parallel.h5",
    "`.h5`, tf.keras": "tf215/carried-cnn-adam/parallel.h5",
    "`.keras`, Keras 2": "keras_zip/tf213/keras_zip-carried-nested/parallel.keras",
    "`.keras`, Keras 3": "keras_zip/keras3/keras_zip-carried-nested/parallel.keras",
}


def recorded(path: Path) -> tuple[list[Any], list[Any]]:
    """Inputs and outputs."""
    with np.load(path) as io:
        x, y = ([io[k] for k in sorted(io.files) if k[0] == kind] for kind in "xy")
    return x, y


def check(model: Any, io: Path) -> None:
    """Raise AssertionError where predictions are not those recorded."""
    x, y = recorded(io)
    found = model.predict(x if len(x) > 1 else x[0], verbose=0)
    for a, b in zip(found if isinstance(found, list) else [found], y, strict=True):
        off = np.max(np.abs(np.asarray(a) - b)) / max(1.0, np.max(np.abs(b)))
        assert off <= TOLERANCE, f"predicts something else, by {off:.1e}"


def mlp() -> Any:
    """A small compiled model."""
    model = keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.Adam(0.01), "mse")
    return model


def loads(name: str) -> Callable[[Path], None]:
    """`load_model` of a file, and `load_weights` of it into what that gave, with other weights."""

    def run(_: Path) -> None:
        path = FIXTURES / name
        model = uk.load_model(path, compile=False)
        check(model, path.with_name("io.npz"))
        for variable in model.weights:
            variable.assign(np.ones(tuple(variable.shape), "f4"))
        uk.load_weights(model, path)
        check(model, path.with_name("io.npz"))

    return run


def saved_model(_: Path) -> None:
    """`load_model` of a SavedModel with Keras's metadata."""
    folders = [
        p
        for p in sorted((FIXTURES / "saved_model").rglob("keras_metadata.pb"))
        if p.parent.name == "parallel"
    ]
    path = folders[0].parent
    check(uk.load_model(path, compile=False), path.with_name("io.npz"))


def weights_alone(folder: Path) -> None:
    """`load_model` with `architecture=`, and `load_weights`."""
    model = mlp()
    model.save_weights(folder / "w.weights.h5")
    again = uk.load_model(folder / "w.weights.h5", architecture=json.loads(model.to_json()))
    other = mlp()
    uk.load_weights(other, folder / "w.weights.h5")
    for found in (again, other):
        assert all(
            np.array_equal(a, b)
            for a, b in zip(model.get_weights(), found.get_weights(), strict=True)
        )


def by_url(folder: Path) -> None:
    """`load_model` of a URL."""
    model = mlp()
    model.save(folder / "m.keras")
    again = uk.load_model((folder / "m.keras").as_uri())
    assert all(
        np.array_equal(a, b) for a, b in zip(model.get_weights(), again.get_weights(), strict=True)
    )


def checkpoint(folder: Path) -> None:
    """`ModelCheckpoint` of a plain model: the best file, its optimizer's state, resumed as uninterrupted training."""
    x, y = np.random.default_rng(0).normal(size=(2, 16, 4)).astype("f4"), None
    x, y = x[0], x[1][:, :1]
    keras.utils.set_random_seed(1)
    model = mlp()
    saving = uk.ModelCheckpoint(str(folder / "best.keras"), monitor="loss", save_best_only=True)
    model.fit(x, y, epochs=2, shuffle=False, verbose=0, callbacks=[saving])
    resumed = keras.models.load_model(folder / "best.keras")
    assert int(resumed.optimizer.iterations) == 2
    losses = [
        m.fit(x, y, epochs=1, shuffle=False, verbose=0).history["loss"][0] for m in (model, resumed)
    ]
    assert abs(losses[0] - losses[1]) < TOLERANCE, losses
    assert uk.template_model(model) is model


def towers(_: Path) -> None:
    """`make_parallel`."""
    from unnest.keras import make_parallel

    make_parallel(mlp(), 2)


TASKS: dict[str, Callable[[Path], None]] = {
    **{f"`load_model`, `load_weights`: {what}": loads(name) for what, name in FILES.items()},
    "`load_model`: SavedModel": saved_model,
    "weights alone: `load_model(architecture=)`, `load_weights`": weights_alone,
    "`load_model`: URL": by_url,
    "`ModelCheckpoint`, `template_model`": checkpoint,
    "`make_parallel`": towers,
}


def main(folder: Path) -> None:
    """Run the tasks; TensorFlow has two logical CPUs, for towers."""
    if keras.config.backend() == "tensorflow":
        import tensorflow as tf

        logical = [tf.config.LogicalDeviceConfiguration()] * 2
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], logical
        )
    told: dict[str, str] = {}
    for k, (name, task) in enumerate(TASKS.items()):
        own = folder / str(k)
        own.mkdir()
        try:
            task(own)
            told[name] = "works"
        except Exception as e:  # noqa: BLE001 - whatever goes wrong is the answer
            told[name] = " ".join(f"{type(e).__name__}: {e}".split())[:300]
    loaded = sorted(name for name in ("tensorflow", "jax", "torch") if name in sys.modules)
    sys.stdout.write(
        "\n" + json.dumps({"tasks": told, "at_once": sorted(AT_ONCE), "loaded": loaded}) + "\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
