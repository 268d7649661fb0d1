"""The parallel model's compile settings and optimizer state as the template has them: other names, another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core import json_tree
from unnest.core.architecture.graph import Graph
from unnest.core.architecture.input_output_names import OUTPUTS, end_names, has_keys
from unnest.core.json_tree import is_list
from unnest.core.keras_facts.optimizer_classes import OPTIMIZER_KEYS
from unnest.core.model import Json, JsonObject, Tensor


def rename_outputs(training: JsonObject | None, outputs: Mapping[str, str]) -> JsonObject | None:
    """Return the compile settings with losses, metrics and weights under the template's output names.

    `outputs` leads from merge layer names to template output names.
    """
    if training is None or all(old == new for old, new in outputs.items()):
        return training
    return {k: v if k in OPTIMIZER_KEYS else _rename_keys(v, outputs) for k, v in training.items()}


OUTPUT_LISTS: Mapping[str, Json] = {
    "loss": None, "loss_weights": 1.0, "metrics": [], "weighted_metrics": [], "sample_weight_mode": None,
}  # fmt: skip
"""Compile settings that may be a list with an entry for each output -> the entry of an output that had none."""


def reorder_outputs(
    training: JsonObject | None, positions: Sequence[int], count: int
) -> JsonObject | None:
    """Return the compile settings with lists by output in the order of a model of `count` outputs.

    `positions`: which of its outputs each of the outputs is that the settings are for. A list of metrics is one for
    each output only if its entries are lists: others are for all outputs.
    """
    if training is None or [*positions] == [*range(count)]:
        return training

    def reordered(key: str, value: Json) -> Json:
        if key not in OUTPUT_LISTS or not is_list(value) or len(value) != len(positions):
            return value
        if "metrics" in key and not all(is_list(part) for part in value):
            return value
        entries = dict(zip(positions, value, strict=True))
        return [entries.get(position, OUTPUT_LISTS[key]) for position in range(count)]

    return {key: reordered(key, value) for key, value in training.items()}


def _rename_keys(value: Json, outputs: Mapping[str, str]) -> Json:
    def change(_: JsonObject, parts: dict[str, Json]) -> Json:
        return {outputs.get(k, k): _rename_name(k, v, outputs) for k, v in parts.items()}

    return json_tree.transform(value, change)


def _rename_name(key: str, value: Json, outputs: Mapping[str, str]) -> Json:
    """Return a compiled metric's name with the output's new name in front (`concatenate_1_mae`)."""
    if key == "name" and isinstance(value, str):
        for old in sorted(outputs, key=len, reverse=True):
            if value.startswith(old + "_"):
                return outputs[old] + value.removeprefix(old)
    return value


def output_names(graph: Graph) -> list[str]:
    """Return the names under which a model's compile settings have its outputs.

    A model that returns a mapping goes by its keys, any other by Keras's names: those of the output layers, repeats
    numbered.
    """
    if has_keys(graph, OUTPUTS):
        return end_names(graph, OUTPUTS)
    names: list[str] = []
    count: dict[str, int] = {}
    for layer in (ref.layer for ref in graph.outputs):
        name = layer
        while name in names:
            count[layer] = count.get(layer, 0) + 1
            name = f"{layer}_{count[layer]}"
        names.append(name)
    return names


def reorder_optimizer_state(
    state: Sequence[Tensor], before: Sequence[Tensor], after: Sequence[Tensor]
) -> tuple[Tensor, ...] | None:
    """Return the optimizer state for trained weights in another order; None if its layout is not clear.

    `before` and `after` are the same trained weights in the order that `state` is for, and in the new one. The state
    begins with up to three scalars of its own. Then come either slot after slot, each with a tensor per trained
    weight, or (TensorFlow 2.15 on) weight after weight, each with all its slots.
    """
    if not before or sorted(t.ref for t in before) != sorted(t.ref for t in after):
        return None
    position = {tensor.ref: index for index, tensor in enumerate(before)}
    order = [position[tensor.ref] for tensor in after]
    layouts = []
    for scalars in range(min(4, len(state) + 1)):
        slots, remainder = divmod(len(state) - scalars, len(before))
        if remainder or any(t.shape for t in state[:scalars]):
            continue
        body = state[scalars:]
        by_slot = [body[s * len(before) : (s + 1) * len(before)] for s in range(slots)]
        by_weight = [body[w * slots : (w + 1) * slots] for w in range(len(before))]
        if all(_is_slot(block, before) for block in by_slot):
            layouts.append((*state[:scalars], *(block[i] for block in by_slot for i in order)))
        if all(
            t.shape == w.shape for block, w in zip(by_weight, before, strict=True) for t in block
        ):
            layouts.append((*state[:scalars], *(t for i in order for t in by_weight[i])))
    return layouts[0] if layouts and all(layout == layouts[0] for layout in layouts) else None


def _is_slot(block: Sequence[Tensor], weights: Sequence[Tensor]) -> bool:
    """True if a tensor per weight is a slot: of its weight's shape, or all (1,) if the optimizer does not use it."""
    return all(t.shape == w.shape for t, w in zip(block, weights, strict=True)) or all(
        t.shape == (1,) for t in block
    )
