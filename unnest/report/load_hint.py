"""Where a written model loads, and the Python line that loads it."""

from __future__ import annotations

import re

from unnest.core.model import Stored
from unnest.core.stored_code import lambdas


def loads_in(model: Stored, path: str, container: str = "") -> tuple[str, ...]:
    """The software that takes the file as it is, most current first."""
    if container == "saved_model":
        return ("TensorFlow",)
    if container == "weights_h5" and model.keras_version is None:
        return ("the Keras that wrote it",)
    version = model.keras_version or ""
    if model.is_keras_3:
        return (
            ("keras 3, whose .h5 loader does not restore the optimizer",) if _untrained(model, path) else ("keras 3",)
        )
    if version.startswith("1."):
        return (f"Keras {version}",)
    # Keras 2.13 was the first that knew `.keras`.
    unknown = path.endswith(".keras") and tuple(int(n) for n in re.findall(r"\d+", version)[:2]) < (2, 13)
    return ("tf_keras (Keras 2)", *([f"Keras {version}, which wrote it"] if version and not unknown else []))


def load_line(model: Stored, path: str, container: str = "") -> str:
    """One line of Python; paths are quoted as Python quotes them."""
    if container == "saved_model":
        return f"import tensorflow as tf; model = tf.saved_model.load({path!r})"
    module = "keras" if model.is_keras_3 or (model.keras_version or "").startswith("1.") else "tf_keras"
    if model.contents == "architecture":
        return f"import {module}; model = {module}.models.model_from_json(open({path!r}).read())"
    if model.contents == "weights":
        # Since Keras 2.13 the name alone decides that such a file is path-keyed.
        misnamed = container == "h5" and path.endswith(".weights.h5")
        rename = "; from Keras 2.13 on, name it *.h5 without .weights" if misnamed else ""
        return f"model.load_weights({path!r})  # model: the template, built by your code{rename}"
    guarded = model.is_keras_3 or path.endswith(".keras")
    names = lambdas(model.architecture) if guarded else ()
    safe = ", safe_mode=False" if names else ""
    trusts = f"  # runs the code stored in {', '.join(names)}: only if you trust it" if names else ""
    fresh = ", compile=False" if _untrained(model, path) else ""
    return f"import {module}; model = {module}.models.load_model({path!r}{safe}{fresh}){trusts}"


def _untrained(model: Stored, path: str) -> bool:
    """Keras 3 (seen with 3.15) fails on losses by name in its own .h5, and loads no optimizer state from one."""
    return model.is_keras_3 and path.endswith((".h5", ".hdf5")) and model.training is not None
