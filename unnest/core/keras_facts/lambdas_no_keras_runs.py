"""Lambda layers whose stored code no Keras runs, not even the one that wrote it.

Three kinds fail: functions of a library, which call what only that library has; code that uses a value which JSON
does not hold, an array or a tuple say, so that it comes back as something else; and functions with a keyword-only
parameter, whose default is not stored.

(Source: files of Keras 2.0.9 to 2.3.1 and TensorFlow 1.13 to 2.15, loaded by the stack that wrote each.)
"""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.architecture import layer_name
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.frontends.code_that_always_raises import argument_without_value, raises
from unnest.core.keras_facts.custom_functions_in_configs import is_library_code
from unnest.core.keras_facts.custom_objects_needed_to_load import lambda_globals
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import JsonObject, Stored

#: Names that nearly every program has, and can give.
CUSTOMARY_NAMES = frozenset({"K", "backend", "keras", "tf", "tensorflow", "np", "numpy"})
#: The first standalone Keras whose closures hold arrays as lists, not as what only `arguments` are read from again.
ARRAYS_IN_CLOSURES = (2, 2)


def failing_lambda(model: Stored) -> str | None:
    """Return the first Lambda whose stored code no Keras runs, with the reason; None without one."""
    for entry in layer_entries(model.architecture):
        if entry["class_name"] == "Lambda" and (reason := _why_code_fails(entry, model)):
            return f"the Lambda {layer_name(entry)!r}, {reason}"
    return None


def _why_code_fails(entry: JsonObject, model: Stored) -> str | None:
    """Return why no Keras runs a Lambda's stored code, in a relative clause; None if one does."""
    config = entry.get("config")
    function = config.get("function") if isinstance(config, Mapping) else None
    text, _, closure = function_parts(function)
    if text is None or not isinstance(config, Mapping):
        return None
    arguments = config.get("arguments")
    given = arguments if isinstance(arguments, Mapping) else {}
    if missing := argument_without_value(function, given):
        return f"whose code takes {missing!r} by keyword only, with a default that Keras does not store"
    if model.is_keras_3:  # it stores such values so that they come back
        return None
    if is_library_code(text) and (
        closure or not {*lambda_globals(entry, model)} <= CUSTOMARY_NAMES
    ):
        return "whose code is a library's own, and calls what only that library has"
    reads_arrays = not model.is_standalone or model.release >= ARRAYS_IN_CLOSURES
    if raises(function, given, reads_arrays=reads_arrays):
        return "whose code uses a value that JSON does not hold (a function, an array, a tuple, a number as a key)"
    return None
