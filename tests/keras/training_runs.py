"""Short runs of training, saved as one library does, and held against a run that goes on from the saved state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Save = Callable[[Any, Path], Path]
RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(8, 4)).astype("f4"), RNG.normal(size=(8, 2)).astype("f4")


def model(library: Any, optimizer: Any) -> Any:
    """Layers of three classes, one with weights that are not trained, compiled."""
    layers = library.layers
    built = library.Sequential([
        layers.Input((4,)), layers.Dense(5, activation="tanh"), layers.BatchNormalization(), layers.Dense(5),
        layers.LayerNormalization(), layers.Dense(2),
    ])  # fmt: skip
    built.compile(optimizer, "mse")
    return built


def trained(library: Any, optimizer: Any) -> Any:
    built = model(library, optimizer)
    rng = np.random.default_rng(2)
    built.set_weights([rng.uniform(0.2, 0.8, w.shape).astype("f4") for w in built.get_weights()])
    step(built, 3)
    return built


def step(built: Any, epochs: int = 1) -> None:
    built.fit(X, Y, epochs=epochs, batch_size=8, shuffle=False, verbose=0)


def weights_h5(built: Any, folder: Path) -> Path:
    path = folder / "run.weights.h5"
    built.save_weights(path)
    return path


def checkpoint(built: Any, folder: Path) -> Path:
    built.save_weights(folder / "run", save_format="tf")
    return folder / "run"


def assert_same_next_step(old: Any, new: Any) -> None:
    """One step later both models still have the same weights."""
    step(old)
    step(new)
    for one, other in zip(old.get_weights(), new.get_weights(), strict=True):
        assert np.allclose(one, other, atol=2e-5)
