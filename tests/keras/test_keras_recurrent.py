"""Recurrent layers in towers: one loop traced for all of them, and the results of the plain model."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from unnest.keras import multi_gpu_model

KINDS = {
    "LSTM": {},
    "GRU": {},
    "SimpleRNN": {},
    "bidirectional": {},
    "masked": {},
    "dropout": {"dropout": 0.5},
    "recurrent_dropout": {"recurrent_dropout": 0.5},
}


def recurrent(keras: Any, kind: str) -> Any:
    """Two recurrent layers, the first with sequences as output, on series of 5 steps of 3 features."""
    layers = keras.layers
    cls = getattr(layers, kind, layers.LSTM)
    first, second = cls(4, return_sequences=True, **KINDS[kind]), cls(3, **KINDS[kind])
    if kind == "bidirectional":
        first = layers.Bidirectional(first)
    masking = [layers.Masking()] if kind == "masked" else []
    return keras.Sequential([keras.Input((5, 3)), *masking, first, second, layers.Dense(2)])


def series(rows: int) -> Any:
    x = np.random.default_rng(7).normal(size=(rows, 5, 3)).astype("f")
    x[::2, 3:] = 0  # masked steps
    return x


def function_of_gradients(tf: Any, model: Any, rows: int | None, *, training: bool = True) -> Any:
    """`(loss, gradients)` of a batch, as one graph."""

    def gradients(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_mean(tf.square(model(x, training=training)))
        return y, tape.gradient(y, model.trainable_variables)

    return tf.function(gradients, input_signature=[tf.TensorSpec((rows, 5, 3))])


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        *(("SimpleRNN", 8), ("masked", None)),
        *(pytest.param(kind, None, marks=pytest.mark.slow) for kind in ("GRU", "bidirectional")),
    ],
)
def test_gradients_are_the_plain_models(tf: Any, keras: Any, kind: str, rows: int | None) -> None:
    """Through the loops that towers share, and with towers that have one row, or none."""
    template = recurrent(keras, kind)
    parallel = multi_gpu_model(template, 3, [1, 2, 1])
    towers, plain = (function_of_gradients(tf, model, rows) for model in (parallel, template))
    for batch in (8,) if rows else (8, 3, 1):
        x = tf.constant(series(batch))
        for a, b in zip(tf.nest.flatten(plain(x)), tf.nest.flatten(towers(x)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "traces"), [("LSTM", 1), ("dropout", 3), ("recurrent_dropout", 3)]
)
def test_a_loop_is_traced_once_unless_it_draws(tf: Any, keras: Any, kind: str, traces: int) -> None:
    """As often as its cell is called while the graph is built."""
    template = recurrent(keras, kind)
    cell = template.layers[0].cell
    original, calls = cell.call, []

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return original(*args, **kwargs)

    object.__setattr__(cell, "call", counted)
    parallel = multi_gpu_model(template, 3)
    calls.clear()
    # tf_keras would not call its cell.
    object.__setattr__(template.layers[0], "_could_use_gpu_kernel", False)
    plain_calls = _calls(tf, template, calls)
    assert plain_calls
    assert _calls(tf, parallel, calls) == traces * plain_calls


def _calls(tf: Any, model: Any, calls: list[Any]) -> int:
    calls.clear()
    tf.function(
        lambda x: model(x, training=True), input_signature=[tf.TensorSpec((None, 5, 3))]
    ).get_concrete_function()
    return len(calls)


@pytest.mark.parametrize("kind", ["LSTM", "recurrent_dropout"])
def test_loops_of_towers_stay_functions(tf: Any, keras: Any, kind: str) -> None:
    """Forward and backward; those of a model without towers are taken apart before and after, as ever."""
    template = recurrent(keras, kind)
    plain = _loops_taken_apart(tf, template)
    assert plain
    assert all(plain)
    towers = _loops_taken_apart(tf, multi_gpu_model(template, 2))
    assert len(towers) >= len(plain)
    assert not any(towers)
    assert _loops_taken_apart(tf, template) == plain


def _loops_taken_apart(tf: Any, model: Any) -> list[bool]:
    """Of each loop in the graph of a step: whether TensorFlow is to take it apart."""
    graph = function_of_gradients(tf, model, None).get_concrete_function().graph.as_graph_def()
    nodes = [
        *graph.node,
        *(node for function in graph.library.function for node in function.node_def),
    ]
    return [
        node.attr["_lower_using_switch_merge"].b
        for node in nodes
        if node.op in ("While", "StatelessWhile")
    ]


def test_layers_are_as_they_were_afterwards(tf: Any, keras: Any) -> None:
    """Also where a step fails while it is built."""
    template = recurrent(keras, "LSTM")
    parallel = multi_gpu_model(template, 2)
    function_of_gradients(tf, parallel, None)(tf.constant(series(4)))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.function(parallel)(tf.ones((4, 5, 2)))
    assert not any("call" in vars(layer) for layer in template.layers)


def test_towers_of_a_recurrent_model_run_on_their_devices(tf: Any, keras: Any) -> None:
    """The loops' products too, forward and backward; seen in TensorFlow's run metadata."""
    from tensorflow.python.eager import context

    parallel = multi_gpu_model(recurrent(keras, "LSTM"), ["CPU:3", "CPU:1", "CPU:5"])
    step = function_of_gradients(tf, parallel, None)
    context.context().enable_run_metadata()
    context.context().export_run_metadata()  # what a callback of another test left there
    try:
        step(tf.constant(series(9)))
        graphs = context.context().export_run_metadata().partition_graphs
    finally:
        context.context().disable_run_metadata()
    ran: dict[str, int] = defaultdict(int)
    for node in (node for graph in graphs for node in graph.node):
        if re.search("MatMul", node.op):
            ran[node.device.rsplit(":", 1)[-1]] += 1
    assert set(ran) == {"1", "3", "5"}
    assert len(set(ran.values())) == 1


DRAWING = {
    "LSTM": lambda layers: layers.LSTM(4, dropout=0.5),
    "LSTM, recurrent": lambda layers: layers.LSTM(4, dropout=0.5, recurrent_dropout=0.3),
    "GRU, recurrent": lambda layers: layers.GRU(4, recurrent_dropout=0.5),
    "SimpleRNN": lambda layers: layers.SimpleRNN(4, dropout=0.5),
    "a cell": lambda layers: layers.RNN(layers.LSTMCell(4, dropout=0.5)),
    "convolutional": lambda layers: layers.ConvLSTM1D(2, 2, dropout=0.5),
}


@pytest.mark.parametrize("rows", [None, 40])
@pytest.mark.parametrize("kind", DRAWING)
def test_towers_draw_their_own_dropout(tf: Any, keras: Any, kind: str, rows: int | None) -> None:
    """Equal rows in two towers, under a global seed: equal numbers only where both drew the same."""
    shape = (5, 3, 2) if kind == "convolutional" else (5, 6)
    parallel = multi_gpu_model(
        keras.Sequential([keras.Input(shape), DRAWING[kind](keras.layers)]), 2
    )
    call = tf.function(
        lambda x: parallel(x, training=True), input_signature=[tf.TensorSpec((rows, *shape))]
    )
    first, second = np.split(call(tf.ones((40, *shape))).numpy().reshape(40, -1), 2)
    same = sum(np.allclose(a, b, atol=1e-6) for a, b in zip(first, second, strict=True))
    assert same < 4
