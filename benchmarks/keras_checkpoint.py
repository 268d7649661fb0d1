"""Our checkpoint against the stock one: seconds per save, medians of interleaved rounds, and ratios.

    python benchmarks/keras_checkpoint.py [--keras keras|tf_keras] [--mib 64] [--rounds 9]

The stock callback saves the plain compiled model; ours saves that model as the template of towers, through a new file
that is synced to the disk and renamed (`--stock-fsync` syncs stock's as well).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import tensorflow as tf

CONTAINERS = ("m.keras", "m.h5", "m.weights.h5")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keras", default="keras")
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--stock-fsync", action="store_true")
    options = parser.parse_args()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    keras = import_module(options.keras)
    from unnest.keras import multi_gpu_model

    ours = import_module(
        "unnest.keras" if options.keras == "keras" else "unnest.keras.legacy"
    ).ModelCheckpoint
    width = int((options.mib * 2**20 / 4 / 4) ** 0.5)  # four layers, float32
    model = keras.Sequential(
        [keras.Input((width,)), *(keras.layers.Dense(width) for _ in range(4))]
    )
    parallel = multi_gpu_model(model, ["CPU:0", "CPU:1"])
    for each in (model, parallel):
        each.compile(keras.optimizers.SGD(0.0), loss=keras.losses.MeanSquaredError())
        each.fit(np.zeros((2, width), "f"), np.zeros((2, width), "f"), verbose=0)
    print(f"{options.keras} {keras.__version__}, {options.mib} MiB of weights")
    with tempfile.TemporaryDirectory() as folder:
        for container in CONTAINERS:
            compare(Path(folder) / container, keras, ours, (model, parallel), options)


def compare(
    path: Path, keras: Any, ours: Any, models: tuple[Any, Any], options: argparse.Namespace
) -> None:
    """One container's line."""
    only = ".weights." in path.name
    callbacks = [
        made(str(path), save_weights_only=only) for made in (keras.callbacks.ModelCheckpoint, ours)
    ]
    taken: list[list[float]] = [[], []]
    for callback, model in zip(callbacks, models, strict=True):
        callback.set_model(model)
    for turn in range(options.rounds + 1):
        for callback, seconds in zip(callbacks, taken, strict=True):
            start = time.perf_counter()
            callback.on_epoch_end(0, {})
            if options.stock_fsync and seconds is taken[0]:
                with path.open("rb") as file:
                    os.fsync(file.fileno())
            if turn:  # the first is not counted
                seconds.append(time.perf_counter() - start)
    stock, mine = (median(seconds) for seconds in taken)
    print(f"{path.name:14} stock {stock:6.3f} s   ours {mine:6.3f} s   ratio {mine / stock:5.2f}")


if __name__ == "__main__":
    main()
