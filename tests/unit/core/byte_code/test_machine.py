"""The abstract machine: it computes what CPython computes, and stops where it cannot know."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.core.byte_code.python_itself import Branching, Straight
from tests.unit.core.keras3.lambdas import compiled
from unnest.core.byte_code.argument_binding import arguments_of
from unnest.core.byte_code.candidate_decodings import readings
from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.machine_errors_and_run_cost import (
    MAX_INSTRUCTIONS,
    MAX_STACK_WORK,
    Impossible,
)
from unnest.core.byte_code.opcode_tables import PYTHONS
from unnest.core.byte_code.read_code_objects import CodeObject
from unnest.core.model import Unknown

BY_VERSION = {python.version: python for pythons in PYTHONS.values() for python in pythons}
IN_PYTHON = compiled.module("in_python")
CODE = CodeObject(
    layout="3.8", arguments=1, keyword_only=0, stack=4, flags=0, code=b"", constants=(None, 2), names=("abs", "real"),
    locals=("x", "y"), free=(), cells=(), slots=(),
)  # fmt: skip
NEW = replace(CODE, layout="3.11", slots=("x", "y"))

FAST, CONST, RETURN, STORE, DEREF, GLOBAL, CALL = 124, 100, 83, 125, 136, 116, 131
ADD, NOP, POP, DUP, ROT_TWO, ROT_THREE, ROT_FOUR, NEGATIVE = 23, 9, 1, 4, 2, 3, 6, 11
TUPLE, LIST, UNPACK, SUBSCRIPT, EXTEND, SLICE = 102, 103, 92, 25, 162, 133
COMPARE, CALL_KW, ATTR, METHOD, CALL_METHOD = 107, 141, 106, 160, 161
JUMP, JUMP_TO, IF_FALSE, IMPORT = 110, 113, 114, 108


def run(
    *code: int,
    version: str = "3.8",
    free: tuple[Any, ...] = (),
    made: CodeObject = CODE,
    x: Any = 10,
    straight: bool = False,
) -> Any:
    domain = (Straight if straight else Branching)(
        {"abs": abs, "dict": dict, "tensorflow": "tf", "keras": "K"}
    )
    return Machine(
        BY_VERSION[version], replace(made, code=bytes(code)), domain, {"x": x}, free
    ).run()


def test_what_python_2_prints_is_no_result() -> None:
    """`print x, x; return x` (71 prints a value, 72 ends the line), which is more than an expression."""
    code = (FAST, 0, 0, 71, FAST, 0, 0, 71, 72, FAST, 0, 0, RETURN)
    made = replace(CODE, layout="2")
    assert run(*code, version="2.7", made=made) == 10
    with pytest.raises(Unknown):
        run(*code, version="2.7", made=made, straight=True)
    with pytest.raises(Impossible):
        run(71, FAST, 0, 0, RETURN, version="2.7", made=made)


def computed(python: str, code: str, defaults: Any, closure: Any, inputs: int) -> Any:
    """Return the machine's result for a stored function on stand-ins, as that Python; None if it stops."""
    results = []
    for reading, version in readings(code):
        if version.version == python:
            local = arguments_of(reading, IN_PYTHON.inputs(inputs), defaults or (), {})
            domain = Branching(IN_PYTHON.names())
            results.append(
                IN_PYTHON.written(Machine(version, reading, domain, local, closure or ()).run())
            )
    return results[0]


OF_AN_ADDRESS = " object at 0x"
"""In the text of a dictionary of stand-ins, which is another one in every run."""


@pytest.mark.parametrize("python", compiled.PYTHONS)
def test_it_computes_what_each_python_computed(python: str) -> None:
    """Every function of the fixtures that could be run there, on stand-ins that remember what was done to them."""
    followed = 0
    for source, (code, defaults, closure, trace) in compiled.functions()[python].items():
        try:
            result = computed(python, code, defaults, closure, compiled.inputs_of(source))
        except Unknown:
            continue
        if OF_AN_ADDRESS not in str(trace):
            assert result == trace, source
        followed += 1
    assert followed > 200


def test_it_computes_the_same_from_the_instructions_of_3_5() -> None:
    followed = 0
    for source, (code, defaults, closure, trace) in compiled.functions()["3.6"].items():
        wide = compiled.before_36(code)
        try:
            result = wide and computed("3.5", wide, defaults, closure, compiled.inputs_of(source))
        except Unknown:
            continue
        if OF_AN_ADDRESS not in str(trace):
            assert result in (None, trace), source
        followed += result is not None
    assert followed > 150


@pytest.mark.parametrize("python", compiled.PYTHONS)
def test_a_changed_byte_computes_what_it_computed_there_or_stops(python: str) -> None:
    followed = 0
    for source, code, trace in compiled.mutants()[python]:
        _, defaults, closure, _ = compiled.functions()[python][source]
        try:
            result = computed(python, code, defaults, closure, compiled.inputs_of(source))
        except (Unknown, Impossible, IndexError):
            continue
        assert result == trace, source
        followed += 1
    assert followed > len(compiled.mutants()[python]) / 2


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ((FAST, 0, RETURN, 0), 10),
        ((FAST, 0, CONST, 1, ADD, 0, RETURN, 0), 12),
        ((FAST, 0, NEGATIVE, 0, RETURN, 0), -10),
        ((FAST, 0, CONST, 1, ROT_TWO, 0, TUPLE, 2, RETURN, 0), (2, 10)),
        ((FAST, 0, CONST, 1, CONST, 0, ROT_THREE, 0, TUPLE, 3, RETURN, 0), (None, 10, 2)),
        (
            (FAST, 0, CONST, 1, CONST, 1, CONST, 0, ROT_FOUR, 0, TUPLE, 4, RETURN, 0),
            (None, 10, 2, 2),
        ),
        ((FAST, 0, DUP, 0, ADD, 0, RETURN, 0), 20),
        ((FAST, 0, STORE, 1, FAST, 1, RETURN, 0), 10),
        ((FAST, 0, CONST, 1, POP, 0, RETURN, 0), 10),
        ((FAST, 0, CONST, 1, TUPLE, 2, UNPACK, 2, STORE, 1, POP, 0, FAST, 1, RETURN, 0), 10),
        (
            (FAST, 0, CONST, 1, LIST, 2, CONST, 0, CONST, 1, SLICE, 2, SUBSCRIPT, 0, RETURN, 0),
            [10, 2],
        ),
        ((FAST, 0, CONST, 1, COMPARE, 4, RETURN, 0), True),
        ((GLOBAL, 0, FAST, 0, CALL, 1, RETURN, 0), 10),
        ((FAST, 0, ATTR, 1, RETURN, 0), 10),
    ],
)
def test_instructions(code: tuple[int, ...], result: Any) -> None:
    assert run(*code, straight=True) == result


def test_since_3_11_a_function_opens_with_resume_once() -> None:
    assert run(151, 0, FAST, 0, RETURN, 0, version="3.11", made=NEW) == 10
    for code in (
        (FAST, 0, RETURN, 0),
        (151, 0, 151, 0, FAST, 0, RETURN, 0),
        (151, 1, FAST, 0, RETURN, 0),
    ):
        with pytest.raises(Impossible):
            run(*code, version="3.11", made=NEW)


@pytest.mark.parametrize(
    "code",
    [
        (RETURN, 0),
        (FAST, 0),
        (FAST, 0, FAST, 0, RETURN, 0),
        (FAST, 1, RETURN, 0),
        (FAST, 7, RETURN, 0),
        (CONST, 7, RETURN, 0),
        (FAST, 0, TUPLE, 2, RETURN, 0),
        (*(FAST, 0) * 5, TUPLE, 5, RETURN, 0),
        (FAST, 0, FAST, 0, FAST, 0, FAST, 0, SLICE, 4, RETURN, 0),
        (SLICE, 0, RETURN, 0),
        (ROT_TWO, 0, RETURN, 0),
        (DUP, 0, RETURN, 0),
    ],
    ids=["nothing to return", "no return", "more than the result", "an unset local", "no such local",
         "no such constant", "too few", "deeper than it says", "a slice of four", "a slice of none", "nothing to turn",
         "nothing to copy"],
)  # fmt: skip
def test_what_no_compiler_writes(code: tuple[int, ...]) -> None:
    with pytest.raises(Impossible):
        run(*code)


class TestBranches:
    """Forward, where the condition is known; for value domains that ask for it."""

    IF = (FAST, 0, IF_FALSE, 8, CONST, 1, RETURN, 0, CONST, 0, RETURN, 0)

    def test_the_side_that_is_taken(self) -> None:
        assert (run(*self.IF, x=1), run(*self.IF, x=0)) == (2, None)

    def test_jumps_count_words_since_3_10(self) -> None:
        words = (FAST, 0, IF_FALSE, 4, CONST, 1, RETURN, 0, CONST, 0, RETURN, 0)
        assert run(*words, x=0, version="3.10") is None

    def test_since_3_11_they_count_from_where_they_are(self) -> None:
        forward = (151, 0, FAST, 0, IF_FALSE, 2, CONST, 1, RETURN, 0, CONST, 0, RETURN, 0)
        assert (
            run(*forward, x=1, version="3.11", made=NEW),
            run(*forward, x=0, version="3.11", made=NEW),
        ) == (2, None)

    @pytest.mark.parametrize(
        "target", [0, 2, 12, 200], ids=["a loop", "itself", "its end", "beyond"]
    )
    def test_elsewhere_no_code_goes(self, target: int) -> None:
        with pytest.raises(Impossible):
            run(FAST, 0, JUMP_TO, target, CONST, 1, RETURN, 0, CONST, 0, RETURN, 0)

    def test_a_local_of_the_other_side_is_not_there(self) -> None:
        """The function has run, or the model could not have been made: this is another Python's code."""
        with pytest.raises(Impossible):
            run(FAST, 0, IF_FALSE, 8, CONST, 1, STORE, 1, FAST, 1, RETURN, 0, x=0)

    @pytest.mark.parametrize("code", [IF, (JUMP, 0, FAST, 0, RETURN, 0)])
    def test_straight_readings_stop_there(self, code: tuple[int, ...]) -> None:
        with pytest.raises(
            Unknown, match=r"^a jump, a loop, or another instruction beyond plain expressions$"
        ):
            run(*code, straight=True)


def test_handlers_are_passed_by() -> None:
    """One that puts a name back after a comprehension, as 3.12 has, too; 3.11 has none without PUSH_EXC_INFO."""
    code, made, push_exc_info = (151, 0, FAST, 0, RETURN, 0), replace(NEW, handlers=True), 35
    for written in (code, (*code, push_exc_info, 0)):
        with pytest.raises(Unknown, match=r"^a handler of exceptions$"):
            run(*written, version="3.12", made=made, straight=True)
        assert run(*written, version="3.12", made=made) == 10
    with pytest.raises(Impossible):
        run(*code, version="3.11", made=made)


def test_work_is_bounded() -> None:
    """Instructions are counted, and what they take from the stack."""
    assert run(*(NOP, 0) * (MAX_INSTRUCTIONS - 2), FAST, 0, RETURN, 0) == 10
    with pytest.raises(Unknown):
        run(*(NOP, 0) * MAX_INSTRUCTIONS, FAST, 0, RETURN, 0)
    long = replace(CODE, constants=((0,) * (MAX_STACK_WORK // 11),))
    with pytest.raises(Unknown, match=r"^more work than anyone's function$"):
        run(*(CONST, 0, POP, 0) * 12, FAST, 0, RETURN, 0, made=long)


WITH, BLOCK_ENDS, BEGIN_FINALLY, CLEANUP, CLEANED, FINALLY_ENDS = 143, 87, 53, 81, 82, 88
ENTERED = (FAST, 0, WITH, 8, STORE, 1)
LEFT = (CLEANUP, 0, CLEANED, 0, FINALLY_ENDS, 0, FAST, 1, RETURN, 0)


def test_a_with_block_binds_what_is_entered() -> None:
    assert run(*ENTERED, BLOCK_ENDS, 0, BEGIN_FINALLY, 0, *LEFT, x=nullcontext(7)) == 7


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ((*ENTERED, BEGIN_FINALLY, 0, BLOCK_ENDS, 0, BEGIN_FINALLY, 0, *LEFT), Impossible),
        ((*ENTERED, BLOCK_ENDS, 0, CONST, 1, *LEFT), Impossible),
        ((*ENTERED, BLOCK_ENDS, 0, NOP, 0, *LEFT), Impossible),
        ((*ENTERED, BLOCK_ENDS, 0, FAST, 1, CALL, 0, RETURN, 0, NOP, 0), (Impossible, Unknown)),
    ],
    ids=["more below", "an exception", "nothing", "another is called"],
)
def test_a_with_block_that_no_compiler_leaves_so(code: tuple[int, ...], reason: Any) -> None:
    with pytest.raises(reason):
        run(*code, x=nullcontext(7))


def test_what_cannot_be_entered() -> None:
    with pytest.raises(Unknown):
        run(*ENTERED, BLOCK_ENDS, 0, BEGIN_FINALLY, 0, *LEFT, x=7)
    with pytest.raises(Unknown):
        run(*ENTERED, BLOCK_ENDS, 0, BEGIN_FINALLY, 0, *LEFT, x=nullcontext(7), straight=True)
