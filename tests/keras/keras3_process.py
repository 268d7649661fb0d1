"""One of two processes that train a model together with Keras 3 on JAX; run by test_keras_jax.py.

    python keras3_process.py FOLDER INDEX COUNT ADDRESS

Process INDEX of COUNT trains on the rows that are its own, checkpoints into FOLDER, and leaves the losses of its
epochs in FOLDER/losses-COUNT-INDEX.json.
"""

from __future__ import annotations

import json
import os
import sys

EPOCHS, ROWS, BATCH = 3, 32, 8


def main() -> None:
    """Train for EPOCHS epochs."""
    folder, index, count, address = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    os.environ["KERAS_BACKEND"] = "jax"
    import jax

    if count > 1:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(address, num_processes=count, process_id=index)
    import keras
    import numpy as np

    keras.distribution.set_distribution(
        keras.distribution.DataParallel(
            devices=[str(d) for d in jax.devices()], auto_shard_dataset=False
        )
    )
    keras.utils.set_random_seed(5)
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(3, "tanh"), keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.Adam(0.05), loss=keras.losses.MeanSquaredError())
    x = np.random.default_rng(1).normal(size=(ROWS, 4)).astype("f4")
    # Every process its part of every batch.
    mine = np.arange(ROWS).reshape(-1, count, BATCH // count)[:, index].ravel()
    # All processes save, each its own file: what reads a distributed variable waits for the others.
    path = os.path.join(folder, f"process-{count}-{index}" + "-{epoch}.keras")
    history = model.fit(
        x[mine],
        x[mine, :1],
        batch_size=BATCH // count,
        epochs=EPOCHS,
        shuffle=False,
        verbose=0,
        callbacks=[keras.callbacks.ModelCheckpoint(path)],
    )
    with open(os.path.join(folder, f"losses-{count}-{index}.json"), "w", encoding="utf-8") as f:
        json.dump(history.history["loss"], f)


if __name__ == "__main__":
    main()
