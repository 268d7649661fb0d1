"""The parallel model: what it looks like, what it does, and what a file of it says.

It looks like every wrapper since Keras 2.0.9: per tower one slice layer for each input, the template
called once per tower, one concatenation per output. So summaries and plots show the towers,
`parallel.layers[-2]` and `get_layer(template.name)` find the template as they always did, a saved file has the
structure that `unnest fix` takes apart, and Keras's own machinery saves, loads and clones it: the
template is there once, its weights in one group.

It does something else: replaying that graph would put every tower on the default device, so `ParallelModel`
overrides `call` and runs the towers itself (`unnest.keras.tower_execution`). One layer holding template and
devices would place as well, but its summary shows a box, and its file needs a reader of its own.
All facts (devices, ratios) are in the slice layers' configuration, where whoever reads the file
looks for them.

The slice and concatenation layers compute the same on their own, without placement: that is
what runs when a new model is made from a parallel model's tensors. A model on top of it that keeps
the placement calls the parallel model as a layer: `head(parallel(x))`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import tensorflow as tf

from unnest.keras import device_names, tower_row_bounds
from unnest.keras.batch_norm_momenta import IN_TURN
from unnest.keras.keras_api import (
    KerasApi,
    Model,
    RuntimeTensor,
    check_private_names,
    is_model,
    mark_export,
)
from unnest.keras.tower_execution import HOST, Towers, one_call_at_a_time, rows_of

PACKAGE = "unnest"


@dataclass(frozen=True)
class LayerClasses:
    """The registered classes of one Keras."""

    TowerSlice: Any
    TowerConcatenate: Any
    ParallelModel: Any


@cache
def layer_classes(api: KerasApi) -> LayerClasses:
    """Return the classes for one Keras, registered there as `unnest>TowerSlice` and so on.

    Raises ImportError for a version of it that has not got what they are built on.
    """
    check_private_names(api)
    register = api.keras.saving.register_keras_serializable(package=PACKAGE)
    classes = LayerClasses(
        *(register(make(api)) for make in (_tower_slice, _tower_concatenate, _parallel_model))
    )
    # An .h5 file has the outermost model's class by its bare name, in both Kerases.
    api.keras.utils.get_custom_objects()["ParallelModel"] = classes.ParallelModel
    return classes


def template_of(parallel: Model) -> Model:
    """Return the template of a ParallelModel, the very object.

    No attribute of the class: tf_keras writes weights under the first attribute that leads to them, in
    falling alphabetical order, and files must have them under `layers`.
    """
    return next(layer for layer in parallel.layers if is_model(layer))


def towers_of(parallel: Model) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return devices and ratios of a ParallelModel, as its slice layers have them."""
    slices = {layer.i: layer for layer in _slices_of(parallel)}
    return tuple(slices[i].device for i in range(slices[0].parts)), slices[0].ratios


def statistics_of(parallel: Model) -> str:
    """Return how a ParallelModel's towers update moving statistics: one of `batch_norm_momenta.WAYS`."""
    way: str = next(layer.moving_statistics for layer in _slices_of(parallel))
    return way


def _slices_of(parallel: Model) -> list[Model]:
    return [layer for layer in parallel.layers if type(layer).__name__ == "TowerSlice"]


def _tower_slice(api: KerasApi) -> Any:
    """Return the class TowerSlice for one Keras."""

    class TowerSlice(api.keras.layers.Layer):  # type: ignore[misc, name-defined]  # of the Keras that runs
        """The rows of a batch that tower `i` of `parts` takes, any dtype, shape (rows, ...) -> (fewer rows, ...).

        `ratios` are the towers' shares as whole numbers, `device` is where the tower runs, `moving_statistics` is
        how all towers move those of BatchNormalization.
        """

        def __init__(
            self,
            i: int,
            parts: int,
            ratios: Sequence[int] | None = None,
            device: str = "CPU:0",
            moving_statistics: str = IN_TURN,
            **kwargs: Any,
        ) -> None:
            super().__init__(autocast=False, trainable=kwargs.pop("trainable", False), **kwargs)
            self.i, self.parts, self.device, self.moving_statistics = (
                int(i),
                int(parts),
                device,
                moving_statistics,
            )
            self.ratios = tower_row_bounds.whole_ratios(ratios or [1] * parts, parts)
            self.supports_masking, self.supports_jit, self.built = True, False, True

        def call(self, inputs: RuntimeTensor) -> RuntimeTensor:
            return self._tower_rows(inputs)

        def compute_mask(
            self, inputs: RuntimeTensor, mask: RuntimeTensor | None = None
        ) -> RuntimeTensor | None:
            return None if mask is None else self._tower_rows(mask)

        def _tower_rows(self, x: RuntimeTensor) -> RuntimeTensor:
            rows = x.shape[0] if x.shape[0] is not None else tf.shape(x, out_type=tf.int64)[0]
            edges = tower_row_bounds.bounds(rows, self.ratios)
            return rows_of(x, edges[self.i], edges[self.i + 1])

        def compute_output_shape(self, input_shape: Sequence[int | None]) -> tuple[int | None, ...]:
            rows, *rest = input_shape
            if rows is not None:
                edges = tower_row_bounds.bounds(rows, self.ratios)
                rows = edges[self.i + 1] - edges[self.i]
            return (rows, *rest)

        def get_config(self) -> dict[str, Any]:
            place = {
                "i": self.i,
                "parts": self.parts,
                "ratios": list(self.ratios),
                "device": self.device,
            }
            return {**super().get_config(), **place, "moving_statistics": self.moving_statistics}

    return TowerSlice


def _tower_concatenate(api: KerasApi) -> Any:
    """Return the class TowerConcatenate for one Keras."""

    class TowerConcatenate(api.keras.layers.Concatenate):  # type: ignore[misc, name-defined]  # of the Keras that runs
        """The towers' outputs joined along the batch, in tower order, on `device` ("" leaves it to TensorFlow)."""

        def __init__(self, axis: int = 0, device: str = HOST, **kwargs: Any) -> None:
            super().__init__(axis=axis, autocast=False, **kwargs)
            self.device, self.supports_jit = device, False

        def call(self, inputs: list[RuntimeTensor]) -> RuntimeTensor:
            with tf.device(self.device):
                return tf.concat(inputs, axis=0)

        def compute_mask(
            self, inputs: list[RuntimeTensor], mask: Any = None
        ) -> RuntimeTensor | None:
            return None if mask is None or any(m is None for m in mask) else tf.concat(mask, axis=0)

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "device": self.device}

    return TowerConcatenate


def _parallel_model(api: KerasApi) -> Any:
    """Return the class ParallelModel for one Keras."""

    class ParallelModel(api.keras.Model):  # type: ignore[misc, name-defined]  # of the Keras that runs
        """A template model in towers; made by `multi_gpu_model`, or loaded from a file.

        Called with, and answering with, what the template takes and gives: the same structure,
        shapes and dtypes. A batch of any size is cut without dropping a row.
        """

        # Keras 3 would hand the whole model to one XLA cluster, that is, to one device.
        supports_jit = property(lambda self: False, lambda self, value: None)

        @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator, unused-ignore]  # TensorFlow has no types
        def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
            saved_devices, ratios = towers_of(self)
            flat_inputs = self._flat_inputs(inputs)
            of_inputs = [getattr(x, "_keras_mask", None) for x in flat_inputs]
            masks = of_inputs if mask is None else tf.nest.flatten(mask)
            merges = [layer for layer in self.layers if type(layer).__name__ == "TowerConcatenate"]
            devices, merge = self._devices_here(saved_devices), merges[0].device
            towers = Towers(
                api, template_of(self), devices, ratios, merge, training, statistics_of(self)
            )
            return api.pack_outputs(self, towers.run(flat_inputs, masks))

        def _flat_inputs(self, inputs: Any) -> list[RuntimeTensor]:
            # Both Kerases accept single tensors, lists, tuples and dicts here, and adjust rank and dtype.
            if api.name == "keras":
                return list(self._standardize_inputs(inputs))
            pairs = zip(self._flatten_to_reference_inputs(inputs), self.inputs, strict=True)
            return [
                self._conform_to_reference_input(x, ref_input=reference) for x, reference in pairs
            ]

        def save_weights(self, filepath: Any, *args: Any, **kwargs: Any) -> Any:
            """Save as Keras does; warn once that the template's weights are saved otherwise."""
            if not self.__dict__.get("_warned_of_weights"):
                object.__setattr__(self, "_warned_of_weights", True)
                warnings.warn(
                    f"{filepath}: these weights fit {self.name!r} alone; those of {template_of(self).name!r} are saved "
                    "by unnest.keras.template_model(model).save_weights(...) and by unnest.keras.ModelCheckpoint",
                    UserWarning,
                    stacklevel=2,
                )
            return super().save_weights(filepath, *args, **kwargs)

        def export(self, *args: Any, **kwargs: Any) -> Any:
            """Export as Keras does: the SavedModel has the towers, on their devices."""
            with mark_export():
                return super().export(*args, **kwargs)

        def __reduce__(self) -> tuple[Any, ...]:
            rebuild, arguments = super().__reduce__()
            # Keras 3 hands out a method of this class, which pickle cannot find by its name.
            return _unpickle, (api.name, None if api.name == "keras" else rebuild, arguments)

        def _clear_losses(self) -> None:
            with one_call_at_a_time():
                super()._clear_losses()

        def _devices_here(self, saved_devices: tuple[str, ...]) -> tuple[str, ...]:
            cached = self.__dict__.get("_stand_ins")
            if cached is None or cached[0] != saved_devices:
                cached = (saved_devices, device_names.stand_ins(saved_devices))
                object.__setattr__(self, "_stand_ins", cached)
            return tuple(cached[1])

    return ParallelModel


def _unpickle(name: str, rebuild: Callable[..., Model] | None, arguments: tuple[Any, ...]) -> Model:
    """Rebuild a pickled ParallelModel of the Keras of that name, perhaps in a new process."""
    model = layer_classes(KerasApi(name)).ParallelModel
    return (rebuild or model._unpickle_model)(*arguments)
