"""Reasons why tf_keras does not load a model's file: facts of tf_keras 2.21.

A reason says that it does not load for certain; for Keras 3, `loading_in_keras_3`.
"""

from __future__ import annotations

from unnest.budget import memoize
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.json_tree import LEAVES, OBJECT, is_object
from unnest.core.keras_facts.custom_objects_needed_to_load import (
    PYTHON_OF_TODAY,
    is_namesake_entry,
    needs,
)
from unnest.core.keras_facts.layers_without_adapted_state import layers_without_state
from unnest.core.keras_facts.stored_class_names import is_keras_entry
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import JsonObject, Stored

WRITTEN_BY_KERAS_3 = "it is of Keras 3"

#: The first Keras that writes `.keras`; and the first whose `.keras` has the paths of today.
ARCHIVES, PATHS_OF_TODAY = (2, 12), (2, 14)

#: How Keras 2 stored an array among a layer's arguments.
ARRAY = {"type", "value"}


def has_paths_of_keras_2_12(model: Stored, container: str) -> bool:
    """Return True if weights, or what `adapt` found, lie where Keras 2.12 to 2.14 alone look for them."""
    first = next((t.ref for g in model.groups for t in g.tensors), None)
    if first is None:  # what adapt() found lies under the same paths
        has_state = bool(layers_without_state(model.architecture, in_h5=False))
        return container == "keras" and ARCHIVES <= model.release < PATHS_OF_TODAY and has_state
    return container in ("keras", "weights_h5") and first.startswith(
        "_layer_checkpoint_dependencies"
    )


def state_under_paths_of_keras_2_12(model: Stored) -> str:
    """Return what lies where Keras 2.12 to 2.14 alone look for it, as a reason why others do not load the file."""
    if any(group.tensors for group in model.groups):
        return f"weights where only Keras {model.keras_version} looks for them"
    names = ", ".join(layers_without_state(model.architecture, in_h5=False))
    return f"what {names} found by adapt(), where only Keras {model.keras_version} looks for it"


def has_paths_of_windows(model: Stored, container: str) -> bool:
    """Return True if a Keras finds the weights of this container on Windows alone."""
    return model.is_of_windows and container in ("keras", "weights_h5")


def why_not_tf_keras(model: Stored, container: str) -> str | None:
    """Return why tf_keras does not load it; None if it does."""
    return memoize(_why_not_tf_keras, model, container)


def _why_not_tf_keras(model: Stored, container: str) -> str | None:
    """Return why tf_keras does not load the model; None if it does."""
    if model.is_keras_3:
        return WRITTEN_BY_KERAS_3
    if container == "yaml":
        return "YAML, which today's Keras does not read"
    written = model.release
    if written[:1] == (1,):
        return f"the arguments of Keras {model.keras_version}"
    if has_paths_of_keras_2_12(model, container):
        return state_under_paths_of_keras_2_12(model)
    if needs(model).stored_code and (written < PYTHON_OF_TODAY or _is_of_older_python(model)):
        versions = lambda_pythons(model)
        return f"its Lambda code was compiled by another Python{versions and f', {versions}'}"
    entries = (
        _refused_by_tf_keras(entry)
        for entry in layer_entries(model.architecture)
        if not is_namesake_entry(entry, model)
    )
    return next((reason for reason in entries if reason is not None), None)


def _refused_by_tf_keras(entry: JsonObject) -> str | None:
    """Return the part of a Keras 2 layer that tf_keras does not load as it was.

    (Source: tf_keras 2.21, on files of Keras 2.0.4 and 2.0.9.)
    """
    kind, config = str(entry["class_name"]), entry.get("config")
    if not isinstance(config, OBJECT) or not is_keras_entry(entry):
        return None
    record = layer_record(kind)
    if record.missing_in_tf_keras:
        return f"a {kind} layer"
    if kind == "SpectralNormalization":  # its code asks tf.keras, which is Keras 3
        return f"a {kind} layer, which runs where TF_USE_LEGACY_KERAS=1 is set"
    return _refused_arguments(kind, config)


def _refused_arguments(kind: str, config: JsonObject) -> str | None:
    """Return the argument that tf_keras's class of that name does not take, or None."""
    if kind in ("GRU", "GRUCell") and "reset_after" not in config:
        return f"a {kind} without `reset_after`, as Keras wrote before 2.1.5"
    if kind == "Embedding" and str(config.get("dtype")).startswith("int"):
        return f"an Embedding with the dtype {config['dtype']}, that of its ids"
    if pads_to_none(kind, config):
        return f"a {kind} that pads to no number of words, as TensorFlow wrote up to 2.5"
    array = next(
        (
            key
            for key, value in config.items()
            if type(value) not in LEAVES and isinstance(value, OBJECT) and set(value) == ARRAY
        ),
        None,
    )
    return None if array is None else f"{kind} with `{array}` as an array"


def pads_to_none(kind: str, config: JsonObject) -> bool:
    """Return whether a TextVectorization is to pad to a number of words that is not set, which later Kerases refuse."""
    return (
        kind == "TextVectorization"
        and config.get("pad_to_max_tokens") is True
        and config.get("max_tokens") is None
    )


#: First release of the Keras in TensorFlow -> oldest and newest Python of it and its successors, up to the next row.
#: (Source: the wheels of `tensorflow` 1.13 to 2.15 on PyPI. Keras 2.4.0 is of TensorFlow 2.3 and 2.4, 2.3.0-tf of 2.2,
#: 2.2.4-tf of those before.)
PYTHONS_OF_RELEASES: tuple[tuple[tuple[int, int], tuple[int, int], tuple[int, int]], ...] = (
    ((2, 2), (2, 7), (3, 7)),
    ((2, 3), (3, 5), (3, 8)),
    ((2, 4), (3, 5), (3, 8)),
    ((2, 5), (3, 6), (3, 9)),
    ((2, 7), (3, 7), (3, 9)),
    ((2, 8), (3, 7), (3, 10)),
    ((2, 12), (3, 8), (3, 11)),
    ((2, 14), (3, 9), (3, 11)),
    ((2, 16), (3, 9), (3, 99)),
)
#: The oldest Python that tf_keras runs on, with TensorFlow 2.15.
OLDEST_PYTHON_OF_TF_KERAS = (3, 9)


def _is_of_older_python(model: Stored) -> bool:
    """Return True if the code of the Lambdas was compiled by a Python that tf_keras does not run on."""
    versions = _lambda_pythons(model)
    return bool(versions) and max(map(_numbers, versions)) < OLDEST_PYTHON_OF_TF_KERAS


def lambda_pythons(model: Stored) -> str:
    """Return the Pythons that may have compiled the code of all Lambdas, oldest first ("3.5 or 3.6"); "" if unknown."""
    return " or ".join(_lambda_pythons(model))


def _lambda_pythons(model: Stored) -> list[str]:
    """Return the Pythons that the code of all Lambdas shows, of those that the writer's Keras ran on; [] if unknown."""
    common: list[str] | None = None
    for entry in layer_entries(model.architecture):
        config = entry.get("config") if entry["class_name"] == "Lambda" else None
        code = function_parts(config.get("function"))[0] if is_object(config) else None
        if code is not None:
            from unnest.core.byte_code.candidate_decodings import readings

            versions = dict.fromkeys(python.version for _, python in readings(code))
            common = [v for v in versions if common is None or v in common]
    rows = () if model.is_standalone else reversed(PYTHONS_OF_RELEASES)
    pythons = (pair for first, *pair in rows if model.release >= first)
    oldest, newest = next(pythons, ((2, 7), (3, 99)))
    shown = common or []
    ran = [version for version in shown if oldest <= _numbers(version) <= newest]
    return ran or shown


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
