"""The conversions of a model from one container into another.

A `ContainerConversion` is one way of a model from a container into another: the model that goes, the conditions that
it must meet, its form there, and findings on what stays behind. `CONVERSIONS` has a row for each pair of containers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from unnest.core.architecture import is_model
from unnest.core.keras_facts.unloadable_models import layers_noted_as_shared
from unnest.core.model import Stored, Tensor
from unnest.core.plan import Output, Plan, Rearranged, Rewritten
from unnest.errors import Refused
from unnest.findings import Code, Finding, listed
from unnest.formats.change_container.conversion_checks import (
    check_dtypes,
    check_readable,
    check_words_unweighted,
    naming_file,
    no_architecture,
)
from unnest.formats.change_container.conversion_losses import (
    checkpoint_losses,
    dropped_parts,
    never_held,
)
from unnest.formats.container_interface import ContainerName, Source, Target, TargetFormat


def _with_model(output: Output | None, model: Stored) -> Output:
    """Return an output with another model: the same rearranged tree of weights, or the model written anew."""
    return output._replace(model=model) if isinstance(output, Rearranged) else Rewritten(model)


def _complete(source: Source, plan: Plan) -> Stored:
    """Return weights with the architecture given for them, as a model."""
    if plan.complete is None:
        raise no_architecture(source)
    return plan.complete


def in_hdf5(model: Stored) -> Rewritten:
    """Return a model from another container, in which weights of one layer, or of the optimizer, may share a name.

    Within a group of HDF5 names are unique: the second `a` is called `a_2` (source: _uniquify of Keras 2.3.1).
    """
    groups = tuple(group._replace(tensors=_uniquely_named(group.tensors)) for group in model.groups)
    optimizer = None if model.optimizer is None else _uniquely_named(model.optimizer)
    return Rewritten(model._replace(groups=groups, optimizer=optimizer))


def _uniquely_named(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    count = Counter[str]()
    renamed = []
    for tensor in tensors:
        count[tensor.name] += 1
        number = count[tensor.name]
        renamed.append(tensor if number == 1 else tensor._replace(name=f"{tensor.name}_{number}"))
    return tuple(renamed)


# ---- the model that goes ----


def _whole_model(source: Source, plan: Plan) -> Stored:
    """Return the model that the plan writes; weights with the architecture that was given for them."""
    model = plan.model_to_write
    return _complete(source, plan) if model.contents == "weights" else model


def _readable_whole_model(source: Source, plan: Plan) -> Stored:
    """Return the same of a container whose weights are found by their owners. Raises Refused."""
    check_readable(source, plan, plan.model_to_write)
    return _whole_model(source, plan)


def _complete_weights_model(source: Source, plan: Plan) -> Stored:
    """Return weights with the architecture that was given for them, without the optimizer's state."""
    return _complete(source, plan)._replace(optimizer=None)


def _model_to_write(_: Source, plan: Plan) -> Stored:
    """Return the model that the plan writes."""
    return plan.model_to_write


# ---- conditions, beside those of `conversion_checks` ----


def _check_storable(source: Source, plan: Plan, model: Stored) -> None:
    """Raise Refused for dtypes that HDF5 lacks, unless the output keeps the bytes where they are."""
    if not isinstance(plan.output, Rearranged):
        check_dtypes(source, model)


def _check_layers(source: Source, plan: Plan, model: Stored) -> None:
    """Raise Refused for a model without a graph of layers."""
    del plan
    _require_layers(source, model, "a .keras needs the graph of layers, which is not stored")


def _check_layers_not_in_code(source: Source, plan: Plan, model: Stored) -> None:
    """Raise Refused for a model whose class keeps its layers in code."""
    del plan
    _require_layers(source, model, "keeps its layers in code; only --to keras can hold that")


def _require_layers(source: Source, model: Stored, why: str) -> None:
    if model.architecture is None or not is_model(model.architecture):
        raise Refused("no-architecture", f"{source.path}: {why}")


def _check_has_architecture(source: Source, plan: Plan, model: Stored) -> None:
    """Raise Refused for weights alone."""
    del plan
    if model.architecture is None:
        why = "holds weights and no architecture, so there is no JSON to write"
        raise Refused("no-architecture", f"{source.path}: {why}")


def _check_owners_stored(source: Source, plan: Plan, model: Stored) -> None:
    """Raise Refused for variables without layers."""
    del plan
    if any(not g.name for g in model.groups):
        raise Refused(
            "needs-architecture",
            f"{source.path}: which layer owns which variable is not stored; pass --architecture MODEL.json",
        )


# ---- the form there ----


def _as_h5(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    del source, plan
    return TargetFormat("h5", in_hdf5(model), ".h5")


def _as_path_keyed_h5(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    from unnest.formats.keras3.path_keyed_weights_in_keras_order import as_h5_lists

    del plan
    with naming_file(source):
        return TargetFormat("h5", in_hdf5(as_h5_lists(model)), ".h5")


def _as_weights_h5(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    del source, plan
    weights = model._replace(contents="weights", architecture=None, training=None, optimizer=None)
    return TargetFormat("h5", in_hdf5(weights), ".weights.h5")


def _as_own_weights_h5(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    """Return the weights of an `.h5` alone; Keras 1 noted its version with the architecture only.

    Keras 2 converts the weights of what has no version.
    """
    del plan
    if model.contents == "weights":
        return TargetFormat("h5", Rewritten(model))
    weights = model._replace(contents="weights", architecture=None, training=None, optimizer=None)
    of_weights = source.h5_style.layers
    weights = weights._replace(
        keras_version=model.keras_version if "keras_version" in of_weights else None,
        backend=model.backend if "backend" in of_weights else None,
    )
    return TargetFormat("h5", Rewritten(weights))


def _as_weights_of_checkpoint(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    """Return weights by layer name, or for Keras 3, whose suffix allows no others, by layer path."""
    if plan.complete is None or not plan.complete.is_keras_3:
        return TargetFormat("h5", in_hdf5(model), ".weights.h5")
    from unnest.formats.keras3.weights_to_paths import lay_out

    version = plan.complete.keras_version or "3.x"
    weights = plan.complete._replace(
        contents="weights", training=None, optimizer=None, keras_version=version
    )
    with naming_file(source):
        lay_out(weights)  # whatever has no place is refused before anything is written
    return TargetFormat("weights_h5", Rewritten(weights), ".weights.h5")


def _as_path_keyed_weights(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    del source
    weights = model._replace(contents="weights", architecture=None, training=None)
    return TargetFormat("weights_h5", _with_model(plan.output, weights), ".weights.h5")


def _as_keras(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    """Return the model as a `.keras`. Raises Refused if a weight has no place in it."""
    from unnest.formats.change_container.h5_keras_config_conversion import h5_to_keras
    from unnest.formats.keras3.weights_to_paths import lay_out

    assert model.architecture is not None
    with naming_file(source):
        # JSON that was kept apart has the modules of Keras 3's and later Keras 2's classes already.
        is_json_given = plan.complete is not None and "module" in model.architecture
        zipped = (
            model._replace(backend=None, optimizer=None) if is_json_given else h5_to_keras(model)
        )
        findings: tuple[Finding, ...] = ()
        if not isinstance(plan.output, Rearranged):
            zipped, findings = _with_layers_apart(zipped)
            lay_out(zipped)  # whatever has no place is refused before anything is written
        return TargetFormat("keras", _with_model(plan.output, zipped), ".keras", findings=findings)


def _as_json(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    """Return the architecture alone, with `keras_version` and `backend` as Keras 1 and 2 write them."""
    del source, plan
    architecture = model.architecture or {}
    # Keras 1 and 2 write their versions into the JSON, Keras 3 does not.
    if "module" not in architecture:
        versions = {"keras_version": model.keras_version, "backend": model.backend}
        architecture = {**architecture, **{k: v for k, v in versions.items() if v is not None}}
    as_json = model._replace(
        contents="architecture", architecture=architecture, training=None, groups=(), optimizer=None
    )
    return TargetFormat("json", Rewritten(as_json), ".json")


def _with_layers_apart(model: Stored) -> tuple[Stored, tuple[Finding, ...]]:
    """Return a model for a `.keras` in which a layer that several models share is stored for each of them."""
    from unnest.formats.keras3.shared_layers import with_separate_layers

    shared_names = layers_noted_as_shared(model)
    if not shared_names or model.architecture is None:
        return model, ()
    return model._replace(architecture=with_separate_layers(model.architecture)), (
        Code.LAYERS_APART(layers=listed(shared_names)),
    )


# ---- the table ----


class ContainerConversion(NamedTuple):
    """One way of a model from a container into another."""

    source: ContainerName
    target: Target
    #: The model that goes. Raises Refused for a file without one.
    model: Callable[[Source, Plan], Stored]
    #: Conditions on it, in order; each raises Refused.
    checks: tuple[Callable[[Source, Plan, Stored], None], ...]
    #: Its form in the target. Raises Refused.
    build: Callable[[Source, Plan, Stored], TargetFormat]
    #: Findings on what stays behind, from the model before and after.
    losses: tuple[Callable[[Source, Stored, Stored], tuple[Finding, ...]], ...]

    def apply(self, source: Source, plan: Plan) -> TargetFormat:
        """Return the target format.

        Raises:
            Refused: a condition does not hold.

        """
        model = self.model(source, plan)
        for check in self.checks:
            check(source, plan, model)
        target = self.build(source, plan, model)
        lost = (finding for loss in self.losses for finding in loss(source, model, target.model))
        return target._replace(findings=(*lost, *target.findings))


def _dtypes(source: Source, plan: Plan, model: Stored) -> None:
    del plan
    check_dtypes(source, model)


_LAYERS = (_check_layers, _check_storable)
_IN_CODE = (_check_layers_not_in_code, _dtypes, check_words_unweighted)
_IN_TABLES = (check_readable, check_words_unweighted)
_OWNED = (_dtypes, _check_owners_stored)
_PARTS, _PARTS_AND_STATE, _OF_CHECKPOINT = (
    (dropped_parts,),
    (dropped_parts, never_held),
    (checkpoint_losses,),
)

CONVERSION_ROWS = (
    ContainerConversion("h5", "weights", _model_to_write, (), _as_own_weights_h5, _PARTS),
    ContainerConversion("h5", "keras", _whole_model, _LAYERS, _as_keras, _PARTS),
    ContainerConversion("saved_model", "h5", _whole_model, _IN_TABLES, _as_h5, ()),
    ContainerConversion(
        "saved_model", "weights", _model_to_write, _IN_TABLES, _as_weights_h5, _PARTS
    ),
    ContainerConversion("saved_model", "keras", _readable_whole_model, _LAYERS, _as_keras, _PARTS),
    ContainerConversion("keras", "weights", _model_to_write, (), _as_path_keyed_weights, _PARTS),
    ContainerConversion(
        "keras", "h5", _model_to_write, _IN_CODE, _as_path_keyed_h5, _PARTS_AND_STATE
    ),
    ContainerConversion(
        "weights_h5", "h5", _complete, _IN_CODE, _as_path_keyed_h5, _PARTS_AND_STATE
    ),
    ContainerConversion("weights_h5", "keras", _whole_model, _LAYERS, _as_keras, _PARTS),
    ContainerConversion("tfjs", "h5", _whole_model, (check_readable,), _as_h5, ()),
    ContainerConversion(
        "tfjs", "weights", _model_to_write, (check_readable,), _as_weights_h5, _PARTS
    ),
    ContainerConversion("tfjs", "keras", _readable_whole_model, _LAYERS, _as_keras, _PARTS),
    ContainerConversion("checkpoint", "h5", _complete, (_dtypes,), _as_h5, _OF_CHECKPOINT),
    ContainerConversion(
        "checkpoint", "weights", _model_to_write, _OWNED, _as_weights_of_checkpoint, _OF_CHECKPOINT
    ),
    ContainerConversion(
        "checkpoint", "keras", _complete_weights_model, _LAYERS, _as_keras, _OF_CHECKPOINT
    ),
    *(
        ContainerConversion(
            name, "json", _model_to_write, (_check_has_architecture,), _as_json, _PARTS
        )
        for name in ("h5", "keras", "weights_h5", "saved_model", "tfjs")
    ),
)

CONVERSIONS = {(row.source, row.target): row for row in CONVERSION_ROWS}
"""(The source's container, --to) -> the conversion; none becomes a SavedModel."""
