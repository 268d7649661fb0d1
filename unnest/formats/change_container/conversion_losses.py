"""Findings on the parts of a model that another container does not hold: of the file, the model before, and after."""

from __future__ import annotations

from unnest.core.keras3.derived_weights import stored_refs
from unnest.core.keras_facts.layers_without_adapted_state import layers_without_state
from unnest.core.keras_facts.optimizer_classes import is_legacy_optimizer, optimizer_class
from unnest.core.model import Stored
from unnest.findings import Code, Finding, listed
from unnest.formats.change_container.h5_keras_config_conversion import LOSS_SCALE
from unnest.formats.container_interface import ContainerName, Source

#: A file of words of a lookup layer, which its config holds where no layer's words are missing.
VOCABULARY_FILE = "/vocabulary.txt"


def dropped_parts(source: Source, before: Stored, after: Stored) -> tuple[Finding, ...]:
    """Report what a conversion leaves out, also if it was asked for."""
    del source
    parts = {
        "the architecture": before.architecture is not None and after.architecture is None,
        "the weights": bool(before.groups) and not after.groups,
        "the training settings": before.training is not None and after.training is None,
        "the optimizer state": before.optimizer is not None and after.optimizer is None,
    }
    missing = [name for name, is_gone in parts.items() if is_gone]
    if missing == ["the optimizer state"] and after.contents == "model":
        return (Code.OPTIMIZER_DROPPED(why="no Keras restores it without compile settings"),)
    return (Code.NOT_HELD(what=", ".join(missing)),) if missing else ()


def layer_losses(source: Source, container: ContainerName, model: Stored) -> tuple[Finding, ...]:
    """Report state of layers that is not a weight, and that is lost when a model is written anew."""
    if model.contents == "architecture":
        return ()
    names = layers_without_state(model.architecture, in_h5=container == "h5")
    files = [name for name in source.assets if names or not name.endswith(VOCABULARY_FILE)]
    if files:
        return (Code.NOT_HELD(what=f"the layers' own files ({', '.join(files)})"),)
    return (Code.NOT_ADAPTED(what=listed(names)),) if names else ()


def checkpoint_losses(source: Source, model: Stored, after: Stored) -> tuple[Finding, ...]:
    """Report what the output lacks of a checkpoint: the optimizer's state, or only its settings."""
    del after
    if model.optimizer:
        return (Code.NO_COMPILE(),)
    left_over = len(source.tensors) - len(stored_refs(model.tensors))
    if left_over <= 0:
        return ()
    where = (
        "a file of weights" if model.contents == "weights" else "a model without compile settings"
    )
    return (Code.OPTIMIZER_DROPPED(why=f"{where} has no place for its {left_over} tensors"),)


def not_restored(model: Stored) -> tuple[Finding, ...]:
    """Report state in an `.h5` that Keras does not restore (Source: files and loaders of Keras 2.15, tf_keras 2.21)."""
    is_scaling = optimizer_class(model.training) == LOSS_SCALE and not model.is_keras_3
    return (Code.STATE_NOT_RESTORED(),) if is_scaling and model.contents == "model" else ()


def never_held(source: Source, model: Stored, after: Stored) -> tuple[Finding, ...]:
    """Report state that a `.keras` never holds, which training in another container would miss."""
    del source, after
    if model.optimizer is None and is_legacy_optimizer(model.training):
        return (Code.STATE_NOT_STORED(),)
    return ()
