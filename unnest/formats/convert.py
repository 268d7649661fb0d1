"""Which container a result goes into, and what that container cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Layer
from unnest.core.keras3.context import Conversion
from unnest.core.keras_facts.layer_classes import PLAIN, today
from unnest.core.keras_facts.weight_specs import expected, must_have
from unnest.core.model import GraphCut, JsonObject, Output, Plan, Rearranged, Rewritten, Stored, Tensor
from unnest.errors import Refused
from unnest.findings import Code, Finding
from unnest.formats.base import ContainerName, Source, Target


class Aim(NamedTuple):
    """A container, and what goes into it."""

    container: ContainerName
    output: Output
    #: The suffix of a default output; None where the source's own stays.
    suffix: str | None = None
    #: Whether it is another form of the source's own container: JSON out of YAML.
    reformed: bool = False
    lost: tuple[Finding, ...] = ()
    #: What rules changed on the way, with --keras 3.
    conversions: tuple[Conversion, ...] = ()

    @property
    def model(self) -> Stored:
        """The model as it goes in."""
        return self.output.model


#: What --to calls each container's own form.
OWN: dict[ContainerName, Target] = {
    "h5": "h5", "keras": "keras", "weights_h5": "weights", "saved_model": "saved_model", "json": "json",
}  # fmt: skip

#: Why a container cannot be written from another one's models.
WHY_NOT: dict[Target, str] = {
    "saved_model": "a SavedModel is cut out of a SavedModel, never built; load the output of this file and export it",
    "keras": "a .keras needs the architecture and the weights, and this file holds the one",
    "h5": "an .h5 of a model needs the architecture; pass --architecture MODEL.json",
    "weights": "the weights' layers are not stored",
    "json": "holds no architecture",
}


def planned_model(plan: Plan) -> Stored:
    """The model that a plan writes, in whatever container; what is refused has none, and is never asked."""
    assert plan.output is not None
    return plan.output.model


def aim(source: Source, plan: Plan, to: Target | None) -> Aim:
    """Where the output of a plan goes; `plan` is not refused. Raises Refused where it cannot go there."""
    goal = _aim(source, plan, to)
    if goal.output is not plan.output or plan.verdict == "parallel":
        for whole in (goal.model, plan.complete):
            _fed(source, whole)
    return goal


def _fed(source: Source, model: Stored | None) -> None:
    """Raises Refused where a layer would come without its weights, or with too few: Keras refuses, or adds noise."""
    if model is None or model.architecture is None or not is_model(model.architecture) or not model.groups:
        return
    layers = read(model.architecture).layers
    for group in (g for g in model.groups if g.name in layers):
        layer = layers[group.name]
        if not group.tensors and _must_have(layer.stored):
            raise Refused(
                "weights-missing",
                f"{source.path}: {group.name!r} would come without its weights, which are not in the file or not "
                "found; please report it if they are",
            )
        _check_whole(source, layer, group.tensors)


def _check_whole(source: Source, layer: Layer, tensors: Sequence[Tensor]) -> None:
    """Raises Refused where one of Keras's own layers, here or in a nested model, has too few of its weights."""
    if is_model(layer.stored):
        for name, inner in read(layer.stored).layers.items():
            own = [t._replace(owner=t.owner[1:]) for t in tensors if t.owner[:1] == (name,)]
            _check_whole(source, inner, own)
        return
    told = expected(layer.config) if today(layer.class_name) in PLAIN else None
    if told is not None and 0 < len(tensors) < told.total:
        raise Refused(
            "weights-missing",
            f"{source.path}: {layer.name!r} has {len(tensors)} of {told.total} weights; a weight is missing from the "
            "file: look for another copy",
        )


def _must_have(entry: JsonObject) -> bool:
    if not is_model(entry):
        return must_have(entry.get("config"))
    return any(_must_have(layer.stored) for layer in read(entry).layers.values())


def _aim(source: Source, plan: Plan, to: Target | None) -> Aim:
    name = source.container
    if name == "checkpoint":
        return _out_of_checkpoint(source, plan, to)
    assert plan.output is not None
    if source.reformed and to in (None, "json"):
        return Aim("json", plan.output, ".json", reformed=to is not None)
    if to is None or to == OWN[name]:
        is_cut = name == "saved_model" and plan.verdict == "parallel"
        return Aim(name, GraphCut(plan.output.model) if is_cut else plan.output)
    way = _as_json if to == "json" else WAYS.get((name, to))
    if way is None:
        raise Refused("cannot-convert", f"{source.path}: cannot go --to {to}: {WHY_NOT[to]}")
    goal = way(source, plan)
    if source.assets and goal.container != name:
        left = Code.NOT_HELD(what=f"the layers' own files ({', '.join(source.assets)})")
        goal = goal._replace(lost=(*goal.lost, left))
    return goal


def _with_model(output: Output | None, model: Stored) -> Output:
    """The same tree of weights, rearranged where it is, with another model around it."""
    return output._replace(model=model) if isinstance(output, Rearranged) else Rewritten(model)


@contextmanager
def _of(source: Source) -> Iterator[None]:
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


def _check_no_doubt(plan: Plan) -> None:
    """Raises Refused where nobody can tell whose the weights are."""
    if plan.doubt is not None:
        raise Refused(plan.doubt.code, plan.doubt.message)


def _out_of_checkpoint(source: Source, plan: Plan, to: Target | None) -> Aim:
    if to is None and plan.verdict == "clean":
        assert plan.output is not None
        return Aim("checkpoint", plan.output)
    _check_no_doubt(plan)
    if to == "h5":
        full = _complete(source, plan)
        _only_numpys(source, full)
        return Aim("h5", Rewritten(full), ".h5", lost=_left_of_checkpoint(source, full))
    if to == "keras":
        whole = _complete(source, plan)._replace(optimizer=None)
        goal = _model_as_keras(source, plan, whole)
        return goal._replace(lost=_left_of_checkpoint(source, goal.model))
    if to not in (None, "weights"):
        raise Refused("cannot-write", f"{source.path}: holds weights alone; --to weights, h5 or keras can hold that")
    model = planned_model(plan)
    _only_numpys(source, model)
    if any(not g.name for g in model.groups):
        raise Refused(
            "needs-architecture",
            f"{source.path}: which layer owns which variable is not stored; pass --architecture MODEL.json",
        )
    lost = _left_of_checkpoint(source, model)
    if plan.complete is not None and plan.complete.is_keras_3:
        return Aim("weights_h5", Rewritten(_laid_out(source, plan.complete)), ".weights.h5", lost=lost)
    return Aim("h5", Rewritten(model), ".weights.h5", lost=lost)


def _laid_out(source: Source, whole: Stored) -> Stored:
    """Weights as Keras 3 has them, which knows no others by their suffix; the architecture says where they go."""
    from unnest.formats.keras3.path_layout import lay_out

    version = whole.keras_version or "3.x"
    model = whole._replace(contents="weights", training=None, optimizer=None, keras_version=version)
    with _of(source):
        lay_out(model)  # whatever has no place is refused before anything is written
    return model


def _left_of_checkpoint(source: Source, model: Stored) -> tuple[Finding, ...]:
    """What of a checkpoint the output does not hold: the optimizer's state, or but its settings."""
    kept = {t.ref for g in model.groups for t in g.tensors} | {t.ref for t in model.optimizer or ()}
    left = len(source.everything) - len(kept)
    found = []
    if model.optimizer:
        found.append(Code.NO_COMPILE())
    elif left > 0:
        where = "a file of weights" if model.contents == "weights" else "a model without compile settings"
        found.append(Code.OPTIMIZER_DROPPED(why=f"{where} has no place for its {left} tensors"))
    return tuple(found)


def _only_numpys(source: Source, model: Stored) -> None:
    """HDF5 as Keras writes it knows NumPy's types alone."""
    for tensor in [t for g in model.groups for t in g.tensors] + list(model.optimizer or ()):
        if tensor.dtype[:1] not in "<>|=":
            raise Refused("dtype", f"{source.path}: {tensor.name!r} is {tensor.dtype}, which no .h5 of Keras can hold")


def _saved_model_as_h5(source: Source, plan: Plan) -> Aim:
    model = planned_model(plan)
    _check_saved_model(source, plan, model)
    return Aim("h5", Rewritten(model), ".h5")


def _saved_model_as_weights(source: Source, plan: Plan) -> Aim:
    model = planned_model(plan)
    _check_saved_model(source, plan, model)
    bare = model._replace(contents="weights", architecture=None, training=None, optimizer=None)
    return Aim("h5", Rewritten(bare), ".weights.h5", lost=left_out(model, bare))


def check_readable(source: Source, plan: Plan, model: Stored) -> None:
    """Raises Refused where whose the weights are is in doubt, or their bytes are of no type that HDF5 has."""
    if source.container == "saved_model":
        _check_saved_model(source, plan, model)
    _check_no_doubt(plan)
    _only_numpys(source, model)


def _check_saved_model(source: Source, plan: Plan, model: Stored) -> None:
    if model.architecture is None:
        raise Refused(
            "no-architecture", f"{source.path}: holds a graph and no Keras model; only --to saved_model can hold that"
        )
    _check_no_doubt(plan)
    if not any(g.tensors for g in model.groups) and plan.stored.parameters:
        raise Refused("no-weights", f"{source.path}: which layer owns which variable is not stored")
    _only_numpys(source, model)


def _as_keras(source: Source, plan: Plan) -> Aim:
    model = planned_model(plan)
    if source.container == "saved_model":
        _check_saved_model(source, plan, model)
    return _model_as_keras(source, plan, _complete(source, plan) if model.contents == "weights" else model)


def _model_as_keras(source: Source, plan: Plan, model: Stored) -> Aim:
    if model.architecture is None or not is_model(model.architecture):
        raise Refused("no-architecture", f"{source.path}: a .keras needs the graph of layers, which is not stored")
    from unnest.core.keras_facts.config_forms import as_zipped
    from unnest.formats.keras3.path_layout import lay_out

    _only_numpys(source, model)
    with _of(source):
        # JSON that was kept apart has the modules of Keras 3's and later Keras 2's classes already.
        apart = plan.complete is not None and "module" in model.architecture
        full = model._replace(backend=None, optimizer=None) if apart else as_zipped(model)
        output = _with_model(plan.output, full)
        if isinstance(output, Rewritten):
            lay_out(full)  # whatever has no place is refused before anything is written
    return Aim("keras", output, ".keras", lost=left_out(model, full))


def _path_keyed_as_h5(source: Source, plan: Plan) -> Aim:
    model = _complete(source, plan) if source.container == "weights_h5" else planned_model(plan)
    if model.architecture is None or not is_model(model.architecture):
        raise Refused("no-architecture", f"{source.path}: keeps its layers in code; only --to keras can hold that")
    from unnest.core.keras_facts.config_forms import as_h5
    from unnest.formats.keras3.path_layout import in_order
    from unnest.formats.keras3.path_tree import called_by_place

    with _of(source):
        full = as_h5(in_order(model))
    full = full._replace(groups=called_by_place(full.groups))
    if full.training is None:
        full = full._replace(optimizer=None)
    return Aim("h5", Rewritten(full), ".h5", lost=left_out(model, full))


def _as_json(source: Source, plan: Plan) -> Aim:
    model = planned_model(plan)
    if source.container == "json":
        return Aim("json", Rewritten(model))
    if model.architecture is None:
        raise Refused(
            "no-architecture", f"{source.path}: holds weights and no architecture, so there is no JSON to write"
        )
    architecture = model.architecture
    if "module" not in architecture:  # Keras 1 and 2 write their versions into the JSON, Keras 3 does not
        versions = {"keras_version": model.keras_version, "backend": model.backend}
        architecture = {**architecture, **{k: v for k, v in versions.items() if v is not None}}
    bare = model._replace(contents="architecture", architecture=architecture, training=None, groups=(), optimizer=None)
    return Aim("json", Rewritten(bare), ".json", lost=left_out(model, bare))


def _no_weights(source: Source, plan: Plan) -> Aim:  # noqa: ARG001 - all ways have one form
    raise Refused("no-weights", f"{source.path}: holds an architecture and no weights; only --to json can hold that")


def _as_path_keyed(source: Source, plan: Plan) -> Aim:  # noqa: ARG001 - all ways have one form
    model = planned_model(plan)
    bare = model._replace(contents="weights", architecture=None, training=None)
    return Aim("weights_h5", _with_model(plan.output, bare), ".weights.h5", lost=left_out(model, bare))


def _as_weights(source: Source, plan: Plan) -> Aim:  # noqa: ARG001 - all ways have one form
    model = planned_model(plan)
    if model.contents == "weights":
        return Aim("h5", Rewritten(model))
    bare = model._replace(contents="weights", architecture=None, training=None, optimizer=None)
    return Aim("h5", Rewritten(bare), None, lost=left_out(model, bare))


def left_out(before: Stored, after: Stored) -> tuple[Finding, ...]:
    """Conversions that were asked for still say what they leave out."""
    parts = {
        "the architecture": before.architecture is not None and after.architecture is None,
        "the weights": bool(before.groups) and not after.groups,
        "the training settings": before.training is not None and after.training is None,
        "the optimizer state": before.optimizer is not None and after.optimizer is None,
    }
    lost = [name for name, gone in parts.items() if gone]
    return (Code.NOT_HELD(what=", ".join(lost)),) if lost else ()


#: (the source's container, --to) -> the way there; all not listed are refused.
WAYS: dict[tuple[ContainerName, Target], Callable[[Source, Plan], Aim]] = {
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
}
