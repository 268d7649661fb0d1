"""`--stub`: a Python module with the functions and classes that a converted model still needs, to be completed.

Everything out of the file goes in as a literal, as an identifier, or as a comment with its control characters escaped.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from unnest.core.architecture.nested_models import layer_entries
from unnest.core.json_tree import OBJECT, is_list
from unnest.core.keras_facts.custom_objects_needed_to_load import needs, python_identifier
from unnest.core.model import Json, JsonObject, Stored
from unnest.findings import Finding
from unnest.report.escape_stored_names import plain

#: Characters of a default value; longer ones are left out of a signature.
MAX_DEFAULT_LENGTH = 60
#: Arguments of every layer, which its base class takes.
OF_EVERY_LAYER = ("name", "trainable", "dtype")
#: What a function or method is until it is written.
TO_DO = 'raise NotImplementedError("{what}")'


class _Needed(NamedTuple):
    """A name that the loader asks for, and the lines that define what goes by it."""

    key: str
    identifier: str
    lines: list[str]


def render(model: Stored, findings: Sequence[Finding], output: str) -> str:
    """Return the module for a model of Keras 3 that is written to `output`."""
    wanted, entries = needs(model), [*layer_entries(model.architecture)]
    parts = [_function(name, entries, findings) for name in wanted.functions]
    parts += [_class(name, entries, model) for name in wanted.classes]
    lines = ['"""What a converted model needs to load: complete it, then call load()."""', ""]
    lines += ["import keras", ""]
    for part in parts:
        lines += ["", *part.lines, ""]
    pairs = ", ".join(f"{part.key!r}: {part.identifier}" for part in parts)
    unsafe = ", safe_mode=False" if wanted.stored_code else ""
    given = ", custom_objects=CUSTOM_OBJECTS" if parts else ""
    return "\n".join([
        *lines, "", f"CUSTOM_OBJECTS = {{{pairs}}}", "", "", f"def load(path={output!r}):",
        '    """Load the model."""', f"    return keras.models.load_model(path{given}{unsafe})", "",
    ])  # fmt: skip


def _function(name: str, entries: Sequence[JsonObject], findings: Sequence[Finding]) -> _Needed:
    """A function, with the arguments that its Lambda layers pass, and what could be read of its code."""
    users = [e for e in entries if e.get("class_name") == "Lambda" and _calls(e, name)]
    arguments = next(
        (a for e in users if isinstance(a := _config(e).get("arguments"), OBJECT) and a), {}
    )
    called = python_identifier(name)
    told = [f for f in findings if f.code == "lambda-kept" and f"{name!r}: {name}" in f.hint]
    comments = [f"# {plain(f.message)}" for f in told]
    comments += [f"# The Lambda {plain(str(_config(e).get('name')))!r} calls it." for e in users]
    keys = "".join(f", {k}={_literal(v)}" for k, v in arguments.items() if _is_argument(k))
    body = TO_DO.format(what=f"write what {called} computes")
    return _Needed(name, called, [*comments, f"def {called}(x{keys}):", f"    {body}"])


def _calls(entry: JsonObject, name: str) -> bool:
    function = _config(entry).get("function")
    if isinstance(function, OBJECT):
        function = function.get("config")
    return function == name


def _class(name: str, entries: Sequence[JsonObject], model: Stored) -> _Needed:
    """A layer class, with the arguments of its config and the shapes of its weights."""
    users = [e for e in entries if name in (e.get("registered_name"), e.get("class_name"))]
    called = python_identifier(name)
    package, _, bare = name.rpartition(">")
    lines = (
        [f"@keras.saving.register_keras_serializable(package={package!r}, name={bare!r})"]
        if package
        else []
    )
    if not users:
        return _Needed(
            name,
            called,
            [
                *lines,
                f"class {called}:",
                f"    # {plain(name)!r} stands in the config.",
                "    pass",
            ],
        )
    config = _config(users[0])
    own = [k for k in config if _is_argument(k) and k not in OF_EVERY_LAYER]
    keys = "".join(f", {k}={_literal(config[k])}" for k in own)
    lines += [
        f"class {called}(keras.layers.Layer):",
        f"    def __init__(self{keys}, **kwargs):",
        "        super().__init__(**kwargs)",
    ]
    lines += [f"        self.{k} = {k}" for k in own]
    lines += [
        "",
        *(f"    # {line}" for line in _weights(users, model)),
        "    def call(self, inputs):",
    ]
    lines += [
        f"        {TO_DO.format(what=f'write what {called} computes')}",
        "",
        "    def get_config(self):",
    ]
    pairs = "".join(f", {k!r}: self.{k}" for k in own)
    return _Needed(name, called, [*lines, f"        return {{**super().get_config(){pairs}}}"])


def _weights(users: Sequence[JsonObject], model: Stored) -> Iterator[str]:
    groups = {g.name: g.tensors for g in model.groups}
    for entry in users:
        name = str(_config(entry).get("name"))
        if tensors := groups.get(name):
            shapes = ", ".join(str(t.shape) for t in tensors)
            yield f"Weights of {plain(name)!r}, in order: {shapes}"


def _config(entry: JsonObject) -> JsonObject:
    config = entry.get("config")
    return config if isinstance(config, Mapping) else {}


def _is_argument(key: str) -> bool:
    return (
        key.isidentifier()
        and key.isascii()
        and not keyword.iskeyword(key)
        and key not in ("self", "x", "kwargs")
    )


def _literal(value: Json) -> str:
    """A value of JSON as Python spells it; None for one that is too long for a signature."""
    text = _spelled(value)
    return text if len(text) <= MAX_DEFAULT_LENGTH else "None"


def _spelled(value: Json) -> str:
    if isinstance(value, OBJECT):
        return "{" + ", ".join(f"{k!r}: {_spelled(v)}" for k, v in value.items()) + "}"
    if is_list(value):
        return "[" + ", ".join(map(_spelled, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return ascii(value)
