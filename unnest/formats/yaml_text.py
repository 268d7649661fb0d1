"""YAML out of files that may come from anyone: what `model.to_yaml()` of Keras 1 and 2 wrote, as JSON.

PyYAML's own loaders build whatever Python object a tag names. This one knows the tags of plain values, and the ways in
which Keras's dumper spelled some of these: `!!python/tuple` and `!!python/unicode`, a NumPy number as its bytes, and
TensorFlow's wrappers around lists and dicts. They are read as the values that they stand for; any other is refused.
Aliases (`*id001`, where one list stood in two places) are counted as what they stand for, so that a few lines cannot
unfold into gigabytes. (Source: files of Keras 1.2.2, 2.0.9, 2.2.4, 2.3.1 and tf.keras 1.15.)
"""

from __future__ import annotations

import functools
import json
import re
import struct
from collections.abc import Callable
from typing import Any

import yaml

from unnest.core.model import Json
from unnest.errors import Unreadable

#: Values inside values. The deepest known architecture has some 60.
MAX_DEPTH = 400
LONGEST_NUMBER = 64
#: Values that a text may unfold to: so many, and so many for each that is written. A long text counts as several.
MAX_UNFOLDED, MAX_PER_VALUE, CHARACTERS = 100_000, 10, 64

TAG = "tag:yaml.org,2002:"
PLAIN = ("null", "bool", "int", "float", "str", "seq", "map", "binary")
#: The tag of whatever Python would call to get the value; what follows names the function.
APPLY = f"{TAG}python/object/apply:"
WRAPPERS = re.compile(r"(builtins|__builtin__)\.(dict|list|tuple)|tensorflow\.[\w.]+\.data_structures\.\w*Wrapper")
SCALAR, DTYPE = re.compile(r"numpy\.(_?core\.)multiarray\.scalar"), "numpy.dtype"
#: NumPy's letters for numbers -> those of struct.
NUMBERS = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip


def _loader() -> type[Any]:
    """PyYAML's parser, in C where it is built with it, with constructors of plain values alone."""
    parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    constructor = yaml.constructor.SafeConstructor
    constructors: dict[str | None, Any] = {TAG + tag: constructor.yaml_constructors[TAG + tag] for tag in PLAIN}
    for tag in ("int", "float"):
        constructors[TAG + tag] = functools.partial(_number, constructors[TAG + tag])
    constructors[TAG + "python/tuple"] = constructor.construct_yaml_seq
    constructors[TAG + "python/unicode"] = constructor.construct_yaml_str
    constructors[None] = constructor.construct_undefined
    by_prefix = {APPLY: _value_of_call}
    return type("PlainLoader", (parser,), {"yaml_constructors": constructors, "yaml_multi_constructors": by_prefix})


def _number(construct: Callable[[Any, Any], int | float], loader: Any, node: Any) -> int | float:  # noqa: ANN401 - PyYAML has no types here
    """A number of a number's length: YAML reads `1:1:1...` to base 60, and takes its time where that is long."""
    if len(node.value) > LONGEST_NUMBER:
        raise yaml.constructor.ConstructorError(None, None, "a number is too long", node.start_mark)
    return construct(loader, node)


def _value_of_call(loader: Any, function: str, node: Any) -> Any:  # noqa: ANN401 - PyYAML's loaders, nodes and values
    """The value that a call of this function stands for; the function is not called."""
    arguments: Any = None
    if isinstance(node, yaml.SequenceNode):
        arguments = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        arguments = loader.construct_mapping(node, deep=True)
    if WRAPPERS.fullmatch(function) and isinstance(arguments, list) and len(arguments) == 1:
        return arguments[0]
    if function == DTYPE and isinstance(arguments, dict):
        state = arguments.get("state") or (None, "<")
        return {"<": "<", ">": ">", "|": "<", "=": "<"}[state[1]], NUMBERS[arguments["args"][0]]
    if SCALAR.fullmatch(function) and isinstance(arguments, list):
        (order, letter), data = arguments
        return struct.unpack(order + letter, data)[0]
    raise yaml.constructor.ConstructorError(None, None, f"{function} would be called", node.start_mark)


def parse(text: str, place: str) -> Json:
    """A YAML document as a JSON value. Raises Unreadable where it is none, or names an object to be built."""
    loader = _loader()
    try:
        _check_size(text, loader, place)
        value = yaml.load(text, Loader=loader)  # noqa: S506 - a loader that constructs plain values alone
        # Keys as JSON has them (Keras numbers constants), and nothing that it has not.
        unfolded: Json = json.loads(json.dumps(value))
    except RecursionError:
        raise Unreadable("json-too-deep", f"{place} nests too deep to be a model; do not trust this file") from None
    except yaml.constructor.ConstructorError as e:
        raise Unreadable(
            "yaml-object", f"{place} holds YAML that builds Python objects ({e.problem}); do not trust this file"
        ) from None
    except (yaml.YAMLError, ValueError, KeyError, TypeError, IndexError, struct.error) as e:
        reason = " ".join(str(getattr(e, "problem", None) or e).split())
        raise Unreadable("bad-yaml", f"{place} is not YAML ({reason}); the file is damaged") from None
    return unfolded


def _check_size(text: str, loader: type[Any], place: str) -> None:
    """Raises Unreadable where the document nests or unfolds too far, by its events: nothing is built."""
    open_nodes: list[tuple[str | None, int]] = []
    sizes: dict[str, int] = {}
    written = total = 0
    for event in yaml.parse(text, Loader=loader):
        anchor, size = getattr(event, "anchor", None), 0
        if isinstance(event, yaml.events.CollectionStartEvent):
            open_nodes.append((anchor, 1))
            written += 1
        elif isinstance(event, yaml.events.CollectionEndEvent):
            anchor, size = open_nodes.pop()
        elif isinstance(event, yaml.events.AliasEvent):
            size = sizes.get(anchor or "", 1)
            if any(anchor == name for name, _ in open_nodes):
                raise Unreadable("yaml-too-large", f"{place}: *{anchor} holds itself; do not trust this file")
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
        if len(open_nodes) > MAX_DEPTH or total > MAX_UNFOLDED + MAX_PER_VALUE * written:
            raise Unreadable(
                "yaml-too-large", f"{place} nests or repeats far more than a model does; do not trust this file"
            )
