"""The template as it would be, had it been trained itself: with the run's optimizer and compile settings.

A twin is an object of the template's own class that shares all it has, layers and variables, and
differs in what `compile` sets. Saving the twin writes what saving the compiled template would write, class,
layer order and names included, and touches neither the template nor the running model. Building a new model from
the template's tensors instead would lose the class, call a Sequential's layers once more, and count their nodes up.
"""

from __future__ import annotations

import weakref
from typing import Any

import tensorflow as tf

from unnest.keras.keras_api import Kit, Model
from unnest.keras.parallel_model import is_parallel
from unnest.keras.private_names import COMPILED


def trained(kit: Kit, template: Model, running: Model) -> Model:
    """A twin of `template` with the compile settings and optimizer of `running`; for saving only."""
    twin = object.__new__(type(template))
    twin.__dict__.update(template.__dict__)
    for name in COMPILED[kit.name]:
        if name in running.__dict__:
            twin.__dict__[name] = running.__dict__[name]
    if kit.name == "keras":
        _settings_of_keras(twin, running)
    else:
        _dependencies_of_tf_keras(twin, running)
    return twin


def _settings_of_keras(twin: Model, running: Model) -> None:
    """`jit_compile` of a parallel model is always off; the template's is for Keras to choose again."""
    settings = running.__dict__.get("_compile_config")
    if settings is not None and is_parallel(running):
        twin.__dict__["_compile_config"] = type(settings)(**{**settings.config, "jit_compile": "auto"})


def _dependencies_of_tf_keras(twin: Model, running: Model) -> None:
    """TensorFlow's checkpoints follow objects by name: the optimizer must be among the twin's own."""
    names = "_self_unconditional_dependency_names"
    listed = "_self_unconditional_checkpoint_dependencies"
    own_names: dict[str, Any] = dict(getattr(twin, names, {}))
    own_list: list[Any] = [ref for ref in getattr(twin, listed, []) if ref.name != "optimizer"]
    theirs = [ref for ref in getattr(running, listed, []) if ref.name == "optimizer"]
    own_list += theirs
    own_names.update({ref.name: ref.ref for ref in theirs})
    twin.__dict__[names], twin.__dict__[listed] = own_names, own_list
    twin.__dict__["_checkpoint"] = tf.train.Checkpoint(root=weakref.ref(twin))


def shares_optimizer(template: Model, running: Model) -> bool:
    """Whether the running model trains the template's weights, those alone, in the same order."""
    ours, theirs = ([id(v) for v in model.trainable_variables] for model in (template, running))
    return ours == theirs
