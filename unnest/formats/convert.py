"""Choose the container of a result, and the form that the model takes in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from unnest.core.architecture import is_model
from unnest.core.keras3.context import Conversion
from unnest.core.keras_facts.loading import noted_as_shared
from unnest.core.model import GraphCut, Output, Plan, Rearranged, Rewritten, Stored, Tensor
from unnest.errors import Refused
from unnest.findings import Code, Finding, listed
from unnest.formats.base import ContainerName, Source, Target
from unnest.formats.conversion_checks import (
    check_dtypes,
    check_frozen_parts,
    check_listed_once,
    check_owners_known,
    check_readable,
    check_weights,
    naming_file,
    no_architecture,
    no_weights,
)
from unnest.formats.conversion_losses import left_of_checkpoint, left_of_layers, left_out, never_held, not_restored


class TargetFormat(NamedTuple):
    """A container, and what goes into it."""

    container: ContainerName
    output: Output
    #: The suffix of a default output; None where the source's own stays.
    suffix: str | None = None
    #: Whether it is another form of the source's own container: JSON out of YAML.
    reformed: bool = False
    #: What it cannot hold, and what became another on the way.
    findings: tuple[Finding, ...] = ()
    #: What rules changed on the way, with --keras 3.
    conversions: tuple[Conversion, ...] = ()
    #: What was checked of the model before anything is written, by name.
    checks: tuple[str, ...] = ()

    @property
    def model(self) -> Stored:
        """The model as it goes in."""
        return self.output.model


#: What --to calls each container's own form.
OWN_FORM: dict[ContainerName, Target] = {
    "h5": "h5",
    "keras": "keras",
    "weights_h5": "weights",
    "saved_model": "saved_model",
    "json": "json",
}


def planned_model(plan: Plan) -> Stored:
    """Return the model that a plan writes, in any container. Refused plans write none, and are not passed here."""
    assert plan.output is not None
    return plan.output.model


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
        target = target._replace(findings=(*target.findings, *left_of_layers(source, target.container, target.model)))
    if target.model.contents != "architecture" and not isinstance(target.output, GraphCut):
        for model in (target.model, planned_model(plan), plan.complete):
            if model is not None:
                check_weights(source, model, is_moved=target.container != source.container)
    return target


def _chosen(source: Source, plan: Plan, to: Target | None) -> TargetFormat:
    """The source's own container, or the conversion that --to names."""
    name = source.container
    if name == "checkpoint":
        return _out_of_checkpoint(source, plan, to)
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
    convert = _as_json if to == "json" else CONVERSIONS.get((name, to))
    if convert is None:
        raise Refused(
            "cannot-convert",
            f"{source.path}: cannot go --to {to}: a SavedModel can only come from a SavedModel; "
            "fix without --to, load the output, and call model.export(FOLDER)",
        )
    return convert(source, plan)


def _of_a_cut(source: Source, plan: Plan) -> tuple[Finding, ...]:
    """Report that a cut serving graph only serves, and how to get the Keras model, if the file has it as well."""
    model = planned_model(plan)
    if model.architecture is None:
        return ()
    try:
        check_readable(source, plan, model)
    except Refused as e:
        return (Code.SERVES_ONLY(instead=f"the Keras model cannot be written: {e.message}"),)
    return (Code.SERVES_ONLY(instead="to keep a Keras model: unnest fix --keras 3, or --to h5"),)


def _with_model(output: Output | None, model: Stored) -> Output:
    """The same tree of weights, rearranged where it is, with another model around it."""
    return output._replace(model=model) if isinstance(output, Rearranged) else Rewritten(model)


def _complete(source: Source, plan: Plan) -> Stored:
    """Weights with the architecture that was given for them, as a model."""
    if plan.complete is None:
        raise no_architecture(source)
    return plan.complete


def _out_of_checkpoint(source: Source, plan: Plan, to: Target | None) -> TargetFormat:
    """Weights alone, of which the optimizer's state stays behind; a clean checkpoint is left as it is."""
    if to is None and plan.verdict == "clean":
        assert plan.output is not None
        return TargetFormat("checkpoint", plan.output)
    check_owners_known(plan)
    if to == "h5":
        complete = _complete(source, plan)
        check_dtypes(source, complete)
        return TargetFormat("h5", in_hdf5(complete), ".h5", findings=left_of_checkpoint(source, complete))
    if to == "keras":
        complete = _complete(source, plan)._replace(optimizer=None)
        target = _model_as_keras(source, plan, complete)
        return target._replace(findings=left_of_checkpoint(source, target.model))
    if to not in (None, "weights"):
        raise Refused("cannot-write", f"{source.path}: holds weights alone; --to weights, h5 or keras can hold that")
    model = planned_model(plan)
    check_dtypes(source, model)
    if any(not g.name for g in model.groups):
        raise Refused(
            "needs-architecture",
            f"{source.path}: which layer owns which variable is not stored; pass --architecture MODEL.json",
        )
    not_held = left_of_checkpoint(source, model)
    if plan.complete is not None and plan.complete.is_keras_3:
        return TargetFormat("weights_h5", Rewritten(_laid_out(source, plan.complete)), ".weights.h5", findings=not_held)
    return TargetFormat("h5", in_hdf5(model), ".weights.h5", findings=not_held)


def in_hdf5(model: Stored) -> Rewritten:
    """A model out of another container, where the weights of a layer, or of the optimizer, may share a name.

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


def _laid_out(source: Source, complete: Stored) -> Stored:
    """Weights as Keras 3 has them, which knows no others by their suffix; the architecture says where they go."""
    from unnest.formats.keras3.path_layout import lay_out

    version = complete.keras_version or "3.x"
    model = complete._replace(contents="weights", training=None, optimizer=None, keras_version=version)
    with naming_file(source):
        lay_out(model)  # whatever has no place is refused before anything is written
    return model


def _model_as_h5(source: Source, plan: Plan) -> TargetFormat:
    model = planned_model(plan)
    if model.contents == "weights":
        model = _complete(source, plan)
    check_readable(source, plan, model)
    return TargetFormat("h5", in_hdf5(model), ".h5")


def _model_as_weights(source: Source, plan: Plan) -> TargetFormat:
    model = planned_model(plan)
    check_readable(source, plan, model)
    weights = model._replace(contents="weights", architecture=None, training=None, optimizer=None)
    return TargetFormat("h5", in_hdf5(weights), ".weights.h5", findings=left_out(model, weights))


def _as_keras(source: Source, plan: Plan) -> TargetFormat:
    model = planned_model(plan)
    if source.container in ("saved_model", "tfjs"):
        check_readable(source, plan, model)
    return _model_as_keras(source, plan, _complete(source, plan) if model.contents == "weights" else model)


def _model_as_keras(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    if model.architecture is None or not is_model(model.architecture):
        raise Refused("no-architecture", f"{source.path}: a .keras needs the graph of layers, which is not stored")
    from unnest.core.keras_facts.h5_and_keras_configs import as_zipped
    from unnest.formats.keras3.path_layout import lay_out

    if not isinstance(plan.output, Rearranged):
        check_dtypes(source, model)
    with naming_file(source):
        # JSON that was kept apart has the modules of Keras 3's and later Keras 2's classes already.
        is_json_given = plan.complete is not None and "module" in model.architecture
        zipped = model._replace(backend=None, optimizer=None) if is_json_given else as_zipped(model)
        findings: tuple[Finding, ...] = ()
        if not isinstance(plan.output, Rearranged):
            zipped, findings = _with_layers_apart(zipped)
            lay_out(zipped)  # whatever has no place is refused before anything is written
        output = _with_model(plan.output, zipped)
    return TargetFormat("keras", output, ".keras", findings=(*left_out(model, zipped), *findings))


def _with_layers_apart(model: Stored) -> tuple[Stored, tuple[Finding, ...]]:
    """A model for a `.keras`, in which no Keras finds a layer again that several models share."""
    from unnest.formats.keras3.shared_layers import apart

    shared_names = noted_as_shared(model)
    if not shared_names or model.architecture is None:
        return model, ()
    return model._replace(architecture=apart(model.architecture)), (Code.LAYERS_APART(layers=listed(shared_names)),)


def _path_keyed_as_h5(source: Source, plan: Plan) -> TargetFormat:
    model = _complete(source, plan) if source.container == "weights_h5" else planned_model(plan)
    if model.architecture is None or not is_model(model.architecture):
        raise Refused("no-architecture", f"{source.path}: keeps its layers in code; only --to keras can hold that")
    from unnest.formats.keras3.path_order import as_h5_lists

    check_dtypes(source, model)
    with naming_file(source):
        as_stored = as_h5_lists(model)
    return TargetFormat("h5", in_hdf5(as_stored), ".h5", findings=(*left_out(model, as_stored), *never_held(model)))


def _as_json(source: Source, plan: Plan) -> TargetFormat:
    model = planned_model(plan)
    if source.container == "json":
        return TargetFormat("json", Rewritten(model))
    if model.architecture is None:
        raise Refused(
            "no-architecture", f"{source.path}: holds weights and no architecture, so there is no JSON to write"
        )
    architecture = model.architecture
    if "module" not in architecture:  # Keras 1 and 2 write their versions into the JSON, Keras 3 does not
        versions = {"keras_version": model.keras_version, "backend": model.backend}
        architecture = {**architecture, **{k: v for k, v in versions.items() if v is not None}}
    as_json = model._replace(
        contents="architecture", architecture=architecture, training=None, groups=(), optimizer=None
    )
    return TargetFormat("json", Rewritten(as_json), ".json", findings=left_out(model, as_json))


def _as_path_keyed(source: Source, plan: Plan) -> TargetFormat:  # noqa: ARG001 - all conversions have one signature
    model = planned_model(plan)
    weights = model._replace(contents="weights", architecture=None, training=None)
    return TargetFormat(
        "weights_h5", _with_model(plan.output, weights), ".weights.h5", findings=left_out(model, weights)
    )


def _as_weights(source: Source, plan: Plan) -> TargetFormat:
    model = planned_model(plan)
    if model.contents == "weights":
        return TargetFormat("h5", Rewritten(model))
    weights = model._replace(contents="weights", architecture=None, training=None, optimizer=None)
    # Keras 1 noted its version with the architecture alone; Keras 2 converts the weights of what has no version.
    of_weights = source.h5_spelling.layers
    weights = weights._replace(
        keras_version=model.keras_version if "keras_version" in of_weights else None,
        backend=model.backend if "backend" in of_weights else None,
    )
    return TargetFormat("h5", Rewritten(weights), None, findings=left_out(model, weights))


#: (the source's container, --to) -> the conversion; any container goes to JSON, and none becomes a SavedModel.
CONVERSIONS: dict[tuple[ContainerName, Target], Callable[[Source, Plan], TargetFormat]] = {
    ("h5", "weights"): _as_weights,
    ("h5", "keras"): _as_keras,
    ("saved_model", "h5"): _model_as_h5,
    ("saved_model", "weights"): _model_as_weights,
    ("saved_model", "keras"): _as_keras,
    ("keras", "weights"): _as_path_keyed,
    ("keras", "h5"): _path_keyed_as_h5,
    ("weights_h5", "h5"): _path_keyed_as_h5,
    ("weights_h5", "keras"): _as_keras,
    ("tfjs", "h5"): _model_as_h5,
    ("tfjs", "weights"): _model_as_weights,
    ("tfjs", "keras"): _as_keras,
}
