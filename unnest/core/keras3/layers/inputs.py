"""InputLayer."""

from __future__ import annotations

from collections.abc import Sequence

from unnest.core.keras3 import config_values
from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.pieces import Config, NewLayer, Piece, Weights


def input_layer(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """InputLayer, with the shape and dtype of whichever release. Raises CannotConvert for sparse and ragged inputs."""
    del kind, weights
    shape = config.get("batch_input_shape", config.get("batch_shape"))
    if shape is None and isinstance(config.get("input_shape"), Sequence):
        shape = [config.get("batch_size"), *config["input_shape"]]  # type: ignore[misc]  # a sequence, as asked
    dtype = config_values.dtype(config.get("dtype", config.get("input_dtype")), name, context) or "float32"
    for key, meant in (("sparse", False), ("ragged", False)):
        if config.get(key) not in (None, meant):
            raise refused(name, "InputLayer", f"Keras 3 takes no {key} input here")
    if not isinstance(shape, Sequence):
        raise refused(name, "InputLayer", "its shape is not stored")
    return NewLayer(name, "InputLayer", {"batch_shape": list(shape), "dtype": dtype, "sparse": False, "name": name})
