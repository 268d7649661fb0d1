"""Every way of using a parallel model that docs/usages.md lists, run beside the plain model; prints the table.

    python scripts/keras_usages.py [--only WORD] > table.md

A usage is a function of a Keras that trains a plain model and a parallel one from the same weights on the same data
and returns what can be compared: losses of the epochs, then predictions. The table's cell is the largest difference as
a share of the largest plain value; or what was raised, where that is a refusal; or what else the usage has to say.
One of them needs the package `tensorboard`, which TensorFlow 2.21 does not bring.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

ROWS, BATCH, EPOCHS = 48, 16, 2
EQUAL = 2e-5
"""Largest difference that float32 makes when sums are taken in another order."""

Outcome = list[Any] | str
WHY = {
    "mixed precision (bfloat16)": "a bfloat16 has 8 bits: sums taken in another order round otherwise",
    "`add_loss` of a sum over the batch": "each tower's sum is weighed by its share of the batch; add means instead",
    "a layer that looks at the whole batch": "each tower sees its own rows",
    "a layer that updates a state of its own": "it is updated once a tower",
    "BatchNormalization, training": "statistics are each tower's own",
    "BatchNormalization, `synchronized=True`": "statistics are each tower's own: towers are no replicas of a strategy",
    "SpectralNormalization": "its power iteration advances once a tower",
}
"""What makes the results differ, in the usages where they do."""

Usage = Callable[[Any, Callable[[Any], Any]], Outcome]
"""(keras, wrap) -> losses and predictions, or a sentence; `wrap` is the identity for the plain run."""

USAGES: dict[str, Usage] = {}


def usage(label: str) -> Callable[[Usage], Usage]:
    """Put a function into the table."""

    def add(function: Usage) -> Usage:
        USAGES[label] = function
        return function

    return add


def rows(*shape: int, n: int = ROWS) -> Any:
    """The same random numbers each time."""
    return np.random.default_rng(len(shape)).normal(size=(n, *shape)).astype("f4")


def fit(
    keras: Any,
    model: Any,
    x: Any,
    y: Any,
    *,
    compiled: dict[str, Any] | None = None,
    **options: Any,
) -> Outcome:
    """Compile with SGD and mean squared error unless told otherwise, train, predict."""
    settings = {
        "optimizer": keras.optimizers.SGD(0.05),
        "loss": keras.losses.MeanSquaredError(),
        **(compiled or {}),
    }
    model.compile(**settings)
    options = {"batch_size": BATCH, "epochs": EPOCHS, "shuffle": False, "verbose": 0, **options}
    history = model.fit(x, y, **options).history
    return [
        *history["loss"],
        *tf.nest.flatten(model.predict(x, verbose=0)),
    ]


def mlp(keras: Any, **last: Any) -> Any:
    """A small network."""
    layers = keras.layers
    return keras.Sequential([keras.Input((6,)), layers.Dense(8, "tanh"), layers.Dense(3, **last)])


@usage("Sequential, `fit` of arrays")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(mlp(keras)), rows(6), rows(3, n=ROWS))


@usage("a last batch with fewer rows than devices")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(mlp(keras)), rows(6, n=33), rows(3, n=33))


@usage("`tf.data` with `cache` and `prefetch`")
def _(keras: Any, wrap: Any) -> Outcome:
    data = tf.data.Dataset.from_tensor_slices((rows(6), rows(3))).cache().batch(BATCH).prefetch(2)
    return fit(keras, wrap(mlp(keras)), data, None, batch_size=None)


@usage("`keras.applications` (MobileNetV2, weights None)")
def _(keras: Any, wrap: Any) -> Outcome:
    base = keras.applications.MobileNetV2(
        (32, 32, 3), weights=None, include_top=False, alpha=0.35, pooling="avg"
    )
    base.trainable = False
    model = keras.Sequential([keras.Input((32, 32, 3)), base, keras.layers.Dense(2)])
    return fit(keras, wrap(model), rows(32, 32, 3, n=16), rows(2, n=16), batch_size=8)


@usage("a Transformer block with a mask")
def _(keras: Any, wrap: Any) -> Outcome:
    layers = keras.layers
    words = keras.Input((7,), dtype="int32")
    x = layers.Embedding(11, 8, mask_zero=True)(words)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    model = keras.Model(words, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))
    return fit(keras, wrap(model), np.random.default_rng(0).integers(0, 11, (ROWS, 7)), rows(3))


@usage("LSTM with a mask")
def _(keras: Any, wrap: Any) -> Outcome:
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((5, 3)), layers.Masking(), layers.LSTM(4), layers.Dense(3)]
    )
    x = rows(5, 3)
    x[:, 3:] = 0
    return fit(keras, wrap(model), x, rows(3))


@usage("dict inputs")
def _(keras: Any, wrap: Any) -> Outcome:
    a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
    both = keras.layers.Concatenate()([a, b])
    model = keras.Model({"a": a, "b": b}, keras.layers.Dense(3)(both))
    return fit(keras, wrap(model), {"a": rows(4), "b": rows(3)}, rows(3))


@usage("ragged inputs")
def _(keras: Any, wrap: Any) -> Outcome:
    x = keras.Input((None,), dtype="int32", ragged=True)
    hidden = keras.layers.Embedding(9, 4)(x)
    model = keras.Model(
        x, keras.layers.Dense(3)(keras.layers.Lambda(lambda t: tf.reduce_mean(t, 1))(hidden))
    )
    values = tf.ragged.constant([[1, 2, 3], [4]] * (ROWS // 2), dtype="int32")
    return fit(keras, wrap(model), values, rows(3))


@usage("sparse inputs")
def _(keras: Any, wrap: Any) -> Outcome:
    x = keras.Input((6,), sparse=True)
    model = keras.Model(x, keras.layers.Dense(3)(x))
    values = tf.sparse.from_dense(np.eye(6, dtype="f4")[np.arange(ROWS) % 6])
    data = tf.data.Dataset.from_tensor_slices((values, rows(3))).batch(BATCH)
    return fit(keras, wrap(model), data, None, batch_size=None)


@usage("TextVectorization in the model")
def _(keras: Any, wrap: Any) -> Outcome:
    layers = keras.layers
    text = keras.Input((1,), dtype="string")
    counts = layers.TextVectorization(
        max_tokens=6, output_mode="count", vocabulary=["a", "b", "c"]
    )(text)
    model = keras.Model(text, layers.Dense(3)(counts))
    data = tf.data.Dataset.from_tensor_slices(
        (tf.constant([["a b"], ["c"]] * (ROWS // 2)), rows(3))
    ).batch(BATCH)
    return fit(keras, wrap(model), data, None, batch_size=None)


@usage("several outputs, losses by name")
def _(keras: Any, wrap: Any) -> Outcome:
    x = keras.Input((6,))
    outputs = {
        "left": keras.layers.Dense(3, name="left")(x),
        "right": keras.layers.Dense(2, name="right")(x),
    }
    losses = {"left": keras.losses.MeanSquaredError(), "right": keras.losses.MeanAbsoluteError()}
    compiled = {"loss": losses, "loss_weights": {"left": 1.0, "right": 0.5}}
    y = {"left": rows(3), "right": rows(2)}
    return fit(keras, wrap(keras.Model(x, outputs)), rows(6), y, compiled=compiled)


@usage("class weights")
def _(keras: Any, wrap: Any) -> Outcome:
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    y = np.arange(ROWS) % 3
    return fit(
        keras,
        wrap(mlp(keras)),
        rows(6),
        y,
        compiled={"loss": loss},
        class_weight={0: 1.0, 1: 2.0, 2: 0.5},
    )


@usage("sample weights")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(mlp(keras)), rows(6), rows(3), sample_weight=np.linspace(0, 1, ROWS))


@usage("gradient accumulation")
def _(keras: Any, wrap: Any) -> Outcome:
    optimizer = keras.optimizers.SGD(0.05, gradient_accumulation_steps=2)
    return fit(keras, wrap(mlp(keras)), rows(6), rows(3), compiled={"optimizer": optimizer})


@usage("EMA of the weights")
def _(keras: Any, wrap: Any) -> Outcome:
    optimizer = keras.optimizers.Adam(0.01, use_ema=True, ema_overwrite_frequency=2)
    return fit(keras, wrap(mlp(keras)), rows(6), rows(3), compiled={"optimizer": optimizer})


@usage("mixed precision (bfloat16)")
def _(keras: Any, wrap: Any) -> Outcome:
    layers = keras.layers
    policy = "mixed_bfloat16"
    stack = [
        keras.Input((6,)),
        layers.Dense(8, "tanh", dtype=policy),
        layers.Dense(3, dtype="float32"),
    ]
    return fit(keras, wrap(keras.Sequential(stack)), rows(6), rows(3))


@usage("`steps_per_execution=3`")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(mlp(keras)), rows(6), rows(3), compiled={"steps_per_execution": 3})


@usage("`run_eagerly=True`")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(mlp(keras)), rows(6), rows(3), compiled={"run_eagerly": True})


@usage("LoRA on a layer")
def _(keras: Any, wrap: Any) -> Outcome:
    model = mlp(keras)
    model.layers[0].enable_lora(2)
    return fit(keras, wrap(model), rows(6), rows(3))


@usage("a quantized model (int8), predictions")
def _(keras: Any, wrap: Any) -> Outcome:
    model = mlp(keras)
    model.quantize("int8")
    return [wrap(model).predict(rows(6), verbose=0)]


def _scaling(keras: Any, *, config: bool) -> Any:
    class Scale(keras.layers.Layer):  # type: ignore[misc, name-defined]
        def __init__(self, by: float, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.by = by

        def call(self, x: Any) -> Any:
            return self.by * x

        if config:

            def get_config(self) -> dict[str, Any]:
                return {**super().get_config(), "by": self.by}

    return keras.Sequential([keras.Input((6,)), Scale(2.0), keras.layers.Dense(3)])


@usage("a custom layer with `get_config`")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(_scaling(keras, config=True)), rows(6), rows(3))


@usage("a custom layer without `get_config`")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(_scaling(keras, config=False)), rows(6), rows(3))


@usage("a template with its own `train_step`")
def _(keras: Any, wrap: Any) -> Outcome:
    class Own(keras.Model):  # type: ignore[misc, name-defined]
        def train_step(self, data: Any) -> Any:
            return super().train_step(data)

    x = keras.Input((6,))
    return fit(keras, wrap(Own(x, keras.layers.Dense(3)(x))), rows(6), rows(3))


@usage("a trainer class that holds the parallel model")
def _(keras: Any, wrap: Any) -> Outcome:
    class Trainer(keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self, body: Any) -> None:
            super().__init__()
            self.body = body

        def call(self, x: Any, training: bool | None = None) -> Any:
            return self.body(x, training=training)

    return fit(keras, Trainer(wrap(mlp(keras))), rows(6), rows(3))


@usage("a head on top: `head(parallel(x))`")
def _(keras: Any, wrap: Any) -> Outcome:
    x = keras.Input((6,))
    return fit(keras, keras.Model(x, keras.layers.Dense(3)(wrap(mlp(keras))(x))), rows(6), rows(3))


@usage("a GAN of two parallel models")
def _(keras: Any, wrap: Any) -> Outcome:
    generator = wrap(mlp(keras))
    critic = wrap(
        keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    )
    noise, losses = rows(6), []
    optimizers = [keras.optimizers.SGD(0.05), keras.optimizers.SGD(0.05)]
    for step in range(4):
        with tf.GradientTape(persistent=False) as tape:
            score = tf.reduce_mean(critic(generator(noise, training=True), training=True))
            loss = score if step % 2 else -score
        model = (generator, critic)[step % 2]
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizers[step % 2].apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        losses.append(float(loss))
    return [*losses, generator.predict(noise, verbose=0)]


def _adding(keras: Any, reduce: Callable[[Any], Any]) -> Any:
    class Adds(keras.layers.Layer):  # type: ignore[misc, name-defined]
        def call(self, x: Any) -> Any:
            self.add_loss(0.1 * reduce(tf.square(x)))
            return x

    return keras.Sequential(
        [keras.Input((6,)), keras.layers.Dense(4), Adds(), keras.layers.Dense(3)]
    )


@usage("`add_loss` of a mean over the batch")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(_adding(keras, tf.reduce_mean)), rows(6), rows(3))


@usage("`add_loss` of a sum over the batch")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(_adding(keras, lambda x: 0.01 * tf.reduce_sum(x))), rows(6), rows(3))


@usage("a loss that is a sum over the batch")
def _(keras: Any, wrap: Any) -> Outcome:
    loss = keras.losses.MeanSquaredError(reduction="sum")
    sgd = keras.optimizers.SGD(0.005)
    return fit(keras, wrap(mlp(keras)), rows(6), rows(3), compiled={"loss": loss, "optimizer": sgd})


@usage("a layer that looks at the whole batch")
def _(keras: Any, wrap: Any) -> Outcome:
    centred = keras.layers.Lambda(lambda x: x - tf.reduce_mean(x, axis=0))
    return fit(
        keras,
        wrap(keras.Sequential([keras.Input((6,)), centred, keras.layers.Dense(3)])),
        rows(6),
        rows(3),
    )


@usage("a layer that updates a state of its own")
def _(keras: Any, wrap: Any) -> Outcome:
    class Average(keras.layers.Layer):  # type: ignore[misc, name-defined] # Keras has no types
        def build(self, _: Any) -> None:
            self.average = self.add_weight(
                name="average", shape=(), initializer="zeros", trainable=False
            )

        def call(self, x: Any) -> Any:
            self.average.assign(0.9 * self.average + 0.1)
            return x * self.average

    stack = [keras.Input((6,)), Average(), keras.layers.Dense(3)]
    return fit(keras, wrap(keras.Sequential(stack)), rows(6), rows(3))


def _normalised(keras: Any, **options: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [keras.Input((6,)), layers.BatchNormalization(**options), layers.Dense(3)]
    )


@usage("BatchNormalization, training")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(_normalised(keras)), rows(6), rows(3))


@usage("BatchNormalization, `synchronized=True`")
def _(keras: Any, wrap: Any) -> Outcome:
    return fit(keras, wrap(_normalised(keras, synchronized=True)), rows(6), rows(3))


@usage("SpectralNormalization")
def _(keras: Any, wrap: Any) -> Outcome:
    layer = keras.layers.SpectralNormalization(keras.layers.Dense(3))
    return fit(keras, wrap(keras.Sequential([keras.Input((6,)), layer])), rows(6), rows(3))


@usage("a persistent GradientTape over two losses")
def _(keras: Any, wrap: Any) -> Outcome:
    model = wrap(mlp(keras))
    with tf.GradientTape(persistent=True) as tape:
        y = model(rows(6), training=True)
        losses = [tf.reduce_mean(y**2), tf.reduce_mean(tf.abs(y))]
    return [g for loss in losses for g in tape.gradient(loss, model.trainable_variables)]


@usage("EarlyStopping that restores the best weights")
def _(keras: Any, wrap: Any) -> Outcome:
    stop = keras.callbacks.EarlyStopping(
        monitor="loss", mode="max", patience=1, restore_best_weights=True
    )
    return fit(keras, wrap(mlp(keras)), rows(6), rows(3), epochs=4, callbacks=[stop])


@usage("BackupAndRestore")
def _(keras: Any, wrap: Any) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        back_up = keras.callbacks.BackupAndRestore(os.path.join(folder, "backup"))
        return fit(keras, wrap(mlp(keras)), rows(6), rows(3), callbacks=[back_up])


@usage("ReduceLROnPlateau")
def _(keras: Any, wrap: Any) -> Outcome:
    reduce = keras.callbacks.ReduceLROnPlateau(monitor="loss", mode="max", patience=1, factor=0.5)
    return fit(keras, wrap(mlp(keras)), rows(6), rows(3), epochs=4, callbacks=[reduce])


@usage("TensorBoard")
def _(keras: Any, wrap: Any) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        board = keras.callbacks.TensorBoard(folder, histogram_freq=1)
        return fit(keras, wrap(mlp(keras)), rows(6), rows(3), callbacks=[board])


@usage("`parallel.export`, called from the SavedModel")
def _(keras: Any, wrap: Any) -> Outcome:
    model = wrap(mlp(keras))
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder)
        loaded = tf.saved_model.load(folder)
        return [loaded.serve(rows(6))]


@usage("`clone_model(parallel)`, its predictions")
def _(keras: Any, wrap: Any) -> Outcome:
    model = wrap(mlp(keras))
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    return [clone.predict(rows(6), verbose=0)]


@usage("`pickle` of the parallel model")
def _(keras: Any, wrap: Any) -> Outcome:
    copy = pickle.loads(pickle.dumps(wrap(mlp(keras))))  # noqa: S301 - our own
    return [copy.predict(rows(6), verbose=0)]


def difference(plain: list[Any], parallel: list[Any]) -> float:
    """The largest, as a share of the largest plain value."""
    pairs = [
        (np.asarray(a, "f8"), np.asarray(b, "f8")) for a, b in zip(plain, parallel, strict=True)
    ]
    return max(float(np.max(np.abs(a - b)) / max(1e-6, np.max(np.abs(a)))) for a, b in pairs)


def cell(keras: Any, run: Usage) -> str:
    """Return the table's cell for one usage with one Keras."""
    from unnest.keras import multi_gpu_model

    outcomes = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for wrap in (lambda m: m, lambda m: multi_gpu_model(m, ["CPU:0", "CPU:1"])):
            keras.utils.set_random_seed(7)
            try:
                with contextlib.redirect_stdout(sys.stderr):  # `export` prints
                    outcomes.append(run(keras, wrap))
            except Exception as raised:  # noqa: BLE001 - whatever is raised is the result
                if not outcomes:
                    return f"fails without towers too: {type(raised).__name__}"
                words = " ".join(str(raised).split())
                return (
                    f"refused: {words}"
                    if isinstance(raised, (ValueError, TypeError))
                    else f"{type(raised).__name__}: {words[:120]}"
                )
    told = any(
        issubclass(w.category, UserWarning) and "in towers" in str(w.message) for w in warned
    )
    size = difference(*outcomes)
    verdict = f"equal, within {size:.0e}" if size <= EQUAL else f"**differs by {size:.1e}**"
    return verdict + (", and is warned of" if told else "")


def table(only: str | None, names: list[str]) -> Iterator[str]:
    """The table, line by line."""
    kerases = [import_module(name) for name in names]
    yield (
        "| usage | "
        + " | ".join(
            f"{name} {keras.__version__}" for name, keras in zip(names, kerases, strict=True)
        )
        + " | why |"
    )
    yield "|---" * (len(kerases) + 2) + "|"
    for label, run in USAGES.items():
        if only is None or only in label:
            yield (
                f"| {label} | "
                + " | ".join(cell(keras, run).replace("|", "/") for keras in kerases)
                + f" | {WHY.get(label, '')} |"
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="usages whose label holds this")
    parser.add_argument("--keras", nargs="+", default=["keras", "tf_keras"])
    options = parser.parse_args()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    for line in table(options.only, options.keras):
        print(line, flush=True)


if __name__ == "__main__":
    main()
