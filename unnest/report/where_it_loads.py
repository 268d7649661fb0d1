"""Software that loads a model's file, and what it needs for that; `reasons_not_to_load` says why others do not."""

from __future__ import annotations

import os

from unnest.budget import memoize
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.keras_facts import (
    loading_in_tf_keras,
)
from unnest.core.keras_facts.custom_functions_in_configs import (
    FOUND_BY_NAME_SINCE,
    OFTEN_WITH_A_FACTOR,
    WELL_KNOWN_ACTIVATIONS,
    activations_not_found_by_name,
)
from unnest.core.keras_facts.custom_objects_needed_to_load import Needs, needs
from unnest.core.keras_facts.layers_without_adapted_state import (
    is_misread,
)
from unnest.core.keras_facts.loading_in_tf_keras import (
    ARCHIVES,
    PATHS_OF_TODAY,
    has_paths_of_keras_2_12,
    has_paths_of_windows,
)
from unnest.core.keras_facts.stored_class_names import is_keras_entry
from unnest.core.layers.read_config_values import settings
from unnest.core.model import Stored
from unnest.report.reasons_not_to_load import (
    CLOSURES,
    has_closures_of_lists,
    is_not_loaded_in_its_time,
    why_not_keras_3,
    why_not_tf_keras,
)

#: What is said of a file of Keras 2 that Keras 3 does not refuse for certain.
UNPROMISED = "Keras 3 can open some Keras 2 files, but may compute something else"


def keras_of_its_time(model: Stored) -> str:
    """Return the Keras that wrote the model, or those after it that load what it wrote and does not load itself.

    (Seen with a Lambda of Keras 2.0.9 that has a closure: 2.1.6, 2.2.4 and 2.3.1 predict what 2.0.9 did.)
    """
    return (
        f"Keras {'.'.join(map(str, CLOSURES))} to 2.3"
        if model.release[:1] == (2,) and has_closures_of_lists(model)
        else f"Keras {model.keras_version}, which wrote it"
    )


def other_name(model: Stored, path: str, container: str) -> str | None:
    """Return the suffix that today's Keras, which goes by names, needs; None if the name has it.

    (Source: load_model and load_weights of Keras 3.15 and tf_keras 2.19.)
    """
    by_layers = container == "h5" and model.contents == "weights"
    if by_layers and path.endswith(".weights.h5"):
        return ".h5"
    if container == "h5" and (by_layers or model.is_keras_3):
        return None if path.endswith((".h5", ".hdf5")) else ".h5"
    # Keras 3 writes folders with zipped=False, under any name.
    if container == "keras" and os.path.isdir(path):
        return None
    endings = {"keras": (".keras",), "weights_h5": (".weights.h5", ".weights.json")}.get(
        container, ("",)
    )
    return None if path.endswith(endings) else endings[0]


def loads_in(model: Stored, path: str, container: str = "") -> tuple[str, ...]:
    """Return the software that loads the file, most current first, with what else it needs: another name, your code."""
    takers = _takers(model, path, container)
    ending = other_name(model, path, container)
    if ending is not None:
        takers = tuple(
            f"{software}, under a name that ends in {ending}{_but_not(path, ending)}"
            if _goes_by_names(software, container)
            else software
            for software in takers
        )
    # A graph needs no code; weights need all of it.
    if container == "saved_model" or model.contents == "weights":
        return takers
    wanted = needs(model)
    yours = (*wanted.classes, *wanted.functions, *own_globals(wanted))
    well_known = well_known_activations(model)
    objects = [
        *(name for name in wanted.globals if name not in yours),
        *(f"its {place}{_alias(name, place)}" for name, place in wanted.of_keras.items()),
    ]
    given = f", with {', '.join(objects)} in custom_objects" if objects else ""
    return tuple(_with_code(software, yours, well_known) + given for software in takers)


def _alias(name: str, place: str) -> str:
    """Return the name by which an object of Keras is given, in words, where that is another than its own."""
    return "" if place.endswith(f".{name}") else f" as {name}"


def well_known_activations(model: Stored) -> tuple[str, ...]:
    """Return the activations that tf_keras and Keras 3 have, and that the writer's Keras needs from you."""
    return memoize(_find_well_known, model)


def _find_well_known(model: Stored) -> tuple[str, ...]:
    if not () < model.release < max(FOUND_BY_NAME_SINCE.values()):
        return ()
    is_standalone = model.is_standalone
    names = (
        name
        for entry in layer_entries(model.architecture)
        for name in activations_not_found_by_name(
            settings(entry), model.release, is_standalone=is_standalone
        )
        if is_keras_entry(entry)
    )
    return tuple(dict.fromkeys(names))


def _with_code(software: str, yours: tuple[str, ...], well_known: tuple[str, ...]) -> str:
    """Return software with the code that it needs from you, and with what it assumes of well-known activations."""
    if software.startswith("tf_keras"):
        assumed = [
            f"{name} as {WELL_KNOWN_ACTIVATIONS[name]}"
            for name in well_known
            if name in OFTEN_WITH_A_FACTOR
        ]
    else:
        yours, assumed = (*yours, *well_known), []
    if yours:
        software += f", with your {', '.join(yours)}"
    return f"{software}, which takes {', '.join(assumed)}" if assumed else software


def _but_not(path: str, ending: str) -> str:
    """Return what of a name must go for another ending, in words, where that is not the new ending's place."""
    return " without .weights" if ending == ".h5" and path.endswith(".weights.h5") else ""


def _goes_by_names(software: str, container: str) -> bool:
    """Return True if it is Keras 2.12 or later; those before tell an .h5 by its content."""
    return container != "h5" or software.startswith(("Keras 3", "tf_keras"))


#: Container whose files do not name the Keras that wrote them, and other software's -> what takes it.
TAKERS = {
    "saved_model": "TensorFlow",
    "tfjs": "TensorFlow.js, if it knows all layers",
    "checkpoint": "the Keras that wrote it (the file does not say which)",
    "weights_h5": "Keras 2.12 or later (the file does not say which)",
}


def _takers(model: Stored, path: str, container: str) -> tuple[str, ...]:
    """Return the software that loads the file, most current first."""
    if container in TAKERS and (container != "weights_h5" or model.keras_version is None):
        return (
            ("Keras 2.12 to 2.15, on Windows",)
            if has_paths_of_windows(model, container)
            else (TAKERS[container], *_takers_of_traced_calls(model))
        )
    if model.is_keras_3 and why_not_keras_3(model, container) is not None:
        return ()
    if model.is_keras_3:
        return (
            ("Keras 3, whose .h5 loader does not restore the optimizer",)
            if loads_untrained(model, path)
            else ("Keras 3",)
        )
    versions = loading_in_tf_keras.lambda_pythons(model)
    on = f", on Python {versions}" if versions else ""
    if has_paths_of_windows(model, container):
        on += ", on Windows"
    today = () if why_not_tf_keras(model, container) else (f"tf_keras (Keras 2){on}",)
    return (
        *today,
        *([keras_of_its_time(model) + on] if _in_its_time(model, path, container) else []),
    )


def _takers_of_traced_calls(model: Stored) -> tuple[str, ...]:
    """Return what loads a SavedModel of a subclassed model without its class, beside TensorFlow itself.

    (Source: SavedModels of TensorFlow 2.0 to 2.15, in the same Keras and in tf_keras 2.21.)
    """
    if not model.has_traced_calls:
        return ()
    return ("tf_keras (Keras 2)", f"Keras {model.keras_version}, which wrote it")


def does_not_load_in(model: Stored, container: str = "") -> dict[str, str]:
    """Today's Keras that does not load the file, or may compute something else -> why.

    Weights alone are for whoever has the code.
    """
    if container == "saved_model":
        return {"Keras 3": "it is a SavedModel, which opens as a TFSMLayer only"}
    if model.architecture is None:
        return {}
    told = {
        "tf_keras": why_not_tf_keras(model, container),
        "Keras 3": why_not_keras_3(model, container),
    }
    if container == "tfjs":
        told = dict.fromkeys(
            told,
            "it is a TensorFlow.js model; unnest fix --to h5 or --keras 3 writes one for Keras",
        )
    if not model.is_keras_3 and told["Keras 3"] is None:
        told["Keras 3"] = UNPROMISED
    return {software: why for software, why in told.items() if why is not None}


def _in_its_time(model: Stored, path: str, container: str) -> bool:
    """Return True if `keras_of_its_time` loads this file, which may be of another container than the source."""
    if (
        not model.keras_version
        or is_not_loaded_in_its_time(model, container)
        or is_misread(model.architecture, model.release)
    ):
        return False
    return (
        not path.endswith(".keras")
        or container == "h5"
        or model.release >= (PATHS_OF_TODAY if any(g.tensors for g in model.groups) else ARCHIVES)
        or has_paths_of_keras_2_12(model, container)
    )


#: Names by which code calls Keras's backend, Keras, and TensorFlow: imports that nearly every program has.
OF_BACKEND, OF_KERAS, OF_TENSORFLOW = ("K", "backend"), ("keras",), ("tf", "tensorflow")


def own_globals(wanted: Needs) -> list[str]:
    """Return the globals of stored code that only the caller's program can give."""
    return [name for name in wanted.globals if name not in (*OF_BACKEND, *OF_KERAS, *OF_TENSORFLOW)]


def loads_untrained(model: Stored, path: str) -> bool:
    """Return True if Keras 3 (seen with 3.15) fails on its own .h5: losses by name; it loads no optimizer state."""
    return model.is_keras_3 and path.endswith((".h5", ".hdf5")) and model.training is not None
