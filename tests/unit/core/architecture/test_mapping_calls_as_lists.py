"""Mappings of inputs as lists, in the order in which each release of Keras takes them."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.architecture import mapping_calls_as_lists


def model(ends: Any, calls: list[Any] | None = None) -> dict[str, Any]:
    layers = [
        {"class_name": "InputLayer", "name": name, "config": {"name": name}}
        for name in ("m", "z", "a")
    ]
    config = {"name": "t", "layers": layers, "input_layers": ends, "output_layers": [["m", 0, 0]]}
    return {"class_name": "Functional", "config": config, "name": "t", "inbound_nodes": calls or []}


def tensor(name: str) -> dict[str, Any]:
    return {
        "class_name": "__keras_tensor__",
        "config": {"shape": [None], "keras_history": [name, 0, 0]},
    }


LISTED = [["m", 0, 0], ["z", 0, 0], ["a", 0, 0]]
KEYED = {"q": ["m", 0, 0], "p": ["z", 0, 0]}
NESTED = [[["m", 0, 0], ["z", 0, 0]], ["a", 0, 0]]


@pytest.mark.parametrize(
    ("ends", "given", "listed", "unused"),
    [
        (LISTED, {"z": 1, "a": 2, "m": 3}, [3, 1, 2], ()),
        (LISTED, {"z": 1, "a": 2, "m": 3, "b": 4}, [3, 1, 2], (4,)),
        (LISTED, {"c": 1, "b": 2, "d": 3}, [2, 1, 3], ()),
        (KEYED, {"q": 1, "p": 2}, [2, 1], ()),
        ([["m", 0, 0]], {"m": 1}, [1], ()),
    ],
    ids=["by name", "one more", "strange names", "by its keys", "one input"],
)
def test_keras_2(ends: Any, given: Any, listed: Any, unused: Any) -> None:
    assert mapping_calls_as_lists.with_input_list(given, model(ends)) == (listed, unused)


@pytest.mark.parametrize(
    "node", [[["x", 0, 0, {}]], ["x", 0, 0, {}], {"args": [tensor("x")], "kwargs": {}}]
)
def test_what_is_no_mapping_stays(node: Any) -> None:
    assert mapping_calls_as_lists.with_input_list(node, model(LISTED)).node is node


def test_nested_inputs_stay() -> None:
    given: Any = {"p": [1, 2], "q": 3}
    assert mapping_calls_as_lists.with_input_list(given, model(NESTED)).node is given


def test_keras_3_by_keyword() -> None:
    given: Any = {
        "args": [],
        "kwargs": {"inputs": {"z": 1, "a": 2, "m": 3}, "mask": {"z": None, "a": None, "m": None}},
    }
    expected = {"args": [[3, 1, 2]], "kwargs": {"mask": [None, None, None]}}
    assert mapping_calls_as_lists.with_input_list(given, model(LISTED)).node == expected


@pytest.mark.parametrize(
    ("release", "ends", "call"),
    [
        ((3, 3, 3), LISTED, None),
        ((3, 4, 0), LISTED, [2, 3, 1]),
        ((3, 6, 0), LISTED, [2, 3, 1]),
        ((3, 7, 0), LISTED, None),
        ((2, 15, 0), LISTED, None),
        ((3, 6, 0), {"m": LISTED[0], "z": LISTED[1], "a": LISTED[2]}, None),
    ],
)
def test_calls_that_a_release_read_otherwise(
    release: tuple[int, ...], ends: Any, call: Any
) -> None:
    """Keras 3.4 to 3.6 went by the order of the keys: what is written for today's gives each input the same tensor."""
    inner = model(ends, [{"args": [{"z": 1, "a": 2, "m": 3}], "kwargs": {}}])
    outer: Any = {"class_name": "Functional", "config": {"layers": [inner]}}
    today: Any = mapping_calls_as_lists.with_calls_of_release(outer, release)
    (node,) = today["config"]["layers"][0]["inbound_nodes"]
    assert (node["args"][0] == call) if call else (today is outer)


@pytest.mark.parametrize(
    ("release", "call"),
    [
        ((2, 2, 4), [["r", 0, 0, {}], ["s", 0, 0, {}], ["t", 0, 0, {}]]),
        ((2, 3, 0), {"z": ["t", 0, 0, {}], "a": ["r", 0, 0, {}], "m": ["s", 0, 0, {}]}),
        ((), {"z": ["t", 0, 0, {}], "a": ["r", 0, 0, {}], "m": ["s", 0, 0, {}]}),
    ],
)
def test_tensorflow_2_0_goes_by_the_order_of_the_keys(release: tuple[int, ...], call: Any) -> None:
    """`nest.flatten` of the mapping; since TensorFlow 2.2 the names of the inputs decide."""
    inner = model(LISTED, [{"z": ["t", 0, 0, {}], "a": ["r", 0, 0, {}], "m": ["s", 0, 0, {}]}])
    today: Any = mapping_calls_as_lists.with_calls_of_release(
        {"class_name": "Model", "config": {"layers": [inner]}}, release
    )
    assert today["config"]["layers"][0]["inbound_nodes"] == [call]


def test_more_keys_than_inputs() -> None:
    """Keras 3.0 to 3.3 left out what has another name; since then the first in the order of the keys are taken."""
    inner = model(KEYED, [{"args": [{"q": 1, "p": 2, "o": 3}], "kwargs": {}}])
    assert mapping_calls_as_lists.with_input_list(inner["inbound_nodes"][0], inner) == (
        {"args": [[3, 2]], "kwargs": {}},
        (1,),
    )
    today: Any = mapping_calls_as_lists.with_calls_of_release(
        {"class_name": "Functional", "config": {"layers": [inner]}}, (3, 3, 3)
    )
    assert today["config"]["layers"][0]["inbound_nodes"][0]["args"] == [{"p": 2, "q": 1}]


@pytest.mark.parametrize(
    ("ends", "given", "name"),
    [
        (LISTED, {"z": 1, "a": 2, "m": 3}, "t"),
        (
            [LISTED[2], LISTED[0], LISTED[1]],
            {"z": 1, "a": 2, "m": 3},
            None,
        ),  # the order of the keys is theirs
        (KEYED, {"q": 1, "p": 2}, None),
        (KEYED, {"q": 1, "p": 2, "o": 3}, "t"),
        (LISTED, [1, 2, 3], None),
    ],
)
def test_calls_that_depend_on_the_release(ends: Any, given: Any, name: str | None) -> None:
    """A JSON of Keras 3 does not say which release wrote it."""
    outer: Any = {
        "class_name": "Functional",
        "config": {"layers": [model(ends, [{"args": [given], "kwargs": {}}])]},
    }
    assert mapping_calls_as_lists.model_called_differently(outer) == name


def test_calls_of_keras_2_have_a_version() -> None:
    outer: Any = {
        "class_name": "Model",
        "config": {"layers": [model(LISTED, [{"z": ["t", 0, 0, {}]}])]},
    }
    assert mapping_calls_as_lists.model_called_differently(outer) is None
