"""A training run that may be killed, and goes on when started again; run by test_keras_keeping.py.

    python killed.py keras|tf_keras FOLDER DIES

It trains under MirroredStrategy from FOLDER/m.keras, if that is there, and kills itself at step DIES (0: never), in the
midst of a save where DIES is -1. The loss of every epoch that it finished is in FOLDER/losses.json.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from unnest.files import portable_file_operations

EPOCHS, BATCHES = 4, 4


def die() -> None:
    """As a machine that loses its power, or a job that is preempted."""
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Train for EPOCHS epochs, or for what is left of them."""
    name, place, dies = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    keras = importlib.import_module(name)
    checkpoints = importlib.import_module(
        "unnest.keras" if name == "keras" else "unnest.keras.legacy"
    )
    x = np.random.default_rng(1).normal(size=(8 * BATCHES, 4)).astype("f")
    data = tf.data.Dataset.from_tensor_slices((x, x[:, :1] - 1)).batch(8)
    path, log = place / "m.keras", place / "losses.json"
    losses = json.loads(log.read_text()) if log.exists() else []
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        if path.exists():
            model = keras.models.load_model(path)
        else:
            keras.utils.set_random_seed(5)
            layers = [keras.Input((4,)), keras.layers.Dense(3, "tanh"), keras.layers.Dense(1)]
            model = keras.Sequential(layers)
            model.compile(keras.optimizers.Adam(0.05), loss=keras.losses.MeanSquaredError())

    class Notes(keras.callbacks.Callback):  # type: ignore[name-defined] # whichever Keras was asked for
        def on_epoch_begin(self, epoch: int, *_: Any, **__: Any) -> None:
            self.first = epoch * BATCHES

        def on_train_batch_begin(self, batch: int, *_: Any, **__: Any) -> None:
            if dies > 0 and self.first + batch == dies:
                die()

        def on_epoch_end(self, epoch: int, logs: Any) -> None:
            log.write_text(json.dumps([*losses[:epoch], logs["loss"]]))
            losses[epoch:] = [logs["loss"]]
            if dies == -1 and epoch == 1:
                portable_file_operations.sync = lambda path: die()  # noqa: ARG005 - the name is the caller's

    # An epoch is noted after its checkpoint is written: what was begun anew is trained, and noted, anew.
    callbacks = [checkpoints.ModelCheckpoint(str(path)), Notes()]
    model.fit(
        data,
        initial_epoch=len(losses),
        epochs=EPOCHS,
        verbose=0,
        shuffle=False,
        callbacks=callbacks,
    )


if __name__ == "__main__":
    main()
