"""A call carried out on arrays: its arguments go by the names that the table of `kernels` has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from unnest.core.architecture.graph import Ref
from unnest.core.recognise.elements import ELEMENT, Array, ByContents, arrays_in, axis_number, whole_number
from unnest.core.recognise.kernels import TABLE
from unnest.core.recognise.number_kernels import ELEMENTWISE, elementwise
from unnest.core.recognise.op_calls import OpCall, UnreadableCall, Value


def carry_out(what: OpCall, lookup: Callable[[Ref], Array]) -> tuple[Array, ...]:
    """The results of a call. Raises UnreadableCall, ByContents, and whatever NumPy does where shapes do not fit."""
    args = [_looked_up(value, lookup) for value in what.args]
    kwargs = {k: _looked_up(v, lookup) for k, v in what.kwargs.items() if k not in SAYS_NOTHING}
    if what.name in ELEMENTWISE:
        return (elementwise(what.name, [*args, *kwargs.values()]),)
    given = by_name(what.name, args, kwargs)
    for name, value in given.items():
        if name not in CONTENTS and any(a.dtype == ELEMENT for a in arrays_in(value)):
            raise ByContents
    found = TABLE[what.name][1](**given)
    return tuple(found) if isinstance(found, list) else (found,)


def _looked_up(value: Value, lookup: Callable[[Ref], Array]) -> Value:
    """An argument with arrays for tensors, and whole numbers in slices."""
    if isinstance(value, Ref):
        return lookup(value)
    if isinstance(value, list):
        return [_looked_up(part, lookup) for part in value]
    if isinstance(value, slice):
        bounds = (_looked_up(bound, lookup) for bound in (value.start, value.stop, value.step))
        return slice(*(None if bound is None else whole_number(bound) for bound in bounds))
    return value


CONTENTS = ("x", "xs", "updates")
"""The arguments that a function moves about; all others say where to."""


def by_name(function: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
    """A call's arguments by the names that the table has for them. Raises UnreadableCall for any other."""
    names, _ = TABLE[function]
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        own = OWN_NAMES.get(function, {}).get(key, key)
        name = own if own in names else ALIASES.get(own, own)
        if name in names and name not in given:
            given[name] = value
        elif not _is_empty(value):  # an argument that would change what the function does
            raise UnreadableCall
    if len(args) > len(names):
        raise UnreadableCall
    return given


def contents(what: OpCall) -> list[Value]:
    """The arguments whose contents a call moves about: all of an elementwise function's."""
    if what.name in ELEMENTWISE:
        return [*what.args, *(value for key, value in what.kwargs.items() if key not in SAYS_NOTHING)]
    if what.name not in TABLE:
        return []
    try:
        given = by_name(what.name, what.args, {k: v for k, v in what.kwargs.items() if k not in SAYS_NOTHING})
    except UnreadableCall:
        return []
    return [given[name] for name in CONTENTS if name in given]


def literal_axis(what: OpCall) -> int | None:
    """The axis that a call names as a number, 0 where it names none; None where it computes it."""
    try:
        given = by_name(what.name, what.args, {k: v for k, v in what.kwargs.items() if k not in SAYS_NOTHING})
        return None if isinstance(given.get("axis"), Ref) else axis_number(given.get("axis"))
    except (UnreadableCall, LookupError):
        return None


def is_known(what: OpCall) -> bool:
    """Whether there is a function for this name."""
    return what.name in TABLE or what.name in ELEMENTWISE


SAYS_NOTHING = ("name", "out_type", "validate_indices", "output_type", "partition_strategy")
"""Arguments that change nothing of what is put where; the last is of a table in several parts."""

ALIASES = {
    "input": "x", "inputs": "x", "tensor": "x", "params": "x", "data": "x", "input_": "x", "value": "x", "a": "x",
    "values": "xs", "arrays": "xs", "tensors": "xs", "slice_spec": "key", "num_or_size_splits": "parts",
    "indices_or_sections": "parts", "newshape": "shape", "start_indices": "begin", "stop": "limit", "step": "delta",
    "num_partitions": "num", "condition": "mask", "x1": "y", "x2": "z", "axes": "perm", "dims": "shape",
    "concat_dim": "axis", "split_dim": "axis", "num_split": "parts", "reference": "x", "ids": "indices",
    "pad_width": "paddings",
}  # fmt: skip
"""What the stacks call one and the same argument."""


OWN_NAMES = {"where": {"x": "y", "y": "z"}, "append": {"x1": "x", "x2": "updates"}, "tile": {"repeats": "multiples"}}
"""What a function calls arguments that are others elsewhere: here `y` and `z` are chosen from, and moved by none."""


def _is_empty(value: Value) -> bool:
    return value is None or (not isinstance(value, np.ndarray) and value in (0, False, "", [], {}))
