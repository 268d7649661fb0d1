"""The overhead of towers: the first epoch of a recurrent model, and each tower's share of every step.

    python benchmarks/keras_start.py [--keras keras|tf_keras] [--rounds 9]

CPU seconds of the first epoch of a fresh process, which other programs disturb less than the clock. Medians of
interleaved rounds. Devices are logical CPUs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any

import numpy as np
import tensorflow as tf

TOWERS = (0, 2, 4)
"""Numbers of towers; 0: the plain model."""

STEPS = 100

FIRST_EPOCHS = 3
"""So many processes for each number of towers."""


def compiled(keras: Any, stack: list[Any], towers: int) -> Any:
    """A Sequential of these layers, in towers or plain."""
    from unnest.keras import multi_gpu_model

    template = keras.Sequential(stack)
    model = multi_gpu_model(template, towers) if towers else template
    model.compile(keras.optimizers.SGD(0.01), loss=keras.losses.MeanSquaredError())
    return model


def recurrent(keras: Any) -> list[Any]:
    """Two LSTMs."""
    layers = keras.layers
    return [
        keras.Input((20, 8)),
        layers.LSTM(16, return_sequences=True),
        layers.LSTM(16),
        layers.Dense(2),
    ]


def tiny(keras: Any) -> list[Any]:
    """As good as no work."""
    return [keras.Input((8,)), keras.layers.Dense(2)]


def first_epoch(keras: Any, towers: int) -> float:
    """CPU seconds."""
    model = compiled(keras, recurrent(keras), towers)
    start = time.process_time()
    model.fit(np.zeros((128, 20, 8), "f"), np.zeros((128, 2), "f"), batch_size=32, verbose=0)
    return time.process_time() - start


def epoch(model: Any) -> Callable[[], float]:
    """Seconds a step, over STEPS steps."""
    data = tf.data.Dataset.from_tensors((np.zeros((16, 8), "f"), np.zeros((16, 2), "f"))).repeat(
        STEPS
    )

    def run() -> float:
        start = time.perf_counter()
        model.fit(data, verbose=0)
        return (time.perf_counter() - start) / STEPS

    return run


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keras", default="keras")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--first", type=int, help="only the first epoch with so many towers: CPU seconds"
    )
    options = parser.parse_args()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * max(TOWERS)
    )
    keras = import_module(options.keras)
    if options.first is not None:
        print(first_epoch(keras, options.first))
        return
    runs = {towers: epoch(compiled(keras, tiny(keras), towers)) for towers in TOWERS}
    for run in runs.values():
        run()
    steps: dict[int, list[float]] = {towers: [] for towers in TOWERS}
    for _ in range(options.rounds):
        for towers, run in runs.items():
            steps[towers].append(run())
    first: dict[int, list[float]] = {towers: [] for towers in TOWERS}
    for _ in range(FIRST_EPOCHS):
        for towers in TOWERS:
            command = [sys.executable, __file__, "--keras", options.keras, "--first", str(towers)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            first[towers].append(float(done.stdout))
    starts = {towers: median(each) for towers, each in first.items()}
    print(
        f"{options.keras} {keras.__version__}: two LSTMs, first epoch; a step of a model that does as good as nothing"
    )
    for towers in TOWERS:
        step, start = median(steps[towers]), starts[towers]
        ratio = start / starts[0]
        print(
            f"{towers or 'no'} towers   first {start:5.1f} s CPU, {ratio:4.1f} of plain   step {1000 * step:6.2f} ms"
        )
    each = (median(steps[TOWERS[2]]) - median(steps[TOWERS[1]])) / (TOWERS[2] - TOWERS[1])
    print(f"each tower {1000 * each:6.2f} ms a step")


if __name__ == "__main__":
    main()
