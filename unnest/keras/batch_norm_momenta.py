"""Momenta with which towers update the statistics of BatchNormalization, which all of them share.

`in_turn`, as in every parallel model since 2017: the statistics take in one tower after the other, so that k towers
update them k times a step. `mean`: they move once a step, by the mean of the towers' statistics, each weighted by its
rows: for means that is the whole batch's, and what MirroredStrategy's replicas, of equally many rows, have on average.

Both come from numbers alone. An update with momentum m is `m * old + (1 - m) * batch`, so towers one after the other
with the momenta

m[i] = 1 - (1 - m) * w[i] / (1 - (1 - m) * (w[i + 1] + .. + w[k])) w: shares of the rows, which sum to 1

end at `m * old + (1 - m) * (w[1] * batch[1] + .. + w[k] * batch[k])`. A tower without rows has momentum 1, and nothing
moves. The layers have the tower's momentum while it is built, and their own before and after: files never hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import tensorflow as tf

from unnest.keras.keras_api import KerasApi, Model, RuntimeTensor

if TYPE_CHECKING:
    from typing_extensions import Self

IN_TURN, MEAN = "in_turn", "mean"
WAYS = (IN_TURN, MEAN)


def normalization_layers(api: KerasApi, template: Model) -> list[Model]:
    """Return the layers with moving statistics that depend on `momentum` alone: Keras's own, without renorm."""
    return [
        layer
        for layer in template._flatten_layers()
        if isinstance(layer, api.keras.layers.BatchNormalization)
        and type(layer).__module__.startswith(f"{api.name}.")
        and isinstance(layer.momentum, (int, float))
        and not getattr(layer, "renorm", False)  # Keras 3 had none at first
    ]


class Momenta:
    """Gives `layers` the momenta of one tower after the other, and their own back at the end of the block.

    `sizes` are the towers' numbers of rows and `rows` is their sum: int, or int64 scalars.
    """

    def __init__(
        self, layers: Sequence[Model], way: str, sizes: Sequence[RuntimeTensor], rows: RuntimeTensor
    ) -> None:
        self._layers, self._way, self._sizes, self._rows = layers, way, sizes, rows
        self._own_momenta: list[float] = []

    def __enter__(self) -> Self:
        self._own_momenta = [layer.momentum for layer in self._layers]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for layer, momentum in zip(self._layers, self._own_momenta, strict=True):
            _set(layer, momentum)

    def set_for_tower(self, i: int) -> set[int]:
        """Set the momenta for tower `i`; return the ids of the variables that these momenta keep right."""
        for layer, momentum in zip(self._layers, self._own_momenta, strict=True):
            _set(layer, self._momentum(layer, i, momentum))
        return {id(v) for layer in self._layers for v in (layer.moving_mean, layer.moving_variance)}

    def _momentum(self, layer: Model, i: int, momentum: float) -> RuntimeTensor:
        """Return the momentum of tower `i`: 1 for no rows, by its share of the batch unless towers move in turn."""
        if self._way == IN_TURN:
            if isinstance(self._rows, int):
                return momentum
            with tf.device("/CPU:0"):
                return tf.where(self._sizes[i] > 0, _number(layer, momentum), _number(layer, 1.0))
        part, later = self._sizes[i], sum(self._sizes[i + 1 :])
        if isinstance(self._rows, int):
            return 1 - (1 - momentum) * part / (self._rows - (1 - momentum) * later)
        with tf.device("/CPU:0"):
            rows, part, later = (tf.cast(n, tf.float64) for n in (self._rows, part, later))
            return _number(
                layer,
                1 - tf.math.divide_no_nan((1 - momentum) * part, rows - (1 - momentum) * later),
            )


def _set(layer: Model, momentum: RuntimeTensor) -> None:
    object.__setattr__(layer, "momentum", momentum)  # past both Kerases' records of attributes


def _number(layer: Model, value: RuntimeTensor) -> RuntimeTensor:
    """Return a scalar of the dtype in which the layer computes its statistics."""
    return tf.cast(value, tf.float64 if layer.compute_dtype == "float64" else tf.float32)
