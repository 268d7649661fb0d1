"""Building parallel models: `multi_gpu_model` and `make_parallel`, with the signatures people's scripts call."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence

import tensorflow as tf

from unnest.keras import batch_split, differences, keras_api
from unnest.keras import devices as names
from unnest.keras import moving_statistics as statistics
from unnest.keras.execution import HOST
from unnest.keras.keras_api import TENSORFLOW_ONLY, Kit, Model, Tensor, kit_of
from unnest.keras.parallel_model import Parts, is_parallel, parts, template_of


def multi_gpu_model(
    model: Model,
    gpus: int | Sequence[int | str] | None = None,
    ratios: Sequence[float] | None = None,
    cpu_merge: bool = True,
    cpu_relocation: bool = False,
    *,
    moving_statistics: str = statistics.IN_TURN,
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
    if moving_statistics not in statistics.WAYS:
        raise ValueError(
            f"moving_statistics={moving_statistics!r}: give one of {', '.join(map(repr, statistics.WAYS))}"
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
        raise ValueError(f"gpu_count=0: at least one device is needed; this machine has {', '.join(names.available())}")
    return _build(model, gpu_count, None, cpu_merge=True, least=1, way=statistics.IN_TURN)


def _build(
    model: Model,
    gpus: int | Sequence[int | str] | None,
    ratios: Sequence[float] | None,
    *,
    cpu_merge: bool,
    least: int,
    way: str,
) -> Model:
    kit = kit_of(model)
    if is_parallel(model):
        warnings.warn("the model is parallel already: its template is made parallel anew", UserWarning, stacklevel=3)
        model = template_of(model)
    accept(kit, model)
    targets = names.targets(gpus, least)
    exact = batch_split.whole(ratios or [1] * len(targets), len(targets))
    merge = HOST if cpu_merge else f"/{targets[0]}"
    different = differences.of(kit, model, way) if len(targets) > 1 else []
    if different:
        warnings.warn(f"{model.name!r} in towers: {'; '.join(different)}", UserWarning, stacklevel=3)
    return _assemble(kit, model, targets, exact, merge, way)


def accept(kit: Kit, model: Model) -> None:
    """Raise ValueError, in one line, for a template that cannot run in towers."""
    if kit.backend != "tensorflow":
        raise ValueError(TENSORFLOW_ONLY.format(backend=kit.backend))
    label = f"{type(model).__name__} {model.name!r}"
    if not getattr(model, "inputs", None):
        if isinstance(model, kit.keras.Sequential):
            raise ValueError(f"{label} is not built: give it an Input, or call it once, before making it parallel")
        raise ValueError(
            f"{label} is sub-classed: towers need a Sequential or Functional model; "
            "tf.distribute.MirroredStrategy trains sub-classed models on several devices"
        )
    own_step = keras_api.overridden(kit, model)
    if own_step:
        raise ValueError(
            f"{label} has its own {own_step}, which a parallel model would not run: "
            "tf.distribute.MirroredStrategy trains it on several devices"
        )
    stateful = [
        layer.name for layer in model._flatten_layers() if getattr(layer, "stateful", False) and is_rnn(kit, layer)
    ]
    if stateful:
        raise ValueError(
            f"{label}: layer {stateful[0]!r} is stateful, its state has a row for each row of the whole batch"
        )


def is_rnn(kit: Kit, layer: object) -> bool:
    """Whether the layer keeps a state per row."""
    return isinstance(layer, kit.keras.layers.RNN)


def _assemble(kit: Kit, model: Model, targets: Sequence[str], ratios: Sequence[int], merge: str, way: str) -> Model:
    """The graph: slices, one call of the template per tower, one concatenation per output."""
    made = parts(kit)
    taken = {model.name, *(tensor_layer(x).name for x in model.inputs)}
    outputs = _distinct(output_names(model))
    merge_names = [_free(name, taken) for name in outputs]
    towers = [
        tf.nest.flatten(model(kit.pack_inputs(model, _slices(made, model, i, targets, ratios, way, taken))))
        for i in range(len(targets))
    ]
    merged = [
        made.TowerConcatenate(name=name, device=merge)(list(joined))
        for name, joined in zip(merge_names, zip(*towers, strict=True), strict=True)
    ]
    inputs = kit.pack_inputs(model, list(model.inputs))
    parallel = made.ParallelModel(inputs, kit.pack_outputs(model, merged), name=_model_name(model))
    parallel.output_names = outputs
    return parallel


def _slices(
    made: Parts, model: Model, i: int, targets: Sequence[str], ratios: Sequence[int], way: str, taken: set[str]
) -> list[Tensor]:
    """What tower `i` is called with: its rows of every input."""
    sliced = []
    for x in model.inputs:
        name = _free(f"{tensor_layer(x).name}_tower_{i}", taken)
        layer = made.TowerSlice(i, len(targets), ratios, targets[i], way, name=name)
        sliced.append(layer(x))
    return sliced


def output_names(model: Model) -> list[str]:
    """The names of a model's outputs: those of the layers that they come from, in either Keras.

    tf_keras numbers a name that repeats (siamese models) itself, in another way than Keras 2.3.1 did.
    """
    return [tensor_layer(y).name for y in model.outputs]


def tensor_layer(tensor: Tensor) -> Model:
    """The layer whose output a symbolic tensor is."""
    return tensor._keras_history[0]


def _distinct(wanted: Sequence[str]) -> list[str]:
    """Output names; where a siamese template repeats one, numbered from 1 as Keras did."""
    often, seen = Counter(wanted), Counter[str]()
    found = []
    for name in wanted:
        seen[name] += 1
        found.append(f"{name}_{seen[name]}" if often[name] > 1 else name)
    return found


def _free(name: str, taken: set[str]) -> str:
    """`name`, or the first of `name_1`, `name_2`, .. that is not taken; taken from now on."""
    free, number = name, 0
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def _model_name(model: Model) -> str:
    return f"parallel_{model.name}"
