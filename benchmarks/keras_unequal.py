"""Logical CPU devices that are unequal by real work, to measure on a machine whose cores are all alike.

A slow one computes more rows than it is given: `times` for each row, and `extra` more a step, which is what starting a
step costs a GPU. Forward pass and gradient run for all of them; the outputs of the given rows go on. No device has
more than one thread. Nothing in `unnest.keras` knows of it: the one function that runs a tower on its device is
wrapped, here alone. Devices are done together where (extra + rows) * times is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from unnest.keras import tower_execution

Tensors = list[Any]
Forward = Callable[[Tensors], Tensors]


@dataclass(frozen=True)
class Work:
    """The work of a device for `n` rows: `times * (n + extra)`."""

    times: float = 1.0
    extra: int = 0

    def rows(self, given: Any) -> Any:
        """How many rows are computed for so many given; integer tensors of no axes."""
        return tf.cast(tf.round(self.times * tf.cast(given + self.extra, tf.float32)), tf.int32)


def emulate(work: Mapping[str, Work]) -> None:
    """Make the logical devices `CPU:0`.. of this process work as told; before TensorFlow has started.

    A change of `work` later on holds for what is traced from then on.
    """
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(len(work))
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * len(work)
    )
    placed = tower_execution.on_device

    def more_work(forward: Forward, inputs: Tensors, device: str) -> Tensors:
        device_work = work[device.lstrip("/")]
        # A model that is trained with batches of several sizes is traced for any.
        given = tf.shape(inputs[0])[0]

        def repeated(tensors: Tensors) -> Tensors:
            outputs = forward([_cycled(x, device_work.rows(given)) for x in tensors])
            return [y[:given] if y.shape.rank else y for y in outputs]

        return placed(repeated, inputs, device)

    tower_execution.on_device = more_work


def _cycled(x: Any, rows: Any) -> Any:
    """The rows of `x` over and over, `rows` in all; shape (n, ...) -> (rows, ...)."""
    return tf.gather(x, tf.range(rows) % tf.shape(x)[0])
