"""Calls carried out: their arguments by name, whatever the stack calls them."""

from __future__ import annotations

from tests.unit.core.ops.families.test_reshaping import SOURCE, X, done, rows
from unnest.core.model import Ref
from unnest.core.ops.apply_op_call import contents, literal_axis
from unnest.core.ops.call import OpCall
from unnest.core.ops.registry import is_known


def test_names_and_empty_arguments_say_nothing() -> None:
    assert rows(done("identity", X, name="n", unheard_of=None)[0]) == [*range(6)]
    assert not is_known(OpCall("relu", [X], {}))


def test_what_is_moved_and_along_which_axis() -> None:
    split = OpCall("split", [X], {"num_or_size_splits": 2, "axis": 1})
    assert (contents(split), literal_axis(split)) == ([X], 1)
    assert literal_axis(OpCall("concat", [[X, X], Ref("n", 0, 0)], {})) is None
    assert contents(OpCall("custom_function", [X], {})) == []
    assert len(done("split", X, 2, axis=1)[0]) == len(SOURCE)
