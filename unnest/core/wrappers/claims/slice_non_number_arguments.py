"""Arguments of slices beside numbers: their names, texts and truth values.

Slices of one wrapper are made by one call in a loop. So their arguments have the same names, and a text or truth value
that differs between them (`{reverse: true}`, `{mode: "mirror"}`) is no number of a part: only code shows its effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from unnest.core import json_tree
from unnest.core.architecture.graph import Layer
from unnest.core.json_tree import Path
from unnest.core.model import Json
from unnest.core.wrappers.claims.stored_slice_numbers import BASE_KEYS, Slice, last
from unnest.core.wrappers.stored_code import code_names_and_numbers

DEVICE = r"(?i)/?(?:[a-z]+:\w+/)*(?:device:)?(?:xla_)?(?:cpu|gpu|tpu)(?::(?:\d+|\*))?"
"""What TensorFlow calls a device: "/gpu:0", "GPU:1", "/device:GPU:0", "/job:worker/task:0/cpu:0"."""


def objection_to_names(slices: Sequence[Slice]) -> str | None:
    """Return why the names of arguments are not those of one wrapper's slices; None if they may be."""
    names = [frozenset(_own_arguments(layer)) for layer, _, _ in slices]
    for (layer, _, _), given in zip(slices, names, strict=True):
        code = code_names_and_numbers.stored_code(layer)
        refused = set() if code is None or code.accepts is None else given - code.accepts
        if refused:
            return f"the code of {layer.name} takes no argument {min(refused)}"
    if all(given == names[0] for given in names) or have_code(slices):
        return None
    odd = min(set().union(*names).difference(frozenset.intersection(*names)))
    return f"only some of the slices are told {odd}"


def have_code(slices: Sequence[Slice]) -> bool:
    """Return True if the code of all slices is in the file, which can have defaults for missing arguments."""
    return all(code_names_and_numbers.stored_code(layer) is not None for layer, _, _ in slices)


def differing_text(slices: Sequence[Slice]) -> str | None:
    """Return texts and truth values that differ between slices; None if equal, devices, or tower counts."""
    told = [dict(_texts(_own_arguments(layer))) for layer, _, _ in slices]
    for place in dict.fromkeys(place for leaves in told for place in leaves):
        values = [leaves.get(place) for leaves in told]
        if any(
            type(value) is not type(values[0]) or value != values[0] for value in values
        ) and not (
            all(isinstance(value, str) and re.fullmatch(DEVICE, value) for value in values)
            or _count_towers(values)
        ):
            return f"{last(place)} is {', '.join(_argument_text(value) for value in values)} in the slices"
    return None


def _own_arguments(layer: Layer) -> Mapping[str, Json]:
    """Return the arguments of a function, or the config of a class without the keys of every layer."""
    if code_names_and_numbers.is_function(layer):
        arguments = layer.settings.get("arguments")
        return arguments if isinstance(arguments, Mapping) else {}
    return {key: value for key, value in layer.settings.items() if key not in BASE_KEYS}


def _texts(value: Json) -> Iterator[tuple[Path, Json]]:
    """Yield every string and boolean in JSON with its path."""
    return (
        (place, leaf) for place, leaf in json_tree.leaves(value) if isinstance(leaf, (str, bool))
    )


def _count_towers(values: Sequence[Json]) -> bool:
    """Return True if texts are equal but for one number that counts them from 0 or 1: "tower_0", "tower_1"."""
    parts = [
        re.fullmatch(r"(.*?)(\d+)(\D*)", value) if isinstance(value, str) else None
        for value in values
    ]
    found = [(part[1], int(part[2]), part[3]) for part in parts if part is not None]
    if len(found) < len(values) or found[0][1] not in (0, 1):
        return False
    before, first, behind = found[0]
    return found == [(before, first + index, behind) for index in range(len(found))]


def _argument_text(value: Json) -> str:
    return "none" if value is None else str(value)
