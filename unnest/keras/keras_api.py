"""The two Kerases behind one face. Everything that differs between them, and all their weak types, is here.

A KerasApi knows one Keras: which models are its own, where it keeps a model's input and
output structure, the losses that layers add while they run, and what `compile` sets.
Nothing else in this package asks which Keras it serves.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TypeAlias

from unnest.keras import private_name_check

Model: TypeAlias = Any
"""A model of either Keras. Neither ships types."""

RuntimeTensor: TypeAlias = Any

TENSORFLOW_ONLY = (
    "towers need the TensorFlow backend, this is Keras on {backend}: "
    "keras.distribution.DataParallel serves JAX, torch.nn.DataParallel serves torch"
)


@dataclass(frozen=True)
class KerasApi:
    """One of the two Kerases, by the name of its module: `keras` or `tf_keras`."""

    name: str

    @property
    def keras(self) -> Any:
        """Return the Keras module that is in use."""
        return import_module(self.name)

    def owns(self, model: object) -> bool:
        """Return True if `model` is a model of this Keras; False without importing it if it was never imported."""
        module = sys.modules.get(self.name)
        return module is not None and isinstance(model, module.Model)

    @property
    def backend(self) -> str:
        """`tensorflow`, `jax`, `torch` or `numpy`."""
        backend: str = self.keras.config.backend() if self.name == "keras" else "tensorflow"
        return backend

    # -- structure ---------------------------------------------------------------

    def pack_inputs(self, model: Model, flat: list[RuntimeTensor]) -> Any:
        """Return tensors in the order of `model.inputs` in the structure that `model` is called with."""
        return _tensorflow().nest.pack_sequence_as(self._structure(model, "inputs"), flat)

    def pack_outputs(self, model: Model, flat: list[RuntimeTensor]) -> Any:
        """Return tensors in the order of `model.outputs` in the structure that a call of `model` returns."""
        return _tensorflow().nest.pack_sequence_as(self._structure(model, "outputs"), flat)

    def _structure(self, model: Model, side: str) -> Any:
        """Return the structure in which a model takes its inputs, or returns its outputs."""
        # Keras 3 keeps it as _inputs_struct (a Sequential in the Functional inside it), tf_keras as
        # _nested_inputs. Keras 3 returns an only output bare, whatever list it was declared in.
        inner = getattr(model, "_functional", None) or model
        structure = getattr(inner, f"_{side}_struct", None)
        if structure is None:
            structure = getattr(inner, f"_nested_{side}", None)
        if structure is None:
            structure = getattr(model, side)
        return (
            structure[0]
            if isinstance(structure, (list, tuple)) and len(structure) == 1
            else structure
        )

    # -- losses that layers add while they run -----------------------------------

    def added_losses(self, model: Model) -> Iterator[list[RuntimeTensor]]:
        """Yield the live list of added losses of every layer in `model`, itself included."""
        attribute = "_losses" if self.name == "keras" else "_eager_losses"
        for layer in model._flatten_layers():
            yield getattr(layer, attribute)

    def exporting(self) -> bool:
        """Return True while tracing for a SavedModel: of `export`, of `tf.saved_model.save`, or of tf_keras."""
        if (
            _EXPORTING.get()
            or import_module("tensorflow.python.saved_model.save_context").in_save_context()
        ):
            return True
        if self.name == "keras":
            return False
        scope = import_module("tf_keras.src.saving.legacy.saved_model.utils")
        return bool(scope.in_tf_saved_model_scope())

    # -- state ---------------------------------------------------------------------

    def state(self, model: Model) -> list[Any]:
        """Return the variables that a training call of `model` may write: moving statistics and the like.

        Frozen weights are not among them, nor are the seeds of random layers.
        """
        return list(
            {id(v): v for layer in model._flatten_layers() for v in self.state_of(layer)}.values()
        )

    def state_of(self, layer: Model) -> list[Any]:
        """Return the untrained variables of one layer, without those of layers in it."""
        attribute = "_non_trainable_variables" if self.name == "keras" else "_non_trainable_weights"
        # tf_keras lists the tables of lookup layers, too, which no call writes.
        variables = getattr(layer, attribute, ())
        return [
            v for v in variables if self.name == "keras" or isinstance(v, _tensorflow().Variable)
        ]


@contextmanager
def mark_export() -> Iterator[None]:
    """Mark what is traced in the block as traced for a SavedModel."""
    token = _EXPORTING.set(True)
    try:
        yield
    finally:
        _EXPORTING.reset(token)


_EXPORTING = ContextVar("exporting", default=False)

KERAS = KerasApi("keras")
TF_KERAS = KerasApi("tf_keras")


def api_of(model: object) -> KerasApi:
    """Return the API of the Keras that `model` belongs to. Raises TypeError if it belongs to neither."""
    for api in (KERAS, TF_KERAS):
        if api.owns(model):
            return api
    raise TypeError(
        f"a Keras model is needed, of Keras 3 or tf_keras; this is a {type(model).__qualname__}"
    )


def _tensorflow() -> Any:
    import tensorflow as tf  # a call of import_module would be converted by AutoGraph, with a warning

    return tf


def backend_in_use() -> str:
    """Return the backend that Keras 3 has in this process, or would have: `tensorflow`, `jax`, `torch` or `numpy`.

    Nothing is loaded for it. (Source: keras/src/backend/config.py of Keras 3.15.)
    """
    keras = sys.modules.get("keras")
    if keras is not None and hasattr(keras, "config"):
        return str(keras.config.backend())
    if "KERAS_BACKEND" in os.environ:
        return os.environ["KERAS_BACKEND"] or "tensorflow"
    home = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    try:
        with open(os.path.join(home, "keras.json"), encoding="utf-8") as file:
            return str(json.load(file).get("backend", "tensorflow"))
    except (OSError, ValueError, AttributeError):
        return "tensorflow"


def keras_in_use() -> KerasApi:
    """Return the API of the Keras in use: on TensorFlow the one that `tf.keras` is, on other backends Keras 3."""
    if backend_in_use() != "tensorflow":
        return KERAS
    # tf_keras's module has no version where it stands in for tf.keras.
    version = getattr(_tensorflow().keras, "__version__", "2")
    return KERAS if version.startswith("3") else TF_KERAS


def installed_apis() -> Iterator[KerasApi]:
    """Yield the APIs that can be imported here."""
    for api in (KERAS, TF_KERAS):
        module: ModuleType | None = sys.modules.get(api.name)
        if module is not None or find_spec(api.name) is not None:
            yield api


def check_private_names(api: KerasApi) -> None:
    """Raise ImportError, in one line, for a version of this Keras that has not got the private names we use."""
    missing = private_name_check.missing_names(api.name)
    if missing:
        raise ImportError(
            f"unnest.keras does not know this {api.name} {api.keras.__version__}: it has no {', '.join(missing)}; "
            f"{private_name_check.KNOWN_VERSIONS[api.name]} are known to work"
        )


def warning_if_outdated(api: KerasApi) -> str | None:
    """Return one line on a version older than training is tested with; else None."""
    version, oldest = str(api.keras.__version__), private_name_check.OLDEST[api.name]
    if tuple(int(part) for part in version.split(".")[:2]) >= oldest:
        return None
    asked = ".".join(map(str, oldest))
    return (
        f"unnest.keras is tested with {api.name} {asked} and later, this is {version}, with which some of it fails "
        f"(docs/versions.md): pip install '{api.name}>={asked}'"
    )


def as_number(variable: Any) -> Any:
    """Return the value of a scalar variable, replicated or not, as NumPy has it."""
    is_keras_3 = hasattr(variable, "value") and not callable(variable.value)
    if is_keras_3 and backend_in_use() != "tensorflow":
        return KERAS.keras.ops.convert_to_numpy(variable)
    return _tensorflow().convert_to_tensor(variable)


def is_parallel(model: object) -> bool:
    """Return whether `model` is a ParallelModel of either Keras."""
    return (
        type(model).__name__ == "ParallelModel"
        and type(model).__module__ == "unnest.keras.parallel_model"
    )


def is_model(thing: object) -> bool:
    """Return True for a model of Keras 3 or tf_keras."""
    return any(api.owns(thing) for api in (KERAS, TF_KERAS))


STEP_METHODS = (
    *("train_step", "test_step", "predict_step", "compute_loss", "compute_metrics"),
    *("make_train_function", "make_test_function", "make_predict_function"),
)
"""The methods of a model that `fit`, `evaluate` and `predict` call, and that people override."""


def overridden_step(api: KerasApi, model: Model) -> str | None:
    """Return the first of STEP_METHODS that a custom class defines for `model`; None if all are Keras's own."""
    not_keras = [
        c for c in type(model).__mro__ if not c.__module__.startswith((f"{api.name}.", "builtins"))
    ]
    return next((name for name in STEP_METHODS if any(name in vars(c) for c in not_keras)), None)
