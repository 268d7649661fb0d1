"""Weights of any file in the architecture that the caller's code builds, as that model's `.weights.h5`."""

from __future__ import annotations

from unnest.core.architecture import is_model
from unnest.core.keras3.conversion_context import Context
from unnest.core.model import Stored
from unnest.core.plan import Plan, Rearranged, Rewritten
from unnest.core.weight_transfer.load_into_model import PlacedWeights, place_model
from unnest.core.weight_transfer.state_for_compiled_optimizer import StateAlone
from unnest.core.weight_transfer.target_model import TargetModel
from unnest.core.weight_transfer.tf_keras_weights_by_way_of_keras3 import (
    as_tf_keras_weights,
    keras_3_form_of_graph,
    keras_3_form_of_layers,
)
from unnest.errors import Refused
from unnest.findings import Code
from unnest.formats.change_container.conversion_checks import naming_file
from unnest.formats.change_container.convert_to_keras3 import keras_3_target_format
from unnest.formats.container_interface import Source, TargetFormat
from unnest.formats.keras3.path_keyed_weights_in_keras_order import in_order
from unnest.formats.keras3.weights_to_paths import lay_out

#: Findings on what a file needs when it is loaded as a model: here the caller's code is the model.
OF_A_MODEL = frozenset({
    "custom-objects", "lambda-kept", "functional-subclass", "layers-apart", "not-held", "compile-dropped",
    "compile-part", "added-loss", "assumed-data-format",
})  # fmt: skip


def has_no_architecture(source: Source, plan: Plan) -> bool:
    """Return True for weights without an architecture, in the file or given."""
    return (
        plan.stored.contents == "weights"
        and plan.complete is None
        and source.stored.architecture is None
    )


def weights_h5_for_target_model(source: Source, plan: Plan, target: TargetModel) -> TargetFormat:
    """Return the `.weights.h5` of the target with the weights of a plan.

    Raises:
        Refused: the weights do not fit, or not without doubt; the message names the layer.

    """
    if not target.shapes:
        raise Refused(
            "no-weights",
            f"{source.path}: your model has no layers with weights; build the one that was saved",
        )
    placed = (
        _placed(source, plan, target)
        if target.is_keras_3
        else _placed_in_tf_keras(source, plan, target)
    )
    model = Stored(
        "weights",
        target.architecture,
        None,
        placed.groups,
        placed.optimizer,
        keras_version=target.keras_version,
    )
    with naming_file(source):
        lay_out(model)  # whatever has no place is refused before anything is written
    return TargetFormat(
        "weights_h5",
        Rewritten(model),
        ".weights.h5",
        findings=placed.findings,
        conversions=placed.conversions,
    )


def _placed(source: Source, plan: Plan, target: TargetModel) -> PlacedWeights:
    """Return the weights in a model of Keras 3. Raises Refused."""
    if not has_no_architecture(source, plan):
        return _of_model(source, plan, target)
    with naming_file(source):
        return source.placed_in(target)


def _placed_in_tf_keras(source: Source, plan: Plan, target: TargetModel) -> PlacedWeights:
    """Return the weights in a model of tf_keras. Raises Refused."""
    form = (
        keras_3_form_of_layers(target)
        if has_no_architecture(source, plan)
        else keras_3_form_of_graph(target)
    )
    placed = _placed(source, plan, form.target)
    with naming_file(source):
        return as_tf_keras_weights(placed, form, target)


def _state_alone(source: Source, plan: Plan, model: Stored) -> tuple[StateAlone | None, Context]:
    """Return the optimizer's state that was not carried into the model, and the file's writer."""
    complete = plan.complete
    context = Context.of(complete and complete.keras_version, complete and complete.backend)
    if complete is None or model.optimizer:
        return None, context
    state = source.state_alone(complete)
    order = tuple(tensor.ref for group in complete.groups for tensor in group.tensors)
    return (None if state is None else state._replace(order=order)), context


def _of_model(source: Source, plan: Plan, target: TargetModel) -> PlacedWeights:
    """Return a whole model's weights in the target, converted to Keras 3. Raises Refused."""
    if source.stored.contents == "architecture":
        raise Refused(
            "no-weights",
            f"{source.path}: holds an architecture and no weights; pass the file of weights",
        )
    made = keras_3_target_format(source, plan, "keras")
    if not is_model(made.model.architecture or {}):
        kind = (made.model.architecture or {}).get("class_name")
        why = f"its {kind} keeps its layers in code; load the file with that code, and save its weights"
        raise Refused("other-model", f"{source.path}: {why}")
    with naming_file(source):
        model = (
            in_order(made.model, in_lists=False)
            if isinstance(made.output, Rearranged)
            else made.model
        )
        state, context = _state_alone(source, plan, made.model)
        placed = place_model(model, target, state, context)
    of_model = OF_A_MODEL if state is None else OF_A_MODEL | {"optimizer-dropped"}
    findings = tuple(f for f in made.findings if f.code not in of_model)
    if (
        placed.optimizer is None
        and not placed.findings
        and model.optimizer
        and target.optimizer is None
    ):
        findings = (*findings, Code.OPTIMIZER_DROPPED(why="your model is not compiled"))
    return placed._replace(findings=(*findings, *placed.findings), conversions=made.conversions)
