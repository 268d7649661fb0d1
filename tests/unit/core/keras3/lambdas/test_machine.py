"""The abstract machine, fed with instructions: straight code is computed, all else stops it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unnest.core.code_objects import CodeObject, Constant, Opaque
from unnest.core.keras3.lambdas.machine import MAX_INSTRUCTIONS, Machine
from unnest.core.keras3.lambdas.values import Dialect, NotUnderstood, Tensor, Value, constant
from unnest.core.keras3.op_nodes import Input
from unnest.core.opcodes import PYTHONS, Impossible

BY_VERSION = {python.version: python for pythons in PYTHONS.values() for python in pythons}
X = Tensor(Input(0), "float32", "x", shape=(None, 4))
CODE = CodeObject(
    layout="3.8", arguments=1, keyword_only=0, stack=4, flags=0, code=b"", constants=(None, 2), names=("K", "exp"),
    locals=("x", "y"), free=(), cells=(), slots=(),
)  # fmt: skip

FAST, CONST, RETURN, STORE, DEREF, GLOBAL, CALL = 124, 100, 83, 125, 136, 116, 131
ADD, POP, DUP, ROT_TWO, ROT_THREE, TUPLE, LIST, UNPACK, SUBSCRIPT = 23, 1, 4, 2, 3, 102, 103, 92, 25
COMPARE, SLICE, METHOD, CALL_METHOD, EXTEND, CALL_KW, ATTR = 107, 133, 160, 161, 162, 141, 106


def run(*code: int, version: str = "3.8", free: tuple[Value, ...] = (), made: CodeObject = CODE) -> Value:
    return Machine(BY_VERSION[version], replace(made, code=bytes(code)), Dialect("tensorflow"), {"x": X}, free).run()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ((FAST, 0, RETURN, 0), "x"),
        ((FAST, 0, CONST, 1, ADD, 0, RETURN, 0), "x + 2"),
        ((CONST, 1, FAST, 0, ROT_TWO, 0, ADD, 0, RETURN, 0), "x + 2"),
        ((FAST, 0, DUP, 0, ADD, 0, RETURN, 0), "x + x"),
        ((FAST, 0, STORE, 1, FAST, 1, RETURN, 0), "x"),
        ((FAST, 0, CONST, 1, POP, 0, RETURN, 0), "x"),
        ((CONST, 0, CONST, 1, FAST, 0, ROT_THREE, 0, TUPLE, 2, POP, 0, RETURN, 0), "x"),
        ((FAST, 0, CONST, 1, TUPLE, 2, UNPACK, 2, STORE, 1, POP, 0, FAST, 1, RETURN, 0), "x"),
        ((FAST, 0, CONST, 0, CONST, 1, SLICE, 2, SUBSCRIPT, 0, RETURN, 0), "x[:2]"),
        ((FAST, 0, CONST, 1, COMPARE, 4, RETURN, 0), "x > 2"),
        ((GLOBAL, 0, ATTR, 1, FAST, 0, CALL, 1, RETURN, 0), "K.exp(x)"),
        ((GLOBAL, 0, METHOD, 1, FAST, 0, CALL_METHOD, 1, RETURN, 0), "K.exp(x)"),
        ((FAST, 0, LIST, 1, RETURN, 0), "[x]"),
    ],
)
def test_straight_code_is_computed(code: tuple[int, ...], text: str) -> None:
    assert run(*code).text == text


def test_keyword_arguments_have_their_names() -> None:
    made = replace(CODE, constants=(("x",),))
    assert run(GLOBAL, 0, ATTR, 1, FAST, 0, CONST, 0, CALL_KW, 1, RETURN, 0, made=made).text == "K.exp(x=x)"


def test_what_is_captured_is_read_by_its_place() -> None:
    made = replace(CODE, free=("a", "b"), slots=("a", "b"))
    assert run(DEREF, 1, RETURN, 0, free=(constant(1), constant(5)), made=made) == constant(5)
    with pytest.raises(NotUnderstood, match=r"^`b`, whose value is not stored$"):
        run(DEREF, 1, RETURN, 0, free=(constant(1),), made=made)


def test_a_list_of_constants_is_extended_where_it_is_made() -> None:
    made = replace(CODE, constants=((1, 2), 3))
    assert run(LIST, 0, CONST, 0, EXTEND, 1, RETURN, 0, version="3.9", made=made).text == "[1, 2]"
    with pytest.raises(NotUnderstood, match=r"^a list that grows$"):
        run(LIST, 0, STORE, 1, FAST, 1, CONST, 0, EXTEND, 1, RETURN, 0, version="3.9", made=made)


def test_python_2_has_no_constants_for_truth_values() -> None:
    made = replace(CODE, layout="2", names=("True",), constants=(b"abc",))
    assert run(GLOBAL, 0, 0, RETURN, version="2.7", made=made) == constant(value=True)
    assert run(CONST, 0, 0, RETURN, version="2.7", made=made) == constant("abc")
    with pytest.raises(NotUnderstood, match=r"^a constant of another kind$"):
        run(CONST, 0, RETURN, 0, made=replace(made, layout="3.8"))


def test_since_3_11_a_function_opens_with_resume_once() -> None:
    made = replace(CODE, layout="3.11", slots=("x", "y"))
    assert run(151, 0, FAST, 0, RETURN, 0, version="3.11", made=made) == X
    for code in ((FAST, 0, RETURN, 0), (151, 0, 151, 0, FAST, 0, RETURN, 0), (151, 1, FAST, 0, RETURN, 0)):
        with pytest.raises(Impossible):
            run(*code, version="3.11", made=made)


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
    ],
    ids=["nothing to return", "no return", "more than the result", "an unset local", "no such local",
         "no such constant", "too few", "deeper than it says", "a slice of four"],
)  # fmt: skip
def test_what_no_compiler_writes(code: tuple[int, ...]) -> None:
    with pytest.raises(Impossible):
        run(*code)


def test_a_jump_ends_it() -> None:
    with pytest.raises(NotUnderstood, match=r"^a jump, a loop, or another instruction beyond plain expressions$"):
        run(113, 0, FAST, 0, RETURN, 0)


def test_a_handler_ends_it() -> None:
    with pytest.raises(NotUnderstood, match=r"^a handler of exceptions$"):
        run(FAST, 0, RETURN, 0, made=replace(CODE, handlers=True))


@pytest.mark.parametrize(
    ("stored", "reason"), [(CODE, "an inner function"), (Opaque("y"), "a constant of another kind")]
)
def test_constants_that_are_no_plain_values(stored: Constant, reason: str) -> None:
    with pytest.raises(NotUnderstood, match=f"^{reason}$"):
        run(CONST, 0, RETURN, 0, made=replace(CODE, constants=(stored,)))


def test_work_is_bounded() -> None:
    """Instructions are counted, and what they take from the stack."""
    nop = (9, 0)
    assert run(*nop * (MAX_INSTRUCTIONS - 2), FAST, 0, RETURN, 0) == X
    with pytest.raises(NotUnderstood):
        run(*nop * MAX_INSTRUCTIONS, FAST, 0, RETURN, 0)
    long = replace(CODE, constants=((0,) * 9_000,))
    with pytest.raises(NotUnderstood, match=r"^more work than anyone's function$"):
        run(*(CONST, 0, POP, 0) * 12, FAST, 0, RETURN, 0, made=long)
