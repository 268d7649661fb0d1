"""One of several workers that train a model together; run by test_keras_workers.py.

    python worker.py FOLDER INDEX DIES ADDRESS...

Worker INDEX listens on its ADDRESS, backs up and checkpoints into FOLDER, and is killed in epoch DIES (0: never).
It leaves the losses of the epochs that it ran in FOLDER/losses-INDEX.json.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

EPOCHS = 4


def template(keras: Any) -> Any:
    """A model with moving statistics, which workers must agree on before any of them saves."""
    keras.utils.set_random_seed(5)
    layers = [
        keras.Input((4,)),
        keras.layers.Dense(3),
        keras.layers.BatchNormalization(),
        keras.layers.Dense(1),
    ]
    return keras.Sequential(layers, name="template")


def main() -> None:
    """Train for EPOCHS epochs, or for what is left of them."""
    folder, index, dies, *addresses = sys.argv[1:]
    cluster = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": int(index)}}
    os.environ["TF_CONFIG"] = json.dumps(cluster)
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras

    # Before anything else touches TensorFlow.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    from unnest.keras.legacy import ModelCheckpoint

    x = np.random.default_rng(1).normal(size=(32, 4)).astype("f")
    data = tf.data.Dataset.from_tensor_slices((x, x[:, :1] - 1)).batch(8)
    with strategy.scope():
        model = template(keras)
        model.compile(keras.optimizers.Adam(0.05), "mse")

    class Dies(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, _logs: Any = None) -> None:
            if (self.epoch, batch) == (int(dies), 1):
                os.kill(os.getpid(), signal.SIGKILL)

        def on_epoch_begin(self, epoch: int, _logs: Any = None) -> None:
            self.epoch = epoch

    callbacks = [
        keras.callbacks.BackupAndRestore(os.path.join(folder, "backup")),
        ModelCheckpoint(os.path.join(folder, "m-{epoch}-{loss:.3f}.keras"), max_to_keep=2),
        ModelCheckpoint(
            os.path.join(folder, "best-{loss:.3f}.keras"), save_best_only=True, monitor="loss"
        ),
        *([Dies()] if int(dies) else []),
    ]
    history = model.fit(data, epochs=EPOCHS, verbose=0, callbacks=callbacks)
    with open(os.path.join(folder, f"losses-{index}.json"), "w", encoding="utf-8") as f:
        json.dump(history.history["loss"], f)


if __name__ == "__main__":
    main()
