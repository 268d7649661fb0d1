"""Places where a model's file loads, and reasons why it does not load elsewhere."""

from __future__ import annotations

import os

from unnest.budget import memoize
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.keras_facts import (
    custom_objects_needed_to_load,
    loading_in_keras_3,
    loading_in_tf_keras,
    unloadable_models,
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
    layers_without_boundaries,
    layers_without_state,
)
from unnest.core.keras_facts.loading_in_tf_keras import (
    ARCHIVES,
    PATHS_OF_TODAY,
    has_paths_of_keras_2_12,
    has_paths_of_windows,
)
from unnest.core.keras_facts.stored_class_names import is_keras_entry
from unnest.core.layers.catalog import makes_masks
from unnest.core.layers.read_config_values import function_parts, settings
from unnest.core.model import Stored
from unnest.core.weight_assignment.find_misplaced_weights import (
    has_state_of_fewer_weights,
    misplaced_nested_model,
    model_with_weights_stored_once,
)

#: The first standalone Keras 2 that loads a Lambda whose code has a closure.
CLOSURES = (2, 1, 2)
#: What is said of a file of Keras 2 that Keras 3 does not refuse for certain.
UNPROMISED = "Keras 3 can open some Keras 2 files, but may compute something else"


def why_not_tf_keras(model: Stored, container: str) -> str | None:
    """Return why tf_keras does not load it as it was; None if it does."""
    return (
        (None if model.is_keras_3 else _other_places(model, container))
        or loading_in_tf_keras.why_not_tf_keras(model, container)
        or _unread_function(model, container)
        or _masked_otherwise(model)
    )


def _unread_function(model: Stored, container: str) -> str | None:
    """Return why Keras 2 does not load an `.h5` with a custom function that it wrote; None if it does."""
    if container != "h5":
        return None
    layer = memoize(unloadable_models.layer_with_function_object, model)
    return (
        layer
        and f"a function of one's own in {layer}, in a form that Keras 2 reads from a .keras alone"
    )


def _masked_otherwise(model: Stored) -> str | None:
    """Return the layer that computes otherwise in tf_keras because of a mask, if any."""
    return memoize(_find_masked_otherwise, model)


def _find_masked_otherwise(model: Stored) -> str | None:
    if not makes_masks(model.architecture):
        return None
    # Loaded for models with masks alone.
    from unnest.core.keras3.masks.layers_tf_keras_masks_differently import masked_otherwise

    return masked_otherwise(model)


def why_not_keras_3(model: Stored, container: str) -> str | None:
    """Return why Keras 3 does not load it as it was for certain; None if it does, or, of an older file, may."""
    return loading_in_keras_3.why_not_keras_3(model, container) or _other_places(model, container)


def misplaced_within(model: Stored, container: str) -> str | None:
    """Return the nested model of a Keras 1 or 2 `.h5` whose weights every Keras assigns wrongly; None without one."""
    return misplaced_nested_model(model) if container == "h5" and not model.is_keras_3 else None


def is_refused_by_its_own(model: Stored, container: str) -> bool:
    """True if Keras 1, which knows no loading without the optimizer, refuses the state of an `.h5` that it wrote.

    (Source: files of Keras 1.2.2 with a frozen model in them. Keras 2 warns, and goes on with a fresh optimizer.)
    """
    return (
        container == "h5"
        and model.release[:1] == (1,)
        and model.contents == "model"
        and has_state_of_fewer_weights(model)
    )


def _other_places(model: Stored, container: str) -> str | None:
    """Return why every Keras, its writer included, misses some weights, or sets them elsewhere than they were."""
    return memoize(_find_other_places, model, container)


def _find_other_places(model: Stored, container: str) -> str | None:
    return (
        (_lost_in_archive(model) if container == "keras" else None)
        or _unloadable_layer(model, container)
        or _why_code_is_not_run(model, container)
        or (_lost_in_h5(model) if container == "h5" else None)
    )


def _lost_in_archive(model: Stored) -> str | None:
    """Return why no Keras finds some weights of a `.keras` again."""
    if shared := unloadable_models.layers_shared_between_models(model):
        return f"models in it share {', '.join(shared)}, which no Keras finds again in a .keras; --to h5 loads"
    if sharing := unloadable_models.wrapping_layer_without_weights(model):
        return f"a layer that {sharing} shares with another, whose weights no Keras finds again in a .keras"
    if bare := unloadable_models.built_layer_without_weights(model):
        return f"weights of {bare}, which are not in the file"
    if not model.is_keras_3 and (lost := layers_without_boundaries(model.architecture)):
        return f"what {', '.join(lost)} found by adapt(), which no Keras 2 finds again in a .keras"
    return None


def _unloadable_layer(model: Stored, container: str) -> str | None:
    """Return the layer that no Keras makes again of what the file says, and why."""
    if surplus := unloadable_models.layer_with_surplus_weights(model):
        return f"weights in {surplus}, which has none"
    if cell := unloadable_models.cell_without_arguments(model):
        return f"a {cell} of which the file has no arguments, as Keras 2.0.9 wrote it"
    if layer := unloadable_models.layer_with_array_in_rule(model, in_h5=container == "h5"):
        return f"an array in an initializer of {layer}, in a form that Keras does not read again"
    if salted := unloadable_models.layer_with_salt_of_none(model):
        return f"the salt of {salted}, which TensorFlow 2.3 stored though none was given, and hashed without"
    return _unreadable_call(model)


def _unreadable_call(model: Stored) -> str | None:
    """Return the layer that no Keras makes or calls again because of how it is stored, and why."""
    if named := unloadable_models.layer_with_lambda_without_class(model):
        return f"a lambda as an argument of {named}, in a form that no Keras reads again"
    if merge := unloadable_models.merge_of_one_tensor(model):
        return f"{merge} is called with one tensor, where it takes a list of them"
    return None


def _why_code_is_not_run(model: Stored, container: str) -> str | None:
    """Return why no Keras runs the code that a Lambda stores."""
    if names := custom_objects_needed_to_load.unknown_globals(model, container):
        advice = "" if model.is_keras_3 else "; --to h5 loads"
        return f"its Lambda code uses {', '.join(names)}, which no Keras gives to code in such a file{advice}"
    if not needs(model).stored_code:
        return None
    from unnest.core.keras_facts.lambdas_no_keras_runs import failing_lambda  # follows the code

    return failing_lambda(model)


def _lost_in_h5(model: Stored) -> str | None:
    """Return why no Keras finds some weights of an `.h5` again, or sets them where they were."""
    if lost := layers_without_state(model.architecture, in_h5=True):
        return f"what {', '.join(lost)} found by adapt(), which no .h5 holds"
    if unbuilt := unloadable_models.unbuilt_sequential(model):
        return f"weights of {unbuilt}, a Sequential without an input shape, which no Keras builds before it loads them"
    if sharing := model_with_weights_stored_once(model):
        return (
            f"weights in {sharing} that layers in it share, and that no Keras finds again in an .h5"
        )
    name = misplaced_within(model, "h5")
    return (
        None
        if name is None
        else f"a frozen model in {name}, whose weights Keras gives to other layers"
    )


def is_not_loaded_in_its_time(model: Stored, container: str) -> bool:
    """Return True if `keras_of_its_time` does not load the model, or not as it was."""
    return (
        _other_places(model, container) is not None
        or is_refused_by_its_own(model, container)
        or _unread_function(model, container) is not None
        or (model.release[:1] == (1,) and _has_closures_of_lists(model))
    )


def keras_of_its_time(model: Stored) -> str:
    """Return the Keras that wrote the model, or those after it that load what it wrote and does not load itself.

    (Seen with a Lambda of Keras 2.0.9 that has a closure: 2.1.6, 2.2.4 and 2.3.1 predict what 2.0.9 did.)
    """
    return (
        f"Keras {'.'.join(map(str, CLOSURES))} to 2.3"
        if model.release[:1] == (2,) and _has_closures_of_lists(model)
        else f"Keras {model.keras_version}, which wrote it"
    )


def _has_closures_of_lists(model: Stored) -> bool:
    """Return True if a Lambda has a closure, or in Keras 1 defaults, and its Keras gives Python the list as it is read.

    (Source: func_load in keras/utils/generic_utils.py of Keras 1.2.2 to 2.1.1, and 2.1.2, the first that makes cells;
    files with closures of Keras 1.2.2 and 2.0.9, which their own Keras refuses: "must be None or tuple".)
    """
    if not model.is_standalone or model.release >= CLOSURES:
        return False
    stored = (
        function_parts(settings(entry).get("function"))
        for entry in layer_entries(model.architecture)
        if entry["class_name"] == "Lambda"
    )
    return any(
        text is not None and (closure is not None or (defaults and model.release[:1] == (1,)))
        for text, defaults, closure in stored
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
            if goes_by_names(software, container)
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


def goes_by_names(software: str, container: str) -> bool:
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

    Weights alone and graphs alone are for whoever has the code.
    """
    if model.architecture is None:
        return {}
    if container == "saved_model":
        return {"Keras 3": "it is a SavedModel, which opens as a TFSMLayer only"}
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
