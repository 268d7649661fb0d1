"""How calls are laid out, and what inner functions are made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.byte_code.test_machine import (
    CALL,
    CALL_KW,
    CALL_METHOD,
    CODE,
    CONST,
    FAST,
    GLOBAL,
    METHOD,
    NEW,
    POP,
    RETURN,
    TUPLE,
    run,
)
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible
from unnest.core.byte_code.read_code_objects import CodeObject
from unnest.core.model import Unknown

MAKE_FUNCTION, LOAD_CLOSURE, DEREF = 132, 135, 136


def test_calls_before_3_6_have_names_between_their_values() -> None:
    made = replace(CODE, layout="3", stack=6, names=("dict",), constants=("a", "b"))
    two_named = (GLOBAL, 0, 0, CONST, 0, 0, FAST, 0, 0, CONST, 1, 0, FAST, 0, 0, CALL, 0, 2, RETURN)
    assert run(*two_named, version="3.5", made=made) == {"a": 10, "b": 10}


def test_keyword_arguments_have_their_names() -> None:
    made = replace(CODE, names=("dict",), constants=(("a", "b"), ("a", "a"), "a"))
    assert run(GLOBAL, 0, FAST, 0, FAST, 0, CONST, 0, CALL_KW, 2, RETURN, 0, made=made) == {
        "a": 10,
        "b": 10,
    }
    for names in (1, 2):  # one name twice; a text
        with pytest.raises(Impossible):
            run(GLOBAL, 0, FAST, 0, FAST, 0, CONST, names, CALL_KW, 2, RETURN, 0, made=made)


def test_a_method_is_called_with_a_null_beside_it() -> None:
    made = replace(CODE, names=("conjugate",))
    assert run(FAST, 0, METHOD, 0, CALL_METHOD, 0, RETURN, 0, made=made) == 10
    with pytest.raises(Unknown, match=r"^a call in an unusual form$"):
        run(FAST, 0, FAST, 0, CALL_METHOD, 0, RETURN, 0, made=made)
    with pytest.raises(Impossible):  # the null itself is no value
        run(FAST, 0, METHOD, 0, POP, 0, RETURN, 0, made=made)


INNER = replace(CODE, code=bytes((FAST, 0, RETURN, 0)))
#: A function that gives what it is called with, called with x.
INNER_CALL = (CONST, 0, CONST, 1, MAKE_FUNCTION, 0, FAST, 0, CALL, 1, RETURN, 0)


def with_inner(inner: CodeObject) -> CodeObject:
    """Code whose constants are an inner function's code, and its name."""
    return replace(CODE, constants=(inner, "inner"))


def test_an_inner_function_is_made_and_called() -> None:
    assert run(*INNER_CALL, made=with_inner(INNER)) == 10


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        (
            replace(INNER, arguments=2),
            "an inner function that is called with other arguments than it has",
        ),
        (
            replace(INNER, arguments=0),
            "an inner function that is called with other arguments than it has",
        ),
        (replace(INNER, flags=0x08), "an inner function"),
        (replace(INNER, keyword_only=1), "an inner function"),
    ],
)
def test_calls_of_inner_functions_that_are_not_followed(inner: CodeObject, reason: str) -> None:
    with pytest.raises(Unknown, match=f"^{reason}$"):
        run(*INNER_CALL, made=with_inner(inner))


@pytest.mark.parametrize(
    "inner",
    [
        replace(INNER, layout="3.10"),
        replace(INNER, free=("a",)),
        replace(INNER, flags=0x04, locals=("x",)),
    ],
)
def test_inner_functions_that_no_compiler_makes(inner: CodeObject) -> None:
    """Of another Python, with variables that it was not given, or without a name for the rest of its arguments."""
    with pytest.raises(Impossible):
        run(*INNER_CALL, made=with_inner(inner))


def test_an_inner_function_with_defaults_of_keywords() -> None:
    with pytest.raises(Unknown, match=r"^an inner function with defaults of keywords$"):
        run(*INNER_CALL[:5], 2, *INNER_CALL[6:], made=with_inner(INNER))


def test_an_inner_function_captures_cells() -> None:
    """The variable x, which is a cell then."""
    inner = replace(
        INNER, arguments=0, locals=(), free=("x",), slots=("x",), code=bytes((DEREF, 0, RETURN, 0))
    )
    made = replace(with_inner(inner), cells=("x",), slots=("x",), stack=6)
    code = (LOAD_CLOSURE, 0, TUPLE, 1, CONST, 0, CONST, 1, MAKE_FUNCTION, 8, CALL, 0, RETURN, 0)
    assert run(*code, made=made) == 10


def test_a_function_is_made_of_code() -> None:
    with pytest.raises(Impossible):
        run(CONST, 1, CONST, 1, MAKE_FUNCTION, 0, RETURN, 0, made=with_inner(INNER))


def test_names_wait_for_a_call() -> None:
    """KW_NAMES of 3.11, and nothing between it and the call."""
    kw_names, nop = 172, 9
    made = replace(NEW, constants=(("a",),))
    with pytest.raises(Impossible):
        run(151, 0, kw_names, 0, nop, 0, FAST, 0, RETURN, 0, version="3.11", made=made)
