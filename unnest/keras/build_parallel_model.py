"""Building parallel models: `multi_gpu_model` and `make_parallel`, with the signatures people's scripts call."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence

import tensorflow as tf

from unnest.keras import device_names, keras_api, layers_that_differ_in_towers, tower_row_bounds
from unnest.keras.batch_norm_momenta import IN_TURN, WAYS
from unnest.keras.keras_api import (
    TENSORFLOW_ONLY,
    KerasApi,
    Model,
    RuntimeTensor,
    api_of,
    is_parallel,
)
from unnest.keras.parallel_model import LayerClasses, layer_classes, template_of
from unnest.keras.tower_execution import HOST


def multi_gpu_model(
    model: Model,
    gpus: int | Sequence[int | str] | None = None,
    ratios: Iterable[float] | None = None,
    cpu_merge: bool = True,
    cpu_relocation: bool = False,
    *,
    moving_statistics: str = IN_TURN,
) -> Model:
    """A model that runs `model` on several devices at once, each on its part of the batch.

    Args:
        model: the template, a built Sequential or Functional model of Keras 3 (TensorFlow backend)
            or tf_keras. It shares its weights with the result: train one, and the other is trained.
        gpus: how many devices, or a list of indices or names (`0`, `"GPU:1"`, `"CPU:0"`, `"/gpu:1"`).
            Numbers mean GPUs, or the logical CPU devices of a machine without GPUs. None: all there are.
        ratios: one positive number per device: its share of every batch. None: equal shares.
        cpu_merge: concatenate the outputs on the CPU; otherwise on the first device.
        cpu_relocation: Keras cloned the template to the CPU here. Nothing is cloned: a warning says how
            to have the weights on the CPU.
        moving_statistics: how towers move those of BatchNormalization: "in_turn", one tower after the other, as
            ever; or "mean", once a step by the row-weighted mean of the towers' statistics.

    Returns:
        An uncompiled model with the template's inputs, outputs and names, dtypes and shapes included.

    Raises:
        ValueError: fewer than two devices, devices that do not exist, ratios that do not fit, another way to
            move statistics, a template that is sub-classed, stateful or not built, or has a training step of its own,
            a backend other than TensorFlow.
        TypeError: `model` is no Keras model.

    Warns, in one line, of what the model's layers compute differently in towers.

    """
    if moving_statistics not in WAYS:
        raise ValueError(
            f"moving_statistics={moving_statistics!r}: give one of {', '.join(map(repr, WAYS))}"
        )
    if cpu_relocation:
        warnings.warn(
            "cpu_relocation does nothing: weights are shared, never cloned; "
            "build the template under tf.device('/CPU:0') to have them on the CPU",
            UserWarning,
            stacklevel=2,
        )
    return _build(model, gpus, ratios, cpu_merge=cpu_merge, least=2, way=moving_statistics)


def make_parallel(model: Model, gpu_count: int) -> Model:
    """kuza55's: `model` on the first `gpu_count` devices, in equal shares, merged on the CPU.

    A `gpu_count` of 1 is allowed, as it was; every row of every batch is computed, which it was not.
    Otherwise as `multi_gpu_model(model, gpu_count)`, its errors included.
    """
    if gpu_count == 0:
        existing = ", ".join(device_names.available())
        raise ValueError(f"gpu_count=0: at least one device is needed; this machine has {existing}")
    return _build(model, gpu_count, None, cpu_merge=True, least=1, way=IN_TURN)


def _build(
    model: Model,
    gpus: int | Sequence[int | str] | None,
    ratios: Iterable[float] | None,
    *,
    cpu_merge: bool,
    least: int,
    way: str,
) -> Model:
    """Check the arguments and build the parallel model. Raises ValueError."""
    api = api_of(model)
    if is_parallel(model):
        warnings.warn(
            "the model is parallel already: its template is made parallel anew",
            UserWarning,
            stacklevel=3,
        )
        model = template_of(model)
    _open_batch(api, model)
    check_template(api, model)
    targets = device_names.targets(gpus, least)
    whole_ratios = tower_row_bounds.whole_ratios(
        [1] * len(targets) if ratios is None else ratios, len(targets)
    )
    merge = HOST if cpu_merge else f"/{targets[0]}"
    differing = (
        layers_that_differ_in_towers.differing_layers(api, model, way) if len(targets) > 1 else []
    )
    if differing:
        warnings.warn(
            f"{model.name!r} in towers: {'; '.join(differing)}", UserWarning, stacklevel=3
        )
    return _assemble(api, model, targets, whole_ratios, merge, way)


def check_template(api: KerasApi, model: Model) -> None:
    """Raise ValueError, in one line, for a template that cannot run in towers."""
    if api.backend != "tensorflow":
        raise ValueError(TENSORFLOW_ONLY.format(backend=api.backend))
    label = f"{type(model).__name__} {model.name!r}"
    if not getattr(model, "inputs", None):
        if isinstance(model, api.keras.Sequential):
            raise ValueError(
                f"{label} is not built: give it an Input, or call it once, before making it parallel"
            )
        raise ValueError(
            f"{label} is sub-classed: towers need a Sequential or Functional model; "
            "tf.distribute.MirroredStrategy trains sub-classed models on several devices"
        )
    overridden_step = keras_api.overridden_step(api, model)
    if overridden_step:
        raise ValueError(
            f"{label} has its own {overridden_step}, which a parallel model would not run: "
            "tf.distribute.MirroredStrategy trains it on several devices"
        )
    stateful = [
        layer.name
        for layer in model._flatten_layers()
        if getattr(layer, "stateful", False) and is_rnn(api, layer)
    ]
    if stateful:
        raise ValueError(
            f"{label}: layer {stateful[0]!r} is stateful, its state has a row for each row of the whole batch: "
            "build it with stateful=False, or train the template itself on one device"
        )
    _check_rows(label, model)


def _check_rows(label: str, model: Model) -> None:
    """Raise ValueError for an input or output that has no rows of the batch: such cannot be cut, or joined."""
    batch = None
    for x in model.inputs:
        shape = tf.TensorShape(x.shape)
        if shape.rank == 0:
            raise ValueError(
                f"{label}: input {tensor_layer(x).name!r} is a scalar, it cannot be cut for towers"
            )
        batch = batch or shape[0]
    for i, y in enumerate(model.outputs):
        shape = tf.TensorShape(y.shape)
        rows = shape[0] if shape.rank else None
        if shape.rank == 0 or (rows is not None and (batch is None or rows % batch)):
            raise ValueError(
                f"{label}: output {i} of shape {tuple(shape)} has no rows of the batch, so towers' cannot be joined: "
                "leave it out of the template, and compute it from the outputs of the parallel model"
            )


def _open_batch(api: KerasApi, model: Model) -> None:
    """Give tf_keras's Sequential that was built by a call the open batch that it takes on when called otherwise.

    It makes itself new inputs then, which must not come while the towers are put together.
    """
    if (
        api.name == "tf_keras"
        and isinstance(model, api.keras.Sequential)
        and getattr(model, "inputs", None)
    ):
        (x,) = model.inputs
        if x.shape.rank and x.shape[0] is not None:
            model(api.keras.Input(x.shape[1:], dtype=x.dtype))


def is_rnn(api: KerasApi, layer: object) -> bool:
    """Return True if the layer keeps a state per row."""
    return isinstance(layer, api.keras.layers.RNN)


def _assemble(
    api: KerasApi, model: Model, targets: Sequence[str], ratios: Sequence[int], merge: str, way: str
) -> Model:
    """Build the graph: slices, one call of the template per tower, one concatenation per output."""
    classes = layer_classes(api)
    taken_names = {model.name, *(tensor_layer(x).name for x in model.inputs)}
    outputs = _distinct_names(output_names(model))
    merge_names = [_free_name(name, taken_names) for name in outputs]
    towers = [
        tf.nest.flatten(
            model(
                api.pack_inputs(
                    model, _slices(classes, model, i, targets, ratios, way, taken_names)
                )
            )
        )
        for i in range(len(targets))
    ]
    merged = [
        classes.TowerConcatenate(name=name, device=merge)(list(joined))
        for name, joined in zip(merge_names, zip(*towers, strict=True), strict=True)
    ]
    inputs = api.pack_inputs(model, list(model.inputs))
    parallel = classes.ParallelModel(
        inputs, api.pack_outputs(model, merged), name=_model_name(model)
    )
    parallel.output_names = outputs
    return parallel


def _slices(
    classes: LayerClasses,
    model: Model,
    i: int,
    targets: Sequence[str],
    ratios: Sequence[int],
    way: str,
    taken_names: set[str],
) -> list[RuntimeTensor]:
    """Return the inputs of tower `i`: its rows of every input of the model."""
    slices = []
    for x in model.inputs:
        name = _free_name(f"{tensor_layer(x).name}_tower_{i}", taken_names)
        layer = classes.TowerSlice(i, len(targets), ratios, targets[i], way, name=name)
        slices.append(layer(x))
    return slices


def output_names(model: Model) -> list[str]:
    """Return the names of a model's outputs: those of the layers they come from, in either Keras.

    tf_keras numbers a name that repeats (siamese models) itself, in another way than Keras 2.3.1 did.
    """
    return [tensor_layer(y).name for y in model.outputs]


def tensor_layer(tensor: RuntimeTensor) -> Model:
    """Return the layer that made a symbolic tensor."""
    return tensor._keras_history[0]


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Return distinct output names; those that a siamese template repeats are numbered from 1, as in Keras."""
    times, met = Counter(names), Counter[str]()
    distinct = []
    for name in names:
        met[name] += 1
        distinct.append(f"{name}_{met[name]}" if times[name] > 1 else name)
    return distinct


def _free_name(name: str, taken_names: set[str]) -> str:
    """Return `name`, or the first of `name_1`, `name_2`, .. that is not taken; it is taken from now on."""
    free_name, number = name, 0
    while free_name in taken_names:
        number += 1
        free_name = f"{name}_{number}"
    taken_names.add(free_name)
    return free_name


def _model_name(model: Model) -> str:
    return f"parallel_{model.name}"
