"""Which container a result goes into, and what that container cannot hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unnest.containers.interface import ContainerName, Source, Target
from unnest.core.model import Stored
from unnest.errors import Refused
from unnest.findings import Code, Finding


@dataclass(frozen=True, slots=True)
class Aim:
    """A container, and the model as it goes in."""

    container: ContainerName
    model: Stored
    #: The suffix of a default output; None where the source's own stays.
    suffix: str | None = None
    lost: tuple[Finding, ...] = ()


#: What --to calls each container's own form.
OWN: dict[ContainerName, Target] = {
    "h5": "h5", "keras": "keras", "weights_h5": "weights", "saved_model": "saved_model", "json": "json",
}  # fmt: skip

#: Why a container cannot be written from another one's models.
WHY_NOT: dict[Target, str] = {
    "saved_model": "a SavedModel is cut out of a SavedModel, never built; load the output of this file and export it",
    "keras": "the paths in a .keras come from layer objects, which are not in this file; load its output and save it",
    "h5": "an .h5 names its weights, which this file does not; load its output and save it",
    "weights": "the weights' layers are not stored",
    "json": "holds no architecture",
}


def aim(source: Source, model: Stored, to: Target | None) -> Aim:
    """Where `model` goes. Raises Refused where it cannot go there."""
    name = source.container
    if name == "checkpoint":
        return _out_of_checkpoint(source, model, to)
    if to is None or to == OWN[name]:
        return Aim(name, model)
    if to == "json":
        return _as_json(source, model)
    if name == "json" and to in ("h5", "weights"):
        raise Refused(
            "no-weights", f"{source.path}: holds an architecture and no weights; only --to json can hold that"
        )
    if to == "weights" and name == "h5":
        return _as_weights(model)
    if to == "weights" and name == "keras":
        bare = replace(model, contents="weights", architecture=None, training=None)
        return Aim("weights_h5", bare, ".weights.h5", _lost(model, bare))
    if to in ("h5", "weights") and name == "saved_model":
        return _out_of_saved_model(source, model, to)
    raise Refused("cannot-convert", f"{source.path}: cannot go --to {to}: {WHY_NOT[to]}")


def _out_of_checkpoint(source: Source, model: Stored, to: Target | None) -> Aim:
    if to is None and model is source.stored:
        return Aim("checkpoint", model)
    if to not in (None, "weights"):
        raise Refused("cannot-write", f"{source.path}: holds weights alone; only --to weights can hold that")
    _only_numpys(source, model)
    if any(not g.name for g in model.groups):
        raise Refused(
            "needs-architecture",
            f"{source.path}: which layer owns which variable is not stored; pass --architecture MODEL.json",
        )
    return Aim("h5", model, ".weights.h5")


def _only_numpys(source: Source, model: Stored) -> None:
    """HDF5 as Keras writes it knows NumPy's types alone."""
    for tensor in [t for g in model.groups for t in g.tensors] + list(model.optimizer or ()):
        if tensor.dtype[:1] not in "<>|=":
            raise Refused("dtype", f"{source.path}: {tensor.name!r} is {tensor.dtype}, which no .h5 of Keras can hold")


def _out_of_saved_model(source: Source, model: Stored, to: Target) -> Aim:
    if model.architecture is None:
        raise Refused(
            "no-architecture", f"{source.path}: holds a graph and no Keras model; only --to saved_model can hold that"
        )
    if not any(g.tensors for g in model.groups) and source.stored.parameters:
        raise Refused("no-weights", f"{source.path}: which layer owns which variable is not stored")
    _only_numpys(source, model)
    if to == "h5":
        return Aim("h5", model, ".h5")
    bare = replace(model, contents="weights", architecture=None, training=None, optimizer=None)
    return Aim("h5", bare, ".weights.h5", _lost(model, bare))


def _as_json(source: Source, model: Stored) -> Aim:
    if source.container == "json":
        return Aim("json", model)
    if model.architecture is None:
        raise Refused(
            "no-architecture", f"{source.path}: holds weights and no architecture, so there is no JSON to write"
        )
    architecture = model.architecture
    if "module" not in architecture:  # Keras 1 and 2 write their versions into the JSON, Keras 3 does not
        versions = {"keras_version": model.keras_version, "backend": model.backend}
        architecture = {**architecture, **{k: v for k, v in versions.items() if v is not None}}
    bare = replace(model, contents="architecture", architecture=architecture, training=None, groups=(), optimizer=None)
    return Aim("json", bare, ".json", _lost(model, bare))


def _as_weights(model: Stored) -> Aim:
    if model.contents == "weights":
        return Aim("h5", model)
    bare = replace(model, contents="weights", architecture=None, training=None, optimizer=None)
    return Aim("h5", bare, None, _lost(model, bare))


def _lost(before: Stored, after: Stored) -> tuple[Finding, ...]:
    """Conversions that were asked for still say what they leave out."""
    parts = {
        "the architecture": before.architecture is not None and after.architecture is None,
        "the weights": bool(before.groups) and not after.groups,
        "the training settings": before.training is not None and after.training is None,
        "the optimizer state": before.optimizer is not None and after.optimizer is None,
    }
    lost = [name for name, gone in parts.items() if gone]
    return (Code.NOT_HELD(what=", ".join(lost)),) if lost else ()
