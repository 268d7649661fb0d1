"""tf_keras's `ModelCheckpoint`, whatever `tf.keras` is in this process."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from unnest.keras.keras_api import TF_KERAS
from unnest.keras.model_checkpoint import model_checkpoint

if find_spec("tf_keras") is None:
    raise ImportError("unnest.keras.legacy needs tf_keras: pip install tensorflow tf_keras")

ModelCheckpoint: Any = model_checkpoint(TF_KERAS)

__all__ = ["ModelCheckpoint"]
