"""Shapes behind operations: those that follow, and none where a size, an axis or an operand is not known."""

from __future__ import annotations

import pytest

from unnest.core.architecture.graph import Ref
from unnest.core.keras_facts.shape_rules import Shape
from unnest.core.ops.call import OpCall
from unnest.core.ops.call_shapes import broadcast, call_shape, lined_up

X, COLUMN, UNKNOWN = Ref("x", 0, 0), Ref("column", 0, 0), Ref("unknown", 0, 0)
SHAPES: dict[Ref, Shape | None] = {X: (None, 5, 3), COLUMN: (None, 1, 1), UNKNOWN: None}


@pytest.mark.parametrize(
    ("what", "shape"),
    [
        (OpCall("relu", [X], {}), (None, 5, 3)),
        (OpCall("subtract", [X], {"y": 0.5, "name": None}), (None, 5, 3)),
        (OpCall("truediv", [X, [0.2, 0.3, 0.4]], {}), (None, 5, 3)),
        (OpCall("multiply", [COLUMN], {"y": X}), (None, 5, 3)),
        (OpCall("where", [COLUMN], {"x": X, "y": 0.0}), (None, 5, 3)),
        (OpCall("subtract", [X, UNKNOWN], {}), None),
        (OpCall("truediv", [X, [0.2, 0.3]], {}), None),
        (OpCall("reducemean", [X], {"axis": [0]}), (5, 3)),
        (OpCall("reducemean", [X], {"axis": -1, "keepdims": True}), (None, 5, 1)),
        (OpCall("reducemean", [X], {}), ()),
        (OpCall("reducemean", [X], {"axis": COLUMN}), None),
        (OpCall("reducemean", [UNKNOWN], {"axis": 0}), None),
        (OpCall("concat", [[X, X]], {"axis": -1}), (None, 5, 6)),
        (OpCall("concat", [[X, UNKNOWN]], {"axis": -1}), None),
        (OpCall("concat", [[X, X]], {"axis": 0}), None),
        (OpCall("somebodysown", [X], {}), None),
    ],
)
def test_what_an_operation_makes(what: OpCall, shape: Shape | None) -> None:
    assert call_shape(what, SHAPES) == shape


@pytest.mark.parametrize(
    ("shapes", "together"),
    [
        ([(None, 1), (None, 4)], (None, 4)),
        ([(None, 4), ()], (None, 4)),
        ([(None,), (8,)], (8,)),
        ([(None, 3), (None, 4)], None),
        ([(None, 3), None], None),
        ([], None),
    ],
)
def test_numbers_that_stand_in_the_same_places(shapes: list[Shape | None], together: Shape | None) -> None:
    assert broadcast(shapes) == together


def test_tensors_beside_each_other() -> None:
    assert lined_up(1, [(None, 2), (None, 3)]) == (None, 5)
    assert lined_up(-1, [(None, 4, 2), (None, 4, None)]) == (None, 4, None)
    assert lined_up(1, [(None, 4, 2), (None, 3, 3)]) is None
    assert lined_up(0, [(None, 2), (None, 2)]) is None
