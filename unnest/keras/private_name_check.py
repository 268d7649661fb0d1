"""The private names of both Kerases that this package uses, in one place, and whether the running versions have them.

A name is there where a class has it, or where its methods mention it: what `__init__` or `compile` set is on objects
only, and making one to look would start TensorFlow.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from types import CodeType
from typing import Any

KNOWN_VERSIONS = {"keras": "Keras 3.12 to 3.15", "tf_keras": "tf_keras 2.18 to 2.21"}
"""The versions that have all of these names. docs/versions.md says what works with older ones."""

OLDEST = {"keras": (3, 12), "tf_keras": (2, 18)}
"""The oldest versions that training is tested with, those that the extra `tensorflow` asks for."""

NOT_IN_ALL = ("_compiled_trainable_state",)
"""Set by `compile` in some of the known versions."""

COMPILED = {
    "keras": (
        *(
            "optimizer",
            "loss",
            "compiled",
            "steps_per_execution",
            "train_function",
            "test_function",
        ),
        *(
            "predict_function",
            "_compile_loss",
            "_compile_metrics",
            "_loss_tracker",
            "_compile_config",
        ),
        *("_jit_compile", "_run_eagerly", *NOT_IN_ALL),
    ),
    "tf_keras": (
        *(
            "optimizer",
            "loss",
            "compiled_loss",
            "compiled_metrics",
            "_is_compiled",
            "_compile_config",
        ),
        *("_run_eagerly", "_steps_per_execution", "_jit_compile"),
    ),
}
"""What `compile` sets on a model, per Keras (source: its assignments)."""

NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "keras": {
        "keras.src.layers.layer.Layer": (
            *(
                "_flatten_layers",
                "_losses",
                "_clear_losses",
                "_non_trainable_variables",
                "_inbound_nodes",
            ),
        ),
        "keras.src.models.functional.Functional": (
            "_standardize_inputs",
            "_inputs_struct",
            "_outputs_struct",
        ),
        "keras.src.models.sequential.Sequential": ("_functional",),
        "keras.src.models.model.Model": (*COMPILED["keras"], "_unpickle_model"),
        "keras.src.callbacks.callback.Callback": ("_model",),
        "keras.src.callbacks.model_checkpoint.ModelCheckpoint": (
            "_save_model",
            "monitor_op",
            "best",
        ),
    },
    "tf_keras": {
        "tf_keras.src.engine.base_layer.Layer": (
            *(
                "_flatten_layers",
                "_eager_losses",
                "_clear_losses",
                "_non_trainable_weights",
                "_inbound_nodes",
            ),
        ),
        "tf_keras.src.engine.functional.Functional": (
            *(
                "_flatten_to_reference_inputs",
                "_conform_to_reference_input",
                "_nested_inputs",
                "_nested_outputs",
            ),
        ),
        "tf_keras.src.engine.training.Model": COMPILED["tf_keras"],
        "tf_keras.src.callbacks.ModelCheckpoint": ("_save_model", "monitor_op", "best"),
        "tensorflow.python.trackable.base.Trackable": (
            *(
                "_self_unconditional_checkpoint_dependencies",
                "_self_unconditional_dependency_names",
            ),
        ),
    },
}
"""By Keras and class."""


def missing_names(keras: str) -> list[str]:
    """Return the names, as `Class.name`, that the installed `keras` or `tf_keras` lacks."""
    missing = []
    for path, names in NAMES[keras].items():
        module, _, name = path.rpartition(".")
        try:
            cls = getattr(import_module(module), name)
        except (ImportError, AttributeError):
            missing.append(path)
            continue
        mentioned = set(_mentioned(cls))
        needed = (each for each in names if each not in NOT_IN_ALL)
        missing += [
            f"{name}.{each}" for each in needed if not hasattr(cls, each) and each not in mentioned
        ]
    return missing


def _mentioned(cls: type) -> Iterator[str]:
    """Yield the names that the methods of a class, inherited ones included, use."""
    for each in cls.__mro__:
        for value in vars(each).values():
            function = (
                value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            )
            code = (
                getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
            )
            if isinstance(code, CodeType):
                yield from _names(code)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    constants: tuple[Any, ...] = code.co_consts
    for inner in constants:
        if isinstance(inner, CodeType):
            yield from _names(inner)
