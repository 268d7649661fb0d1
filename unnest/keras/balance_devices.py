"""`unnest.keras.balance`: measure devices, alone and together, to propose the ratios of a parallel model.

A tower is measured as it is trained: its rows are cut on the CPU and sent to the device, forward pass and gradient
run there (`unnest.keras.tower_execution`), and a number that depends on every gradient comes back. Devices take
turns in short blocks, so that whatever else the machine does hits all of them alike; medians count.

Alone, each device shows its speed at several sizes of batch. From these follows a first split; then all towers work
at once, each noting when it starts and ends, and the split is moved until they end together.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median, quantiles
from typing import Any

import numpy as np
import tensorflow as tf

from unnest.keras import device_names, tower_execution, tower_row_bounds
from unnest.keras.balance_result import Balance, Speed
from unnest.keras.build_parallel_model import check_template
from unnest.keras.keras_api import KerasApi, Model, RuntimeTensor, api_of, is_parallel
from unnest.keras.parallel_model import template_of
from unnest.keras.ratio_search import (
    Trial,
    first_shares,
    refine,
    whole_rows,
)
from unnest.keras.tower_execution import HOST

ROUNDS = 7
"""How often every device's turn comes; each turn's mean is one measurement."""

TURN = 0.15
"""Seconds that a turn takes at least, if one step is shorter."""

OPEN_SIZE = 32
"""What random input has where a model leaves a size open."""

OUT_OF_MEMORY = ("out of memory", "out_of_memory", "alloc_failed", "oom")
"""What is in the message where a device's memory was not enough."""


Progress = Callable[[Balance], None]
"""Called after every measurement with what there is so far."""


def balance(
    build: Callable[[], Model],
    batch_size: int,
    gpus: int | Sequence[int | str] | None = None,
    *,
    sizes: Sequence[int] | None = None,
    progress: Progress = lambda result: None,
) -> Balance:
    """Measure devices alone and together with a model, and propose the ratios to train it with.

    Args:
        build: returns the template, built, of Keras 3 (TensorFlow backend) or tf_keras; it need not be compiled,
            and is not trained.
        batch_size: rows of the whole batch in training.
        gpus: as `multi_gpu_model` takes it: two devices or more.
        sizes: batch sizes to try on each device alone; None: `batch_size` and its halves down to an eighth.
        progress: called after every measurement.

    Returns:
        All that was measured; after Ctrl-C what there was until then (`finished` is False).

    Raises:
        ValueError: what `multi_gpu_model` raises for the model or the devices; a device named twice; a batch with
            fewer rows than devices; a size below 1.
        TypeError: `build` returns no Keras model.

    """
    model = build()
    api = api_of(model)
    if is_parallel(model):
        warnings.warn(
            "the model is parallel already: its template is measured", UserWarning, stacklevel=2
        )
        model = template_of(model)
    check_template(api, model)
    devices = device_names.targets(gpus)
    if len(set(devices)) < len(devices):
        raise ValueError(
            f"gpus={gpus!r} names a device twice: there is nothing to balance between its towers"
        )
    if batch_size < len(devices):
        raise ValueError(
            f"batch_size={batch_size}: {len(devices)} devices need at least a row each"
        )
    if sizes and min(sizes) < 1:
        raise ValueError(f"sizes={list(sizes)}: a batch has at least a row")
    result = Balance(devices, batch_size)
    sizes_to_try = sorted(set(sizes or _sizes(batch_size)))
    try:
        _measure_alone(result, api, model, sizes_to_try, progress)
        _measure_together(result, api, model, progress)
        result.finished = True
    except KeyboardInterrupt:
        pass
    return result


def _sizes(batch_size: int) -> Iterator[int]:
    for parts in (8, 4, 2, 1):
        yield max(1, batch_size // parts)


def _measure_alone(
    result: Balance, api: KerasApi, model: Model, sizes: Sequence[int], progress: Progress
) -> None:
    """Measure every device at every batch size, the devices in turn."""
    out_of_memory: set[str] = set()
    for rows in sizes:
        measured = _run_in_turns(
            {
                d: _training_step(api, model, [d], [rows])
                for d in result.devices
                if d not in out_of_memory
            }
        )
        for device in result.devices:
            turns = measured.get(device)
            if turns is None:
                out_of_memory.add(device)
                result.alone.append(Speed(device, rows, None))
            else:
                low, middle, high = quantiles([turn.seconds for turn in turns], n=4)
                result.alone.append(Speed(device, rows, middle, low, high))
            progress(result)


def _measure_together(result: Balance, api: KerasApi, model: Model, progress: Progress) -> None:
    """Measure all devices at once: in equal shares, then with shares moved until the towers end together.

    In every round the equal shares and the best single device take their turns beside the split that is tried, unless
    they have run out of memory once.
    """
    batch, single, curves = result.batch_size, result.best_single, result.curves()
    if single is None:
        return
    equal = whole_rows([batch / len(curves)] * len(curves), batch)
    beside = {
        "equal": _training_step(api, model, result.devices, equal),
        "single": _training_step(api, model, [single.device], [single.rows]),
    }

    def measure(rows: tuple[int, ...]) -> Trial | None:
        steps = {**beside, "split": _training_step(api, model, result.devices, rows)}
        measured = _run_in_turns(steps)
        for name in steps.keys() - measured.keys():
            beside.pop(name, None)
            split = {"equal": equal, "split": rows}.get(name)
            if split is not None and split not in result.too_large:
                result.too_large.append(split)
        alone = (
            [single.rows / turn.seconds for turn in measured["single"]]
            if "single" in measured
            else None
        )
        if result.equal is None and "equal" in measured:
            result.equal = _trial(equal, measured["equal"], measured["equal"], alone)
        if "split" not in measured:
            return None
        return _trial(rows, measured["split"], measured.get("equal", measured["split"]), alone)

    first = whole_rows(first_shares(curves, batch, result.holds()), batch) if all(curves) else equal
    for trial in refine(first, batch, measure):
        result.trials.append(trial)
        progress(result)


@dataclass(frozen=True, slots=True)
class _Turn:
    """The mean of one turn's steps: seconds of the whole, and of each tower."""

    seconds: float
    towers: tuple[float, ...]


def _trial(
    rows: tuple[int, ...],
    turns: Sequence[_Turn],
    equal: Sequence[_Turn],
    single: Sequence[float] | None,
) -> Trial:
    """Return a split's medians, and its gain over `equal` and over `single`, compared within each round."""
    low, middle, high = quantiles([turn.seconds for turn in turns], n=4)
    towers = np.median([turn.towers for turn in turns], axis=0)
    gain, *_ = quantiles(
        [base.seconds / turn.seconds - 1 for base, turn in zip(equal, turns, strict=True)], n=4
    )
    over = None
    if single is not None:
        over = median(
            sum(rows) / turn.seconds / alone - 1 for turn, alone in zip(turns, single, strict=True)
        )
    return Trial(rows, tuple(float(t) for t in towers), middle, low, high, gain, over)


_Step = Callable[[], RuntimeTensor]
"""One step; what it returns is a row for every tower: start and end in seconds, and a number computed in between."""


def _run_in_turns(steps: Mapping[str, _Step]) -> dict[str, list[_Turn]]:
    """Run ROUNDS turns of every step, one after the other in each round; a step that runs out of memory is left out.

    Each step is first run twice: to trace it, and to warm up.
    """
    turns: dict[str, list[_Turn]] = {
        name: [] for name, step in steps.items() if _fits(step) and _fits(step)
    }
    for _ in range(ROUNDS):
        for name in list(turns):
            if not _fits(partial(_add_turn, turns[name], steps[name])):
                del turns[name]
    return turns


def _add_turn(turns: list[_Turn], step: _Step) -> None:
    turns.append(_run_turn(step))


def _fits(run: Callable[[], object]) -> bool:
    """Return True if memory, the device's or the computer's, is enough for `run`."""
    try:
        run()
    except (tf.errors.ResourceExhaustedError, MemoryError):
        return False
    except (
        tf.errors.OpError
    ) as error:  # a library that TensorFlow calls (cuDNN, cuBLAS) has other words for it
        if any(words in str(error).lower() for words in OUT_OF_MEMORY):
            return False
        raise
    return True


def _run_turn(step: _Step) -> _Turn:
    spans: list[Any] = []
    begun = time.perf_counter()
    while not spans or time.perf_counter() - begun < TURN:
        spans.append(step().numpy())
    seconds = (time.perf_counter() - begun) / len(spans)
    mean = np.mean(spans, axis=0)
    return _Turn(seconds, tuple(float(end - start) for start, end, _ in mean))


def _random_batch(model: Model, rows: int) -> list[RuntimeTensor]:
    """Return random input for a model, in input order; open sizes are OPEN_SIZE, strings have three words."""
    rng = np.random.default_rng(0)
    batch = []
    for x in model.inputs:
        dtype = tf.as_dtype(getattr(x.dtype, "name", x.dtype))
        shape = (rows, *(d or OPEN_SIZE for d in tuple(x.shape)[1:]))
        if dtype == tf.string:
            values = np.full(shape, "a b c")
        else:
            values = rng.random(shape) if dtype.is_floating else rng.integers(0, 2, shape)
            values = values.astype(dtype.as_numpy_dtype)
        with tf.device(HOST):
            batch.append(tf.constant(values))
    return batch


def _training_step(
    api: KerasApi, model: Model, devices: Sequence[str], rows: Sequence[int]
) -> _Step:
    """Compile a training step without its update, in which each device takes its rows, in order. Raises ValueError."""
    edges = tower_row_bounds.bounds(sum(rows), rows)
    batch: list[RuntimeTensor] = []

    @tf.function  # type: ignore[untyped-decorator, unused-ignore]  # TensorFlow has no types
    def towers(*inputs: RuntimeTensor) -> RuntimeTensor:
        spans = [
            _timed_tower(api, model, [x[a:b] for x in inputs], f"/{device}")
            for device, (a, b) in zip(devices, pairwise(edges), strict=True)
        ]
        return tf.stack(spans)

    def step() -> RuntimeTensor:
        # Made when it is first needed: the computer's memory may not be enough for it.
        if not batch:
            batch.extend(_random_batch(model, sum(rows)))
        try:
            return towers(*batch)
        except (ValueError, TypeError, tf.errors.InvalidArgumentError) as wrong:
            shapes = ", ".join(str(tuple(x.shape)) for x in batch)
            raise ValueError(
                f"{model.name!r} cannot be run on random input of shape {shapes}, where sizes that it leaves open are "
                f"{OPEN_SIZE}: {_cause(wrong)}"
            ) from wrong

    return step


def _cause(error: Exception) -> str:
    """Return the sentence of an error of the model that says what is wrong, without the call stack."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).partition("Arguments received by")[0]
    return " ".join(text.strip().rpartition("\n\n")[2].split())


def _timed_tower(
    api: KerasApi, model: Model, part: list[RuntimeTensor], device: str
) -> RuntimeTensor:
    """Return forward pass and gradient of one tower on its device: its row of a step's result."""
    with tf.device(HOST):
        part = [tf.identity(x) for x in part]
        start = _clock(part)
        with tf.control_dependencies([start]):
            part = [tf.identity(x) for x in part]

    def forward(tensors: list[RuntimeTensor | None]) -> list[RuntimeTensor]:
        outputs = tf.nest.flatten(model(api.pack_inputs(model, tensors), training=True))
        return [tf.reduce_mean(tf.square(tf.cast(y, tf.float32))) for y in outputs]

    with tf.GradientTape() as tape:
        loss = tf.add_n(tower_execution.on_device(forward, part, device))
    gradients = [g for g in tape.gradient(loss, model.trainable_variables) if g is not None]
    with tf.device(device):
        touched = tf.add_n(
            [
                loss,
                *(tf.cast(tf.reduce_sum(tf.convert_to_tensor(g)), tf.float32) for g in gradients),
            ]
        )
    with tf.device(HOST):
        arrived = tf.identity(touched)
        end = _clock([arrived])
        # A result that nothing but the clock waits for would be optimized away, and all that leads to it.
        return tf.stack([start, end, tf.cast(arrived, tf.float64)])


def _clock(after: Sequence[RuntimeTensor]) -> RuntimeTensor:
    """Return the time in seconds, float64, when all of `after` is computed; for use in a tf.function.

    TensorFlow runs what reads a clock in the order of the program. A tower that starts when the tower before it has
    ended is not what is to be measured: each of these readings waits for its own tensors only.
    """
    with tf.control_dependencies(after):
        now = tf.timestamp()
    now.graph.experimental_acd_manager.run_independently(now.op)
    return now
