"""Measuring devices, alone and together, to propose the ratios of a parallel model.

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
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from statistics import median, quantiles
from typing import Any

import numpy as np
import tensorflow as tf

from unnest.keras import batch_split, tower_execution
from unnest.keras import devices as device_names
from unnest.keras.build_parallel_model import check_template
from unnest.keras.keras_api import KerasApi, Model, RuntimeTensor, api_of, is_parallel
from unnest.keras.parallel_model import template_of
from unnest.keras.ratio_search import (
    EQUAL,
    Measurement,
    Trial,
    first_shares,
    presentable,
    refine,
    settled,
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


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of one device alone with `rows` rows."""

    device: str
    """Its name, as in `GPU:0`."""
    rows: int
    """Rows of the batch."""
    seconds: float | None
    """Seconds a step, the median over the turns; None if that many rows did not fit into its memory."""
    low: float | None = None
    """The lower quartile, in seconds."""
    high: float | None = None
    """The upper quartile, in seconds."""

    @property
    def samples_per_second(self) -> float | None:
        """Throughput at the median, in samples a second."""
        return None if self.seconds is None else self.rows / self.seconds


@dataclass
class Balance:
    """Measurements, and the split that follows from them. All fields grow while `balance` measures."""

    devices: tuple[str, ...]
    """Names, as in `GPU:0`."""
    batch_size: int
    """Rows of the whole batch."""
    alone: list[Speed] = field(default_factory=list)
    """Every device at every size tried."""
    equal: Trial | None = None
    """The split in equal shares."""
    trials: list[Trial] = field(default_factory=list)
    """The splits tried after it, in order."""
    too_large: list[tuple[int, ...]] = field(default_factory=list)
    """The splits, in rows, that did not fit into the devices' memory."""
    finished: bool = False
    """True once the measuring has come to its end."""

    @property
    def best_single(self) -> Speed | None:
        """The device and size with the highest throughput alone."""
        measured = [speed for speed in self.alone if speed.seconds is not None]
        return max(measured, key=lambda speed: speed.samples_per_second or 0, default=None)

    @property
    def split(self) -> tuple[int, ...] | None:
        """The rows of each device to train with; None where equal shares are as good, or nothing else was measured.

        Where memory was short, it is a split that was measured: another one might not fit.
        """
        if not self.trials:
            return None
        if not self.too_large:
            return settled(self.trials)
        fastest = min(self.trials, key=lambda trial: trial.seconds)
        return fastest.rows if self.equal is None or fastest.gain > EQUAL else None

    @property
    def best(self) -> Trial | None:
        """The trial nearest to the split to train with; equal shares if these are as good."""
        split = self.split
        if split is None:
            return self.equal
        return min(
            self.trials, key=lambda t: max(abs(a - b) for a, b in zip(t.rows, split, strict=True))
        )

    @property
    def ratios(self) -> tuple[int, ...] | None:
        """The ratios to pass on; None where equal shares are as good, or nothing was measured together."""
        split = self.split
        return presentable(split) if split else None

    @property
    def pays(self) -> bool | None:
        """True if towers are faster than the best single device; None if that was not measured."""
        if self.best is None or self.best.over_single is None:
            return None
        return self.best.over_single > 0

    @property
    def fitting_batch(self) -> int | None:
        """The largest batch, in rows, that fits in shares by speed, if no split of the batch did.

        None if one did, or if a device held none of the sizes tried.
        """
        curves = self.curves()
        if not self.too_large or self.equal or self.trials or not all(curves):
            return None
        shares = first_shares(curves, self.batch_size)
        return int(
            min(curve[-1][0] / share for curve, share in zip(curves, shares, strict=True))
            * self.batch_size
        )

    def curves(self) -> list[list[Measurement]]:
        """Return for each device alone (rows, seconds a step), ascending, of the sizes that fitted into its memory."""
        return [
            [
                (float(s.rows), s.seconds)
                for s in self.alone
                if s.device == device and s.seconds is not None
            ]
            for device in self.devices
        ]

    def holds(self) -> list[float]:
        """Return the rows that each device holds, as far as was seen: at most the batch."""
        full = {speed.device for speed in self.alone if speed.seconds is None}
        return [
            curve[-1][0] if device in full and curve else float(self.batch_size)
            for device, curve in zip(self.devices, self.curves(), strict=True)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the measurements, and what follows from them, as JSON types."""
        return {
            **asdict(self),
            "ratios": list(self.ratios) if self.ratios else None,
            "best": asdict(self.best) if self.best else None,
            "split": list(self.split) if self.split else None,
            "pays": self.pays,
            "fitting_batch": self.fitting_batch,
            "line": self.line,
        }

    @property
    def line(self) -> str | None:
        """The line of Python to paste; None where towers do not pay, or nothing was measured together."""
        if self.best is None or not self.pays:
            return None
        kinds = {name.partition(":")[0] for name in self.devices}
        numbered = kinds == {device_names.kind_of_numbers()}
        gpus: list[Any] = (
            [int(d.partition(":")[2]) for d in self.devices] if numbered else list(self.devices)
        )
        ratios = f", ratios={list(self.ratios)}" if self.ratios else ""
        return f"multi_gpu_model(model, gpus={gpus}{ratios})"


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
        _alone(result, api, model, sizes_to_try, progress)
        _together(result, api, model, progress)
        result.finished = True
    except KeyboardInterrupt:
        pass
    return result


def _sizes(batch_size: int) -> Iterator[int]:
    for parts in (8, 4, 2, 1):
        yield max(1, batch_size // parts)


def _alone(
    result: Balance, api: KerasApi, model: Model, sizes: Sequence[int], progress: Progress
) -> None:
    """Measure every device at every batch size, the devices in turn."""
    out_of_memory: set[str] = set()
    for rows in sizes:
        measured = _in_turns(
            {d: _step(api, model, [d], [rows]) for d in result.devices if d not in out_of_memory}
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


def _together(result: Balance, api: KerasApi, model: Model, progress: Progress) -> None:
    """Measure all devices at once: in equal shares, then with shares moved until the towers end together.

    In every round the equal shares and the best single device take their turns beside the split that is tried, unless
    they have run out of memory once.
    """
    batch, single, curves = result.batch_size, result.best_single, result.curves()
    if single is None:
        return
    equal = whole_rows([batch / len(curves)] * len(curves), batch)
    beside = {
        "equal": _step(api, model, result.devices, equal),
        "single": _step(api, model, [single.device], [single.rows]),
    }

    def measure(rows: tuple[int, ...]) -> Trial | None:
        steps = {**beside, "split": _step(api, model, result.devices, rows)}
        measured = _in_turns(steps)
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


def _in_turns(steps: Mapping[str, _Step]) -> dict[str, list[_Turn]]:
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
    turns.append(_turn(step))


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


def _turn(step: _Step) -> _Turn:
    spans: list[Any] = []
    begun = time.perf_counter()
    while not spans or time.perf_counter() - begun < TURN:
        spans.append(step().numpy())
    seconds = (time.perf_counter() - begun) / len(spans)
    mean = np.mean(spans, axis=0)
    return _Turn(seconds, tuple(float(end - start) for start, end, _ in mean))


def _batch(model: Model, rows: int) -> list[RuntimeTensor]:
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


def _step(api: KerasApi, model: Model, devices: Sequence[str], rows: Sequence[int]) -> _Step:
    """Compile a training step without its update, in which each device takes its rows, in order. Raises ValueError."""
    edges = batch_split.bounds(sum(rows), rows)
    batch: list[RuntimeTensor] = []

    @tf.function  # type: ignore[untyped-decorator, unused-ignore]  # TensorFlow has no types
    def towers(*inputs: RuntimeTensor) -> RuntimeTensor:
        spans = [
            _tower(api, model, [x[a:b] for x in inputs], f"/{device}")
            for device, (a, b) in zip(devices, pairwise(edges), strict=True)
        ]
        return tf.stack(spans)

    def step() -> RuntimeTensor:
        if (
            not batch
        ):  # made when it is first needed: the computer's memory may not be enough for it
            batch.extend(_batch(model, sum(rows)))
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


def _tower(api: KerasApi, model: Model, part: list[RuntimeTensor], device: str) -> RuntimeTensor:
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
