"""The model that is left without its wrappers, as a plan's output: a plan in, the same plan with its output out."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.architecture import (
    as_saved_at_top_level,
    read,
)
from unnest.core.architecture.model_json_as_saved_alone import with_module_of_release
from unnest.core.keras_facts.optimizer_classes import keeps_state_by_weight_name
from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.core.plan import Plan, Refusal, Rewritten
from unnest.core.rewrite.compile_settings_and_optimizer_state import (
    rename_outputs,
    reorder_optimizer_state,
    reorder_outputs,
)
from unnest.core.rewrite.model_with_weights import ModelWithWeights, Unwrapped
from unnest.core.weight_assignment.check_weights_fit_architecture import misshapen_layer
from unnest.core.weight_assignment.layer_groups.match_layer_groups import (
    as_listed,
    group_names,
    layer_name_by_group,
    with_plain_weight_names,
    without_operations,
)
from unnest.findings import Code

KEEP_NESTED = (
    "; --keep-nested (not with --keras 3) keeps the template as a nested model, its weights in the order in which they"
    " were saved"
)
"""The end of a refusal where the option leads to a file that loads."""


def with_output(parallel: Plan, start: ModelWithWeights, unwrapped: Unwrapped) -> Plan:
    """Return the plan with its output: the model without the wrappers, and everything else in the file."""
    stored, left = parallel.stored, unwrapped.left
    state = _optimizer_state(stored, unwrapped)
    if stored.optimizer and state is None:
        no_state = Code.OPTIMIZER_DROPPED(why="its order does not follow from the file")
        parallel = parallel._replace(findings=(*parallel.findings, no_state))
    groups = _groups(left, layer_name_by_group(start.model, stored.groups)) if stored.groups else ()
    if stored.is_keras_3:
        groups = tuple(
            as_listed(group, left.model) for group in without_operations(groups, left.model)
        )
    groups = tuple(with_plain_weight_names(group) for group in groups)
    if misshapen := misshapen_layer(
        left.model, {name: share.tensors for name, share in left.by_layer().items()}
    ):
        why = f"{': '.join(misshapen)}; the file is damaged, or its weights are another model's"
        return parallel._replace(refusal=Refusal("weights-unplaced", why))
    result = stored._replace(
        architecture=_architecture(stored, start.model, unwrapped)
        if stored.contents != "weights"
        else None,
        training=_compile_settings(stored.training, unwrapped),
        groups=groups,
        optimizer=state,
    )
    dropped = dropped_tensors(stored, result)
    staying = {t.ref for g in stored.groups if g.name not in unwrapped.removed for t in g.tensors}
    lost = {t.ref for t in dropped} & staying
    if lost:
        why = f"{len(lost)} tensors would be lost, {min(lost)} among them"
        return parallel._replace(refusal=Refusal("weights-unplaced", f"{why}{KEEP_NESTED}"))
    return parallel._replace(output=Rewritten(result), dropped=dropped)


def _architecture(stored: Stored, before: JsonObject, unwrapped: Unwrapped) -> JsonObject:
    """Return the architecture that is left, as the writing release stores it.

    The JSON of a compiled model of Keras 3 has its compile settings in it, and empty ones of the models within.
    """
    after = with_module_of_release(
        as_saved_at_top_level(before, unwrapped.left.model), stored.release
    )
    settings = before.get("compile_config")
    if not isinstance(settings, Mapping) or not settings:
        return after
    return {
        **after,
        "compile_config": _compile_settings(settings, unwrapped),
    }


def _compile_settings(before: JsonObject | None, unwrapped: Unwrapped) -> JsonObject | None:
    """Return the parallel model's compile settings by the names, and in the order, of the outputs that are left."""
    count = len(read(unwrapped.left.model).outputs)
    return reorder_outputs(rename_outputs(before, unwrapped.outputs), unwrapped.positions, count)


def _optimizer_state(stored: Stored, unwrapped: Unwrapped) -> tuple[Tensor, ...] | None:
    """Return the optimizer's state in the order of the layers that are left; None if that order is not known.

    Where it is sorted by the weights' names, these stay.
    """
    if not stored.optimizer or not unwrapped.moved or keeps_state_by_weight_name(stored.release):
        return stored.optimizer
    after = unwrapped.left.trained_in_order()
    if after is None:
        return None
    trained = {t.ref for t in after}
    before = [t for g in stored.groups for t in g.tensors if t.ref in trained]
    return reorder_optimizer_state(stored.optimizer, before, after)


def _groups(left: ModelWithWeights, layer_names: Mapping[str, str]) -> tuple[Group, ...]:
    """Return a group per layer, under its name in the file if the JSON has none."""
    shares, names = left.by_layer(), group_names(left.model)
    if not read(left.model).sequential or len(shares) < len(names):
        return tuple(Group(name, shares[name].tensors if name in shares else ()) for name in names)
    # The layers of a Sequential without names in the JSON count by their places: the last ones have weights.
    stored_names = {name: group for group, name in layer_names.items()}
    names_with_share = list(shares)[len(shares) - len(names) :]
    return tuple(
        Group(stored_names.get(name, name), shares[name].tensors) for name in names_with_share
    )


def dropped_tensors(before: Stored, after: Stored) -> tuple[Tensor, ...]:
    """Return the tensors, of weights and optimizer state, that `after` no longer holds."""
    kept_refs = {t.ref for t in after.tensors}
    return tuple(t for t in before.tensors if t.ref not in kept_refs)
