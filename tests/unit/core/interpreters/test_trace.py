"""Operations that a trace applies: what moves elements, what computes with them, what is given no tensor."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.core.frontends.code_of import inputs
from unnest.core.byte_code.machine_errors_and_run_cost import TooMuch
from unnest.core.interpreters import trace as traces
from unnest.core.interpreters.trace import (
    Effect,
    OtherSizes,
    Trace,
    TracedInput,
    TracedTensor,
    arguments,
    elements,
    stored_size,
)
from unnest.core.model import Ref, Unknown
from unnest.core.ops.call import OpCall

X = Ref("", 0, 0)


def apply(name: str, *args: object, **kwargs: object) -> tuple[Trace, object]:
    """A trace of six rows of four numbers, and what one operation makes."""
    trace = Trace(inputs())
    return trace, trace.apply(OpCall(name, args, kwargs), f"calls {name}")


def test_elements_are_told_by_their_index_along_every_axis() -> None:
    rows, columns = elements((2, 3), 2)
    assert rows["element"].tolist() == [[0, 0, 0], [1, 1, 1]]
    assert columns["element"].tolist() == [[0, 1, 2], [0, 1, 2]]
    assert [stored_size(each) for each in elements((10**6, 10**6), 2)] == [10**6, 10**6]
    with pytest.raises(OtherSizes):
        elements((10**10, 10**10), 2)


def test_what_moves_is_applied_to_the_indices_of_every_axis() -> None:
    trace, part = apply("reverse", X, [1])
    assert isinstance(part, TracedTensor)
    assert part.arrays[0]["element"][:, 0].tolist() == [*range(6)]
    assert part.arrays[1]["element"][0].tolist() == [3, 2, 1, 0]
    assert trace.steps[-1].effect is Effect.MOVES


def test_several_results() -> None:
    trace, parts = apply("split", X, 3)
    assert isinstance(parts, list)
    assert [part.ref for part in parts] == [Ref("", 1, number) for number in range(3)]
    assert [trace.tensors[part.ref].shape for part in parts] == [(2, 4)] * 3


@pytest.mark.parametrize(
    ("name", "args", "shape"),
    [
        ("relu", [X], (6, 4)),
        ("multiply", [X, 2.0], (6, 4)),
        ("reducemean", [X, 1], (6,)),
        ("reducemean", [X], ()),
        ("matmul", [X, [[1.0]] * 4], (6, 1)),
        ("svd", [X], None),
        ("fancy", [X], None),
    ],
)
def test_what_computes_gives_elements_of_its_own(
    name: str, args: list[object], shape: tuple[int, ...] | None
) -> None:
    trace, made = apply(name, *args)
    assert isinstance(made, TracedTensor)
    assert made.holds_elements
    assert trace.steps[-1].effect is Effect.COMPUTES
    if shape is None:
        with pytest.raises(Unknown):
            made.shape  # noqa: B018 - it raises
    else:
        assert made.shape == shape


def test_numbers_that_no_tensor_holds_are_pythons() -> None:
    assert apply("add", 2, 3)[1] == 5
    numbers = apply("range", 3)[1]
    assert isinstance(numbers, TracedTensor)
    assert not numbers.holds_elements
    assert apply("fancy", 3)[1] is None


def test_unknown_arguments() -> None:
    """An element taken by an unknown number is unknown; arithmetic with that number is computed."""
    trace = Trace(inputs())
    unknown = trace.unknown().ref
    assert trace.apply(OpCall("gather", [X, unknown], {}), "") is None
    assert trace.apply(OpCall("gather", [X, unknown], {"axis": 1}), "") is not None
    assert trace.apply(OpCall("multiply", [X, unknown], {}), "") is not None
    assert trace.apply(OpCall("multiply", [unknown, 2], {}), "") is None


def test_a_cast_may_change_nothing() -> None:
    trace = Trace(inputs())
    for dtype, effect in (("float32", Effect.CASTS), ("float16", Effect.COMPUTES)):
        cast = trace.apply(OpCall("cast", [X, dtype], {}), f"casts the values to {dtype}")
        assert trace.steps[-1].effect is effect
        is_same = cast.arrays[0] is trace.tensors[X].arrays[0]
        assert is_same == (effect is Effect.CASTS)


def test_a_shape_of_its_own_asks_for_other_sizes() -> None:
    """A shape that is written down asks for other sizes if the input's are stand-ins."""
    trace = Trace([TracedInput(np.arange(6, dtype=np.int32), (4,), is_sized=False)])
    assert trace.apply(OpCall("reshape", [X, [-1, 4]], {}), "") is not None
    with pytest.raises(OtherSizes) as raised:
        trace.apply(OpCall("reshape", [X, [-1, 8]], {}), "")
    assert raised.value.sizes == (8,)


@pytest.mark.parametrize(
    ("name", "args"), [("gather", [X, [9]]), ("reshape", [X, [5, 5]]), ("split", [X, 5])]
)
def test_what_does_not_fit(name: str, args: list[object]) -> None:
    with pytest.raises(Unknown):
        apply(name, *args)


def test_work_is_counted_where_operations_are_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "MAX_TRACE_ELEMENTS", 300)
    trace = Trace(inputs())
    trace.apply(OpCall("concat", [[X]], {}), "")
    once = trace.work
    assert once == 2 * (6 * 4 + traces.ELEMENTS_AN_ARRAY)
    trace.apply(OpCall("relu", [X], {}), "")
    assert trace.work == once
    with pytest.raises(TooMuch):
        trace.apply(OpCall("concat", [[X, X, X]], {}), "")


def test_the_steps_behind_a_tensor() -> None:
    trace = Trace(inputs())
    trace.apply(OpCall("relu", [X], {}), "unused")
    part = trace.apply(OpCall("getitem", [X, [slice(1, None)]], {}), "")
    turned = trace.apply(OpCall("reverse", [part.ref, [0]], {}), "")
    assert [step.call.name for step in trace.steps_needed_for(turned.ref)] == [
        "",
        "getitem",
        "reverse",
    ]
    assert arguments(OpCall("f", [1], {"k": 2})) == [1, 2]


def test_lists_of_views_are_not_copied_where_no_memory_holds_them() -> None:
    """`tf.shape([x, y])` and the like put the tensors of a list together."""
    trace = Trace([TracedInput(np.arange(60, dtype=np.int32), (10**4, 10**4)) for _ in range(2)])
    with pytest.raises(OtherSizes):
        trace.apply(OpCall("shape", [[X, Ref("", 1, 0)]], {}), "")
