"""CPython's instructions, as far as the machine understands them: a table for each Python.

The bytes of a function do not say which Python wrote them, so each Python of the same layout of code objects is
tried. What a Python's table lacks stops the reading, and with it the translation, unless the bytes cannot be that
Python's at all (`Impossible`). Source: Include/opcode.h and Lib/opcode.py of each version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from unnest.core.byte_code.code_objects import CodeLayout, CodeObject


class Impossible(Exception):
    """No compiler of this Python writes this."""


class Instruction(NamedTuple):
    """A name of CPython's, or `BINARY` and `INPLACE` with the operator as `symbol`; `argument` is 0 without one."""

    name: str
    argument: int = 0
    symbol: str = ""


class Python(NamedTuple):
    """The instructions of one Python.

    `names` by number; `caches` counts the empty words that follow an instruction; `absent` are numbers which this
    Python does not use while others of its layout do. `wide` ones, before 3.6, have instructions of one byte, or of
    three with an argument of two; the others have words of two bytes.
    """

    version: str
    names: Mapping[int, str]
    extended: int
    symbols: Mapping[int, tuple[str, str]]
    caches: Mapping[str, int]
    absent: frozenset[int]
    wide: bool = False


BINARY = {
    19: "**",
    20: "*",
    22: "%",
    23: "+",
    24: "-",
    26: "//",
    27: "/",
    64: "&",
    65: "^",
    66: "|",
}
INPLACE = {
    67: "**",
    57: "*",
    59: "%",
    55: "+",
    56: "-",
    28: "//",
    29: "/",
    77: "&",
    78: "^",
    79: "|",
}
MATMUL = {16: ("BINARY", "@"), 17: ("INPLACE", "@")}
CLASSIC_DIVISION = {21: ("BINARY", "classic /"), 58: ("INPLACE", "classic /")}
SYMBOLS = {number: ("BINARY", symbol) for number, symbol in BINARY.items()} | {
    number: ("INPLACE", symbol) for number, symbol in INPLACE.items()
}
BINARY_OP = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")
"""The argument of 3.11's BINARY_OP; those in place are 13 further."""

COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
OUTCOMES = {"<": 2, "<=": 10, "==": 8, "!=": 7, ">": 4, ">=": 12}
"""Bits for unordered, less, greater and equal, for which an operator holds."""

CONTROL = {
    12: "UNARY_NOT",
    108: "IMPORT_NAME",
    109: "IMPORT_FROM",
    110: "JUMP_FORWARD",
    114: "POP_JUMP_IF_FALSE",
    115: "POP_JUMP_IF_TRUE",
}
CONTROL_311 = CONTROL | {111: "JUMP_IF_FALSE_OR_POP", 112: "JUMP_IF_TRUE_OR_POP"}
CONTROL_UNTIL_310 = CONTROL_311 | {113: "JUMP_ABSOLUTE"}
CONTROL_313 = {
    40: "TO_BOOL",
    43: "UNARY_NOT",
    74: "IMPORT_FROM",
    75: "IMPORT_NAME",
    79: "JUMP_FORWARD",
    97: "POP_JUMP_IF_FALSE",
    100: "POP_JUMP_IF_TRUE",
}
IMPORTS = frozenset({"IMPORT_NAME", "IMPORT_FROM"})

SHARED = {68: "GET_ITER", 93: "FOR_ITER", 132: "MAKE_FUNCTION"}
UNTIL_310 = SHARED | {86: "YIELD_VALUE", 135: "LOAD_CLOSURE", 137: "STORE_DEREF"}
BLOCKS = {
    80: "BREAK_LOOP",
    87: "POP_BLOCK",
    88: "END_FINALLY",
    120: "SETUP_LOOP",
    143: "SETUP_WITH",
}
CLEANUP = {81: "WITH_CLEANUP_START", 82: "WITH_CLEANUP_FINISH"}
LOOPS_27 = UNTIL_310 | BLOCKS | {81: "WITH_CLEANUP", 94: "LIST_APPEND", 134: "MAKE_CLOSURE"}
LOOPS_35 = UNTIL_310 | BLOCKS | CLEANUP | {134: "MAKE_CLOSURE", 145: "LIST_APPEND"}
LOOPS_36 = UNTIL_310 | BLOCKS | CLEANUP | {145: "LIST_APPEND"}
SINCE_38_LOOPS = UNTIL_310 | {87: "POP_BLOCK", 143: "SETUP_WITH", 145: "LIST_APPEND"}
LOOPS_38 = SINCE_38_LOOPS | CLEANUP | {53: "BEGIN_FINALLY", 88: "END_FINALLY", 163: "POP_FINALLY"}
LOOPS_39 = SINCE_38_LOOPS
LOOPS_310 = LOOPS_39 | {129: "GEN_START"}
SINCE_311_AND_IN_312 = SHARED | {
    75: "RETURN_GENERATOR",
    135: "MAKE_CELL",
    136: "LOAD_CLOSURE",
    138: "STORE_DEREF",
    140: "JUMP_BACKWARD",
    145: "LIST_APPEND",
}
LOOPS_311 = SINCE_311_AND_IN_312 | {
    53: "BEFORE_WITH",
    86: "YIELD_VALUE",
    175: "POP_JUMP_BACKWARD_IF_FALSE",
    176: "POP_JUMP_BACKWARD_IF_TRUE",
}
LOOPS_312 = SINCE_311_AND_IN_312 | {
    4: "END_FOR",
    53: "BEFORE_WITH",
    127: "LOAD_FAST_CHECK",
    143: "LOAD_FAST_AND_CLEAR",
    150: "YIELD_VALUE",
}
LOOPS_313 = {
    2: "BEFORE_WITH",
    11: "END_FOR",
    19: "GET_ITER",
    26: "MAKE_FUNCTION",
    35: "RETURN_GENERATOR",
    72: "FOR_ITER",
    77: "JUMP_BACKWARD",
    80: "LIST_APPEND",
    86: "LOAD_FAST_AND_CLEAR",
    87: "LOAD_FAST_CHECK",
    94: "MAKE_CELL",
    106: "SET_FUNCTION_ATTRIBUTE",
    109: "STORE_DEREF",
    118: "YIELD_VALUE",
}
"""Loops, generators and inner functions, which each Python writes in its own way."""

BRANCHES = (
    frozenset().union(
        *(
            table.values()
            for table in (
                CONTROL_UNTIL_310, CONTROL_313, LOOPS_27, LOOPS_35, LOOPS_38, LOOPS_310, LOOPS_311, LOOPS_312,
                LOOPS_313,
            )
        )
    )
    - IMPORTS
)  # fmt: skip
"""The instructions that only code with conditions, loops or inner functions needs."""

PUSH_EXC_INFO = {"3.11": 35, "3.12": 35, "3.13": 33}
"""What every handler that people write begins with, and that which leaves a `with` block."""

WITH_EXCEPT_START = {"3.11": 49, "3.12": 49, "3.13": 44}
"""What follows there in one that leaves a `with` block: nothing but an exception leads to it."""

CLASSIC = {
    1: "POP_TOP",
    2: "ROT_TWO",
    3: "ROT_THREE",
    4: "DUP_TOP",
    9: "NOP",
    10: "UNARY_POSITIVE",
    11: "UNARY_NEGATIVE",
    15: "UNARY_INVERT",
    25: "BINARY_SUBSCR",
    83: "RETURN_VALUE",
    92: "UNPACK_SEQUENCE",
    100: "LOAD_CONST",
    102: "BUILD_TUPLE",
    103: "BUILD_LIST",
    106: "LOAD_ATTR",
    107: "COMPARE_OP",
    116: "LOAD_GLOBAL",
    124: "LOAD_FAST",
    125: "STORE_FAST",
    131: "CALL_FUNCTION",
    133: "BUILD_SLICE",
    136: "LOAD_DEREF",
}
BEFORE_36 = CLASSIC | CONTROL_UNTIL_310
TEXTS = {155: "FORMAT_VALUE", 157: "BUILD_STRING"}
"""f-strings, until 3.12."""

SINCE_36 = BEFORE_36 | TEXTS | {141: "CALL_FUNCTION_KW"}
SINCE_37 = SINCE_36 | {160: "LOAD_METHOD", 161: "CALL_METHOD"}
SINCE_38 = SINCE_37 | {6: "ROT_FOUR"}
SINCE_39 = SINCE_38 | {162: "LIST_EXTEND"}
SINCE_311 = {
    number: CLASSIC[number]
    for number in (1, 9, 11, 15, 25, 83, 92, 100, 102, 103, 106, 107, 116, 124, 125, 133)
} | {
    2: "PUSH_NULL",
    99: "SWAP",
    120: "COPY",
    122: "BINARY_OP",
    137: "LOAD_DEREF",
    149: "COPY_FREE_VARS",
    151: "RESUME",
    162: "LIST_EXTEND",
    171: "CALL",
    172: "KW_NAMES",
}
IN_311 = (
    SINCE_311 | TEXTS | CONTROL_311 | {10: "UNARY_POSITIVE", 160: "LOAD_METHOD", 166: "PRECALL"}
)
IN_312 = SINCE_311 | TEXTS | CONTROL | {26: "BINARY_SLICE", 121: "RETURN_CONST"}
IN_313 = CONTROL_313 | {
    4: "BINARY_SLICE",
    5: "BINARY_SUBSCR",
    14: "FORMAT_SIMPLE",
    15: "FORMAT_WITH_SPEC",
    30: "NOP",
    32: "POP_TOP",
    34: "PUSH_NULL",
    36: "RETURN_VALUE",
    41: "UNARY_INVERT",
    42: "UNARY_NEGATIVE",
    45: "BINARY_OP",
    47: "BUILD_LIST",
    50: "BUILD_SLICE",
    51: "BUILD_STRING",
    52: "BUILD_TUPLE",
    53: "CALL",
    57: "CALL_KW",
    58: "COMPARE_OP",
    60: "CONVERT_VALUE",
    61: "COPY",
    62: "COPY_FREE_VARS",
    81: "LIST_EXTEND",
    82: "LOAD_ATTR",
    83: "LOAD_CONST",
    84: "LOAD_DEREF",
    85: "LOAD_FAST",
    88: "LOAD_FAST_LOAD_FAST",
    91: "LOAD_GLOBAL",
    103: "RETURN_CONST",
    110: "STORE_FAST",
    111: "STORE_FAST_LOAD_FAST",
    112: "STORE_FAST_STORE_FAST",
    115: "SWAP",
    117: "UNPACK_SEQUENCE",
    149: "RESUME",
}
CACHES_311 = {
    "BINARY_SUBSCR": 4,
    "UNPACK_SEQUENCE": 1,
    "LOAD_ATTR": 4,
    "COMPARE_OP": 2,
    "LOAD_GLOBAL": 5,
    "BINARY_OP": 1,
    "LOAD_METHOD": 10,
    "PRECALL": 1,
    "CALL": 4,
}
CACHES_312 = {
    "BINARY_SUBSCR": 1,
    "UNPACK_SEQUENCE": 1,
    "LOAD_ATTR": 9,
    "COMPARE_OP": 1,
    "LOAD_GLOBAL": 4,
    "BINARY_OP": 1,
    "CALL": 3,
    "FOR_ITER": 1,
}

CACHES_313 = CACHES_312 | {
    "TO_BOOL": 3,
    "POP_JUMP_IF_FALSE": 1,
    "POP_JUMP_IF_TRUE": 1,
    "JUMP_BACKWARD": 1,
}

WORDS = SYMBOLS | MATMUL
PYTHONS: Mapping[CodeLayout, tuple[Python, ...]] = {
    "2": (
        Python(
            "2.7",
            BEFORE_36
            | LOOPS_27
            | {5: "ROT_FOUR", 30: "SLICE+0", 31: "SLICE+1", 32: "SLICE+2", 33: "SLICE+3"},
            145,
            SYMBOLS | CLASSIC_DIVISION,
            {},
            frozenset(),
            wide=True,
        ),
    ),
    "3": (
        Python("3.5", BEFORE_36 | LOOPS_35, 144, WORDS, {}, frozenset(), wide=True),
        Python("3.6", SINCE_36 | LOOPS_36, 144, WORDS, {}, frozenset({160, 161})),
        Python("3.7", SINCE_37 | LOOPS_36, 144, WORDS, {}, frozenset()),
    ),
    "3.8": (
        # 162 is CALL_FINALLY in 3.8, which nothing reaches without SETUP_FINALLY before it.
        Python("3.8", SINCE_38 | LOOPS_38, 144, WORDS, {}, frozenset({162})),
        Python("3.9", SINCE_39 | LOOPS_39, 144, WORDS, {}, frozenset()),
    ),
    "3.10": (Python("3.10", SINCE_39 | LOOPS_310, 144, WORDS, {}, frozenset()),),
    "3.11": (
        Python(
            "3.11",
            IN_311 | LOOPS_311,
            144,
            {},
            CACHES_311,
            frozenset({0, 4, 26, 62, 121, 127, 143, 150}),
        ),
        Python(
            "3.12",
            IN_312 | LOOPS_312,
            144,
            {},
            CACHES_312,
            frozenset({0, 10, 62, 86, 111, 112, 160, 166}),
        ),
        Python("3.13", IN_313 | LOOPS_313, 71, {}, CACHES_313, frozenset({0, 151})),
    ),
}

FEWEST_WITH_ARGUMENT = 90
"""Before 3.6 instructions from this number on have an argument of two bytes."""

RETURN_VALUE = b"\x53"
"""The last instruction of every function before 3.10, also of one that never gets there."""

MAX_ARGUMENT = 2**31 - 1

GENERATOR = 0x20
"""The flag of a function that gives one value after the other."""


Entry = TypeVar("Entry")


def entry(values: Sequence[Entry], index: int) -> Entry:
    """A constant or name of the code's own lists, by an instruction's argument. Raises Impossible outside of it."""
    if index >= len(values):
        raise Impossible
    return values[index]


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


def comparison(python: Python, argument: int) -> str | None:
    """The operator of a COMPARE_OP; None for a membership or identity test.

    Since 3.12 it stands beside the outcomes for which it holds. Raises Impossible where the two differ.
    """
    bits = {"3.12": 4, "3.13": 5}.get(python.version, 0)
    number = argument >> bits
    if bits and (number >= len(COMPARISONS) or argument & 0xF != OUTCOMES[COMPARISONS[number]]):
        raise Impossible
    return COMPARISONS[number] if number < len(COMPARISONS) else None


def may_have_written(python: Python, code: bytes) -> bool:
    """Return True if these instructions end as this Python's do: in one byte, or in a word with its empty argument."""
    return python.wide == code.endswith(RETURN_VALUE)


def at_offset(python: Python, code: bytes, at: int) -> tuple[Instruction | None, int]:
    """The instruction that begins at a byte, and where the next one begins; None for one that the table lacks.

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
        if instruction is None:
            return None, at
        caches = 2 * python.caches.get("BINARY_OP" if instruction.symbol else instruction.name, 0)
        if any(code[at : at + caches]) or at + caches > len(code):
            raise Impossible
        at += caches
        if python.absent.intersection(
            code[at : at + 1]
        ):  # another Python's, or a cache more than this one has
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
    if number in python.absent:
        raise Impossible
    if number in python.symbols:
        name, symbol = python.symbols[number]
        return Instruction(name, 0, symbol)
    name = python.names.get(number, "")
    if name == "BINARY_OP":
        if argument >= 2 * len(BINARY_OP):
            raise Impossible
        in_place, place = divmod(argument, len(BINARY_OP))
        return Instruction("INPLACE" if in_place else "BINARY", 0, BINARY_OP[place])
    return Instruction(name, argument) if name else None
