"""Reasons why a Keras does not load a model's file, or not as it was."""

from __future__ import annotations

from unnest.budget import memoize
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.keras_facts import (
    custom_objects_needed_to_load,
    loading_in_keras_3,
    loading_in_tf_keras,
    unloadable_models,
)
from unnest.core.keras_facts.custom_objects_needed_to_load import needs
from unnest.core.keras_facts.layers_without_adapted_state import (
    layers_without_boundaries,
    layers_without_state,
)
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
        or (model.release[:1] == (1,) and has_closures_of_lists(model))
    )


def has_closures_of_lists(model: Stored) -> bool:
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
