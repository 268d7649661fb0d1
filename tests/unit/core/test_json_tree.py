"""Walks over JSON: in the order of the text, and as deep as anybody nests."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from unnest.core import json_tree
from unnest.core.model import Json, JsonObject

TREE: Json = {
    "name": "a",
    "of": [{"name": "b", "of": {"name": "c"}}, 1, "text"],
    "last": {"name": "d"},
}
#: Far deeper than Python recurses.
DEPTH = 50_000


def name(part: JsonObject) -> Json:
    return part.get("name")


def deep() -> Json:
    value: Json = {"name": "bottom"}
    for _ in range(DEPTH):
        value = {"in": [value]}
    return value


def test_outer_before_inner_with_the_way_there() -> None:
    assert [(path, name(part)) for path, part in json_tree.walk(TREE)] == [
        ((), "a"), (("of", 0), "b"), (("of", 0, "of"), "c"), (("last",), "d"),
    ]  # fmt: skip
    assert [name(part) for part in json_tree.objects(TREE)] == ["a", "b", "c", "d"]


def test_inner_before_outer() -> None:
    assert [name(part) for part in json_tree.objects_inner_first(TREE)] == ["c", "b", "d", "a"]


def test_what_is_not_entered() -> None:
    assert [
        name(part) for _, part in json_tree.walk(TREE, into=lambda part: name(part) != "b")
    ] == ["a", "b", "d"]
    assert [name(part) for part in json_tree.objects(TREE, keys=lambda key: key != "of")] == [
        "a",
        "d",
    ]


def test_every_object_is_changed_inner_ones_first() -> None:
    def upper(before: JsonObject, part: dict[str, Json]) -> Json:
        return part | {"name": str(name(before)).upper(), "holds": len(part)}

    assert json_tree.transform(TREE, upper) == {
        "name": "A", "holds": 3, "last": {"name": "D", "holds": 1},
        "of": [{"name": "B", "holds": 2, "of": {"name": "C", "holds": 1}}, 1, "text"],
    }  # fmt: skip


def test_a_value_is_worked_out_from_its_leaves() -> None:
    def written(part: Any, parts: list[str]) -> str:
        return (
            f"<{' '.join(map('='.join, zip(part, parts, strict=True)))}>"
            if isinstance(part, dict)
            else str(parts)
        )

    assert json_tree.fold([{"a": 1, "b": [2, 3]}, "c"], str, written) == str(
        ["<a=1 b=['2', '3']>", "c"]
    )
    assert json_tree.fold([{"a": 1}, {"b": 1}], str, written, into=lambda part: "b" in part) == str(
        ["{'a': 1}", "<b=1>"]
    )
    assert json_tree.fold(deep(), lambda _: 1, lambda _, parts: 1 + sum(parts)) == 2 * DEPTH + 2
    assert json_tree.fold([], str, written) == "[]"


def test_what_does_not_change_is_the_same_object() -> None:
    assert json_tree.transform(TREE, lambda _, part: part) is TREE
    changed = json_tree.transform(
        TREE, lambda _, part: {**part, "name": "D"} if name(part) == "d" else part
    )
    assert isinstance(changed, dict)
    assert isinstance(TREE, dict)
    assert changed["of"] is TREE["of"]
    assert changed["last"] == {"name": "D"}


def test_an_object_may_become_something_else() -> None:
    assert json_tree.transform([TREE, {"name": "d"}], lambda _, part: name(part)) == ["a", "d"]


def test_what_is_not_to_be_entered_stays() -> None:
    changed = json_tree.transform(
        TREE, lambda _, part: part | {"x": 1}, into=lambda part: name(part) != "b"
    )
    assert isinstance(changed, dict)
    assert changed["of"] == [{"name": "b", "of": {"name": "c"}}, 1, "text"]
    assert (changed["x"], changed["last"]) == (1, {"name": "d", "x": 1})


@pytest.mark.parametrize("path", [(), ("of",), ("of", 0, "of", "name"), ("of", 1), ("last",)])
def test_one_part_is_replaced(path: json_tree.Path) -> None:
    changed = json_tree.replace_at(TREE, path, "new")
    for key in path:
        changed = changed[key]  # type: ignore[index]
    assert changed == "new"
    assert TREE == {
        "name": "a",
        "of": [{"name": "b", "of": {"name": "c"}}, 1, "text"],
        "last": {"name": "d"},
    }


def test_no_depth_is_too_deep() -> None:
    """Neither to look at nor to change; no caller needs paths of that length."""
    value = deep()
    assert sum(1 for _ in json_tree.objects(value)) == DEPTH + 1
    assert sum(1 for _ in json_tree.objects_inner_first(value)) == DEPTH + 1
    changed = json_tree.transform(
        value, lambda _, part: {"was": part["in"]} if "in" in part else part
    )
    assert sum("was" in part for part in json_tree.objects(changed)) == DEPTH
    # Taken apart by hand: Python frees nested objects by recursion.
    while isinstance(value, dict) and "in" in value:
        (value,) = value["in"]
    assert value == {"name": "bottom"}


def test_every_leaf_has_its_path() -> None:
    value: Json = {"a": [1, {"b": None}], "c": "text", "d": [], "e": True}
    assert list(json_tree.leaves(value)) == [
        (("a", 0), 1),
        (("a", 1, "b"), None),
        (("c",), "text"),
        (("e",), True),
    ]
    assert list(json_tree.leaves(2.5, ("f",))) == [(("f",), 2.5)]


def test_keys() -> None:
    """Keys count, values do not."""
    assert json_tree.has_key([{"a": {"ragged": False}}], "ragged")
    assert not json_tree.has_key([{"a": "ragged"}], "ragged")


@pytest.mark.parametrize(
    ("value", "is_object", "is_list"),
    [
        ({}, True, False),
        (MappingProxyType({}), True, False),
        ([], False, True),
        ((), False, True),
        ("text", False, False),
        (None, False, False),
        (1, False, False),
    ],
)
def test_objects_and_lists(value: Json, *, is_object: bool, is_list: bool) -> None:
    """Of any class that is a mapping or a sequence."""
    assert (json_tree.is_object(value), json_tree.is_list(value)) == (is_object, is_list)


def test_keys_of_values() -> None:
    """Equal for equal values alone; none for what JSON cannot spell."""
    keys = [json_tree.as_key(value) for value in ([1], [True], [1.0], ["1"], {"1": 1}, [1])]
    assert len({*keys}) == 5
    assert keys[0] == keys[-1]
    assert json_tree.as_key(MappingProxyType({})) is None
