"""The examples of docs/examples.md at their original sizes: plain, towers and MirroredStrategy side by side.

    python benchmarks/keras_examples.py mlp [--keras keras|tf_keras] [--devices 2] [--steps 2]
    python benchmarks/keras_examples.py cnn

`mlp`: 8000 features, 41,157,101 parameters, batches of 2048 rows a device, Adam. `cnn`: 28 x 28 pixels, filters of 32,
256 and 128, batches of 128 rows a device, rmsprop. The data is random. All start from the same weights and train
on the same batches, so that the losses agree where the model draws no numbers and has no BatchNormalization (`mlp`).
The first epoch, which compiles, is timed apart. Devices as in keras_towers.py.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import tensorflow as tf
from keras_towers import devices


def mlp(keras: Any) -> Any:
    """41,157,101 parameters."""
    widths = (4000, 2000, 500, 300)
    stack = [
        keras.layers.Dense(width, "tanh" if i == 0 else "relu") for i, width in enumerate(widths)
    ]
    return keras.Sequential([keras.Input((8000,)), *stack, keras.layers.Dense(1, "sigmoid")])


def cnn(keras: Any) -> Any:
    """The digits' network."""
    layers = keras.layers
    stack = [layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(256, 3, activation="relu")]
    stack += [
        layers.BatchNormalization(),
        layers.Conv2D(128, 3, activation="relu"),
        layers.MaxPooling2D(),
    ]
    stack += [
        layers.Dropout(0.25),
        layers.Flatten(),
        layers.Dense(128, "relu"),
        layers.Dropout(0.5),
    ]
    return keras.Sequential([keras.Input((28, 28, 1)), *stack, layers.Dense(10, "softmax")])


ROWS = {"mlp": 2048, "cnn": 128}
"""Rows of a batch for each device."""


def batches(example: str, rows: int, steps: int) -> Any:
    """`steps` batches of so many rows, x and y."""
    rng = np.random.default_rng(0)
    shape, kinds = ((8000,), 2) if example == "mlp" else ((28, 28, 1), 10)
    x, y = rng.random((rows * steps, *shape), "f"), rng.integers(0, kinds, (rows * steps, 1))
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(rows, drop_remainder=True)


def compiled(keras: Any, example: str, model: Any) -> Any:
    """The model, ready for `fit`."""
    if example == "mlp":
        model.compile(keras.optimizers.Adam(1e-4), loss=keras.losses.BinaryCrossentropy())
    else:
        model.compile(keras.optimizers.RMSprop(), loss=keras.losses.SparseCategoricalCrossentropy())
    return model


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("example", choices=["mlp", "cnn"])
    parser.add_argument("--keras", default="keras")
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--steps", type=int, default=2)
    options = parser.parse_args()
    names = devices(options.devices)
    keras = import_module(options.keras)
    from unnest.keras import make_parallel

    example, build = options.example, {"mlp": mlp, "cnn": cnn}[options.example]
    rows = ROWS[example] * options.devices
    data = batches(example, rows, options.steps)
    start = build(keras).get_weights()
    print(
        f"{options.keras} {keras.__version__}, {example}: {sum(w.size for w in start):,} numbers, batches of {rows}"
    )

    def mirrored() -> Any:
        with tf.distribute.MirroredStrategy(names).scope():
            model = build(keras)
            model.set_weights(start)
            return compiled(keras, example, model)

    def plain() -> Any:
        model = build(keras)
        model.set_weights(start)
        return compiled(keras, example, model)

    def towers() -> Any:
        template = build(keras)
        template.set_weights(start)
        return compiled(keras, example, make_parallel(template, options.devices))

    kinds: dict[str, Callable[[], Any]] = {"plain": plain, "towers": towers, "mirrored": mirrored}
    of_plain = 0.0
    for kind, make in kinds.items():
        model, epochs = make(), []
        for _ in range(2):
            clock, cpu = time.perf_counter(), time.process_time()
            loss = model.fit(data, verbose=0).history["loss"][0]
            epochs.append((time.perf_counter() - clock, time.process_time() - cpu, loss))
        (first, _, first_loss), (seconds, cpu, loss) = epochs
        of_plain = of_plain or seconds
        print(
            f"{kind:9} {rows * options.steps / seconds:8.1f} samples/s, {of_plain / seconds:5.2f} of plain   "
            f"a step {seconds / options.steps:6.2f} s, CPU {cpu / options.steps:6.2f} s   "
            f"first epoch {first:5.1f} s   losses {first_loss:.6f} {loss:.6f}"
        )
        del model


if __name__ == "__main__":
    main()
