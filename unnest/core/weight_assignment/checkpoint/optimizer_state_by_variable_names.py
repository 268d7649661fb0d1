"""An optimizer's state out of a checkpoint, whose variables are named after the optimizer, a slot and a weight."""

from __future__ import annotations

from collections.abc import Iterable

from unnest.core.keras_facts.optimizer_classes import COUNTER_NAMES, WEIGHT_BY_WEIGHT, slot_order
from unnest.core.model import Group, Tensor
from unnest.core.weight_assignment.checkpoint.layers_by_variable_name import MAX_SCOPES
from unnest.core.weight_assignment.weight_order_within_layer import (
    Variable,
)


def optimizer_state(
    variables: Iterable[Variable], groups: Iterable[Group]
) -> tuple[Tensor, ...] | None:
    """Return an optimizer's state of tf.keras in the order of Keras's .h5; None if names do not show it.

    Its slots are named after the optimizer, the weight, and their kind: `training/Adam/conv/kernel/m`.
    """
    stored = {v.name: v.tensor for v in variables if v.tensor is not None}
    weight_number = {
        t.name.removesuffix(":0"): k for k, t in enumerate(t for g in groups for t in g.tensors)
    }
    slots: dict[str, dict[tuple[int, str], Tensor]] = {}
    for name, tensor in stored.items():
        path, _, kind = name.rpartition("/")
        parts = path.split("/")[:MAX_SCOPES]
        position = next(
            (k for k in range(1, len(parts)) if "/".join(parts[k:]) in weight_number), None
        )
        if position is not None:
            slots.setdefault("/".join(parts[:position]), {})[
                weight_number["/".join(parts[position:])], kind
            ] = tensor
    if len(slots) != 1:
        return None
    ((optimizer, tensor_by_slot),) = slots.items()
    kinds = slot_order({kind for _, kind in tensor_by_slot})
    weight_ranks = sorted({weight for weight, _ in tensor_by_slot})
    if kinds is None or len(tensor_by_slot) != len(weight_ranks) * len(kinds):
        return None
    pairs = [(weight, kind) for weight in weight_ranks for kind in kinds]
    if kinds not in WEIGHT_BY_WEIGHT:
        pairs = [(weight, kind) for kind in kinds for weight in weight_ranks]
    counts = [stored[f"{optimizer}/{n}"] for n in COUNTER_NAMES if f"{optimizer}/{n}" in stored]
    return (*counts, *(tensor_by_slot[pair] for pair in pairs))
