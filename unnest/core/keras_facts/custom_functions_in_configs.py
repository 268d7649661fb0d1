"""Functions that a config calls by name: which are Keras's, and which are custom, to be given by the loading code.

(Source: keras.activations, .regularizers, .constraints and .initializers of Keras 1.2.2 to 2.3.1, tf_keras 2.21 and
Keras 3.15.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from unnest.core import json_tree
from unnest.core.keras_facts.stored_class_names import KERAS_MODULES, current_class_name
from unnest.core.layers.catalog import LAYER_RECORDS
from unnest.core.model import Json, JsonObject

#: Packages whose functions people gave a Lambda as they are (`Lambda(tf.nn.relu)`).
LIBRARIES = ("tensorflow", "tensorflow_core", "keras", "tf_keras")
LIBRARY_PATH = re.compile(rf"(site|dist)-packages[/\\]({'|'.join(LIBRARIES)})[/\\]")

HARD_SIGMOID = "hard_sigmoid"
#: Activations that are the same function in every Keras that has them.
ACTIVATIONS = frozenset({
    "linear", "relu", "sigmoid", "tanh", "softmax", "softplus", "softsign", "elu", "selu", "exponential", "relu6",
    "swish", "silu", "gelu", "leaky_relu", "mish", "log_softmax",
})  # fmt: skip
#: Activation -> the first Keras with it in `keras.activations`: in an older file it is a custom function.
ACTIVATION_SINCE = {
    "swish": (2, 3), "silu": (2, 12), "gelu": (2, 5), "mish": (2, 13), "leaky_relu": (2, 0), "log_softmax": (2, 16),
    "relu6": (3,),
}  # fmt: skip
#: Written by every Keras of after 2017 in custom code for one and the same function.
WELL_KNOWN_ACTIVATIONS = {"relu6": "min(max(x, 0), 6)", "swish": "x * sigmoid(x)"}
#: Each of them -> the first Keras inside TensorFlow whose loader finds it by name, in `keras.activations` or
#: elsewhere; standalone Keras never did.
#: (Source: activations.get of Keras 2.0.9 to 2.3.1, and of TensorFlow 2.0 to 2.10.)
FOUND_BY_NAME_SINCE = {"relu6": (2, 5), "swish": (2, 3)}
#: Those of them that some programs wrote with a factor (swish: x * sigmoid(b * x), as in its paper).
OFTEN_WITH_A_FACTOR = frozenset({"swish"})

#: Arguments of layers that hold an activation.
ACTIVATION_ARGUMENTS = ("activation", "recurrent_activation", "inner_activation")

#: Keras's initializers, regularizers and constraints: their names in lower case, without underscores.
KERAS_ROLE_FUNCTIONS = frozenset({
    "zeros", "ones", "zero", "one", "constant", "randomnormal", "randomuniform", "truncatednormal", "variancescaling",
    "orthogonal", "orthogonalinitializer", "identity", "identityinitializer", "uniform", "normal", "l1", "l2", "l1l2",
    "orthogonalregularizer", "maxnorm", "nonneg", "unitnorm", "minmaxnorm", "radialconstraint", "maskedconstraint",
    *(f"{who}{how}" for who in ("glorot", "he", "lecun") for how in ("uniform", "normal")),
})  # fmt: skip
ROLE_SUFFIXES = ("_initializer", "_regularizer", "_constraint")


def is_custom_activation(
    activation: str, release: tuple[int, ...], *, is_standalone: bool = False
) -> bool:
    """Return True if an activation in a file of that release is a custom function: `keras.activations` had none of it.

    `is_standalone`: whether Keras 1 or 2 wrote it, not the Keras inside TensorFlow: its last one, 2.3, has no swish.
    """
    since = ACTIVATION_SINCE.get(activation, (0,))
    return bool(release) and (release[:2] < since or (is_standalone and since >= (2, 3)))


def custom_rules(config: JsonObject) -> Iterator[str]:
    """Yield the custom initializers, regularizers and constraints in a layer's config, for its loader."""
    for key, value in config.items():
        if key.endswith(ROLE_SUFFIXES) and value is not None:
            word = (
                _function(value) or value.get("class_name")
                if isinstance(value, json_tree.OBJECT)
                else value
            )
            if isinstance(word, str) and not is_keras_rule(word):
                yield word


def is_keras_rule(name: str) -> bool:
    """Return True if an initializer, regularizer or constraint of that name is Keras's own."""
    return re.sub(r"_|v[12]$", "", name.lower()) in KERAS_ROLE_FUNCTIONS


def custom_activations(config: JsonObject, release: tuple[int, ...]) -> Iterator[str]:
    """Yield the custom activations in a layer's config, for its loader; well-known ones are not asked for."""
    for word in _activation_names(config):
        known = word in ACTIVATIONS or word.startswith(HARD_SIGMOID)
        if not known or (
            word not in WELL_KNOWN_ACTIVATIONS and is_custom_activation(word, release)
        ):
            yield word


#: Arguments of a TextVectorization -> their values that are no function. (Source: TensorFlow 2.3 to 2.15, Keras 3.15.)
TEXT_STEPS: Mapping[str, tuple[str, ...]] = {
    "standardize": ("lower_and_strip_punctuation", "lower", "strip_punctuation"),
    "split": ("whitespace", "character"),
}


def custom_text_step(argument: str, value: Json) -> str | None:
    """Return the name of the custom function that is a TextVectorization's `standardize` or `split`, or None."""
    word = _function(value) if isinstance(value, json_tree.OBJECT) else value
    return word if isinstance(word, str) and word not in TEXT_STEPS[argument] else None


def custom_text_steps(class_name: str, config: JsonObject) -> Iterator[str]:
    """Yield the custom functions by which a TextVectorization prepares and splits texts; of other classes none."""
    if class_name == "TextVectorization":
        found = (custom_text_step(argument, config.get(argument)) for argument in TEXT_STEPS)
        yield from (name for name in found if name is not None)


def activations_not_found_by_name(
    config: JsonObject, release: tuple[int, ...], *, is_standalone: bool
) -> Iterator[str]:
    """Yield the activations in a layer's config that today's Keras has, and that of the file does not find by name."""
    for word in _activation_names(config):
        since = FOUND_BY_NAME_SINCE.get(word)
        if since is not None and release and (is_standalone or release[:2] < since):
            yield word


def _activation_names(config: JsonObject) -> Iterator[str]:
    """Yield the names of the activations in a layer's config."""
    for place in ACTIVATION_ARGUMENTS:
        value = config.get(place)
        word = _function(value) if json_tree.is_object(value) else value
        if isinstance(word, str):
            yield word


def custom_objects_in_custom_class(config: Json) -> Iterator[tuple[str, bool]]:
    """Yield custom objects in a custom class's config: the name to give each by, and True for a function.

    The class hands them to Keras, which looks for them in the loader's `custom_objects`. What it calls its activation
    in a word of its own, it may know itself.
    """
    for part in json_tree.objects(config):
        for key, value in part.items():
            if key.endswith(ROLE_SUFFIXES):
                yield from ((name, not isinstance(value, json_tree.OBJECT) or _function(value) is not None)
                            for name in custom_rules({key: value}))  # fmt: skip
        kind = part.get("class_name")
        if isinstance(kind, str) and "module" not in part and not _is_known(kind):
            yield kind, False


def _is_known(kind: str) -> bool:
    """Return True if a class of that name is Keras's own, or stands for a value."""
    return (
        kind == "function"
        or kind.startswith("__")
        or current_class_name(kind) in LAYER_RECORDS
        or is_keras_rule(kind)
    )


def custom_objects_of_keras_3(config: Json) -> Iterator[tuple[str, bool]]:
    """Yield what is not Keras's in a config of Keras 3: its name, and True for a function."""
    for part in json_tree.objects(config):
        if "registered_name" in part and not _is_kerass(part.get("module", "keras")):
            name = _function(part)
            if name is not None:
                yield name, True
            elif isinstance(part["registered_name"], str):
                yield part["registered_name"], False


def _function(value: JsonObject) -> str | None:
    """Return the name of a serialized function; None for another object."""
    return str(value["config"]) if value.get("class_name") == "function" else None


def _is_kerass(module: Json) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in KERAS_MODULES


def is_library_code(text: str) -> bool:
    """Return True if stored code was compiled from a library's module: `Lambda(tf.nn.relu)`, or its decorator."""
    from unnest.core.byte_code.candidate_decodings import (
        readings,  # only models with stored code need it
    )

    return any(LIBRARY_PATH.search(code.file) for code, _ in readings(text))
