"""Loops and inner functions as each Python writes them: what came of them there, and no other reading."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.core.byte_code.loops import SOURCES, compiled
from tests.unit.core.byte_code.python_itself import Branching, Straight
from tests.unit.core.byte_code.test_machine import CODE, NEW, run
from unnest.core.byte_code.candidate_decodings import readings
from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.machine_errors_and_run_cost import MAX_NESTED, Impossible
from unnest.core.model import Unknown

PYTHONS = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
K = 2
NAMES = {
    each.__name__: each
    for each in (
        range,
        enumerate,
        zip,
        reversed,
        list,
        tuple,
        sum,
        sorted,
        len,
        abs,
        all,
        any,
        int,
        map,
        filter,
        functools,
    )
}
FOR_ITER, GET_ITER, JUMP_ABSOLUTE, POP_BLOCK, BREAK, SETUP = 93, 68, 113, 87, 80, 120
POP_JUMP_IF_FALSE = 114


def results(python: str, source: str, given: Any) -> dict[str, Any]:
    """Reading -> what the function gives as that, "" if unknown; without those that are impossible."""
    found = {}
    for code, version in readings(compiled()[python][source][0]):
        machine = Machine(version, code, Branching(NAMES), {"z": list(given or [1]), "k": K}, [])
        try:
            found[version.version] = json.loads(json.dumps(machine.run()))
        except Unknown:
            found[version.version] = ""
        except Impossible:
            continue
    return found


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", SOURCES.FOLLOWED)
def test_what_it_gave_there(python: str, name: str) -> None:
    """Every reading that is possible says the same."""
    source, given = SOURCES.FOLLOWED[name]
    assert compiled()[python][source][1] is not None
    found = results(python, source, given)
    assert found[python] == compiled()[python][source][1]
    assert {json.dumps(each) for each in found.values()} == {json.dumps(found[python])}


@pytest.mark.parametrize("python", PYTHONS[:-1])
@pytest.mark.parametrize("name", SOURCES.VALUES)
def test_functions_and_dictionaries_as_values(python: str, name: str) -> None:
    source, given = SOURCES.VALUES[name]
    assert compiled()[python][source][1] is not None
    found = results(python, source, given)
    assert found[python] == compiled()[python][source][1]
    assert {json.dumps(each) for each in found.values()} <= {json.dumps(found[python]), '""'}


@pytest.mark.parametrize("python", PYTHONS[:-1])
@pytest.mark.parametrize("name", SOURCES.HANDLERS)
def test_handlers_that_nothing_leads_to(python: str, name: str) -> None:
    """Where nothing is raised, the result is what it was; where something is, no reading gives another."""
    source, given = SOURCES.HANDLERS[name]
    is_raised = name.startswith("raised")
    expected = "" if is_raised else compiled()[python][source][1]
    assert results(python, source, given)[python] == expected
    assert set(map(json.dumps, results(python, source, given).values())) == {json.dumps(expected)}


@pytest.mark.parametrize("python", PYTHONS[:-1])
@pytest.mark.parametrize("name", SOURCES.RETURNED_FINALLY)
def test_returns_that_leave_a_finally(python: str, name: str) -> None:
    """Until 3.8 the lines of the `finally` stand behind the return: a result would be without them."""
    source, given = SOURCES.RETURNED_FINALLY[name]
    found = set(map(json.dumps, results(python, source, given).values()))
    if python in {"2.7", "3.6", "3.7", "3.8"}:
        assert found <= {'""'}
    else:
        assert found == {json.dumps(compiled()[python][source][1])}


@pytest.mark.parametrize("python", PYTHONS[1:])
@pytest.mark.parametrize("name", SOURCES.TEXTS)
def test_texts_are_what_they_were_there(python: str, name: str) -> None:
    source, given = SOURCES.TEXTS[name]
    assert compiled()[python][source][1] is not None
    assert set(map(json.dumps, results(python, source, given).values())) == {
        json.dumps(compiled()[python][source][1])
    }


@pytest.mark.parametrize("python", PYTHONS[1:])
@pytest.mark.parametrize("name", SOURCES.ANNOTATED)
def test_annotations_change_no_result(python: str, name: str) -> None:
    """Followed since 3.13; before, they stand among a function's defaults."""
    source, given = SOURCES.ANNOTATED[name]
    result = compiled()[python][source][1]
    assert result is not None
    expected = result if python in {"3.13", "3.14"} else ""
    assert results(python, source, given)[python] == expected


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", SOURCES.REFUSED)
def test_what_is_not_followed(python: str, name: str) -> None:
    assert results(python, *SOURCES.REFUSED[name])[python] == ""


@pytest.mark.parametrize("python", PYTHONS)
def test_straight_readings_follow_none(python: str) -> None:
    for source, _ in SOURCES.FOLLOWED.values():
        for code, version in readings(compiled()[python][source][0]):
            with pytest.raises((Unknown, Impossible)):
                Machine(version, code, Straight(NAMES), {"z": [1], "k": K}, []).run()


# FOR_ITER at 4: [for y in x], of 3.8; what it leads to is at 4 + 2 + its argument.
LOOP = (124, 0, GET_ITER, 0, FOR_ITER, 4, 125, 1, JUMP_ABSOLUTE, 4, 124, 1, 83, 0)


def test_the_loop_that_is_changed_here() -> None:
    assert run(*LOOP, x=[1, 2, 3]) == 3


@pytest.mark.parametrize(
    ("at", "byte"),
    [(5, 200), (5, 5), (9, 6), (9, 2), (9, 0), (9, 10), (2, 9), (6, 9)],
    ids=["its end is beyond the code", "or within a word", "back with more on the stack", "to GET_ITER once more",
         "to the beginning", "on, with the iteration", "nothing to iterate over", "a value that stays"],
)  # fmt: skip
def test_what_no_compiler_makes_of_it(at: int, byte: int) -> None:
    with pytest.raises(Impossible):
        run(*LOOP[:at], byte, *LOOP[at + 1 :], x=[1, 2, 3])


@pytest.mark.parametrize(
    "code",
    [
        (124, 0, GET_ITER, 0, FOR_ITER, 200, 2, 0, 1, 0, 83, 0),
        (124, 0, POP_JUMP_IF_FALSE, 200, 124, 0, 83, 0),
    ],
)
def test_jumps_that_are_not_taken_lead_into_the_code_as_well(code: tuple[int, ...]) -> None:
    assert run(*(4 if byte == 200 else byte for byte in code), x=[7]) in (7, [7])
    with pytest.raises(Impossible):
        run(*code, x=[7])


def test_since_3_12_a_loop_ends_in_an_instruction_of_its_own() -> None:
    """Of 3.12: FOR_ITER with a cache, END_FOR."""
    loop = (151, 0, 124, 0, 68, 0, 93, 2, 0, 0, 125, 1, 140, 4, 4, 0, 124, 1, 83, 0)
    assert run(*loop, x=[1, 2], version="3.12", made=NEW) == 2
    with pytest.raises(Impossible):
        run(*loop[:14], 9, 0, *loop[16:], x=[1, 2], version="3.12", made=NEW)


@pytest.mark.parametrize(
    "code",
    [(POP_BLOCK, 124, 0, 0, 83), (BREAK, 124, 0, 0, 83), (SETUP, 5, 0, 124, 0, 0, POP_BLOCK, 83)],
    ids=["no block", "nothing to break", "a value is left in it"],
)
def test_blocks_that_no_compiler_writes(code: tuple[int, ...]) -> None:
    with pytest.raises(Impossible):
        run(*code, version="3.5", made=replace(CODE, layout="3"))


def test_functions_within_functions_have_an_end() -> None:
    source = SOURCES.FOLLOWED["of its own"][0]
    for code, version in readings(compiled()["3.8"][source][0]):
        constants = tuple(
            MAX_NESTED + 5 if constant == 4 else constant for constant in code.constants
        )
        machine = Machine(
            version, replace(code, constants=constants), Branching(NAMES), {"z": [], "k": K}, []
        )
        with pytest.raises(Unknown, match=r"^functions within functions$"):
            machine.run()
