"""YAML out of files that may come from anyone: what `model.to_yaml()` of Keras 1 and 2 wrote, as JSON.

PyYAML's own loaders build whatever Python object a tag names. This one knows the tags of plain values, and the ways in
which Keras's dumper spelled some of these: `!!python/tuple`, `!!python/unicode`, `!!python/str`, a NumPy number as its
bytes, and TensorFlow's wrappers around lists and dicts. They are read as the values that they stand for; any other is
refused. Aliases (`*id001`, where one list stood in two places) are counted as what they stand for, so that a few lines
cannot unfold into gigabytes.
(Source: files of Keras 1.2.0, 1.2.2, 2.0.9, 2.2.4, 2.3.1 and tf.keras 1.14 and 1.15.)
"""

from __future__ import annotations

import functools
import json
import re
import struct
from collections.abc import Callable
from typing import Any

import yaml

from unnest.budget import charge_memory, charge_steps
from unnest.core.model import Json
from unnest.errors import Unreadable

#: Values inside values. The deepest known architecture has some 60.
MAX_YAML_DEPTH = 400
#: The scanner of libyaml has a limit of 1,000 of its own, which it may meet before it gives any event. (Source: 0.2.6.)
DEPTH_OF_LIBYAML = "exceeded maximum nesting depth"
LONGEST_NUMBER = 64
#: Values that a text may unfold to: so many, and so many for each that is written. A long text counts as several.
MAX_UNFOLDED, MAX_PER_VALUE, CHARACTERS = 100_000, 10, 64
#: What it takes to read the start or end of a value, and to build it afterwards.
STEPS_AN_EVENT, BYTES_AN_EVENT = 5, 400
#: A NumPy type's state begins with a version and the order of bytes; a number is its type and its bytes.
STATE_WITH_ORDER, NUMBER_PARTS = 2, 2

TAG = "tag:yaml.org,2002:"
PLAIN = ("null", "bool", "int", "float", "str", "seq", "map", "binary")
#: The tags of whatever Python would call to get the value, or would make: what follows names the function or class.
APPLY, NEW = f"{TAG}python/object/apply:", f"{TAG}python/object/new:"
WRAPPERS = re.compile(
    r"(builtins|__builtin__)\.(dict|list|tuple)|tensorflow\.[\w.]+\.data_structures\.\w*Wrapper"
)
LIST_WRAPPER = re.compile(r"tensorflow\.[\w.]+\.data_structures\._ListWrapper")
SCALAR, DTYPE = re.compile(r"numpy\.(_?core\.)multiarray\.scalar"), "numpy.dtype"
#: NumPy's letters for numbers -> those of struct.
STRUCT_LETTERS = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip


def _loader() -> type[Any]:
    """Return PyYAML's parser, in C if available, which constructs plain values alone."""
    parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    constructor = yaml.constructor.SafeConstructor
    constructors: dict[str | None, Any] = {
        TAG + tag: constructor.yaml_constructors[TAG + tag] for tag in PLAIN
    }
    for tag in ("int", "float"):
        constructors[TAG + tag] = functools.partial(_number, constructors[TAG + tag])
    constructors[TAG + "python/tuple"] = constructor.construct_yaml_seq
    constructors[TAG + "python/unicode"] = constructor.construct_yaml_str
    constructors[TAG + "python/str"] = constructor.construct_yaml_str
    constructors[None] = constructor.construct_undefined
    by_prefix = {APPLY: _value_of_call, NEW: _value_of_new}
    return type(
        "PlainLoader",
        (parser,),
        {"yaml_constructors": constructors, "yaml_multi_constructors": by_prefix},
    )


def _number(construct: Callable[[Any, Any], int | float], loader: Any, node: Any) -> int | float:  # noqa: ANN401 - PyYAML has no types here
    """Return a number of limited length: YAML reads `1:1:1...` to base 60, which takes long for long ones."""
    if len(node.value) > LONGEST_NUMBER:
        raise yaml.constructor.ConstructorError(None, None, "a number is too long", node.start_mark)
    return construct(loader, node)


class _NumberType:
    """A NumPy type of numbers, by how `struct` spells it. By itself it is no value that JSON has."""

    def __init__(self, letters: str) -> None:
        self.format = letters


def _value_of_call(loader: Any, function_name: str, node: Any) -> Any:  # noqa: ANN401 - PyYAML's loaders, nodes and values
    """Return the value that a call of this function stands for; the function is not called."""
    arguments: Any = None
    if isinstance(node, yaml.SequenceNode):
        arguments = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        arguments = loader.construct_mapping(node, deep=True)
    value: Any = None
    if WRAPPERS.fullmatch(function_name):
        value = _wrapped(function_name, arguments)
    elif function_name == DTYPE:
        value = _number_type(arguments)
    elif SCALAR.fullmatch(function_name):
        value = _unpacked(arguments)
    if value is None:
        raise _would_be_called(function_name, node)
    return value


def _value_of_new(loader: Any, kind: str, node: Any) -> list[Any]:  # noqa: ANN401 - PyYAML's loaders and nodes
    """Return the list that a TensorFlow 1.14 list wrapper stands for: its items, beside its bookkeeping."""
    if not LIST_WRAPPER.fullmatch(kind) or not isinstance(node, yaml.MappingNode):
        raise _would_be_called(kind, node)
    parts = loader.construct_mapping(node, deep=True)
    items = parts.get("listitems", [])
    state = parts.get("state")
    if (
        not parts.keys() <= {"listitems", "state"}
        or not isinstance(items, list)
        or not isinstance(state, dict)
    ):
        raise _would_be_called(kind, node)
    if state.get("_storage", items) != items:
        raise _would_be_called(kind, node)
    return items


def _would_be_called(name: str, node: Any) -> yaml.constructor.ConstructorError:  # noqa: ANN401 - PyYAML has no types here
    return yaml.constructor.ConstructorError(None, None, f"{name} would be called", node.start_mark)


def _wrapped(wrapper: str, arguments: Any) -> Any:  # noqa: ANN401 - any YAML value
    """Return the list or dict that is a wrapper's one argument; else None."""
    if not isinstance(arguments, list) or len(arguments) != 1:
        return None
    return (
        arguments[0]
        if isinstance(arguments[0], dict if "dict" in wrapper.lower() else list)
        else None
    )


def _number_type(arguments: Any) -> _NumberType | None:  # noqa: ANN401 - any YAML value
    """Return the number type that `numpy.dtype` would make of these arguments; None for others."""
    if not isinstance(arguments, dict):
        return None
    letters, state = arguments.get("args"), arguments.get("state", [None, "<"])
    if (
        not isinstance(letters, list)
        or not isinstance(state, list)
        or not letters
        or len(state) < STATE_WITH_ORDER
    ):
        return None
    letter, order = (
        STRUCT_LETTERS.get(str(letters[0])),
        {"<": "<", ">": ">", "|": "<", "=": "<"}.get(str(state[1])),
    )
    return None if letter is None or order is None else _NumberType(order + letter)


def _unpacked(arguments: Any) -> float | None:  # noqa: ANN401 - any YAML value
    """Return the number of a NumPy type and bytes (a string in Python 2's files); None if they do not fit."""
    if not isinstance(arguments, list) or len(arguments) != NUMBER_PARTS:
        return None
    kind, data = arguments
    if not isinstance(kind, _NumberType):
        return None
    stored = data.encode("utf-8") if isinstance(data, str) else data
    if not isinstance(stored, bytes) or len(stored) != struct.calcsize(kind.format):
        return None
    number: float = struct.unpack(kind.format, stored)[0]
    return number


def _too_large(place: str) -> Unreadable:
    return Unreadable(
        "yaml-too-large",
        f"{place} nests or repeats far more than a model does; do not trust this file",
    )


def parse(text: str, place: str) -> Json:
    """Parse a YAML document to JSON values. Raises Unreadable if it is not YAML, or names an object to be built."""
    loader = _loader()
    try:
        _check_size(text, loader, place)
        value = yaml.load(text, Loader=loader)  # noqa: S506 - a loader that constructs plain values alone
        # Keys as JSON has them (Keras numbers constants), and nothing that it has not.
        unfolded: Json = json.loads(json.dumps(value))
    except RecursionError:
        raise Unreadable(
            "json-too-deep", f"{place} nests too deep to be a model; do not trust this file"
        ) from None
    except yaml.constructor.ConstructorError as e:
        raise Unreadable(
            "yaml-object",
            f"{place} holds YAML that builds Python objects ({e.problem}); do not trust this file",
        ) from None
    except yaml.YAMLError as e:
        reason = " ".join(str(getattr(e, "problem", None) or e).split())
        if reason == DEPTH_OF_LIBYAML:
            raise _too_large(place) from None
        raise Unreadable(
            "bad-yaml", f"{place} is not YAML ({reason}); the file is damaged; copy it again"
        ) from None
    except (ValueError, KeyError, TypeError):  # `!!int x`, `!!bool x`, bytes where a model has none
        raise Unreadable(
            "bad-yaml",
            f"{place} is YAML, but holds values that no model has; save the architecture again",
        ) from None
    return unfolded


def _check_size(text: str, loader: type[Any], place: str) -> None:
    """Raise Unreadable if the document nests or unfolds too far, by its events: nothing is built."""
    open_nodes: list[tuple[str | None, int]] = []
    sizes: dict[str, int] = {}
    written = total = 0
    for event in yaml.parse(text, Loader=loader):
        charge_steps(STEPS_AN_EVENT)
        charge_memory(BYTES_AN_EVENT)
        anchor, size = getattr(event, "anchor", None), 0
        if isinstance(event, yaml.events.CollectionStartEvent):
            open_nodes.append((anchor, 1))
            written += 1
        elif isinstance(event, yaml.events.CollectionEndEvent):
            anchor, size = open_nodes.pop()
        elif isinstance(event, yaml.events.AliasEvent):
            size = sizes.get(anchor or "", 1)
            if any(anchor == name for name, _ in open_nodes):
                raise Unreadable(
                    "yaml-too-large", f"{place}: *{anchor} holds itself; do not trust this file"
                )
        elif isinstance(event, yaml.events.ScalarEvent):
            size = 1 + len(event.value) // CHARACTERS
            written += size
        if size:
            if anchor and not isinstance(event, yaml.events.AliasEvent):
                sizes[anchor] = size
            if open_nodes:
                name, size_so_far = open_nodes[-1]
                open_nodes[-1] = name, size_so_far + size
            total = max(total, size, open_nodes[-1][1] if open_nodes else 0)
        if len(open_nodes) > MAX_YAML_DEPTH or total > MAX_UNFOLDED + MAX_PER_VALUE * written:
            raise _too_large(place)
