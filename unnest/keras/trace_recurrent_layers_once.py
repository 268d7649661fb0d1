"""The loops of recurrent layers, traced once for all towers.

TensorFlow takes longer to trace a loop and its gradient than to run it. What Keras's LSTM, GRU and SimpleRNN compute
without dropout depends on nothing but what they are called with and their weights, so one function of each, traced
once per shape, serves every tower: a call of it runs on the caller's device, and so does its gradient. Layers that
draw random numbers, or keep something from call to call, are traced for each tower: two calls of one function would
draw the same numbers, or wait for each other.

Before it runs a graph, TensorFlow takes every loop apart into operations of the graph around it: for each tower anew,
which takes longer than all else of the first step, and the steps take longer too. In towers loops stay functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import tensorflow as tf

from unnest.core.layers.catalog import LAYER_RECORDS
from unnest.keras.keras_api import KerasApi, Model

RECURRENT_CLASSES = tuple(layer.name for layer in LAYER_RECORDS.values() if layer.is_recurrent)

SWITCH = "_DISABLE_LOWER_USING_SWITCH_MERGE"
"""TensorFlow asks it wherever a loop is made. There is no public one; without it, loops are taken apart as usual."""


def layers_without_effects(api: KerasApi, template: Model) -> list[Model]:
    """Return Keras's own recurrent layers in the template, at any level, without dropout, state or custom classes."""
    classes = [getattr(api.keras.layers, name) for name in RECURRENT_CLASSES]
    return [
        layer
        for layer in template._flatten_layers()
        if type(layer) in classes
        and not (layer.dropout or layer.recurrent_dropout or layer.stateful)
    ]


@contextmanager
def traced_once(layers: list[Model]) -> Iterator[None]:
    """Make each of these layers one `tf.function` in the block, so that all towers share its trace; in graphs only."""
    if tf.executing_eagerly():
        yield
        return
    for layer in layers:
        # Set past the records of both Kerases.
        object.__setattr__(layer, "call", tf.function(layer.call, autograph=False))
    try:
        yield
    finally:
        for layer in layers:
            object.__delattr__(layer, "call")


@contextmanager
def loops_as_functions() -> Iterator[None]:
    """Keep loops and conditionals that are traced in the block as functions when they run; not thread-safe."""
    module = import_module("tensorflow.python.ops.control_flow_util_v2")
    before = getattr(module, SWITCH, True)
    setattr(module, SWITCH, True)
    try:
        yield
    finally:
        setattr(module, SWITCH, before)
