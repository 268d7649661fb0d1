"""tf_keras's `ModelCheckpoint`, whatever `tf.keras` is in this process."""

from __future__ import annotations

from typing import Any

from unnest.keras.checkpoint import model_checkpoint
from unnest.keras.kits import TF_KERAS

try:
    import tf_keras as _tf_keras
except ImportError as missing:
    raise ImportError("unnest.keras.legacy needs tf_keras: pip install 'unnest[tensorflow]'") from missing

ModelCheckpoint: Any = model_checkpoint(TF_KERAS)

__all__ = ["ModelCheckpoint"]
del _tf_keras
