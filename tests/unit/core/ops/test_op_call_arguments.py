"""Arguments of calls, whatever the stack calls them."""

from __future__ import annotations

from tests.unit.core.ops.families.test_reshaping import SOURCE, X, done
from unnest.core.model import Ref
from unnest.core.ops.call import OpCall
from unnest.core.ops.op_call_arguments import contents, literal_axis


def test_what_is_moved_and_along_which_axis() -> None:
    split = OpCall("split", [X], {"num_or_size_splits": 2, "axis": 1})
    assert (contents(split), literal_axis(split)) == ([X], 1)
    assert literal_axis(OpCall("concat", [[X, X], Ref("n", 0, 0)], {})) is None
    assert contents(OpCall("custom_function", [X], {})) == []
    assert len(done("split", X, 2, axis=1)[0]) == len(SOURCE)
