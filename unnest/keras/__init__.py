"""Parallel models for training, and checkpoints of the template. Needs the `tensorflow` extra.

    from unnest.keras import multi_gpu_model, make_parallel, template_model, ModelCheckpoint, balance
    from unnest.keras import load_model                  # what `unnest fix` would write, loaded in the running Keras
    from unnest.keras.legacy import ModelCheckpoint      # tf_keras's, whatever tf.keras is

Importing this package registers the layers of parallel models with every Keras that is installed,
so that files of them load.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if find_spec("tensorflow") is None:
    raise ImportError("unnest.keras needs TensorFlow: pip install 'unnest[tensorflow]'")

from unnest.keras.balancing import balance
from unnest.keras.build import make_parallel, multi_gpu_model
from unnest.keras.keras_api import installed, outdated, running
from unnest.keras.load import load_model
from unnest.keras.load_weights import load_weights
from unnest.keras.parallel_model import layer_classes
from unnest.keras.template import template_model

if TYPE_CHECKING:
    ModelCheckpoint: Any

for _api in installed():
    _category = ImportWarning if _api != running() else UserWarning
    try:
        layer_classes(_api)
        if (_why := outdated(_api)) is not None:
            warnings.warn(_why, _category, stacklevel=2)
    except ImportError as e:  # the other Keras may be the one in use
        warnings.warn(str(e), _category, stacklevel=2)


def __getattr__(name: str) -> Any:
    """`ModelCheckpoint`, of the Keras that `tf.keras` is when it is asked for."""
    if name == "ModelCheckpoint":
        from unnest.keras.checkpoint import model_checkpoint

        return model_checkpoint(running())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ModelCheckpoint",
    "balance",
    "load_model",
    "load_weights",
    "make_parallel",
    "multi_gpu_model",
    "template_model",
]
