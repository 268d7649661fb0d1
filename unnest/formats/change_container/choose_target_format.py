"""Choose the container of a result: the source's own, or the one that --to names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnest.core.plan import GraphCut, Plan
from unnest.errors import Refused
from unnest.findings import Code, Finding
from unnest.formats.change_container.conversion_checks import (
    check_frozen_parts,
    check_listed_once,
    check_owners_known,
    check_readable,
    check_shapes_by_input,
    check_weights,
    no_weights,
)
from unnest.formats.change_container.conversion_losses import layer_losses, not_restored
from unnest.formats.container_interface import ContainerName, Source, Target, TargetFormat

if TYPE_CHECKING:
    from unnest.formats.change_container.container_conversions import ContainerConversion

#: What --to calls each container's own form.
OWN_FORM: dict[ContainerName, Target] = {
    "h5": "h5",
    "keras": "keras",
    "weights_h5": "weights",
    "saved_model": "saved_model",
    "json": "json",
}


def target_format(source: Source, plan: Plan, to: Target | None) -> TargetFormat:
    """Return the target of a plan that is not refused.

    Raises:
        Refused: the output cannot be written to that container.

    """
    target = _chosen(source, plan, to)
    if target.output is plan.output and plan.verdict == "clean":
        return target
    if target.container == "h5":
        check_listed_once(source, target.model)
        target = target._replace(findings=(*target.findings, *not_restored(target.model)))
    if target.container != source.container:
        check_frozen_parts(source, target.model)
        target = target._replace(
            findings=(*target.findings, *layer_losses(source, target.container, target.model))
        )
    if target.model.contents != "architecture" and not isinstance(target.output, GraphCut):
        for model in (target.model, plan.model_to_write, plan.complete):
            if model is not None:
                check_weights(
                    source,
                    model,
                    is_moved=target.container != source.container,
                    takes_cudnn=target.container == "h5",
                )
        check_shapes_by_input(source, target.model)
    return target


def _chosen(source: Source, plan: Plan, to: Target | None) -> TargetFormat:
    """Return the source's own container, or the conversion that --to names. Raises Refused."""
    name = source.container
    if name == "checkpoint":
        if to is None and plan.verdict == "clean":
            assert plan.output is not None
            return TargetFormat(name, plan.output)
        check_owners_known(plan)
        return _conversion(source, to or "weights").apply(source, plan)
    assert plan.output is not None
    if source.reformed and to in (None, OWN_FORM[name]):
        return TargetFormat(name, plan.output, source.reformed, reformed=to is not None)
    if to is None and plan.verdict == "parallel" and source.written_as is not None:
        to = source.written_as
    if to is None or to == OWN_FORM.get(name):
        if name == "saved_model" and plan.verdict == "parallel":
            return TargetFormat(name, GraphCut(plan.output.model), findings=_of_a_cut(source, plan))
        return TargetFormat(name, plan.output)
    if source.stored.contents == "architecture" and to in ("h5", "keras", "weights"):
        raise no_weights(source)
    return _conversion(source, to).apply(source, plan)


def _conversion(source: Source, to: Target) -> ContainerConversion:
    """Return the row of the table. Raises Refused for a pair without a row."""
    from unnest.formats.change_container.container_conversions import CONVERSIONS  # where --to asks

    row = CONVERSIONS.get((source.container, to))
    if row is not None:
        return row
    if source.container == "checkpoint":
        raise Refused(
            "cannot-write",
            f"{source.path}: holds weights alone; --to weights, h5 or keras can hold that",
        )
    raise Refused(
        "cannot-convert",
        f"{source.path}: cannot go --to {to}: a SavedModel can only come from a SavedModel; "
        "fix without --to, load the output, and call model.export(FOLDER)",
    )


def _of_a_cut(source: Source, plan: Plan) -> tuple[Finding, ...]:
    """Report that a cut serving graph only serves, and how to get the Keras model, if the file has it as well."""
    model = plan.model_to_write
    if model.architecture is None:
        return ()
    try:
        check_readable(source, plan, model)
    except Refused as e:
        return (Code.SERVES_ONLY(instead=f"the Keras model cannot be written: {e.message}"),)
    return (Code.SERVES_ONLY(instead="to keep a Keras model: unnest fix --keras 3, or --to h5"),)
