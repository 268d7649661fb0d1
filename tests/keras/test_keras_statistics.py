"""Moving statistics of towers, what else layers compute differently in them, and that towers overlap all the same."""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from unnest.keras import multi_gpu_model
from unnest.keras.parallel_model import statistics_of
from unnest.keras.tower_row_bounds import bounds

RATIOS = [1, 2, 1]


def normalized(keras: Any, **options: Any) -> Any:
    return keras.Sequential(
        [keras.Input((4,)), keras.layers.BatchNormalization(**options), keras.layers.Dense(2)]
    )


def step(tf: Any, model: Any, batch: Any, *, known: bool) -> None:
    """One forward pass in training, of a batch whose size is known beforehand or is not."""
    unknown = tf.function(
        lambda x: model(x, training=True), input_signature=[tf.TensorSpec((None, 4))]
    )
    if known:
        model(tf.constant(batch), training=True)
    else:
        unknown(tf.constant(batch))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 5, 12])
@pytest.mark.parametrize("momentum", [0.99, 0.5, 0.0])
def test_one_update_by_the_mean_of_the_towers(
    tf: Any, keras: Any, momentum: float, rows: int, known: bool
) -> None:
    """The mean weighted by rows is the whole batch's; towers without rows count for nothing."""
    template = normalized(keras, momentum=momentum)
    batch = np.random.default_rng(0).normal(1, 3, (rows, 4)).astype("f")
    parallel = multi_gpu_model(template, 3, RATIOS, moving_statistics="mean")
    step(tf, parallel, batch, known=known)
    mean, variance = template.layers[0].get_weights()[2:]
    np.testing.assert_allclose(mean, (1 - momentum) * batch.mean(0), rtol=1e-4, atol=1e-6)
    parts = [batch[a:b] for a, b in pairwise(bounds(rows, RATIOS)) if a < b]
    towers = sum(len(part) / rows * part.var(0) for part in parts)
    np.testing.assert_allclose(variance, momentum + (1 - momentum) * towers, rtol=1e-4, atol=1e-6)


def test_the_layer_keeps_its_momentum(tf: Any, keras: Any, tmp_path: Any) -> None:
    """In the object and in files, also where a step fails."""
    template = normalized(keras, momentum=0.75)
    parallel = multi_gpu_model(template, 2, moving_statistics="mean")
    step(tf, parallel, np.ones((6, 4), "f"), known=False)
    assert template.layers[0].get_config()["momentum"] == 0.75
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        parallel(np.ones((6, 5), "f"), training=True)
    assert type(template.layers[0].momentum) is float
    parallel.save(tmp_path / "p.keras")
    assert statistics_of(keras.models.load_model(tmp_path / "p.keras")) == "mean"


def test_as_mirrored_strategy(tf: Any, two_replicas: Any, keras: Any) -> None:
    """Ten steps: moved by the mean, statistics are those of MirroredStrategy's replicas; moved in turn they are not.

    Keras 3 lets every replica have its own, and saves the first one's; tf_keras keeps their mean in all of them.
    """
    x = np.random.default_rng(4).normal(2, 3, (80, 4)).astype("f")
    y = np.zeros((80, 2), "f")
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)

    def trained(model: Any) -> None:
        model.compile(keras.optimizers.SGD(0.01), loss=keras.losses.MeanSquaredError())
        model.fit(data, verbose=0)

    template = normalized(keras, momentum=0.9)
    start = template.get_weights()
    with two_replicas.scope():
        mirrored = normalized(keras, momentum=0.9)
        mirrored.set_weights(start)
        trained(mirrored)
    replicas = [(w.value if keras.__name__ == "keras" else w).values for w in mirrored.weights]
    expected = [np.mean([np.asarray(value) for value in values], axis=0) for values in replicas]
    for way, equal in (("mean", True), ("in_turn", False)):
        template.set_weights(start)
        trained(multi_gpu_model(template, 2, moving_statistics=way))
        close = [
            np.allclose(a, b, rtol=1e-4, atol=1e-5)
            for a, b in zip(template.get_weights(), expected, strict=True)
        ]
        # gamma and beta, moving mean and variance, kernel and bias: training is the same in either case.
        assert close == [True, True, equal, equal, True, True]


def test_another_way_is_refused(keras: Any, zoo: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^moving_statistics='median': give one of 'in_turn', 'mean'$"
    ):
        multi_gpu_model(zoo["dense"](), 2, moving_statistics="median")


def test_towers_overlap_whatever_the_batch_size(tf: Any, keras: Any) -> None:
    """With BatchNormalization too: each tower waits, in the layer before it, until the other has come there."""
    meeting = threading.Barrier(2, timeout=20)
    together = []

    def wait(x: Any) -> Any:
        try:
            meeting.wait()
            together.append(True)
        except threading.BrokenBarrierError:
            together.append(False)
        return x

    class Meets(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            met = tf.numpy_function(wait, [x], x.dtype, stateful=False)
            return x + tf.stop_gradient(tf.ensure_shape(met, x.shape) - x)

        def compute_output_shape(self, shape: Any) -> Any:
            return shape

    x = keras.Input((4,))
    y = keras.layers.BatchNormalization()(Meets()(keras.layers.BatchNormalization()(x)))
    parallel = multi_gpu_model(keras.Model(x, keras.layers.Dense(2)(y)), 2)
    call = tf.function(
        lambda x: parallel(x, training=True), input_signature=[tf.TensorSpec((None, 4))]
    )
    call(tf.ones((8, 4)))
    assert together == [True, True]


@pytest.mark.parametrize("moving", ["in_turn", "mean"])
@pytest.mark.parametrize("known", [True, False])
def test_no_tower_waits_for_another(tf: Any, keras: Any, known: bool, moving: str) -> None:
    """No convolution of a tower, forward or backward, comes after the same one of another tower.

    Statistics take in the towers in turn, for which tf_keras's normalization waits; but the tower before goes on
    meanwhile, so that a tower is late by one normalization in all.
    """
    layers = keras.layers
    stack = [
        layers.Conv2D(2, 3),
        layers.BatchNormalization(),
        layers.Conv2D(2, 3),
        layers.BatchNormalization(),
    ]
    template = keras.Sequential([keras.Input((8, 8, 1)), *stack])
    parallel = multi_gpu_model(template, 3, moving_statistics=moving)

    def gradients(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_mean(parallel(x, training=True))
        return tape.gradient(y, template.trainable_variables)

    signature = tf.TensorSpec((6 if known else None, 8, 8, 1))
    graph = tf.function(gradients, input_signature=[signature]).get_concrete_function().graph
    followers: dict[Any, set[Any]] = defaultdict(set)
    for op in graph.get_operations():
        if op.type != "Placeholder" and "/concatenate/" not in op.name:
            for before in (*(x.op for x in op.inputs), *op.control_inputs):
                followers[before].add(op)
    towers = [[op for op in graph.get_operations() if _is_convolution_of(i, op)] for i in range(3)]
    assert [len(convolutions) for convolutions in towers] == [6, 6, 6]
    for same in zip(*towers, strict=True):
        for op in same:
            pending, after = [op], set[Any]()
            while pending:
                news = followers[pending.pop()] - after
                after |= news
                pending += news
            assert after.isdisjoint(same), op.name


def _is_convolution_of(tower: int, op: Any) -> bool:
    return f"tower_{tower}/" in op.name and op.type.startswith("Conv2D")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (
            "BatchNormalization",
            r"'it' normalizes each tower .* once a tower \(moving_statistics='mean': once a step\)",
        ),
        ("synchronized", "synchronized=True of 'it' has no effect"),
        ("SpectralNormalization", "'it' iterates once a tower"),
        ("Softmax", "'it' works along the batch"),
        ("mean", "works along the batch"),
        ("mean by position", "works along the batch"),
        ("mean of everything", "works along the batch"),
        ("nested", "'it' works along the batch"),
    ],
)
def test_layers_that_differ_in_towers_are_told_once(
    tf: Any, keras: Any, kind: str, told: str
) -> None:
    layers = keras.layers
    if kind == "SpectralNormalization" and keras.__name__ == "tf_keras":
        pytest.skip("tf_keras refuses its own SpectralNormalization's InputSpec")
    x = keras.Input((4,))
    if kind == "BatchNormalization":
        y = layers.BatchNormalization(name="it")(x)
    elif kind == "synchronized":
        y = layers.BatchNormalization(synchronized=True, name="it")(x)
    elif kind == "SpectralNormalization":
        y = layers.SpectralNormalization(layers.Dense(2), name="it")(x)
    elif kind == "Softmax":
        y = layers.Softmax(axis=0, name="it")(x)
    elif kind.startswith("mean"):
        mean = keras.ops.mean if keras.__name__ == "keras" else tf.reduce_mean
        calls = {
            "mean": lambda: mean(x, axis=0, keepdims=True),
            "mean by position": lambda: mean(x, 0),
            "mean of everything": lambda: mean(x),
        }
        y = x - calls[kind]()
    else:
        y = keras.Sequential([keras.Input((4,)), layers.Softmax(axis=0, name="it")])(x)
    template = keras.Model(x, y)
    with pytest.warns(UserWarning, match=rf"in towers: .*{told}") as seen:
        multi_gpu_model(template, 2)
    assert len([w for w in seen if "in towers" in str(w.message)]) == 1


def test_a_mean_of_features_or_of_shapes_is_not_told(tf: Any, keras: Any) -> None:
    x = keras.Input((4,))
    if keras.__name__ == "keras":
        y = x - keras.ops.mean(x, 1, keepdims=True) + keras.ops.mean(keras.ops.stack([x, x], 1), 1)
    else:
        y = tf.reshape(x - tf.reduce_mean(x, 1, keepdims=True), (tf.shape(x)[0], 4))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        multi_gpu_model(keras.Model(x, y), 2)
    assert [w for w in seen if "in towers" in str(w.message)] == []


@pytest.mark.parametrize("updates", [True, False])
def test_a_state_of_a_layer_of_ones_own_is_told_once(tf: Any, keras: Any, updates: bool) -> None:
    """A custom layer's state is named once, if a step updates it; a table that no call writes is not one."""

    class Counts(keras.layers.Layer):
        def build(self, _: Any) -> None:
            self.steps = self.add_weight(
                name="steps", shape=(), initializer="zeros", trainable=False
            )

        def call(self, x: Any) -> Any:
            if updates:
                self.steps.assign_add(1.0)
            return x + 0 * self.steps

    template = keras.Sequential([keras.Input((4,)), Counts(name="counts"), keras.layers.Dense(2)])
    parallel = multi_gpu_model(template, 2)
    call = tf.function(lambda x: parallel(x, training=True))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for rows in (4, 6, None):
            call.get_concrete_function(tf.TensorSpec((rows, 4)))
    told = "'counts' updates a state of its own, once a tower, not once a step"
    assert len([w for w in seen if told in str(w.message)]) == int(updates)


@pytest.mark.parametrize("name", ["dense", "conv", "several", "masked", "regular"])
def test_layers_that_do_not_differ_are_not_told(keras: Any, zoo: Any, name: str) -> None:
    template = zoo[name]()
    frozen = normalized(keras)
    frozen.layers[0].trainable = False
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        multi_gpu_model(template, 2)
        multi_gpu_model(frozen, 2)
        multi_gpu_model(normalized(keras), 2, moving_statistics="mean")
    assert [w for w in seen if "in towers" in str(w.message)] == []


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("sum", True),
        ("half of the sum of means", True),
        ("sum over features, mean over rows", False),
        ("mean over rows, sum over features", False),
        ("sum over rows by their number", False),
        ("activity regularizer", False),
    ],
)
def test_a_loss_that_is_a_sum_over_the_batch_is_told_once(
    tf: Any, keras: Any, summed_regularizers: bool, kind: str, told: bool, known: bool
) -> None:
    sums = {
        "sum": lambda x: tf.reduce_sum(x**2),
        "half of the sum of means": lambda x: 0.5 * tf.reduce_sum(tf.reduce_mean(x, axis=1)),
        "sum over features, mean over rows": lambda x: tf.reduce_mean(tf.reduce_sum(x, axis=-1)),
        "mean over rows, sum over features": lambda x: tf.reduce_sum(tf.reduce_mean(x, axis=0)),
        "sum over rows by their number": lambda x: (
            tf.reduce_sum(x) / tf.cast(tf.shape(x)[0], x.dtype)
        ),
    }

    class Adds(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            if kind in sums:
                self.add_loss(sums[kind](x))
            return x

    x = keras.Input((4,))
    y = keras.layers.Dense(2, activity_regularizer="l2")(Adds()(x))
    parallel = multi_gpu_model(keras.Model(x, y), 2)
    call = tf.function(lambda x: parallel(x, training=True))
    shapes = [(6, 4), (8, 4)] if known else [(None, 4)]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for shape in shapes:
            call.get_concrete_function(tf.TensorSpec(shape))
    is_told = told or summed_regularizers  # the model has one
    assert len([w for w in seen if "a sum over the batch" in str(w.message)]) == int(is_told)
