"""Variables and constants, by their numbers in the code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.core.byte_code.python_itself import Branching, Straight
from tests.unit.core.byte_code.test_machine import BY_VERSION, CODE, CONST, GLOBAL, RETURN, run
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible
from unnest.core.byte_code.read_code_objects import CodeObject, Constant, Opaque
from unnest.core.byte_code.runtime_values import Cell, InnerCode, Null
from unnest.core.byte_code.variables import Variables
from unnest.core.model import Unknown

CELLS = replace(CODE, cells=("y",), free=("z",), slots=("y", "z"))


def variables(
    made: CodeObject = CODE,
    version: str = "3.8",
    *,
    straight: bool = False,
    free: tuple[Any, ...] = (),
) -> Variables[Any]:
    """Those of a function that was called with x = 10."""
    domain = (Straight if straight else Branching)({"abs": abs})
    return Variables(BY_VERSION[version], made, domain, {"x": 10}, free)


def test_locals() -> None:
    """Set, put aside, and set anew."""
    known = variables()
    assert (known.name(1), known.local(0)) == ("y", 10)
    known.store("y", 5)
    assert known.local(1) == 5
    assert known.hide_local(1) == 5
    assert known.hide_local(1) is Null.UNSET
    known.store("x", Null.UNSET)
    for index in (0, 1, 2):  # lost, put aside, never there
        with pytest.raises(Impossible):
            known.local(index)


def test_what_is_no_value_is_stored_nowhere() -> None:
    with pytest.raises(Impossible):
        variables().store("x", InnerCode(CODE))
    with pytest.raises(Impossible):
        variables().store("x", Null.NULL)


def test_cells() -> None:
    """One that this function shares with those inside is its own; that of the function around it is not changed."""
    shared = Cell[Any](7)
    known = variables(CELLS, free=(shared,))
    assert known.own_cell(0).held is Null.UNSET
    known.own_cell(0).held = 3
    assert (known.cell(0).held, known.cell(1)) == (3, shared)
    with pytest.raises(Unknown, match=r"^a variable of the function around it$"):
        known.own_cell(1)
    with pytest.raises(Unknown, match=r"^a cell$"):
        known.local(1)
    with pytest.raises(Unknown, match=r"^a cell$"):
        known.store("y", 4)
    with pytest.raises(Impossible):
        known.cell(2)


def test_a_cell_that_is_not_stored() -> None:
    with pytest.raises(Unknown, match=r"^`z`, whose value is not stored$"):
        variables(CELLS).cell(1)
    with pytest.raises(Unknown, match=r"^a variable that inner functions share$"):
        variables(CELLS, straight=True).cell(0)
    with pytest.raises(Impossible):
        variables(replace(CELLS, cells=())).cell(0)


def test_a_cell_is_made_of_what_the_variable_holds() -> None:
    known = variables(replace(CODE, slots=("x",)))
    known.make_cell(0)
    assert known.cell(0).held == 10


def test_since_3_13_a_cell_is_loaded_as_a_local() -> None:
    made = replace(CODE, layout="3.11", cells=("x",), slots=("x",))
    held = variables(made, "3.13").local(0)
    assert isinstance(held, Cell)
    assert held.held == 10
    with pytest.raises(Unknown, match=r"^a cell$"):
        variables(made, "3.12").local(0)


def test_a_variable_of_a_comprehension_takes_the_place_of_one_with_a_cell() -> None:
    made = replace(CELLS, layout="3.11")
    known = variables(made, "3.12")
    assert isinstance(known.hide_local(0), Cell)
    known.store("y", 4)
    assert known.local(0) == 4


def test_constants() -> None:
    """Sequences of constants, the same value each time; an inner function's code where those are followed."""
    made = replace(CODE, constants=((1, (2, None)), CODE))
    known = variables(made)
    assert known.constant(0) == (1, (2, None))
    assert known.constant(0) is known.constant_or_code(0)
    inner = known.constant_or_code(1)
    assert isinstance(inner, InnerCode)
    assert inner.code is CODE
    with pytest.raises(Unknown, match=r"^an inner function$"):
        variables(made, straight=True).constant_or_code(1)
    with pytest.raises(Impossible):
        known.constant(2)


def test_globals() -> None:
    assert variables().global_at(0) is abs
    with pytest.raises(Impossible):
        variables().global_at(2)


def test_python_2_has_no_constants_for_truth_values() -> None:
    made = replace(CODE, layout="2", names=("True",), constants=(b"abc", b"\xe9"))
    assert run(GLOBAL, 0, 0, RETURN, version="2.7", made=made) is True
    assert run(CONST, 0, 0, RETURN, version="2.7", made=made) == "abc"
    with pytest.raises(Unknown, match=r"^a constant of another kind$"):
        run(CONST, 1, 0, RETURN, version="2.7", made=made)
    with pytest.raises(Unknown, match=r"^a constant of another kind$"):
        run(CONST, 0, RETURN, 0, made=replace(made, layout="3.8"))


@pytest.mark.parametrize(
    ("stored", "reason"), [(CODE, "an inner function"), (Opaque("y"), "a constant of another kind")]
)
def test_constants_that_are_no_plain_values(stored: Constant, reason: str) -> None:
    with pytest.raises(Unknown, match=f"^{reason}$"):
        run(CONST, 0, RETURN, 0, made=replace(CODE, constants=(stored,)))
