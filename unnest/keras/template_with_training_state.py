"""The template as it would be, had it been trained itself: with the run's optimizer and compile settings.

The copy is an object of the template's own class that shares all it has, layers and variables, and
differs in what `compile` sets. Saving it writes what saving the compiled template would write, class,
layer order and names included, and touches neither the template nor the running model. Building a new model from
the template's tensors instead would lose the class, call a Sequential's layers once more, and count their nodes up.
"""

from __future__ import annotations

import weakref
from importlib import import_module
from typing import Any

from unnest.keras.keras_api import KerasApi, Model, is_parallel
from unnest.keras.private_name_check import COMPILED


def with_training_state(api: KerasApi, template: Model, running: Model) -> Model:
    """Return a copy of `template` with the compile settings and optimizer of `running`; for saving only."""
    copy = object.__new__(type(template))
    copy.__dict__.update(template.__dict__)
    for name in COMPILED[api.name]:
        if name in running.__dict__:
            copy.__dict__[name] = running.__dict__[name]
    if api.name == "keras":
        _settings_of_keras(copy, running)
    else:
        _dependencies_of_tf_keras(copy, running)
    return copy


def _settings_of_keras(copy: Model, running: Model) -> None:
    """Reset `jit_compile`, which a parallel model switches off, for Keras to choose again."""
    settings = running.__dict__.get("_compile_config")
    if settings is not None and is_parallel(running):
        copy.__dict__["_compile_config"] = type(settings)(
            **{**settings.config, "jit_compile": "auto"}
        )


def _dependencies_of_tf_keras(copy: Model, running: Model) -> None:
    """Make the optimizer an attribute of the copy: TensorFlow's checkpoints follow objects by name."""
    names_attribute = "_self_unconditional_dependency_names"
    list_attribute = "_self_unconditional_checkpoint_dependencies"
    names: dict[str, Any] = dict(getattr(copy, names_attribute, {}))
    references: list[Any] = [
        ref for ref in getattr(copy, list_attribute, []) if ref.name != "optimizer"
    ]
    optimizer_references = [
        ref for ref in getattr(running, list_attribute, []) if ref.name == "optimizer"
    ]
    references += optimizer_references
    names.update({ref.name: ref.ref for ref in optimizer_references})
    copy.__dict__[names_attribute], copy.__dict__[list_attribute] = names, references
    copy.__dict__["_checkpoint"] = import_module("tensorflow").train.Checkpoint(
        root=weakref.ref(copy)
    )


def shares_optimizer(template: Model, running: Model) -> bool:
    """Return True if the running model trains the template's weights, those alone, in the same order."""
    ours, theirs = ([id(v) for v in model.trainable_variables] for model in (template, running))
    return ours == theirs
