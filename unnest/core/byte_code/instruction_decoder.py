"""CPython's instructions, read by the tables of each Python (`opcode_tables`).

The bytes of a function do not say which Python wrote them, so each Python of the same layout of code objects is
tried. What a Python's table lacks stops the reading, and with it the translation, unless the bytes cannot be that
Python's at all (`Impossible`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from unnest.core.byte_code.machine_errors_and_run_cost import Impossible
from unnest.core.byte_code.opcode_tables import (
    BINARY_OP,
    COMPARISONS,
    COMPARISONS_UNTIL_38,
    OUTCOMES,
    SUBSCRIPT,
    Python,
)
from unnest.core.byte_code.opcodes_since_311 import PUSH_EXC_INFO, WITH_EXCEPT_START
from unnest.core.byte_code.read_code_objects import GENERATOR, CodeObject
from unnest.core.model import Unknown


class Instruction(NamedTuple):
    """A name of CPython's, or `BINARY` and `INPLACE` with the operator as `symbol`; `argument` is 0 without one."""

    name: str
    argument: int = 0
    symbol: str = ""


FEWEST_WITH_ARGUMENT = 90
"""Before 3.6 instructions from this number on have an argument of two bytes."""

RETURN_VALUE = b"\x53"
"""The last instruction of every function before 3.10, also of one that never gets there."""

MAX_ARGUMENT = 2**31 - 1


def opening(code: CodeObject) -> list[Instruction]:
    """Return the first instructions of every function since 3.11: captured variables, own cells, and RESUME 0."""
    captured = [Instruction("COPY_FREE_VARS", len(code.free))] if code.free else []
    cells = [
        Instruction("MAKE_CELL", place)
        for place, name in enumerate(code.slots)
        if name in code.cells
    ]
    generator = (
        [Instruction("RETURN_GENERATOR"), Instruction("POP_TOP")] if code.flags & GENERATOR else []
    )
    return [*captured, *cells, *generator, Instruction("RESUME")]


def catches(python: Python, code: CodeObject) -> bool:
    """Return True if a function of 3.11 or later has an exception handler in its source.

    Python adds handlers of its own, which restore names or leave a `with` block.

    Raises:
        Impossible: the handlers are another Python's: in 3.11 all are in the source.

    """
    if not code.handlers:
        return False
    numbers = code.code[::2]
    begins = [k for k, number in enumerate(numbers) if number == PUSH_EXC_INFO[python.version]]
    if not begins and python.version == "3.11":
        raise Impossible
    return any(numbers[k + 1 : k + 2] != bytes([WITH_EXCEPT_START[python.version]]) for k in begins)


def comparison(python: Python, argument: int) -> str:
    """Return the operator of a COMPARE_OP, up to 3.8 also `in` and `is`.

    Since 3.12 it stands beside the outcomes for which it holds.

    Raises:
        Impossible: the two differ, or it is no operator.
        Unknown: it compares with an exception, up to 3.8.

    """
    if python.release < (3, 9):
        if argument >= len(COMPARISONS_UNTIL_38):
            raise Unknown("a handler of exceptions")
        return COMPARISONS_UNTIL_38[argument]
    bits = 0 if python.release < (3, 12) else 4 if python.release < (3, 13) else 5
    number = argument >> bits
    if number >= len(COMPARISONS) or (bits and argument & 0xF != OUTCOMES[COMPARISONS[number]]):
        raise Impossible
    return COMPARISONS[number]


def may_have_written(python: Python, code: CodeObject) -> bool:
    """Return True if a function begins and ends as this Python's do.

    All end in one byte, or in a word with its empty argument; since 3.11 they have an opening.
    """
    if python.wide != code.code.endswith(RETURN_VALUE):
        return False
    if code.layout != "3.11":
        return True
    begins = instructions(python, code.code)
    try:
        return all(next(begins, None) == expected for expected in opening(code))
    except Impossible:
        return False


def instructions(python: Python, code: bytes) -> Iterator[Instruction | None]:
    """Yield all instructions in order, as one Python reads them; None for those that its table lacks.

    Raises:
        Impossible: This Python's compiler did not write this.

    """
    offset = 0
    while offset < len(code):
        instruction, offset = at_offset(python, code, offset)
        yield instruction


def at_offset(python: Python, code: bytes, at: int) -> tuple[Instruction | None, int]:
    """Return the instruction at a byte (None if the table lacks it), and the offset of the next one.

    Raises:
        Impossible: This Python's compiler did not write this.

    """
    extension = 0
    while at < len(code):
        number, argument, at = _next(python, code, at)
        argument |= extension
        if argument > MAX_ARGUMENT:
            raise Impossible
        if number == python.extended:
            extension = argument << (16 if python.wide else 8)
            continue
        instruction = _instruction(python, number, argument)
        name = python.names.get(number) or python.unfollowed.get(number, "")
        caches = 2 * python.caches.get(name, 0)
        if any(code[at : at + caches]) or at + caches > len(code):
            raise Impossible
        at += caches
        if instruction is None:
            return None, at
        # It is another Python's code, or has a cache more than this Python has.
        if python.absent.intersection(code[at : at + 1]):
            raise Impossible
        return instruction, at
    raise Impossible


def _next(python: Python, code: bytes, at: int) -> tuple[int, int, int]:
    number = code[at]
    if python.wide and number < FEWEST_WITH_ARGUMENT:
        return number, 0, at + 1
    after = at + (3 if python.wide else 2)
    if after > len(code):
        raise Impossible
    return number, int.from_bytes(code[at + 1 : after], "little"), after


def _instruction(python: Python, number: int, argument: int) -> Instruction | None:
    """Return an instruction by its number and argument. Raises Impossible for one that this Python lacks."""
    if number in python.absent:
        raise Impossible
    if number in python.symbols:
        name, symbol = python.symbols[number]
        return Instruction(name, 0, symbol)
    name = python.names.get(number, "")
    if name == "BINARY_OP":
        if argument == SUBSCRIPT and python.release >= (3, 14):
            return Instruction("BINARY_SUBSCR")
        if argument >= SUBSCRIPT:
            raise Impossible
        in_place, place = divmod(argument, len(BINARY_OP))
        return Instruction("INPLACE" if in_place else "BINARY", 0, BINARY_OP[place])
    return Instruction(name, argument) if name else None
