"""Find what loading a model would run, import or read: stored code, and names outside Keras.

A file can make Keras import classes and functions by module, run the code of a Lambda, and read a vocabulary from a
named file. None of that is a fault by itself (most custom layers are so stored), and none of it is ever run here; a
reader should know of it before loading a file from a stranger. (Source: what Keras 2.15 and 3.15 do on loading, and the
files that they write.)
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from unnest.core import json_tree
from unnest.core.architecture import entry_name, is_model
from unnest.core.architecture.nested_models import leaves
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.read_config_values import function_parts, lambdas_in
from unnest.core.model import Json, JsonObject, Stored

if TYPE_CHECKING:
    from unnest.core.byte_code.read_code_objects import CodeObject

#: Modules of Keras itself. What they hold is run by every model; functions of `UTILITIES` are no part of one.
KERAS_MODULE_PATTERN = r"(keras|tf_keras|tensorflow\.keras|tensorflow\.python\.keras)(\.|$)"
UTILITIES = r"(keras|tf_keras)\.(src\.)?(utils|saving|config)(\.|$)"
#: The caller's own program: nothing of the file's gets in by it.
CALLER = "__main__"
#: Python's own types that Keras writes as values, by their name.
PYTHON_VALUE_TYPES = frozenset(
    {"NoneType", "bool", "bytes", "complex", "dict", "float", "int", "list", "set", "str", "tuple"}
)


def loaded_code(stored: Stored) -> tuple[str, ...]:
    """Return what loading would run, import or read, in the file's order, each once, in a few words."""
    entries = (
        e for value in (stored.architecture, stored.training) for e in json_tree.all_objects(value)
    )
    return tuple(dict.fromkeys(words for entry in entries for words in _words(entry)))


def vocabularies(stored: Stored) -> tuple[str, ...]:
    """Return the paths of files from which layers read their vocabularies when they are made, as stored."""
    named = (entry.get("vocabulary") for entry in json_tree.all_objects(stored.architecture))
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str)))


def lambdas(architecture: Json) -> tuple[str, ...]:
    """Return the names of the layers that store code, Lambdas and those with a lambda as an argument."""
    entries = (e for e in json_tree.all_objects(architecture) if e.get("class_name") != "Merge")
    return tuple(dict.fromkeys(_name(entry) for entry in entries if _has_code(entry)))


def lambdas_from_loops(architecture: JsonObject) -> tuple[str, ...]:
    """Return the Lambda layers that have one code and one closure, and read the same tensors; () without two.

    Python looks up a captured variable when a function is called: what a loop made computed with the values of its
    round, and is stored with those of the last. (Source: slices of channels, of ResNeXt, in files of Keras 2.0.9 on.)
    A library's decorator has the same code and closure around every function.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for path, layer in leaves(architecture) if is_model(architecture) else ():
        if layer.class_name != "Lambda":
            continue
        code, defaults, closure = function_parts(layer.settings.get("function"))
        if code is not None and closure:
            given = (code, defaults, closure, layer.settings.get("arguments"))
            read_tensors = [call.reads for call in layer.calls]
            alike.setdefault((code, repr((path[:-1], given, read_tensors))), []).append(layer.name)
    several = [(code, names) for (code, _), names in alike.items() if len(names) > 1]
    if not several:
        return ()
    from unnest.core.keras_facts.custom_functions_in_configs import is_library_code

    return tuple(name for code, names in several if not is_library_code(code) for name in names)


def names_in_code(architecture: Json) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Yield each layer that keeps code, with the names of globals, attributes and imports in it.

    None stands for code in no known layout.
    """
    from unnest.core.byte_code.read_code_objects import read

    for entry in json_tree.objects(architecture):
        config = entry.get("config")
        if not _has_code(entry) or not isinstance(config, Mapping):
            continue
        codes = [
            function_parts(config.get(key))[0]
            for key in _function_arguments(str(entry["class_name"]), config)
        ]
        functions = [read(code)[:1] for code in codes if code is not None]
        names = tuple(
            dict.fromkeys(name for found in functions for code in found for name in _names(code))
        )
        yield _name(entry), names if all(functions) else None


def _names(function: CodeObject) -> Iterator[str]:
    """Yield the names in a function, and in the functions inside of it."""
    from unnest.core.byte_code.read_code_objects import CodeObject

    pending = [function]
    for code in pending:
        pending += [value for value in code.constants if isinstance(value, CodeObject)]
        yield from code.names


def _words(entry: JsonObject) -> Iterator[str]:
    """Yield what loading one object runs, imports or reads, as clauses of a sentence."""
    if _has_code(entry):
        yield f"code of the {entry['class_name']} {_name(entry)!r}"
    module = entry.get("module")
    if isinstance(module, str):
        thing = entry.get("class_name")
        if thing == "function":
            thing = entry.get("config")
        elif thing is None:
            thing = entry.get("function")  # a Keras 2 Lambda's, named with its module
        if isinstance(thing, str) and _is_foreign(module, thing, entry):
            yield f"{thing!r} of the module {module!r}"
    vocabulary = entry.get("vocabulary")
    if isinstance(vocabulary, str):
        yield f"the file {vocabulary!r} as a vocabulary"


def _is_foreign(module: str, thing: str, entry: JsonObject) -> bool:
    if module == CALLER:
        return False
    if module == "builtins":
        # Keras 3 writes all functions so, its own by name: only those of Python's own are more than a name.
        return thing not in PYTHON_VALUE_TYPES and hasattr(builtins, thing)
    return not re.match(KERAS_MODULE_PATTERN, module) or (
        entry.get("class_name") == "function" and bool(re.match(UTILITIES, module))
    )


def _has_code(entry: JsonObject) -> bool:
    """Return True for a layer that keeps a function as code."""
    if "class_name" not in entry:
        return False
    config = entry.get("config")
    return json_tree.is_object(config) and any(
        function_parts(config.get(key))[0] is not None
        for key in _function_arguments(str(entry["class_name"]), config)
    )


def _function_arguments(class_name: str, config: JsonObject) -> tuple[str, ...]:
    """Return the arguments of a layer that may hold a function as code."""
    lambdas_given = (key for key, _ in lambdas_in(config))
    return tuple(dict.fromkeys((*layer_record(class_name).functions, *lambdas_given)))


def _name(entry: JsonObject) -> str:
    return entry_name(entry) or "lambda"
