"""Two tensors that are one computation, but for the rows that they part at; one difference is enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.property.opgraphs import Writer, cut
from unnest.core.recognise.equivalence import Lockstep
from unnest.core.recognise.op_graph import Function, Op, OpGraph, Place, View


def dense(w: Writer, x: str, *, kind: str = "Relu", variable: int = 0, scale: float = 0.5, **attrs: Any) -> str:
    return w.op("Mul", w.op(kind, w.op("MatMul", x, w.variable(variable)), **attrs), w.op("Const", value=scale))


def walked(make: Callable[[Writer, list[str]], tuple[str, str]], how: str = "split") -> tuple[bool, Lockstep]:
    w = Writer()
    x = w.op("Placeholder", shape=(-1, 3))
    first, second = make(w, cut(w, how, x, 2))
    walk = Lockstep(View(w.graph([first, second]), {}))
    return walk.same(Place((), first), Place((), second)), walk


@pytest.mark.parametrize("how", ["split", "splitv", "strided", "sliced", "counted", "gathered", "alternating", "dealt"])
def test_towers_are_one_computation_on_other_rows(how: str) -> None:
    same, walk = walked(lambda w, parts: (dense(w, parts[0]), dense(w, parts[1])), how)
    assert same
    assert len(walk.entries) == 1
    assert not walk.first & walk.second & {t.partition(":")[0] for pair in walk.entries.values() for t in pair} or (
        how in ("split", "splitv", "dealt")  # one operation makes both slices
    )


@pytest.mark.parametrize(
    "other",
    [
        lambda w, x: dense(w, x, kind="Elu"),
        lambda w, x: dense(w, x, variable=1),
        lambda w, x: dense(w, x, scale=0.25),
        lambda w, x: dense(w, x, alpha=0.5),
        lambda w, x: w.op("Relu", dense(w, x)),
    ],
    ids=["another operation", "another variable", "another constant", "another attribute", "one more operation"],
)
def test_one_difference_is_enough(other: Callable[[Writer, str], str]) -> None:
    same, _ = walked(lambda w, parts: (dense(w, parts[0]), other(w, parts[1])))
    assert not same


def test_notes_and_seeds_are_no_difference() -> None:
    same, _ = walked(lambda w, p: (dense(w, p[0], seed=1, _class="a"), dense(w, p[1], seed=2, _class="b")))
    assert same


def test_variables_are_two_however_alike() -> None:
    w = Writer()
    first, second = (w.op("ReadVariableOp", w.op("VarHandleOp", shared_name=b"v")) for _ in range(2))
    assert not Lockstep(View(w.graph([first, second]), {})).same(Place((), first), Place((), second))


def test_the_same_rows_are_no_parting() -> None:
    """Both towers on one slice: they are alike, and nothing is put together."""
    same, walk = walked(lambda w, parts: (dense(w, parts[0]), dense(w, parts[0])))
    assert same
    assert walk.entries == {}


def test_what_is_read_twice_is_read_so_in_both() -> None:
    """A * a is not b * c, though all three are slices of one batch."""
    w = Writer()
    a, b, c = cut(w, "split", w.op("Placeholder", shape=(-1, 3)), 3)
    square, same, other = (w.op("Mul", *pair) for pair in ((a, a), (b, b), (b, c)))
    view = View(w.graph([square, same, other]), {})
    assert Lockstep(view).same(Place((), square), Place((), same))
    assert not Lockstep(view).same(Place((), square), Place((), other))


def body(name: str, kind: str) -> OpGraph:
    return OpGraph(name, {"o": Op("o", kind, ("a",))}, ("a",), ("o:0",))


@pytest.mark.parametrize(("kind", "same"), [("Relu", True), ("Elu", False)])
def test_bodies_of_loops_are_compared(kind: str, same: bool) -> None:
    library = {"f": body("f", "Relu"), "g": body("g", kind)}
    loops = [
        Op("p", "While", ("x:0",), attrs={"body": Function("f")}),
        Op("q", "While", ("x:0",), attrs={"body": Function("g")}),
    ]
    root = OpGraph("", {op.name: op for op in [Op("x", "Placeholder", ()), *loops]}, (), ("p:0", "q:0"))
    assert Lockstep(View(root, library)).same(Place((), "p:0"), Place((), "q:0")) is same


@pytest.mark.parametrize(("pair", "same"), [((0, 0), True), ((0, 1), False)])
def test_constants_are_compared_by_bytes_and_dtype(pair: tuple[int, int], same: bool) -> None:
    w = Writer()
    numbers = [w.op("Relu", w.op("Const", value=value)) for value in (1, 1.0)]
    again = [w.op("Relu", w.op("Const", value=value)) for value in (1, 1.0)]
    view = View(w.graph([*numbers, *again]), {})
    assert Lockstep(view).same(Place((), numbers[pair[0]]), Place((), again[pair[1]])) is same
