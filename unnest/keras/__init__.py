"""Parallel models for training, checkpoints of the template, and any old file in today's Keras.

    from unnest.keras import multi_gpu_model, make_parallel, template_model, ModelCheckpoint, balance
    from unnest.keras import load_model                  # what `unnest fix` would write, loaded in the running Keras
    from unnest.keras import load_weights                # any file's weights in the model that your code builds
    from unnest.keras.legacy import ModelCheckpoint      # tf_keras's, whatever tf.keras is

`load_model`, `load_weights`, `template_model` and `ModelCheckpoint` serve Keras 3 on TensorFlow, JAX and torch, and
load no other backend than the one in use; parallel models (towers) need TensorFlow. Where Keras runs on TensorFlow,
importing this package registers the layers of parallel models with every Keras that is installed, so that files of
them load.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from unnest.keras.keras_api import backend_in_use, installed_apis, keras_in_use, warning_if_outdated

if TYPE_CHECKING:
    from unnest.keras.balance_devices import balance
    from unnest.keras.build_parallel_model import make_parallel, multi_gpu_model
    from unnest.keras.find_template import template_model
    from unnest.keras.model_loading import load_model
    from unnest.keras.weight_loading import load_weights

    ModelCheckpoint: Any

_HOMES = {
    "load_model": "unnest.keras.model_loading",
    "load_weights": "unnest.keras.weight_loading",
    "template_model": "unnest.keras.find_template",
}
#: What makes towers, and so needs TensorFlow.
_TOWERS = {
    "balance": "unnest.keras.balance_devices",
    "make_parallel": "unnest.keras.build_parallel_model",
    "multi_gpu_model": "unnest.keras.build_parallel_model",
}


def _register() -> None:
    """Register the layers of parallel models with both Kerases; warn of versions that are too old."""
    from unnest.keras.parallel_model import layer_classes

    for api in installed_apis():
        category = ImportWarning if api != keras_in_use() else UserWarning
        try:
            layer_classes(api)
            if (why := warning_if_outdated(api)) is not None:
                warnings.warn(why, category, stacklevel=4)
        except ImportError as e:  # the other Keras may be the one in use
            warnings.warn(str(e), category, stacklevel=4)


if backend_in_use() == "tensorflow":
    if find_spec("tensorflow") is None:
        raise ImportError(
            "unnest.keras needs a backend: pip install tensorflow keras, or set KERAS_BACKEND to jax or torch"
        )
    _register()


def __getattr__(name: str) -> Any:
    """Load a name on use; `ModelCheckpoint` is that of the Keras in use when it is asked for."""
    if name == "ModelCheckpoint":
        from unnest.keras.model_checkpoint import model_checkpoint

        return model_checkpoint(keras_in_use())
    if name in _TOWERS and find_spec("tensorflow") is None:
        raise ImportError(
            f"unnest.keras.{name} makes towers, which need TensorFlow: pip install tensorflow; "
            "keras.distribution.DataParallel serves JAX, torch.nn.DataParallel serves torch"
        )
    home = _HOMES.get(name) or _TOWERS.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)


__all__ = [
    "ModelCheckpoint",
    "balance",
    "load_model",
    "load_weights",
    "make_parallel",
    "multi_gpu_model",
    "template_model",
]
