"""Which container a result goes into, and what that container cannot hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Layer
from unnest.core.assign.stored_groups import layer_name_by_group
from unnest.core.keras3.context import Conversion
from unnest.core.keras3.tensors import stored_refs
from unnest.core.keras_facts.adapted import untold
from unnest.core.keras_facts.held_layers import partly_frozen
from unnest.core.keras_facts.layer_classes import CELLED, PLAIN, today
from unnest.core.keras_facts.loading import noted_as_shared
from unnest.core.keras_facts.weight_specs import expected, must_have
from unnest.core.model import GraphCut, Json, JsonObject, Output, Plan, Rearranged, Rewritten, Stored, Tensor
from unnest.errors import Refused
from unnest.findings import Code, Finding, listed
from unnest.formats.base import ContainerName, Source, Target


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

    @property
    def model(self) -> Stored:
        """The model as it goes in."""
        return self.output.model


#: Layers that hold one other, and where their configs have it.
HELD_AS = {"RNN": "cell", "TimeDistributed": "layer"}

#: What --to calls each container's own form.
OWN_FORM: dict[ContainerName, Target] = {
    "h5": "h5",
    "keras": "keras",
    "weights_h5": "weights",
    "saved_model": "saved_model",
    "json": "json",
}


def planned_model(plan: Plan) -> Stored:
    """The model that a plan writes, in whatever container; what is refused has none, and is never asked."""
    assert plan.output is not None
    return plan.output.model


def target_format(source: Source, plan: Plan, to: Target | None) -> TargetFormat:
    """Where the output of a plan goes; `plan` is not refused. Raises Refused where it cannot go there."""
    target = _target_format(source, plan, to)
    if target.output is plan.output and plan.verdict == "clean":
        return target
    if target.container != source.container:
        check_frozen_parts(source, target.model)
        target = target._replace(findings=(*target.findings, *left_of_layers(source, target.container, target.model)))
    if target.model.contents != "architecture" and not isinstance(target.output, GraphCut):
        for model in (target.model, planned_model(plan), plan.complete):
            if model is not None:
                check_weights(source, model)
    return target


def check_frozen_parts(source: Source, model: Stored) -> None:
    """Raises Refused for weights of a layer that another container has in another order."""
    name = None if model.contents == "architecture" else partly_frozen(model.architecture)
    if name is not None:
        what = f"{name!r} holds layers of which some are frozen, whose weights each container has in its own order"
        raise Refused("cannot-convert", f"{source.path}: {what}; without --to and --keras fix keeps the container")


def left_of_layers(source: Source, container: ContainerName, model: Stored) -> tuple[Finding, ...]:
    """What layers keep that is no weight, and that stays behind where a model is written anew."""
    if model.contents == "architecture":
        return ()
    files, names = source.assets, untold(model.architecture, in_h5=container == "h5")
    if files:
        return (Code.NOT_HELD(what=f"the layers' own files ({', '.join(files)})"),)
    return (Code.NOT_HELD(what=f"what {listed(names)} found by adapt()"),) if names else ()


def check_weights(source: Source, model: Stored) -> None:
    """Raises Refused where a layer would come without its weights, or with too few: Keras refuses, or adds noise."""
    if model.architecture is None or not is_model(model.architecture) or model.contents == "architecture":
        return
    layers, layer_names = read(model.architecture).layers, layer_name_by_group(model.architecture, model.groups)
    tensors_by_layer = {layer_names.get(group.name, group.name): group.tensors for group in model.groups}
    for name, layer in layers.items():
        tensors = tensors_by_layer.get(name, ())
        if not tensors and _must_have(layer.stored):
            raise Refused(
                "weights-missing",
                f"{source.path}: {name!r} would come without its weights, which are not in the file or not "
                "found; please report it if they are",
            )
        _check_complete(source, layer, tensors)


def _check_complete(source: Source, layer: Layer, tensors: Sequence[Tensor]) -> None:
    """Raises Refused where one of Keras's own layers, here or in a nested model, has too few of its weights."""
    if is_model(layer.stored):
        for name, inner in read(layer.stored).layers.items():
            inner_tensors = [t._replace(owner=t.owner[1:]) for t in tensors if t.owner[:1] == (name,)]
            _check_complete(source, inner, inner_tensors)
        return
    promised, weights = _promised(layer.stored), [t for t in tensors if "seed_generator" not in t.ref.split("/")]
    if promised is not None and 0 < len(weights) < promised:
        raise Refused(
            "weights-missing",
            f"{source.path}: {layer.name!r} has {len(weights)} of {promised} weights; "
            "a weight is missing from the file: look for another copy",
        )


def _promised(entry: JsonObject) -> int | None:
    """How many weights one of Keras's own layers has, with those that it holds; None where not all of it is told."""
    total = 0
    pending: list[tuple[Json, int]] = [(entry, 1)]
    while pending:
        layer, times = pending.pop()
        config = layer.get("config") if isinstance(layer, Mapping) else None
        if not isinstance(layer, Mapping) or not isinstance(config, Mapping):
            return None
        kind = today(str(layer.get("class_name")))
        if kind in PLAIN | CELLED:
            expected_weights = expected(config)
            if expected_weights is None:
                return None
            total += times * expected_weights.total
        elif kind == "Bidirectional" and config.get("backward_layer") is None:  # it makes one like the first
            pending.append((config.get("layer"), 2 * times))
        elif kind == "Bidirectional":
            pending += [(config.get("layer"), times), (config["backward_layer"], times)]
        elif kind in HELD_AS:
            pending.append((config.get(HELD_AS[kind]), times))
        elif kind == "StackedRNNCells" and isinstance(cells := config.get("cells"), Sequence):
            pending += [(cell, times) for cell in cells]
        else:
            return None
    return total


def _must_have(entry: JsonObject) -> bool:
    if not is_model(entry):
        return must_have(entry.get("config"))
    return any(_must_have(layer.stored) for layer in read(entry).layers.values())


def _target_format(source: Source, plan: Plan, to: Target | None) -> TargetFormat:
    name = source.container
    if name == "checkpoint":
        return _out_of_checkpoint(source, plan, to)
    assert plan.output is not None
    if source.reformed and to in (None, OWN_FORM[name]):
        return TargetFormat(name, plan.output, source.reformed, reformed=to is not None)
    if to is None or to == OWN_FORM[name]:
        if name == "saved_model" and plan.verdict == "parallel":
            return TargetFormat(name, GraphCut(plan.output.model), findings=_of_a_cut(source, plan))
        return TargetFormat(name, plan.output)
    convert = _as_json if to == "json" else CONVERSIONS.get((name, to))
    if convert is None:
        raise Refused(
            "cannot-convert",
            f"{source.path}: cannot go --to {to}: a SavedModel is cut out of a SavedModel, never built; "
            "load the output of this file and export it",
        )
    return convert(source, plan)


def _of_a_cut(source: Source, plan: Plan) -> tuple[Finding, ...]:
    """What is said of a serving graph that was cut where the file has the Keras model without the wrapper as well."""
    model = planned_model(plan)
    if model.architecture is None:
        return ()
    try:
        _check_saved_model(source, plan, model)
    except Refused as e:
        return (Code.SERVES_ONLY(instead=f"the Keras model cannot be written: {e.message}"),)
    return (Code.SERVES_ONLY(instead="fix --to h5 writes the Keras model"),)


def _with_model(output: Output | None, model: Stored) -> Output:
    """The same tree of weights, rearranged where it is, with another model around it."""
    return output._replace(model=model) if isinstance(output, Rearranged) else Rewritten(model)


@contextmanager
def _naming_file(source: Source) -> Iterator[None]:
    """What is refused of a model is refused of its file."""
    try:
        yield
    except Refused as e:
        raise Refused(e.code, f"{source.path}: {e.message}") from e


def _complete(source: Source, plan: Plan) -> Stored:
    """Weights with the architecture that was given for them, as a model."""
    if plan.complete is None:
        raise Refused("needs-architecture", f"{source.path}: holds weights alone; pass --architecture MODEL.json")
    return plan.complete


def _check_convertible(plan: Plan) -> None:
    """Raises Refused where nobody can tell whose the weights are."""
    if plan.conversion_refusal is not None:
        raise Refused(plan.conversion_refusal.code, plan.conversion_refusal.message)


def _out_of_checkpoint(source: Source, plan: Plan, to: Target | None) -> TargetFormat:
    if to is None and plan.verdict == "clean":
        assert plan.output is not None
        return TargetFormat("checkpoint", plan.output)
    _check_convertible(plan)
    if to == "h5":
        complete = _complete(source, plan)
        _check_dtypes(source, complete)
        return TargetFormat("h5", in_hdf5(complete), ".h5", findings=left_of_checkpoint(source, complete))
    if to == "keras":
        complete = _complete(source, plan)._replace(optimizer=None)
        target = _model_as_keras(source, plan, complete)
        return target._replace(findings=left_of_checkpoint(source, target.model))
    if to not in (None, "weights"):
        raise Refused("cannot-write", f"{source.path}: holds weights alone; --to weights, h5 or keras can hold that")
    model = planned_model(plan)
    _check_dtypes(source, model)
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
    with _naming_file(source):
        lay_out(model)  # whatever has no place is refused before anything is written
    return model


def left_of_checkpoint(source: Source, model: Stored) -> tuple[Finding, ...]:
    """What of a checkpoint the output does not hold: the optimizer's state, or but its settings."""
    kept_refs = stored_refs(model.tensors)
    left_over = len(source.tensors) - len(kept_refs)
    findings = []
    if model.optimizer:
        findings.append(Code.NO_COMPILE())
    elif left_over > 0:
        where = "a file of weights" if model.contents == "weights" else "a model without compile settings"
        findings.append(Code.OPTIMIZER_DROPPED(why=f"{where} has no place for its {left_over} tensors"))
    return tuple(findings)


def _check_dtypes(source: Source, model: Stored) -> None:
    """Raises Refused for types that NumPy lacks: Keras notes those nowhere but in the weights of `.keras`."""
    for tensor in model.tensors:
        if tensor.dtype[:1] not in "<>|=":
            raise Refused("dtype", f"{source.path}: {tensor.name!r} is {tensor.dtype}, which no .h5 of Keras can hold")


def _saved_model_as_h5(source: Source, plan: Plan) -> TargetFormat:
    model = planned_model(plan)
    _check_saved_model(source, plan, model)
    return TargetFormat("h5", in_hdf5(model), ".h5")


def _saved_model_as_weights(source: Source, plan: Plan) -> TargetFormat:
    model = planned_model(plan)
    _check_saved_model(source, plan, model)
    weights = model._replace(contents="weights", architecture=None, training=None, optimizer=None)
    return TargetFormat("h5", in_hdf5(weights), ".weights.h5", findings=left_out(model, weights))


def check_readable(source: Source, plan: Plan, model: Stored) -> None:
    """Raises Refused where whose the weights are is in doubt, or their bytes are of no type that HDF5 has."""
    if source.container == "saved_model":
        _check_saved_model(source, plan, model)
    _check_convertible(plan)
    _check_dtypes(source, model)


def _check_saved_model(source: Source, plan: Plan, model: Stored) -> None:
    if model.architecture is None:
        raise Refused(
            "no-architecture", f"{source.path}: holds a graph and no Keras model; only --to saved_model can hold that"
        )
    _check_convertible(plan)
    if not any(g.tensors for g in model.groups) and plan.stored.parameters:
        raise Refused("no-weights", f"{source.path}: which layer owns which variable is not stored")
    _check_dtypes(source, model)


def _as_keras(source: Source, plan: Plan) -> TargetFormat:
    model = planned_model(plan)
    if source.container == "saved_model":
        _check_saved_model(source, plan, model)
    return _model_as_keras(source, plan, _complete(source, plan) if model.contents == "weights" else model)


def _model_as_keras(source: Source, plan: Plan, model: Stored) -> TargetFormat:
    if model.architecture is None or not is_model(model.architecture):
        raise Refused("no-architecture", f"{source.path}: a .keras needs the graph of layers, which is not stored")
    from unnest.core.keras_facts.config_forms import as_zipped
    from unnest.formats.keras3.path_layout import lay_out

    if not isinstance(plan.output, Rearranged):
        _check_dtypes(source, model)
    with _naming_file(source):
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
    from unnest.core.keras_facts.config_forms import as_h5
    from unnest.formats.keras3.path_layout import in_order
    from unnest.formats.keras3.path_tree import named_by_path

    _check_dtypes(source, model)
    with _naming_file(source):
        as_stored = as_h5(in_order(model))
    as_stored = as_stored._replace(groups=named_by_path(as_stored.groups))
    if as_stored.training is None:
        as_stored = as_stored._replace(optimizer=None)
    return TargetFormat("h5", in_hdf5(as_stored), ".h5", findings=left_out(model, as_stored))


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


def no_weights(source: Source) -> Refused:
    """Why an architecture alone goes into no container but JSON."""
    return Refused(
        "no-weights",
        f"{source.path}: holds an architecture and no weights; only --to json can hold that. If you have its weights, "
        f"run: unnest fix WEIGHTS.h5 --architecture {source.path}",
    )


def _no_weights(source: Source, plan: Plan) -> TargetFormat:  # noqa: ARG001 - all conversions have one signature
    raise no_weights(source)


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


def left_out(before: Stored, after: Stored) -> tuple[Finding, ...]:
    """Conversions that were asked for still say what they leave out."""
    parts = {
        "the architecture": before.architecture is not None and after.architecture is None,
        "the weights": bool(before.groups) and not after.groups,
        "the training settings": before.training is not None and after.training is None,
        "the optimizer state": before.optimizer is not None and after.optimizer is None,
    }
    missing = [name for name, is_gone in parts.items() if is_gone]
    return (Code.NOT_HELD(what=", ".join(missing)),) if missing else ()


#: (the source's container, --to) -> the conversion; any container goes to JSON, and none becomes a SavedModel.
CONVERSIONS: dict[tuple[ContainerName, Target], Callable[[Source, Plan], TargetFormat]] = {
    ("h5", "weights"): _as_weights,
    ("h5", "keras"): _as_keras,
    ("saved_model", "h5"): _saved_model_as_h5,
    ("saved_model", "weights"): _saved_model_as_weights,
    ("saved_model", "keras"): _as_keras,
    ("keras", "weights"): _as_path_keyed,
    ("keras", "h5"): _path_keyed_as_h5,
    ("weights_h5", "h5"): _path_keyed_as_h5,
    ("weights_h5", "keras"): _as_keras,
    ("json", "h5"): _no_weights,
    ("json", "weights"): _no_weights,
    ("json", "keras"): _no_weights,
}
