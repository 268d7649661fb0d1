"""Requirements for loading a model: the classes, functions, files and globals that the file does not hold.

What keeps a model from loading is in `loading_in_keras_3`, `loading_in_tf_keras` and `unloadable_models`.
(Source: every fixture loaded in Keras 3.15 and tf_keras 2.21; the arguments, by leaving out keys of get_config() until
the class took them.)
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from typing import NamedTuple

from unnest.budget import memoize
from unnest.core.architecture.nested_models import NESTED_LAYER_KEYS, layer_entries
from unnest.core.json_tree import OBJECT
from unnest.core.keras_facts.custom_functions_in_configs import (
    LIBRARIES,
    custom_activations,
    custom_objects_in_custom_class,
    custom_objects_of_keras_3,
    custom_rules,
    custom_text_steps,
)
from unnest.core.keras_facts.load_time_code import vocabularies
from unnest.core.keras_facts.stored_class_names import (
    is_keras_entry,
    is_namesake,
    is_operation,
)
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.read_config_values import function_parts, lambdas_in
from unnest.core.model import JsonObject, Stored

#: The first Keras 2 that runs on a Python that tf_keras runs on, too: earlier stored code is of other bytecode.
PYTHON_OF_TODAY = (2, 5)


class Needs(NamedTuple):
    """The code that a model's file does not hold, in the order of its layers."""

    classes: tuple[str, ...] = ()
    """Custom classes, by the name that the file calls them."""
    functions: tuple[str, ...] = ()
    """Functions that Lambda layers call by name."""
    stored_code: bool = False
    """True if it holds stored code, which only the Python that wrote it runs."""
    files: tuple[str, ...] = ()
    """Files that vocabularies are read from."""
    globals: tuple[str, ...] = ()
    """Names that stored code reads as globals, which the module that loads it has not."""
    # A mappingproxy is not pickled, as the reports of `--jobs` are.
    of_keras: Mapping[str, str] = {}
    """Keras's own that it finds only if they are given: name in the file -> expression below `keras` (`layers.X`)."""


def needs(model: Stored) -> Needs:
    """Return what has to be given to load the model."""
    return memoize(_needs, model)


def _needs(model: Stored) -> Needs:
    """Return the custom classes, functions and globals that loading needs, and whether it runs stored code."""
    classes: dict[str, None] = {}
    functions: dict[str, None] = {}
    stored_code = False
    global_names: dict[str, None] = {}
    of_keras: dict[str, str] = {}
    for entry in layer_entries(model.architecture):
        if entry["class_name"] == "Lambda":
            name = _function_name(entry)
            stored_code = stored_code or name is None
            functions |= {name: None} if name is not None else {}
            global_names |= dict.fromkeys(lambda_globals(entry, model))
        elif is_namesake_entry(entry, model) or not (
            is_keras_entry(entry) or (model.is_keras_3 and is_operation(entry))
        ):
            registered = entry.get("registered_name") if _is_found_by_registration(model) else None
            classes[str(registered or entry["class_name"])] = None
            _add_objects_of_custom_class(entry, classes, functions)
        else:
            for text in _lambda_arguments(entry):
                stored_code = True
                global_names |= dict.fromkeys(_globals_of_code(text, model))
            of_keras |= _objects_of_keras(entry, model)
            if layer_record(str(entry["class_name"])).found_if_given and not model.is_keras_3:
                classes[str(entry["class_name"])] = None
            _add_custom_objects(entry, model, classes, functions)
    custom = [name for name in classes if name not in of_keras]
    alone = [name for name in functions if name not in (*classes, *of_keras)]
    files = vocabularies(model)
    return Needs(tuple(custom), tuple(alone), stored_code, files, tuple(global_names), of_keras)


def _lambda_arguments(entry: JsonObject) -> list[str]:
    """Return the code of the lambdas that are arguments of a layer of Keras's own."""
    config = entry.get("config")
    given = lambdas_in(config) if isinstance(config, OBJECT) else ()
    codes = (function_parts(value)[0] for _, value in given)
    return [code for code in codes if code is not None]


#: The initializer that recurrent layers of Keras 2.3 made of Identity when they were built, and stored by its name; its
#: loader makes it again. (Source: build of LSTMCell and GRUCell in Keras 2.3.1; Keras 2.2.4 has none.)
RECURRENT_IDENTITY = "recurrent_identity"
#: A module that standalone Keras shows, and Keras in TensorFlow does not.
MODULE_OF_STANDALONE_KERAS = "convolutional_recurrent"


def _objects_of_keras(entry: JsonObject, model: Stored) -> dict[str, str]:
    """Return what one of Keras's layers needs that Keras has, and finds only if it is given, as `Needs.of_keras`."""
    if model.is_keras_3:
        return {}
    kind, config = str(entry["class_name"]), entry.get("config")
    found = {}
    place = layer_record(kind).found_if_given
    if place and (model.is_standalone or MODULE_OF_STANDALONE_KERAS not in place):
        found[kind] = place
    if (
        model.is_standalone
        and model.release[:2] == (2, 3)
        and kind.removesuffix("Cell") in ("LSTM", "GRU")
        and isinstance(config, OBJECT)
        and config.get("recurrent_initializer") == RECURRENT_IDENTITY
    ):
        found[RECURRENT_IDENTITY] = "initializers.Identity()"
    return found


def python_identifier(stored_name: str) -> str:
    """Return the name that Python code can have for a class or function: without its package (`package>Name`).

    A function without a name is stored as `<lambda>`, and becomes `_lambda_`.
    """
    bare = re.sub(r"[^0-9A-Za-z_]", "_", stored_name.rpartition(">")[2] or stored_name)
    return bare if bare.isidentifier() and not keyword.iskeyword(bare) else f"object_{bare}"


#: First numbers of the Keras that wrote a model, newest first -> names that stored code finds in the module that loads
#: it. (Source: the globals of Lambda's module in Keras 1.2.2 to 2.3.1, TensorFlow 2.0 to 2.15 and tf_keras 2.21, and of
#: Keras 3.15's python_utils.)
MODULE_GLOBALS: tuple[tuple[tuple[int, ...], frozenset[str]], ...] = (
    ((3,), frozenset({"binascii", "codecs", "marshal", "os", "python_types"})),
    ((2, 5), frozenset({"np", "python_types", "sys", "tf"})),
    ((0,), frozenset({"K", "np", "python_types"})),
)
#: More that tf.keras of TensorFlow 1.13 to 2.4 has there; the code of its own `multi_gpu_model` reads `array_ops`.
TENSORFLOW_MODULES = frozenset({"array_ops", "math_ops", "nn", "ops", "tensor_shape"})


def lambda_globals(entry: JsonObject, model: Stored) -> list[str]:
    """Return the names that a Lambda's stored code reads and that neither Python nor its Keras's module has, sorted.

    Keras finds all names of a library's function in its module, where the config stores that.
    """
    config = entry.get("config")
    text = function_parts(config.get("function"))[0] if isinstance(config, OBJECT) else None
    if text is None or not isinstance(config, OBJECT):
        return []
    if str(config.get("module")).partition(".")[0] in LIBRARIES:
        return []
    return _globals_of_code(text, model)


def _globals_of_code(text: str, model: Stored) -> list[str]:
    """Return the names that stored code reads and that neither Python nor its Keras's module has, sorted."""
    in_module = next(
        names
        for first, names in MODULE_GLOBALS
        if model.release[: len(first)] >= first or first == (0,)
    )
    if not model.is_standalone and () < model.release < (2, 5):
        in_module |= TENSORFLOW_MODULES
    from unnest.core.byte_code.candidate_decodings import global_names

    return sorted(global_names(text) - in_module)


def unknown_globals(model: Stored, container: str) -> tuple[str, ...]:
    """Return the names that stored code reads and that no loader can give it: all that it lacks, but in a Keras 2 .h5.

    (Source: tf_keras 2.21 and Keras 3.15: `custom_objects` become globals of a Lambda of an .h5 of Keras 2 alone.)
    """
    return needs(model).globals if model.is_keras_3 or container == "keras" else ()


def _is_found_by_registration(model: Stored) -> bool:
    """Return True if classes are looked for by the names that they are registered by, which stand beside their own.

    The loader of `.h5` in Keras 2, whose models are of no module, looks for the class's own, also in nested models,
    whose layers have both. (Source: files of tf_keras 2.21, loaded by it.)
    """
    return isinstance(model.architecture, OBJECT) and "module" in model.architecture


def _add_custom_objects(
    entry: JsonObject, model: Stored, classes: dict[str, None], functions: dict[str, None]
) -> None:
    """Add custom classes and functions in the arguments of one of Keras's own layers."""
    config = entry.get("config")
    if not isinstance(config, OBJECT) or "layers" in config:
        return
    if model.is_keras_3:
        for name, is_function in custom_objects_of_keras_3(
            {k: v for k, v in config.items() if k not in NESTED_LAYER_KEYS}
        ):
            (functions if is_function else classes)[name] = None
    else:
        functions |= dict.fromkeys(custom_activations(config, model.release))
        functions |= dict.fromkeys(custom_text_steps(str(entry["class_name"]), config))
        if model.release[:1] != (1,):  # whose rules have other names and forms
            own = layer_record(str(entry["class_name"])).own_initializers
            functions |= dict.fromkeys(name for name in custom_rules(config) if name not in own)


def _add_objects_of_custom_class(
    entry: JsonObject, classes: dict[str, None], functions: dict[str, None]
) -> None:
    """Add classes and functions outside Keras in the arguments of a custom class."""
    config = entry.get("config")
    if not isinstance(config, OBJECT):
        return
    arguments = {k: v for k, v in config.items() if k not in ("layers", *NESTED_LAYER_KEYS)}
    for name, is_function in (
        *custom_objects_of_keras_3(arguments),
        *custom_objects_in_custom_class(arguments),
    ):
        (functions if is_function else classes)[name] = None


def is_namesake_entry(entry: JsonObject, model: Stored) -> bool:
    """Return True for a custom class that has the name of one of Keras's, which the file's Keras had not."""
    if model.is_keras_3:
        generations = layer_record(str(entry["class_name"])).keras
        is_keras_module = str(entry.get("module")).startswith("keras")
        return bool(generations) and {3}.isdisjoint(generations) and not is_keras_module
    in_tensorflow = "-tf" in (model.keras_version or "")
    return is_namesake(
        str(entry["class_name"]), entry.get("config"), model.release, in_tensorflow=in_tensorflow
    )


def _function_name(entry: JsonObject) -> str | None:
    """Return the name by which a Lambda stores its function; None for stored code."""
    config = entry.get("config")
    function = config.get("function") if isinstance(config, OBJECT) else None
    if isinstance(function, str):
        return function if function_parts(function)[0] is None else None
    if isinstance(function, OBJECT) and function.get("class_name") == "function":
        return str(function.get("config"))
    return None
