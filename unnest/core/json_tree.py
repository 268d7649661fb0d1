"""Walks over JSON that may come from anyone: iterative, so that no depth of nesting is too deep.

A *path* is the keys and indices that lead from the whole to a part of it. Objects are mappings, lists are any sequences
but text; all other values are leaves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeGuard, TypeVar

from unnest.budget import memoize
from unnest.core.model import Json, JsonObject

Path: TypeAlias = "tuple[str | int, ...]"
ResultT = TypeVar("ResultT")

# Most values are leaves, and most objects dicts: to ask an abstract class takes ten times as long as what it is asked.
LEAVES = frozenset({str, int, float, bool, type(None)})
NO_OBJECTS = LEAVES | {list}
OBJECT = (dict, Mapping)


def _everything(_: JsonObject) -> bool:
    return True


def is_object(value: Json) -> TypeGuard[JsonObject]:
    """Return True if a value is an object."""
    return type(value) not in NO_OBJECTS and isinstance(value, OBJECT)


def is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    """Return True if a value that is not an object is a list."""
    return (
        type(value) not in LEAVES
        and isinstance(value, (list, Sequence))
        and not isinstance(value, str)
    )


def walk(
    value: Json, *, into: Callable[[JsonObject], bool] = _everything
) -> Iterator[tuple[Path, JsonObject]]:
    """Yield every object of a value with its path, outer before inner, in textual order.

    An object that `into` is false of is given, and what is in it is not.
    """
    pending: list[tuple[Path, Json]] = [((), value)]
    while pending:
        path, part = pending.pop()
        if is_object(part):
            yield path, part
            if into(part):
                below = [
                    ((*path, key), each) for key, each in part.items() if type(each) not in LEAVES
                ]
                pending += reversed(below)
        elif is_list(part):
            items = [
                ((*path, index), each)
                for index, each in enumerate(part)
                if type(each) not in LEAVES
            ]
            pending += reversed(items)


def leaves(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield every leaf of a value with its path, which continues `path`, in textual order."""
    pending: list[tuple[Path, Json]] = [(path, value)]
    while pending:
        at, part = pending.pop()
        if is_object(part):
            pending += reversed([((*at, key), each) for key, each in part.items()])
        elif is_list(part):
            pending += reversed([((*at, index), each) for index, each in enumerate(part)])
        else:
            yield at, part


def objects(value: Json, *, keys: Callable[[str], bool] | None = None) -> Iterator[JsonObject]:
    """Yield every object of a value, outer before inner, in textual order; only below keys for which `keys` is true."""
    pending: list[Json] = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict) or is_object(part):  # the usual types first: no walk is as hot
            yield part
            inner = [
                each
                for key, each in part.items()
                if type(each) not in LEAVES and (keys is None or keys(key))
            ]
        elif isinstance(part, list) or is_list(part):
            inner = [each for each in part if type(each) not in LEAVES]
        else:
            continue
        inner.reverse()
        pending += inner


def all_objects(value: Json) -> Sequence[JsonObject]:
    """Return the same as `objects`, walked once a file: for what is asked of a whole model several times."""
    return memoize(_all_objects, value)


def _all_objects(value: Json) -> Sequence[JsonObject]:
    return tuple(objects(value))


def as_key(value: Json) -> str | None:
    """Return a text that only equal values have; None for what JSON cannot spell, or what is nested too deep."""
    try:
        return json.dumps(value)
    except (RecursionError, TypeError):  # TypeError: a custom mapping, in JSON that a caller gave
        return None


def has_key(value: Json, key: str) -> bool:
    """Return True if any object within the JSON value has the key."""
    return any(key in part for part in objects(value))


def objects_inner_first(value: Json) -> Iterator[JsonObject]:
    """Yield every object of a value after the objects in it, in textual order."""
    pending: list[tuple[Json, bool]] = [(value, False)]
    while pending:
        part, is_left = pending.pop()
        if is_object(part):
            if is_left:
                yield part
            else:
                pending.append((part, True))
                inner = list(part.values())
                pending += [(each, False) for each in reversed(inner) if type(each) not in LEAVES]
        elif is_list(part):
            pending += [(each, False) for each in reversed(part) if type(each) not in LEAVES]


def transform(
    value: Json,
    change: Callable[[JsonObject, dict[str, Json]], Json],
    *,
    into: Callable[[JsonObject], bool] = _everything,
) -> Json:
    """Return the value with every object changed, inner ones first; what does not change is the same object as before.

    `change` receives an object and a copy of it, the parts of which are changed already; it may alter and return the
    copy. An object for which `into` is False stays as it is, with everything in it.
    """
    #: A part is entered, then left: `done` holds the changed parts that are waiting for their holder.
    pending: list[tuple[Json, bool]] = [(value, False)]
    done: list[Json] = []
    while pending:
        part, is_left = pending.pop()
        if type(part) in LEAVES:
            pass
        elif is_object(part):
            if not is_left and into(part):
                pending.append((part, True))
                pending += [(inner, False) for inner in part.values()]
                continue
            if is_left:
                inner = [done.pop() for _ in part]
                changed = change(part, dict(zip(part, inner, strict=True)))
                part = part if _is_same_object(part, changed) else changed
        elif is_list(part):
            if not is_left:
                pending.append((part, True))
                pending += [(inner, False) for inner in part]
                continue
            new = [done.pop() for _ in part]
            part = part if all(a is b for a, b in zip(part, new, strict=True)) else new
        done.append(part)
    return done[0]


def fold(
    value: Json,
    leaf: Callable[[Json], ResultT],
    holder: Callable[[Sequence[Json] | JsonObject, list[ResultT]], ResultT],
    *,
    into: Callable[[JsonObject], bool] = _everything,
) -> ResultT:
    """Return the result of a value, computed from its leaves up.

    `leaf` receives each leaf, and each object for which `into` is False; `holder` each list and object, with the
    results of its parts, in their order.
    """
    #: A part is entered, then left: `done` holds what the parts came to that are waiting for their holder.
    pending: list[tuple[Json, bool]] = [(value, False)]
    done: list[ResultT] = []
    while pending:
        part, is_left = pending.pop()
        if isinstance(part, Mapping) and (is_left or into(part)):
            inner: Sequence[Json] = list(part.values())
        elif isinstance(part, Sequence) and not isinstance(part, str):
            inner = part
        else:
            done.append(leaf(part))
            continue
        if is_left:
            start = len(done) - len(inner)
            done[start:] = [holder(part, done[start:])]
        else:
            pending.append((part, True))
            pending += [(each, False) for each in reversed(inner)]
    return done[0]


def replace_at(value: Json, path: Path, new: Json) -> Json:
    """Return the value with another part at `path`; the parts beside the path are the same objects. Raises KeyError."""
    holders: list[Json] = []
    for key in path:
        holders.append(value)
        value = _at(value, key)
    for holder, key in zip(reversed(holders), reversed(path), strict=True):
        if isinstance(holder, Mapping):
            new = {**holder, str(key): new}
        else:
            assert isinstance(holder, Sequence)
            new = [new if index == key else part for index, part in enumerate(holder)]
    return new


def _at(value: Json, key: str | int) -> Json:
    if isinstance(value, Mapping) and isinstance(key, str):
        return value[key]
    if isinstance(value, Sequence) and isinstance(key, int):
        return value[key]
    raise KeyError(key)


def _is_same_object(before: JsonObject, after: Json) -> bool:
    return (
        is_object(after)
        and len(after) == len(before)
        and all(key in before and before[key] is part for key, part in after.items())
    )
