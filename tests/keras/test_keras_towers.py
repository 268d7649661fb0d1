"""A parallel model computes what its template computes, wherever its towers run."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from unnest.keras import multi_gpu_model
from unnest.keras.tower_row_bounds import bounds, whole_ratios

ALL = [
    *(
        "dense",
        "conv",
        "batch_norm",
        "several",
        "named",
        "nested",
        "siamese",
        "masked",
        "recurrent",
        "regular",
        "mixed",
    ),
]

SLOW_TO_START = pytest.param("recurrent", marks=pytest.mark.slow)
"""LSTMs and GRUs take seconds per tower until the first step has run."""


def any_batch(tf: Any, model: Any, x: Any) -> Any:
    """`model` for batches whose size is not known beforehand, traced once."""
    signature = tf.nest.map_structure(lambda a: tf.TensorSpec((None, *a.shape[1:]), a.dtype), x)
    return tf.function(lambda batch: model(batch, training=False), input_signature=[signature])


def assert_same(tf: Any, expected: Any, actual: Any, tolerance: float = 1e-5) -> None:
    for a, b in zip(tf.nest.flatten(expected), tf.nest.flatten(actual), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), atol=tolerance, rtol=tolerance)


def assert_predicts_alike(tf: Any, template: Any, parallel: Any, rows: Any, sizes: Any) -> None:
    plain, towers = (
        any_batch(tf, template, rows(template, 2)),
        any_batch(tf, parallel, rows(template, 2)),
    )
    for n in sizes:
        batch = tf.nest.map_structure(tf.constant, rows(template, n))
        expected, actual = plain(batch), towers(batch)
        tf.nest.assert_same_structure(expected, actual)
        assert_same(tf, expected, actual)


@pytest.mark.parametrize("name", ALL)
def test_predictions_are_the_templates(tf: Any, keras: Any, zoo: Any, rows: Any, name: str) -> None:
    template = zoo[name]()
    parallel = multi_gpu_model(template, gpus=3, ratios=[1, 3, 2])
    assert_predicts_alike(tf, template, parallel, rows, (1, 2, 3, 4, 7, 33))
    batch = rows(template, 5)
    assert_same(tf, template(batch, training=False), parallel(batch, training=False))


@pytest.mark.parametrize("towers", [2, 5, 8])
def test_predictions_for_every_number_of_towers_and_rows(
    tf: Any, keras: Any, zoo: Any, rows: Any, towers: int
) -> None:
    template = zoo["several"]()
    assert_predicts_alike(tf, template, multi_gpu_model(template, gpus=towers), rows, range(1, 34))


@pytest.mark.slow
@pytest.mark.parametrize("ratios", [None, "rising", "steep"])
@pytest.mark.parametrize("towers", range(2, 9))
@pytest.mark.parametrize("name", ALL)
def test_all_predictions(
    tf: Any, keras: Any, zoo: Any, rows: Any, name: str, towers: int, ratios: str | None
) -> None:
    template = zoo[name]()
    shares = {
        None: None,
        "rising": [i + 1 for i in range(towers)],
        "steep": [1000, *[1] * (towers - 1)],
    }[ratios]
    assert_predicts_alike(
        tf, template, multi_gpu_model(template, towers, shares), rows, range(1, 34)
    )


@pytest.mark.parametrize("name", ["dense", "several", "masked", "regular", SLOW_TO_START])
def test_twenty_steps_train_as_the_plain_model(
    tf: Any, keras: Any, zoo: Any, rows: Any, summed_regularizers: bool, name: str
) -> None:
    """Ten batches of 7 rows and one of 2, twice: towers without rows included."""
    if name == "regular" and summed_regularizers:
        pytest.skip("regularizers of activity are sums in this Keras, which is warned of")
    template = zoo[name]()
    start = template.get_weights()
    x = rows(template, 9 * 7 + 2)
    shapes = [tuple(y.shape) for y in tf.nest.flatten(template(x))]
    y = [np.random.default_rng(3).normal(size=shape).astype("f") for shape in shapes]
    weights, losses = [], []
    ratios = [1, 9] if name in {"masked", "recurrent"} else [1, 1, 2, 3]
    for model in (template, multi_gpu_model(template, gpus=len(ratios), ratios=ratios)):
        template.set_weights(start)
        model.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss="mse")
        history = model.fit(
            x, y[0] if len(y) == 1 else y, batch_size=7, epochs=2, verbose=0, shuffle=False
        )
        weights.append(template.get_weights())
        losses.append(history.history["loss"])
    for a, b in zip(*weights, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-6)
    # An activity penalty is a mean over the batch: tf_keras and Keras 3 both show it in the loss.
    plain, towers = losses
    np.testing.assert_allclose(plain, towers, rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_batch_norm_has_statistics_per_tower(
    tf: Any, keras: Any, zoo: Any, rows: Any, n: int
) -> None:
    """As if the slices were fed to the template one after the other; towers without rows leave no trace."""
    template = zoo["batch_norm"]()
    start, batch = template.get_weights(), rows(template, n)
    for a, b in pairwise(bounds(n, [1, 2, 1])):
        if a < b:
            template(batch[a:b], training=True)
    expected = template.get_weights()
    parallel = multi_gpu_model(template, gpus=3, ratios=[1, 2, 1])
    shape = (None, *batch.shape[1:])
    unknown = tf.function(
        lambda x: parallel(x, training=True), input_signature=[tf.TensorSpec(shape, tf.float32)]
    )
    for call in (lambda x: parallel(x, training=True), unknown):
        template.set_weights(start)
        call(tf.constant(batch))
        for a, b in zip(expected, template.get_weights(), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)


def test_towers_run_forward_and_backward_on_their_devices(
    tf: Any, keras: Any, zoo: Any, rows: Any
) -> None:
    """TensorFlow reports no operation of a tower outside its device."""
    from tensorflow.python.eager import context

    template = zoo["conv"]()
    parallel = multi_gpu_model(template, gpus=["CPU:3", "CPU:1", "CPU:5"])
    parallel.compile(keras.optimizers.SGD(0.1), loss="mse")
    context.context().enable_run_metadata()
    try:
        parallel.fit(rows(template, 16), np.zeros((16, 2), "f"), batch_size=10, verbose=0)
        graphs = context.context().export_run_metadata().partition_graphs
    finally:
        context.context().disable_run_metadata()
    ran: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for node in (node for graph in graphs for node in graph.node):
        ran[node.op][node.device.rsplit(":", 1)[-1]] += 1
    forward = {op: where for op, where in ran.items() if re.search(r"Conv2D(?!Backprop)", op)}
    backward = {op: where for op, where in ran.items() if re.search(r"Conv2DBackprop", op)}
    assert forward
    assert backward
    for where in (*forward.values(), *backward.values()):
        assert set(where) == {"1", "3", "5"}
        assert len(set(where.values())) == 1
    for host_op in (r"ConcatV2|Concat$", r"AssignSub|ApplyGradientDescent|AssignVariable"):
        places = {place for op, where in ran.items() if re.search(host_op, op) for place in where}
        assert places == {"0"}, host_op
    rows_taken = [
        n.name for g in graphs for n in g.node if n.op == "StridedSlice" and "tower_" in n.name
    ]
    assert rows_taken


def test_masks_reach_the_loss(tf: Any, keras: Any, zoo: Any, rows: Any) -> None:
    template = zoo["masked"]()
    parallel = multi_gpu_model(template, gpus=3)
    words = rows(template, 8)
    np.testing.assert_array_equal(parallel(words)._keras_mask, words != 0)


@pytest.mark.parametrize("n", range(70))
def test_every_row_goes_to_one_tower(n: int) -> None:
    for ratios in ([1, 1], [4, 3], [1, 1000], [3, 1, 2, 2], [0.5, 0.25, 0.25]):
        exact = whole_ratios(ratios, len(ratios))
        edges = bounds(n, exact)
        assert edges[0] == 0
        assert edges[-1] == n
        assert edges == sorted(edges)
        for (a, b), ratio in zip(pairwise(edges), exact, strict=True):
            assert abs((b - a) - n * ratio / sum(exact)) < 1
        assert n == 0 or edges[-1] > edges[-2]
