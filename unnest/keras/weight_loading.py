"""`load_weights`: the caller's model with the weights of any file that `unnest fix` reads."""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import TYPE_CHECKING

import unnest
from unnest.keras.describe_built_model import target_model
from unnest.keras.keras_api import Model

if TYPE_CHECKING:
    from unnest.options import Architecture

#: What Keras warns of where a file holds no optimizer state: the result's findings say so, and why.
NO_STATE = "Skipping variable loading for optimizer"


def load_weights(
    model: Model, path: str | os.PathLike[str], *, architecture: Architecture = None
) -> None:
    """Set every weight of `model`, a built model of Keras 3 or tf_keras, from a file of Keras 1, 2 or 3.

    `path` is anything that `unnest fix` reads: `.h5`, `.weights.h5`, `.keras`, a checkpoint's prefix, a SavedModel, a
    URL; of a parallel model the template's weights are taken. Layers are found by structure: the file's graph must
    compute what `model` computes. Weights alone are placed by the order of layers, their shapes, and the names in the
    file, which may differ by Keras's numbers. What another Keras stores otherwise is converted.
    The optimizer's state is set where `model` is compiled with the optimizer of the file.

    `architecture` is for weights alone: the JSON of the model that was saved, or of its template (a path or the parsed
    object). What the report would say comes as warnings.

    Raises:
        ValueError: the file cannot be read, a weight would stay unset, or more than one placement is possible; one
            line says which layer. `model` is unchanged then.
        TypeError: `model` is not a model of Keras 3 or tf_keras.

    """
    target = target_model(model)
    with tempfile.TemporaryDirectory(prefix="unnest-") as folder:
        output = os.path.join(folder, "model.weights.h5")
        result = unnest.fix(path, output, like=target, architecture=architecture)
        result.raise_for_error()
        for finding in result.findings:
            if finding.severity == "warning":
                warnings.warn(f"{finding.message} [{finding.code}]; {finding.hint}", stacklevel=2)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=NO_STATE)
            model.load_weights(output)
