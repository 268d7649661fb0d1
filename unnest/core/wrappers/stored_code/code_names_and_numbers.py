"""Signs in the names and numbers of a layer's stored code: whether it can cut rows, where it is not followed.

Of the code count the names of the functions that it calls and the numbers in it; nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from unnest.core import json_tree
from unnest.core.architecture.graph import Layer
from unnest.core.json_tree import Path
from unnest.core.keras_facts.stored_class_names import is_keras_layer
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json

if TYPE_CHECKING:  # most models hold no Lambda, whose code takes much to read
    from unnest.core.wrappers.stored_code.lambda_code_facts import CodeFacts

Number: TypeAlias = int | float

MOVING = (
    "flip", "rot90", "transpose", "permute", "crop", "pad", "resize", "random", "normal", "uniform"
)  # fmt: skip
"""Parts of the names of operations that move or blur pixels, not rows."""

TURNING_AN_AXIS = ("reverse", "roll")
"""Parts of the names of operations that turn an axis: also the batch's, in code that learns how many rows there are."""

CUTTING = ("slice", "strided", "split", "gather", "take", "partition", "mask", "unstack")
"""Parts of the names of operations that cut rows."""

MEASURING = ("shape", "size", "len", "batch", "rows", "dims")
"""Parts of the names by which a function learns how many rows there are."""

OTHER_GRADIENTS = (
    "customgradient",
    "gradient",
    "registergradient",
    "recomputegrad",
    "stopgradient",
)
"""Beginnings of the names of functions by which code trains otherwise than it computes."""

OF_TRAINING = (*OTHER_GRADIENTS, "intrainphase", "intestphase", "learningphase", "dropout")
"""Beginnings of the names of functions that leave nothing, or something else, in a serving graph."""


def contains_word(name: str, words: Iterable[str]) -> bool:
    """Return True if one of these words is anywhere in a name."""
    return any(word in name.lower() for word in words)


def uses_word(names: Iterable[str], words: Iterable[str]) -> bool:
    """Return True if one of these words is a part, between underscores, of a name that code uses."""
    wanted = frozenset(words)
    return any(not wanted.isdisjoint(name.lower().split("_")) for name in names)


def stored_code(layer: Layer) -> CodeFacts | None:
    """Return the facts of a Lambda's code; None without readable code."""
    return code_facts(layer.settings.get("function"))


def code_facts(function: Json) -> CodeFacts | None:
    """Return the facts of a stored function; None if it is stored by name, or is not readable."""
    if function_parts(function)[0] is None:
        return None
    from unnest.core.wrappers.stored_code import lambda_code_facts

    return lambda_code_facts.code(function)


def is_function(layer: Layer) -> bool:
    """Return True if a layer runs a custom function (Keras's Lambda)."""
    return (
        "function" in layer.settings
        or "arguments" in layer.settings
        or layer.class_name == "Lambda"
    )


def acts_in_training(layer: Layer) -> bool:
    """Return True if stored code names a function that a serving graph does not show."""
    code = stored_code(layer)
    if code is None:
        return False
    from unnest.core.ops.call import plain_name  # with NumPy, which most graphs do not need

    return any(plain_name(name).startswith(OF_TRAINING) for name in code.names)


def shows_how(layer: Layer) -> bool:
    """True if stored code can be read, and has what it takes to cut rows; a layer class's code is not in the file."""
    code = stored_code(layer)
    return code is not None and (uses_word(code.names, CUTTING) or uses_word(code.names, MEASURING))


def keeps_rows(layer: Layer) -> str | None:
    """Return why a layer cannot cut the batch: a Keras layer that is not a slice, or code without the means."""
    code = stored_code(layer)
    if code is None:
        keeps = not is_function(layer) and is_keras_layer(layer)
        return (
            f"{layer.name} is Keras's {layer.class_name}, which keeps all rows" if keeps else None
        )
    if uses_word(code.names, CUTTING):
        return None
    is_measuring = uses_word(code.names, MEASURING)
    if uses_word(code.names, MOVING) or (
        uses_word(code.names, TURNING_AN_AXIS) and not is_measuring
    ):
        return f"the code of {layer.name} moves values within the rows, and cuts no rows"
    if code.captures or is_measuring:
        return None
    idle = (
        not code.names
        and not _has_numbers(layer)
        and not any(isinstance(number, int) and number > 0 for number in code.numbers)
    )
    return f"the code of {layer.name} has no operation that cuts rows" if idle else None


def _has_numbers(layer: Layer) -> bool:
    return any(True for key in ("function", "arguments") for _ in numbers(layer.settings.get(key)))


def numbers(value: Json, place: Path = ()) -> Iterator[tuple[Path, Number]]:
    """Yield every number in JSON with its path, in textual order; booleans are no numbers."""
    for where, leaf in json_tree.leaves(value, place):
        if isinstance(leaf, (int, float)) and not isinstance(leaf, bool):
            yield where, leaf
