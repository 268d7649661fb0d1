"""Towers against the plain model and MirroredStrategy: seconds per epoch of interleaved rounds, and ratios.

    python benchmarks/keras_towers.py [--keras keras|tf_keras] [--devices 2] [--rounds 25]

Devices are GPUs where there are as many, logical CPUs elsewhere (which share the cores: the ratio then shows the
cost of towers, not their use). CPU seconds (medians) tell that cost where other programs run. The clock is the lower
quartile of the rounds: on a machine of two cores the threads of TensorFlow spend many an epoch on one of them, at about
a coin's toss, whatever the model (told as `on one core`), and the median is a matter of luck.
The first epoch of each, which compiles, is timed apart.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from statistics import median, quantiles
from typing import Any

import numpy as np
import tensorflow as tf

ROWS, BATCH = 512, 64

ONE_CORE = 1.2
"""CPU seconds over the clock, below which an epoch ran on one core."""


def devices(count: int) -> list[str]:
    """Names of `count` devices of one kind."""
    gpus = tf.config.list_physical_devices("GPU")
    if len(gpus) >= count:
        return [f"GPU:{i}" for i in range(count)]
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * count
    )
    return [f"CPU:{i}" for i in range(count)]


def template(keras: Any) -> Any:
    """A small convolutional network with BatchNormalization."""
    layers = keras.layers
    stack: list[Any] = [keras.Input((32, 32, 3))]
    for filters in (32, 64):
        stack += [
            layers.Conv2D(filters, 3, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(),
        ]
        stack += [layers.MaxPooling2D()]
    return keras.Sequential([*stack, layers.Flatten(), layers.Dense(10)])


def compiled(keras: Any, model: Any) -> Any:
    """The model, ready for `fit`."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.01), loss=loss)
    return model


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keras", default="keras")
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    names = devices(options.devices)
    keras = import_module(options.keras)
    from unnest.keras import multi_gpu_model

    with tf.distribute.MirroredStrategy(names).scope():
        mirrored = compiled(keras, template(keras))
    models = {
        "plain": compiled(keras, template(keras)),
        "towers": compiled(keras, multi_gpu_model(template(keras), names)),
        "mirrored": mirrored,
    }
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(ROWS, 32, 32, 3)).astype("f"), rng.integers(0, 10, ROWS)

    def epoch(model: Any) -> tuple[float, float]:
        clock, cpu = time.perf_counter(), time.process_time()
        model.fit(x, y, batch_size=BATCH, verbose=0)
        return time.perf_counter() - clock, time.process_time() - cpu

    first = {name: epoch(model) for name, model in models.items()}
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for _ in range(options.rounds):
        for name, model in models.items():
            taken[name].append(epoch(model))
    print(
        f"{options.keras} {keras.__version__}, {', '.join(names)}, {ROWS // BATCH} steps of {BATCH} rows"
    )
    figures = {name: _figures(rounds) for name, rounds in taken.items()}
    for name, (clock, cpu, halves) in figures.items():
        speed, work = figures["plain"][0] / clock, cpu / figures["plain"][1]
        line = f"{name:9} {clock:7.3f} s  speed {speed:5.2f} of plain   CPU {cpu:7.3f} s, {work:5.2f} of plain"
        print(
            f"{line}   on one core {halves:4.0%}   first epoch {first[name][0]:5.1f} s, CPU {first[name][1]:5.1f} s"
        )


def _figures(rounds: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Lower quartile of the clock, median of CPU seconds, share of the epochs that had one core."""
    clocks, cpus = zip(*rounds, strict=True)
    alone = sum(cpu < ONE_CORE * clock for clock, cpu in rounds)
    return quantiles(clocks, n=4)[0], median(cpus), alone / len(rounds)


if __name__ == "__main__":
    main()
