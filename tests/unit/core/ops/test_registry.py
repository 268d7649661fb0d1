"""Names under which operations are registered."""

from __future__ import annotations

import pytest

from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS
from unnest.core.ops.call import plain_name
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import (
    BY_LAYER_CLASS,
    OPERATIONS,
    define,
)


def test_every_name_is_plain() -> None:
    assert [name for name in OPERATIONS if plain_name(name) != name] == []
    assert {each.name for each in OPERATIONS.values()} <= OPERATIONS.keys()


def test_every_class_is_one_of_keras_3() -> None:
    assert BY_LAYER_CLASS.keys() <= MODULE_BY_CLASS.keys()


def test_a_name_is_registered_once() -> None:
    with pytest.raises(AssertionError, match="exp"):
        define("exp", "*x", Kind.MAP)
    with pytest.raises(AssertionError, match=r"K\.exp"):
        keras3("K.exp", "x")(lambda call: call.tensor("x"))
