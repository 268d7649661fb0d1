"""References to tensors in every dialect: found, and replaced, in whatever structure they sit."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.architecture import tensor_refs

LAYERS = {"x", "a"}


def keras_tensor(*history: Any) -> dict[str, Any]:
    return {
        "class_name": "__keras_tensor__",
        "config": {"shape": [None], "dtype": "float32", "keras_history": list(history)},
    }


CASES: dict[str, tuple[Any, list[tuple[str, int, int]]]] = {
    "Keras 1": ([["x", 0, 0], ["a", 1, 2]], [("x", 0, 0), ("a", 1, 2)]),
    "Keras 2": ([["x", 0, 0, {}]], [("x", 0, 0)]),
    "inside arguments": ([["x", 0, 0, {"mask": ["a", 0, 1]}]], [("x", 0, 0), ("a", 0, 1)]),
    "an op layer, bare": (["x", 0, 0, {"y": 2.0}], [("x", 0, 0)]),
    "a constant": (["_CONSTANT_VALUE", -1, 1.0, {"y": ["x", 0, 0]}], [("x", 0, 0)]),
    "Keras 3": (
        {"args": [[keras_tensor("x", 0, 0), keras_tensor("a", 0, 0)]], "kwargs": {}},
        [("x", 0, 0), ("a", 0, 0)],
    ),
    "a dictionary, by its keys": (
        {"args": [{"z": keras_tensor("x", 0, 0), "y": keras_tensor("a", 0, 0)}], "kwargs": {}},
        [("a", 0, 0), ("x", 0, 0)],
    ),
    "a shape is none": ([["x", 0, 0, {"shape": [3, 0, 0]}]], [("x", 0, 0)]),
    "a name that is no layer's": ([["b", 0, 0]], []),
    "booleans are no numbers": ([["x", False, 0]], []),
    "negative numbers": ([["x", -1, 0]], []),
}


@pytest.mark.parametrize("name", CASES)
def test_reads(name: str) -> None:
    node, expected = CASES[name]
    assert tensor_refs.reads(node, LAYERS) == expected


@pytest.mark.parametrize("name", CASES)
def test_rewriting_changes_the_references_and_nothing_else(name: str) -> None:
    node, expected = CASES[name]
    moved = tensor_refs.rewrite(node, LAYERS, lambda ref: (ref[0], ref[1] + 5, ref[2]))
    assert tensor_refs.reads(moved, LAYERS) == [
        (layer, number + 5, tensor) for layer, number, tensor in expected
    ]
    assert tensor_refs.without_tensors(moved, LAYERS) == tensor_refs.without_tensors(node, LAYERS)


def test_a_dictionary_keeps_its_order() -> None:
    moved: Any = tensor_refs.rewrite(
        {"z": ["x", 0, 0], "y": ["a", 0, 0]}, LAYERS, lambda ref: (ref[0], 7, ref[2])
    )
    assert [*moved.items()] == [("z", ["x", 7, 0]), ("y", ["a", 7, 0])]


def test_what_holds_no_reference_is_the_very_object() -> None:
    node: Any = {"args": [], "kwargs": {"deep": [[1, 2], {"axis": 0}]}}
    assert tensor_refs.rewrite(node, LAYERS, lambda ref: ref) is node


def test_without_tensors_is_what_a_call_is_given_besides() -> None:
    training: Any = [["x", 0, 0, {"training": True}]]
    assert tensor_refs.without_tensors(training, LAYERS) == [[None, {"training": True}]]
    assert tensor_refs.without_tensors([["a", 3, 0, {}]], LAYERS) == tensor_refs.without_tensors(
        [["x", 0, 0, {}]], LAYERS
    )


def test_the_dtype_of_one_tensor_is_noted_anew() -> None:
    node = tensor_refs.keras_3(["x", 0, 0], [None, 3], "float32", {"training": False})
    changed = tensor_refs.with_dtype(node, ["x", 0, 0], "float16")
    assert changed == tensor_refs.keras_3(["x", 0, 0], [None, 3], "float16", {"training": False})
    assert tensor_refs.with_dtype(node, ["a", 0, 0], "float16") == node


@pytest.mark.parametrize(
    ("node", "besides"),
    [
        ([["a", 0, 0]], [[None]]),
        ([["a", 0, 0, {}]], [[None]]),
        ([["a", 1, 0, {"training": True}], ["x", 0, 0, {}]], [[None, {"training": True}], [None]]),
        ([["a", 0, 0, {"mask": ["x", 0, 1]}]], [[None, {"mask": [None]}]]),
        (
            {"args": [keras_tensor("a", 0, 0)], "kwargs": {"training": True}},
            {"args": [None], "kwargs": {"training": True}},
        ),
        (
            {"args": [[keras_tensor("a", 0, 0)]], "kwargs": {"mask": keras_tensor("x", 0, 0)}},
            {"args": [[None]], "kwargs": {"mask": None}},
        ),
    ],
)
def test_two_towers_are_one_call_where_this_is_equal(node: Any, besides: Any) -> None:
    """In all dialects; an empty mapping of arguments counts as no argument."""
    assert tensor_refs.without_tensors(node, LAYERS) == besides


def test_rows_of_a_fixed_batch_are_noted_anew() -> None:
    def tensor(*shape: int | None) -> dict[str, Any]:
        config = {"shape": [*shape], "dtype": "float32", "keras_history": ["x", 0, 0]}
        return {"class_name": tensor_refs.KERAS_3_TENSOR, "config": config}

    node: Any = {"args": [[tensor(4, 3), tensor(None, 3)], 4], "kwargs": {"mask": tensor()}}
    after = {"args": [[tensor(8, 3), tensor(None, 3)], 4], "kwargs": {"mask": tensor()}}
    assert tensor_refs.with_rows(node, 8) == after
