"""Calls carried out: their arguments by name, whatever the stack calls them."""

from __future__ import annotations

from tests.unit.core.ops.families.test_reshaping import X, done, rows
from unnest.core.ops.call import OpCall
from unnest.core.ops.registry import is_known


def test_names_and_empty_arguments_say_nothing() -> None:
    assert rows(done("identity", X, name="n", unheard_of=None)[0]) == [*range(6)]
    assert not is_known(OpCall("relu", [X], {}))
