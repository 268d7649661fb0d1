"""Choose the container and form of a model that is written for Keras 3."""

from __future__ import annotations

from unnest.core.architecture import is_model
from unnest.core.keras3.check_converted_model import CHECKED
from unnest.core.keras3.convert_stored_model import Converted, convert
from unnest.core.keras_facts.loading_in_keras_3 import why_not_keras_3
from unnest.core.make_plan import plan as make_plan
from unnest.core.model import Stored
from unnest.core.plan import Plan, Rearranged, Rewritten
from unnest.errors import Refused
from unnest.findings import Code
from unnest.formats.change_container.adapted_state_to_config import with_adapted_state
from unnest.formats.change_container.choose_target_format import target_format
from unnest.formats.change_container.conversion_checks import (
    check_frozen_parts,
    check_owners_known,
    check_readable,
    check_weights,
    naming_file,
    no_architecture,
    no_weights,
    other_architecture,
)
from unnest.formats.change_container.conversion_losses import (
    checkpoint_losses,
    dropped_parts,
    layer_losses,
)
from unnest.formats.container_interface import ContainerName, Source, Target, TargetFormat
from unnest.formats.keras3.weights_to_paths import lay_out

#: --to, and the container that holds a model of Keras 3 under it.
CONTAINERS: dict[Target, ContainerName] = {
    "keras": "keras",
    "weights": "weights_h5",
    "json": "json",
}
SUFFIX_BY_CONTAINER: dict[ContainerName, str] = {
    "keras": ".keras",
    "weights_h5": ".weights.h5",
    "json": ".json",
}


def keras_3_target_format(source: Source, plan: Plan, to: Target | None) -> TargetFormat:
    """Return the target of the plan's model in Keras 3's form.

    Raises:
        Refused: the model cannot be written so.

    """
    model = plan.model_to_write
    if model.is_keras_3:
        as_zip = source.container == "h5" and model.contents == "model" and to is None
        try:
            return target_format(source, plan, "keras" if as_zip else to)
        except Refused:  # and the .h5 is of Keras 3 as it is: the other container was not asked for
            if not as_zip or why_not_keras_3(model, "h5") is not None:
                raise
            return target_format(source, plan, None)
    if plan.complete is not None and plan.complete.is_keras_3 and to in (None, "keras", "weights"):
        return target_format(source, plan, to or "keras")
    complete, adapted = with_adapted_state(source, _complete(source, plan))
    to = _choose_container(source, to, has_weights=complete.contents != "architecture")
    converted = _converted(source, complete)
    assert converted.model is not None
    target = _as_contents(converted.model, to)
    if target.contents != "architecture":
        check_frozen_parts(source, complete)
        with naming_file(source):
            lay_out(target)  # whatever has no place is refused before anything is written
    if to == "keras" and make_plan(target).verdict != "clean":
        # Its code, which showed the opposite, has become a function's name.
        target = target._replace(is_ours=True)
    name = CONTAINERS[to]
    not_held = [*converted.findings, *dropped_parts(source, converted.model, target)]
    if source.container == "checkpoint" and target.contents != "architecture":
        not_held += checkpoint_losses(source, target, target)
    elif complete.optimizer is not None and complete.training is None:
        not_held.append(
            Code.OPTIMIZER_DROPPED(why="which optimizer it is of is not stored with it")
        )
    not_held += layer_losses(source, name, target)
    return TargetFormat(
        name,
        Rewritten(target),
        SUFFIX_BY_CONTAINER[name],
        findings=tuple(not_held),
        conversions=(*adapted, *converted.conversions),
        checks=(CHECKED,),
    )


def _choose_container(source: Source, to: Target | None, *, has_weights: bool) -> Target:
    """Return the container to write: `to`, or the default for such a model.

    Raises:
        Refused: the model does not fit into `to`.

    """
    if to is None:
        return "keras" if has_weights else "json"
    if to not in CONTAINERS:
        raise Refused(
            "cannot-convert",
            f"{source.path}: --keras 3 writes .keras, .weights.h5 or .json, and no {to}; name the output so",
        )
    if to != "json" and not has_weights:
        raise no_weights(source)
    return to


def _complete(source: Source, plan: Plan) -> Stored:
    """Return the model with its architecture, every layer's weights in Keras's order."""
    model = plan.model_to_write
    if plan.complete is not None and model.architecture is None:
        model = plan.complete
    if model.architecture is None:
        # Where they are not, the architecture that was given has not been taken.
        check_owners_known(plan)
        raise no_architecture(source)
    check_readable(source, plan, model)
    check_weights(source, model, is_moved=True)
    # Other trees of weights are refused by `convert`.
    if isinstance(plan.output, Rearranged) and is_model(model.architecture):
        from unnest.formats.keras3.path_keyed_weights_in_keras_order import in_order

        with naming_file(source):
            return in_order(model, in_lists=False)
    return model


def _converted(source: Source, model: Stored) -> Converted:
    done = convert(model)
    if done.misfit is not None and source.stored.contents == "weights":
        raise other_architecture(source, done.misfit)
    if done.refusal is not None:
        raise Refused(done.refusal.code, f"{source.path}: {done.refusal.message}")
    return done


def _as_contents(model: Stored, to: Target) -> Stored:
    """Return the part of a model that the container `to` holds."""
    if to == "weights":
        return model._replace(contents="weights", training=None)
    if to == "json":
        return model._replace(contents="architecture", training=None, groups=(), optimizer=None)
    return model._replace(contents="model")
