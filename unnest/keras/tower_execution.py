"""Running a template in towers: the TensorFlow below the layers.

Where things run. A device scope around a symbolic call is lost when Keras replays the graph, and a
scope inside a layer's `call` reaches the forward pass alone: gradient operations carry no device.
So each tower is a function with a gradient of its own: both are built under the tower's device.
The batch is cut on the CPU, where input pipelines leave it, so that each tower is sent its rows
and no more.

Which towers run. A tower without rows must not run: convolutions abort the process, BatchNormalization
writes NaN into its moving statistics. Where the batch size is known beforehand an idle tower is left
out. Where it is not, it is lent one row of the batch: its outputs are cut to no rows, its losses
weigh nothing, and it leaves no trace in the template's state. A `tf.cond` around
the tower is the obvious way, and a slow one: conditionals that update the same variable wait for each other
as a whole, and their gradient sends every activation through optional values that TensorFlow places
on the default device (seen in run metadata).

Moving statistics. Keras's BatchNormalization updates them with its `momentum`, which is another number while
a tower is built (`unnest.keras.batch_norm_momenta`): 1 where the tower has no rows, so that nothing moves. Other
state (a custom layer, SpectralNormalization) is put back after an idle tower, which makes the next tower
wait for all of it.

Loops. Each tower traces the template anew, but for recurrent layers, whose loops take longest to trace; and loops
stay functions, which TensorFlow would take apart for every tower (`unnest.keras.trace_recurrent_layers_once`).

What a tower hands back is a flat list, since a gradient knows no other shape: outputs, then the masks of
those that have one, then the losses that its layers added (activity regularizers, `add_loss`), which would
count for a whole batch, each tower's, on the layers' own lists.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise

import tensorflow as tf

from unnest.keras import (
    batch_norm_momenta,
    layers_that_differ_in_towers,
    tower_row_bounds,
    trace_recurrent_layers_once,
)
from unnest.keras.keras_api import KerasApi, Model, RuntimeTensor


@dataclass(frozen=True)
class FlatResult:
    """The parts of a tower's flat result: the number of outputs, which have a mask, and the owners of losses.

    `owners`: positions among the template's layers, in the order of `KerasApi.added_losses`.
    """

    outputs: int = 0
    masked: tuple[bool, ...] = ()
    owners: tuple[int, ...] = ()

    @property
    def batched(self) -> int:
        """The number of tensors with rows: outputs and masks."""
        return self.outputs + sum(self.masked)


@dataclass
class Towers:
    """One call of a template on a batch, spread over devices.

    `inputs` and `masks` are flat, in the order of the template's inputs; `ratios` are whole
    numbers, one per device; `merge` is the device of the concatenation ("" for none); `statistics` is one
    of `batch_norm_momenta.WAYS`.
    """

    api: KerasApi
    template: Model
    devices: Sequence[str]
    ratios: Sequence[int]
    merge: str
    training: bool | None
    statistics: str = batch_norm_momenta.IN_TURN
    flat_result: FlatResult = field(default_factory=FlatResult)

    def run(
        self, inputs: list[RuntimeTensor], masks: list[RuntimeTensor | None]
    ) -> list[RuntimeTensor]:
        """Return the template's outputs for the whole batch, flat, with their masks attached.

        Losses that layers added are put back on these layers: each tower's weighs as much
        as its share of the batch, which for a mean over the batch is the whole batch's.
        """
        with one_call_at_a_time():
            rows = self._static_rows(inputs)
            if rows is not None:
                edges = tower_row_bounds.bounds(rows, self.ratios)
                sizes = [b - a for a, b in pairwise(edges)]
                busy = [i for i, size in enumerate(sizes) if size] or [len(self.devices) - 1]
                with self._statistics(sizes, rows) as moving, self._loops():
                    results = [self._busy_tower(i, moving, edges, inputs, masks) for i in busy]
                return self._unpack(self._merge(results, [sizes[i] for i in busy], rows))
            with tf.device(HOST):
                rows = tf.shape(next(x for x in inputs if x is not None), out_type=tf.int64)[0]
                edges = tower_row_bounds.bounds(rows, self.ratios)
                sizes = [b - a for a, b in pairwise(edges)]
            with self._statistics(sizes, rows) as moving, self._loops():
                results = [
                    self._tower_that_may_idle(i, moving, edges, inputs, masks)
                    for i in range(len(self.devices))
                ]
            return self._unpack(self._merge(results, sizes, rows))

    def _static_rows(self, inputs: list[RuntimeTensor | None]) -> int | None:
        """Return the number of rows, None if unknown. Raises ValueError if inputs differ in it."""
        rows = {
            row for x in inputs if x is not None for row in [_static_rows([x])] if row is not None
        }
        if len(rows) > 1:
            raise ValueError(
                f"{self.template.name!r} in towers: inputs of {' and '.join(map(str, sorted(rows)))} rows; all must "
                "have the same number: give what has rows of its own to the template as weights, or repeat it"
            )
        return next(iter(rows), None)

    def _statistics(
        self, sizes: Sequence[RuntimeTensor], rows: RuntimeTensor
    ) -> batch_norm_momenta.Momenta:
        layers = (
            []
            if self.training is False or _replicated()
            else batch_norm_momenta.normalization_layers(self.api, self.template)
        )
        return batch_norm_momenta.Momenta(layers, self.statistics, sizes, rows)

    def _loops(self) -> AbstractContextManager[None]:
        layers = (
            []
            if _replicated() or self.api.exporting()
            else trace_recurrent_layers_once.layers_without_effects(self.api, self.template)
        )
        return trace_recurrent_layers_once.traced_once(layers)

    def _busy_tower(
        self,
        i: int,
        moving: batch_norm_momenta.Momenta,
        edges: Sequence[int],
        inputs: list[RuntimeTensor],
        masks: list[RuntimeTensor | None],
    ) -> list[RuntimeTensor]:
        """Run tower `i`, which is known to have rows."""
        moving.set_for_tower(i)
        return self.tower(i, (edges[i], edges[i + 1]), inputs, masks)

    def _tower_that_may_idle(
        self,
        i: int,
        moving: batch_norm_momenta.Momenta,
        edges: Sequence[RuntimeTensor],
        inputs: list[RuntimeTensor],
        masks: list[RuntimeTensor | None],
    ) -> list[RuntimeTensor]:
        """Run tower `i` of a batch of unknown size: see "which towers run"."""
        with tf.device(HOST):
            share = edges[i + 1] - edges[i]
            start = tf.minimum(edges[i], edges[-1] - 1)
            rows = (start, tf.maximum(edges[i + 1], start + 1))
        moving_variables = moving.set_for_tower(i)
        state = (
            []
            if self.training is False
            else [v for v in self.api.state(self.template) if id(v) not in moving_variables]
        )
        values_before = [tf.identity(v) for v in state]
        result = self.tower(i, rows, inputs, masks, share)
        if state:

            def undo() -> None:
                for variable, value in zip(state, values_before, strict=True):
                    variable.assign(value)

            tf.cond(share > 0, lambda: None, undo)
        return result

    def tower(
        self,
        i: int,
        rows: tuple[RuntimeTensor, RuntimeTensor],
        inputs: list[RuntimeTensor],
        masks: list[RuntimeTensor | None],
        keep: RuntimeTensor | None = None,
    ) -> list[RuntimeTensor]:
        """Return the flat result of tower `i` on its device for rows from .. to, cut to `keep` rows."""
        with tf.device(HOST):
            tower_inputs = [None if x is None else rows_of(x, *rows) for x in inputs]
            part_masks = [None if m is None else m[rows[0] : rows[1]] for m in masks]

        def forward(tensors: list[RuntimeTensor | None]) -> list[RuntimeTensor]:
            for x, m in zip(tensors, part_masks, strict=True):
                if x is not None and m is not None:
                    x._keras_mask = m
            result = self._call(tensors)
            if keep is None:
                return result
            batched = self.flat_result.batched
            return [*(rows_of(y, 0, keep) for y in result[:batched]), *result[batched:]]

        with tf.name_scope(f"tower_{i}"), own_seed(i):
            if self.api.exporting():
                # TensorFlow cannot load a custom gradient around layers that an export wraps in functions.
                with tf.device(self.devices[i]):
                    return forward(tower_inputs)
            return on_device(forward, tower_inputs, self.devices[i])

    def _call(self, tensors: list[RuntimeTensor | None]) -> list[RuntimeTensor]:
        """Return the outputs, masks and new losses of a call, flat, as noted in `flat_result`.

        The new losses are taken off the layers' own lists.
        """
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        operations_before = len(graph.get_operations()) if graph else 0
        losses_before = [list(losses) for losses in self.api.added_losses(self.template)]
        result = self.template(self.api.pack_inputs(self.template, tensors), training=self.training)
        outputs = tf.nest.flatten(result)
        masks = [getattr(y, "_keras_mask", None) for y in outputs]
        losses, owners = [], []
        for layer, (earlier, current) in enumerate(
            zip(losses_before, self.api.added_losses(self.template), strict=True)
        ):
            losses += [tf.convert_to_tensor(x) for x in current[len(earlier) :]]
            owners += [layer] * (len(current) - len(earlier))
            current[:] = earlier
        if graph:
            if len(self.devices) > 1 and isinstance(graph, tf.__internal__.FuncGraph):
                operations = graph.get_operations()[operations_before:]
                layers_that_differ_in_towers.warn_of_states(
                    self.api, self.template, graph, operations
                )
            layers_that_differ_in_towers.warn_of_summed_losses(
                self.template, losses, _static_rows(tensors)
            )
        self.flat_result = FlatResult(
            len(outputs), tuple(m is not None for m in masks), tuple(owners)
        )
        return [*outputs, *(m for m in masks if m is not None), *losses]

    def _merge(
        self,
        results: list[list[RuntimeTensor]],
        sizes: Sequence[RuntimeTensor],
        rows: RuntimeTensor,
    ) -> list[RuntimeTensor]:
        """Concatenate the towers' outputs along the batch; results without rows are averaged, weighted by rows."""
        batched = self.flat_result.batched
        with tf.device(self.merge), tf.name_scope("concatenate"):
            merged = [
                _concatenate(parts) for parts in zip(*(r[:batched] for r in results), strict=True)
            ]
            for parts in zip(*(r[batched:] for r in results), strict=True):
                weights = [
                    tf.cast(size, part.dtype) for size, part in zip(sizes, parts, strict=True)
                ]
                weighted = [w * part for w, part in zip(weights, parts, strict=True)]
                merged.append(
                    tf.math.divide_no_nan(tf.add_n(weighted), tf.cast(rows, weighted[0].dtype))
                )
        return merged

    def _unpack(self, merged: list[RuntimeTensor]) -> list[RuntimeTensor]:
        outputs = merged[: self.flat_result.outputs]
        masks = iter(merged[self.flat_result.outputs : self.flat_result.batched])
        for y, has_mask in zip(outputs, self.flat_result.masked, strict=True):
            if has_mask:
                y._keras_mask = next(masks)
        lists = list(self.api.added_losses(self.template))
        for owner, loss in zip(
            self.flat_result.owners, merged[self.flat_result.batched :], strict=True
        ):
            lists[owner].append(loss)
        return outputs


HOST = "/CPU:0"

_CALL_LOCK = threading.RLock()


@contextmanager
def one_call_at_a_time() -> Iterator[None]:
    """Let one thread at a time run the block: a template has one list of added losses, and one momentum.

    The replicas of a strategy are threads that wait for each other in the midst of a call; they take turns anyway.
    """
    if _replicated():
        yield
        return
    with _CALL_LOCK:
        yield


def _replicated() -> bool:
    """Return True in one of several replicas of a distribution strategy."""
    return bool(tf.distribute.get_strategy().num_replicas_in_sync > 1)


@contextmanager
def own_seed(i: int) -> Iterator[None]:
    """Seed random operations of tower `i` in the block apart from other towers', in a graph with a global seed.

    TensorFlow numbers the random operations of each graph from 0, and the body of every loop is a graph with the seed
    of the one around it: the loops of two towers would draw the same numbers (tf_keras's recurrent cells do so).
    """
    graph = tf.compat.v1.get_default_graph()
    global_seed = None if tf.executing_eagerly() else graph.seed
    if global_seed is None:
        yield
        return
    graph.seed = (global_seed + i * BETWEEN_SEEDS) % 2**31
    try:
        yield
    finally:
        graph.seed = global_seed


BETWEEN_SEEDS = 0x3C6EF35F
"""Odd and large, so that towers share no seed with each other, or with a run whose seed is the next."""


def on_device(
    forward: Callable[[list[RuntimeTensor | None]], list[RuntimeTensor]],
    inputs: list[RuntimeTensor | None],
    device: str,
) -> list[RuntimeTensor]:
    """Return `forward(inputs)` with its operations and those of its gradient on `device`.

    The gradient is taken by a tape of the function's own, so that it can be built inside the
    device scope too; gradients reach `inputs` (of sparse and ragged ones, their values) and the variables that
    `forward` reads. It may be asked for several times.
    """
    flat_inputs = tf.nest.flatten(inputs, expand_composites=True)
    present = [x for x in flat_inputs if x is not None]

    @tf.custom_gradient  # type: ignore[untyped-decorator, unused-ignore]  # TensorFlow has no types
    def run(*args: RuntimeTensor) -> tuple[list[RuntimeTensor], Callable[..., object]]:
        remaining = iter(args)
        tensors = [None if x is None else next(remaining) for x in flat_inputs]
        with tf.device(device), _loops(), _gradients(args) as gradients:
            results = forward(tf.nest.pack_sequence_as(inputs, tensors, expand_composites=True))
        smooth = [y for y in results if y.dtype.is_floating or y.dtype.is_complex]

        def gradient(
            *upstream: RuntimeTensor, variables: Sequence[RuntimeTensor] | None = None
        ) -> object:
            smooth_upstream = [
                g
                for g, y in zip(upstream, results, strict=True)
                if y.dtype.is_floating or y.dtype.is_complex
            ]
            with tf.device(device), _loops():
                sources = [*args, *(variables or ())]
                found_gradients = gradients(smooth, sources, smooth_upstream)
            of_inputs = list(found_gradients[: len(args)])
            return (
                (of_inputs, list(found_gradients[len(args) :]))
                if variables is not None
                else of_inputs
            )

        return results, gradient

    # The scope around the call is for the IdentityN that custom_gradient puts behind the results.
    with tf.device(device):
        results = run(*present)
    return list(results) if isinstance(results, (list, tuple)) else [results]


@contextmanager
def _loops() -> Iterator[None]:
    """Keep loops as functions in the block, in a graph (`unnest.keras.trace_recurrent_layers_once`)."""
    if tf.executing_eagerly() or _replicated():
        yield
        return
    with one_call_at_a_time(), trace_recurrent_layers_once.loops_as_functions():
        yield


@contextmanager
def _gradients(
    args: Sequence[RuntimeTensor],
) -> Iterator[Callable[..., list[RuntimeTensor | None]]]:
    """Yield a function that computes gradients of tensors made in the block; `args` are the block's inputs.

    In a graph they are found in the graph: a second tape beside the caller's would make TensorFlow prepare the second
    derivatives of every function and loop (all of an LSTM).
    """
    if not tf.executing_eagerly():
        graph = tf.compat.v1.get_default_graph()

        def gradients_in_graph(
            ys: list[RuntimeTensor], xs: list[RuntimeTensor], upstream: list[RuntimeTensor]
        ) -> list[RuntimeTensor | None]:
            if not ys:
                return [None] * len(xs)
            if tf.compat.v1.get_default_graph() is graph:
                return list(tf.gradients(ys, xs, upstream))
            # A SavedModel is being written, gradients included: the public function knows its own graph alone.
            return list(
                import_module("tensorflow.python.ops.gradients_util")._GradientsHelper(
                    ys, xs, upstream, src_graph=graph
                )
            )

        yield gradients_in_graph
        return
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x for x in args if x.dtype.is_floating])
        yield tape.gradient


def _static_rows(inputs: Sequence[RuntimeTensor]) -> int | None:
    for x in inputs:
        if x is not None and x.shape.rank and x.shape[0] is not None:
            return int(x.shape[0])
    return None


def rows_of(x: RuntimeTensor, start: RuntimeTensor, stop: RuntimeTensor) -> RuntimeTensor:
    """Return rows `start` to `stop` (int or int64 scalars) of a dense, sparse or ragged tensor."""
    if isinstance(x, tf.SparseTensor):
        shape = tf.cast(x.dense_shape, tf.int64)
        begin = tf.concat([[start], tf.zeros_like(shape[1:])], 0)
        part = tf.sparse.slice(x, begin, tf.concat([[stop - start], shape[1:]], 0))
        part.set_shape((None, *x.shape[1:]))  # else layers would not know how wide it is
        return part
    return x[start:stop]


def _concatenate(parts: Sequence[RuntimeTensor]) -> RuntimeTensor:
    return parts[0] if len(parts) == 1 else tf.concat(parts, axis=0)
