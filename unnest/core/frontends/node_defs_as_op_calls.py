"""A stored node of a TensorFlow graph (NodeDef: inputs and attributes) as the call of an operation.

A pattern says what a node's inputs are, in order, where they are not the arguments in order: `axis x`. `*xs` takes the
inputs that others leave, `indices+x` two lists of as many; `@attr:parameter` is an attribute.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from unnest.core.json_tree import is_object
from unnest.core.model import Json, JsonObject
from unnest.core.ops.call import OpCall, Value
from unnest.core.ops.operation_entry import Operation
from unnest.core.ops.operation_kinds import JOINS, MOVES
from unnest.core.ops.registry import BY_NODE_OP, OPERATIONS


def parse_node_def(value: Json) -> JsonObject | None:
    """Return a stored NodeDef: an object, its JSON, or protobuf's text, of which the op alone is read.

    (Source: TensorFlow 1.15 wrote text, 2.0 and later JSON.)
    """
    if is_object(value):
        return value
    if not isinstance(value, str):
        return None
    try:
        parsed = json.loads(value)
    except ValueError:
        match = re.search(r'^\s*op:\s*"(\w+)"', value, re.MULTILINE)
        return {"op": match[1]} if match else None
    return parsed if is_object(parsed) else None


def node_inputs(
    constants: Mapping[str, Value], tensors: Sequence[Value], count: int
) -> list[Value]:
    """Return a node's inputs: constants by their numbers, the layer's tensors in the other places, None beyond them.

    Raises:
        ValueError: If a number is no place of an input.

    """
    fixed = {int(number): value for number, value in constants.items()}
    if not fixed.keys() <= set(range(count)):
        raise ValueError("a constant that is no input")
    rest = iter(tensors)
    return [fixed[place] if place in fixed else next(rest, None) for place in range(count)]


def node_attributes(node: JsonObject) -> dict[str, Json]:
    """Return a node's attributes as plain JSON: numbers, texts, lists of whole numbers; None for other forms."""
    stored = node.get("attr")
    return {str(k): _attribute(v) for k, v in stored.items()} if is_object(stored) else {}


def _attribute(value: Json) -> Json:
    """Return the value of an attribute in JSON, `{"i": "1"}`: whole numbers are strings there, bytes base 64."""
    if not is_object(value) or len(value) != 1:
        return None
    ((kind, inner),) = value.items()
    if kind == "list":
        found = inner.get("i") if is_object(inner) else None
        return [int(str(i)) for i in found] if isinstance(found, Sequence) else []
    if kind == "s":
        try:
            return base64.b64decode(str(inner)).decode("ascii")
        except ValueError:
            return str(inner)
    return int(str(inner)) if kind == "i" else inner


def node_operation(op: str) -> Operation | None:
    """Return the operation behind the op of a NodeDef; None if it is not registered."""
    return BY_NODE_OP[op][0] if op in BY_NODE_OP else OPERATIONS.get(op.lower())


def node_call(op: str, inputs: Sequence[Value], attributes: Mapping[str, Value]) -> OpCall:
    """Return a node as a call; a name without arguments if the node has fewer inputs than the operation takes."""
    if op not in BY_NODE_OP:
        return OpCall(op.lower(), inputs, {})
    operation, pattern = BY_NODE_OP[op]
    form = _form(pattern)
    if len(inputs) < len(form.first) + len(form.last):
        return OpCall(op.lower(), (), {})
    given = form.arguments(inputs)
    named = {
        parameter: _text(attributes.get(attribute)) for attribute, parameter in form.attributes
    }
    named = {
        parameter: value for parameter, value in named.items() if value is not None and value != []
    }
    args: list[Value] = []
    for parameter in operation.parameters:
        name = parameter.removeprefix("*")
        if not given or name not in {**given, **named}:
            break
        value = given.pop(name) if name in given else named.pop(name)
        args += value if parameter.startswith("*") else [value]
    return OpCall(operation.name, args, {**given, **named})


def may_join_rows(op: str) -> bool:
    """True if what puts rows together can end in a node of this op."""
    operation = node_operation(op)
    return operation is not None and (operation.kind in JOINS | MOVES or operation.adds)


def _text(value: Value) -> Value:
    """Return an attribute as a string; graphs store bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


class _Form(NamedTuple):
    """A pattern: the parameters of the inputs before and after a list of them, and the attributes."""

    first: tuple[str, ...]
    listed: str | None
    last: tuple[str, ...]
    halves: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]

    def arguments(self, inputs: Sequence[Value]) -> dict[str, Value]:
        """Return the inputs by parameter."""
        if self.halves:
            half = len(inputs) // 2
            return {self.halves[0]: list(inputs[:half]), self.halves[1]: list(inputs[half:])}
        given = dict(zip(self.first, inputs, strict=False))
        if self.listed is None:
            return given
        end = len(inputs) - len(self.last)
        given[self.listed] = list(inputs[len(self.first) : end])
        return {**given, **dict(zip(self.last, inputs[end:], strict=True))}


@lru_cache(maxsize=256)
def _form(pattern: str) -> _Form:
    words = [word for word in pattern.split() if not word.startswith("@")]
    attributes = [word[1:].partition(":") for word in pattern.split() if word.startswith("@")]
    at = next((k for k, word in enumerate(words) if word.startswith("*")), None)
    halves = tuple(words[0].split("+")) if "+" in words[0] else ()
    return _Form(
        () if halves else tuple(words[:at]),
        None if at is None else words[at][1:],
        () if at is None else tuple(words[at + 1 :]),
        halves,
        tuple((attribute, parameter or attribute) for attribute, _, parameter in attributes),
    )
