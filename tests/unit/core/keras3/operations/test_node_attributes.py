"""Attributes of a node, in the JSON form of its protocol buffer."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.lambdas.values import Const, Items, NotUnderstood
from unnest.core.keras3.operations.node_attributes import attribute, named_attributes


@pytest.mark.parametrize(
    ("stored", "plain"),
    [
        ({"i": "-1"}, -1),
        ({"b": True}, True),
        ({"f": 0.25}, 0.25),
        ({"s": "U0FNRQ=="}, "SAME"),
        ({"list": {"i": ["1", "2"]}}, [1, 2]),
        ({"list": {}}, []),
        ({"type": "DT_FLOAT"}, "DT_FLOAT"),
        ({}, None),
        (None, None),
    ],
)
def test_a_value(stored: Any, plain: Any) -> None:
    assert attribute({"attr": {"a": stored}}, "a") == plain
    assert attribute({"attr": {"a": stored}}, "b") is None
    assert attribute({}, "a") is None


def test_arguments_of_a_function() -> None:
    """What is not stored is as TensorFlow has it."""
    node = {"attr": {"ksize": {"list": {"i": ["1", "2"]}}}}
    arguments = named_attributes(node, ksize=[], padding="SAME")
    sizes, padding = arguments["ksize"], arguments["padding"]
    assert isinstance(sizes, Items)
    assert isinstance(padding, Const)
    assert (sizes.text, padding.value) == ("[1, 2]", "SAME")
    with pytest.raises(NotUnderstood, match="do not add up"):
        named_attributes({"attr": {"ksize": {"shape": {"dim": []}}}}, ksize=[])
