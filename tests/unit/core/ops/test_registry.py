"""Names under which operations are registered."""

from __future__ import annotations

import pytest

from tests.unit.core.ops.families.test_reshaping import SOURCE, X, done
from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS
from unnest.core.model import Ref
from unnest.core.ops.call import OpCall, plain_name
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import (
    BY_LAYER_CLASS,
    OPERATIONS,
    contents,
    define,
    literal_axis,
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


def test_what_is_moved_and_along_which_axis() -> None:
    split = OpCall("split", [X], {"num_or_size_splits": 2, "axis": 1})
    assert (contents(split), literal_axis(split)) == ([X], 1)
    assert literal_axis(OpCall("concat", [[X, X], Ref("n", 0, 0)], {})) is None
    assert contents(OpCall("custom_function", [X], {})) == []
    assert len(done("split", X, 2, axis=1)[0]) == len(SOURCE)
