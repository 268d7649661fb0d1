"""The numbers of CPython's instructions: a table for each Python, by the layout of its code objects.

Source: Include/opcode.h, Lib/opcode.py and, since 3.13, Lib/_opcode_metadata.py of each version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from unnest.core.byte_code.read_code_objects import CodeLayout


class Python(NamedTuple):
    """The instructions of one Python.

    `names` by number; `caches` counts the empty words that follow an instruction, `unfollowed` are the names of
    instructions with such words that `names` lacks; `absent` are numbers which this Python does not use while others
    of its layout do. `wide` ones, before 3.6, have instructions of one byte, or of three with an argument of two; the
    others have words of two bytes.
    """

    version: str
    names: Mapping[int, str]
    extended: int
    symbols: Mapping[int, tuple[str, str]]
    caches: Mapping[str, int]
    absent: frozenset[int]
    wide: bool = False
    unfollowed: Mapping[int, str] = {}

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers, to compare."""
        return tuple(map(int, self.version.split(".")))


BINARY = {
    19: "**", 20: "*", 22: "%", 23: "+", 24: "-", 26: "//", 27: "/", 64: "&", 65: "^", 66: "|",
}  # fmt: skip
INPLACE = {
    67: "**", 57: "*", 59: "%", 55: "+", 56: "-", 28: "//", 29: "/", 77: "&", 78: "^", 79: "|",
}  # fmt: skip
MATMUL = {16: ("BINARY", "@"), 17: ("INPLACE", "@")}
CLASSIC_DIVISION = {21: ("BINARY", "classic /"), 58: ("INPLACE", "classic /")}
OPERATOR_OPCODES = {number: ("BINARY", symbol) for number, symbol in BINARY.items()} | {
    number: ("INPLACE", symbol) for number, symbol in INPLACE.items()
}
BINARY_OP = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")
"""The argument of 3.11's BINARY_OP; those in place are 13 further."""

SUBSCRIPT = 2 * len(BINARY_OP)
"""Argument of BINARY_OP for `a[b]` in Python 3.14."""

COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
COMPARISONS_UNTIL_38 = (*COMPARISONS, "in", "not in", "is", "is not")
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
CONTROL_314 = {
    39: "TO_BOOL",
    42: "UNARY_NOT",
    72: "IMPORT_FROM",
    73: "IMPORT_NAME",
    77: "JUMP_FORWARD",
    100: "POP_JUMP_IF_FALSE",
    103: "POP_JUMP_IF_TRUE",
}
IMPORTS = frozenset({"IMPORT_NAME", "IMPORT_FROM"})

OPCODES_OF_ALL_BEFORE_311 = {
    60: "STORE_SUBSCR",
    68: "GET_ITER",
    93: "FOR_ITER",
    132: "MAKE_FUNCTION",
}
IS_AND_IN = {117: "IS_OP", 118: "CONTAINS_OP"}
"""Comparisons of their own, from 3.9 to 3.12."""

UNTIL_310 = OPCODES_OF_ALL_BEFORE_311 | {86: "YIELD_VALUE", 135: "LOAD_CLOSURE", 137: "STORE_DEREF"}
BLOCKS = {
    80: "BREAK_LOOP",
    87: "POP_BLOCK",
    88: "END_FINALLY",
    120: "SETUP_LOOP",
    143: "SETUP_WITH",
}
CLEANUP = {81: "WITH_CLEANUP_START", 82: "WITH_CLEANUP_FINISH"}
TRIES = {121: "SETUP_EXCEPT", 122: "SETUP_FINALLY"}
UNTIL_37 = UNTIL_310 | BLOCKS | TRIES
BEFORE_36_LOOPS = UNTIL_37 | {
    105: "BUILD_MAP",
    134: "MAKE_CLOSURE",
    140: "CALL_FUNCTION_VAR",
}
LOOPS_27 = BEFORE_36_LOOPS | {54: "STORE_MAP", 81: "WITH_CLEANUP", 94: "LIST_APPEND"}
LOOPS_35 = BEFORE_36_LOOPS | CLEANUP | {94: "UNPACK_EX", 145: "LIST_APPEND"}
SINCE_36_LOOPS = {105: "BUILD_MAP", 142: "CALL_FUNCTION_EX", 156: "BUILD_CONST_KEY_MAP"}
UNPACKS = {
    149: "BUILD_LIST_UNPACK",
    152: "BUILD_TUPLE_UNPACK",
    158: "BUILD_TUPLE_UNPACK_WITH_CALL",
}
"""`[*a]`, `(*a,)` and `f(*a, *b)`, from 3.6 to 3.8."""
LOOPS_36 = UNTIL_37 | CLEANUP | SINCE_36_LOOPS | UNPACKS | {94: "UNPACK_EX", 145: "LIST_APPEND"}
SINCE_38_LOOPS = (
    UNTIL_310
    | SINCE_36_LOOPS
    | {
        87: "POP_BLOCK",
        94: "UNPACK_EX",
        122: "SETUP_FINALLY",
        143: "SETUP_WITH",
        145: "LIST_APPEND",
    }
)
ENDS_38 = {53: "BEGIN_FINALLY", 88: "END_FINALLY", 163: "POP_FINALLY"}
LOOPS_38 = SINCE_38_LOOPS | CLEANUP | UNPACKS | ENDS_38
LOOPS_39 = SINCE_38_LOOPS | IS_AND_IN | {82: "LIST_TO_TUPLE"}
LOOPS_310 = LOOPS_39 | {129: "GEN_START"}
SINCE_311_AND_IN_312 = (
    OPCODES_OF_ALL_BEFORE_311
    | SINCE_36_LOOPS
    | IS_AND_IN
    | {
        75: "RETURN_GENERATOR",
        94: "UNPACK_EX",
        128: "POP_JUMP_IF_NOT_NONE",
        129: "POP_JUMP_IF_NONE",
        135: "MAKE_CELL",
        136: "LOAD_CLOSURE",
        138: "STORE_DEREF",
        140: "JUMP_BACKWARD",
        145: "LIST_APPEND",
    }
)
LOOPS_311 = SINCE_311_AND_IN_312 | {
    53: "BEFORE_WITH",
    82: "LIST_TO_TUPLE",
    86: "YIELD_VALUE",
    173: "POP_JUMP_BACKWARD_IF_NOT_NONE",
    174: "POP_JUMP_BACKWARD_IF_NONE",
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
    39: "STORE_SUBSCR",
    46: "BUILD_CONST_KEY_MAP",
    48: "BUILD_MAP",
    54: "CALL_FUNCTION_EX",
    59: "CONTAINS_OP",
    72: "FOR_ITER",
    76: "IS_OP",
    77: "JUMP_BACKWARD",
    80: "LIST_APPEND",
    86: "LOAD_FAST_AND_CLEAR",
    87: "LOAD_FAST_CHECK",
    94: "MAKE_CELL",
    98: "POP_JUMP_IF_NONE",
    99: "POP_JUMP_IF_NOT_NONE",
    106: "SET_FUNCTION_ATTRIBUTE",
    109: "STORE_DEREF",
    116: "UNPACK_EX",
    118: "YIELD_VALUE",
}
LOOPS_314 = {
    4: "CALL_FUNCTION_EX",
    9: "END_FOR",
    16: "GET_ITER",
    23: "MAKE_FUNCTION",
    28: "NOT_TAKEN",
    30: "POP_ITER",
    34: "RETURN_GENERATOR",
    38: "STORE_SUBSCR",
    47: "BUILD_MAP",
    57: "CONTAINS_OP",
    70: "FOR_ITER",
    74: "IS_OP",
    75: "JUMP_BACKWARD",
    78: "LIST_APPEND",
    81: "LOAD_COMMON_CONSTANT",
    85: "LOAD_FAST_AND_CLEAR",
    88: "LOAD_FAST_CHECK",
    95: "LOAD_SPECIAL",
    97: "MAKE_CELL",
    101: "POP_JUMP_IF_NONE",
    102: "POP_JUMP_IF_NOT_NONE",
    108: "SET_FUNCTION_ATTRIBUTE",
    111: "STORE_DEREF",
    118: "UNPACK_EX",
    120: "YIELD_VALUE",
}
"""Loops, generators and inner functions, which each Python writes in its own way."""

BRANCHES = (
    frozenset().union(
        *(
            table.values()
            for table in (
                CONTROL_UNTIL_310, CONTROL_313, LOOPS_27, LOOPS_35, LOOPS_38, LOOPS_310, LOOPS_311, LOOPS_312,
                LOOPS_313, LOOPS_314,
            )
        )
    )
    - IMPORTS
)  # fmt: skip
"""The instructions that only code with conditions, loops or inner functions needs."""

PUSH_EXC_INFO = {"3.11": 35, "3.12": 35, "3.13": 33, "3.14": 32}
"""First instructions of an exception handler: of `except` and `finally`, and of the one that leaves a `with` block."""

WITH_EXCEPT_START = {"3.11": 49, "3.12": 49, "3.13": 44, "3.14": 43}
"""Instruction that follows them in a handler that leaves a `with` block, which only an exception reaches."""

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
F_STRING_OPCODES = {155: "FORMAT_VALUE", 157: "BUILD_STRING"}
"""f-strings, until 3.12."""

SINCE_36 = BEFORE_36 | F_STRING_OPCODES | {141: "CALL_FUNCTION_KW"}
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
    SINCE_311
    | F_STRING_OPCODES
    | CONTROL_311
    | {10: "UNARY_POSITIVE", 160: "LOAD_METHOD", 166: "PRECALL"}
)
IN_312 = (
    SINCE_311
    | F_STRING_OPCODES
    | CONTROL
    | {26: "BINARY_SLICE", 121: "RETURN_CONST", 173: "CALL_INTRINSIC_1"}
)
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
    55: "CALL_INTRINSIC_1",
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
IN_314 = CONTROL_314 | {
    1: "BINARY_SLICE",
    12: "FORMAT_SIMPLE",
    13: "FORMAT_WITH_SPEC",
    27: "NOP",
    31: "POP_TOP",
    33: "PUSH_NULL",
    35: "RETURN_VALUE",
    40: "UNARY_INVERT",
    41: "UNARY_NEGATIVE",
    44: "BINARY_OP",
    46: "BUILD_LIST",
    49: "BUILD_SLICE",
    50: "BUILD_STRING",
    51: "BUILD_TUPLE",
    52: "CALL",
    53: "CALL_INTRINSIC_1",
    55: "CALL_KW",
    56: "COMPARE_OP",
    58: "CONVERT_VALUE",
    59: "COPY",
    60: "COPY_FREE_VARS",
    79: "LIST_EXTEND",
    80: "LOAD_ATTR",
    82: "LOAD_CONST",
    83: "LOAD_DEREF",
    84: "LOAD_FAST",
    86: "LOAD_FAST_BORROW",
    87: "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
    89: "LOAD_FAST_LOAD_FAST",
    92: "LOAD_GLOBAL",
    94: "LOAD_SMALL_INT",
    112: "STORE_FAST",
    113: "STORE_FAST_LOAD_FAST",
    114: "STORE_FAST_STORE_FAST",
    117: "SWAP",
    119: "UNPACK_SEQUENCE",
    128: "RESUME",
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
    "STORE_ATTR": 4,
    "STORE_SUBSCR": 1,
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
    "SEND": 1,
    "STORE_ATTR": 4,
    "STORE_SUBSCR": 1,
    "LOAD_SUPER_ATTR": 1,
}

CACHES_313 = CACHES_312 | {
    "TO_BOOL": 3,
    "POP_JUMP_IF_FALSE": 1,
    "POP_JUMP_IF_TRUE": 1,
    "POP_JUMP_IF_NONE": 1,
    "POP_JUMP_IF_NOT_NONE": 1,
    "JUMP_BACKWARD": 1,
    "CONTAINS_OP": 1,
}
CACHES_314 = {name: count for name, count in CACHES_313.items() if name != "BINARY_SUBSCR"} | {
    "BINARY_OP": 5,
    "CALL_KW": 3,
}

UNFOLLOWED_311 = {95: "STORE_ATTR"}
UNFOLLOWED_312 = UNFOLLOWED_311 | {123: "SEND", 141: "LOAD_SUPER_ATTR"}
UNFOLLOWED_313 = {93: "LOAD_SUPER_ATTR", 104: "SEND", 108: "STORE_ATTR"}
UNFOLLOWED_314 = {96: "LOAD_SUPER_ATTR", 106: "SEND", 110: "STORE_ATTR"}

WORDCODE_OPERATORS = OPERATOR_OPCODES | MATMUL
PYTHONS: Mapping[CodeLayout, tuple[Python, ...]] = {
    "2": (
        Python(
            "2.7",
            BEFORE_36
            | LOOPS_27
            | {5: "ROT_FOUR", 30: "SLICE+0", 31: "SLICE+1", 32: "SLICE+2", 33: "SLICE+3"},
            145,
            OPERATOR_OPCODES | CLASSIC_DIVISION,
            {},
            frozenset(),
            wide=True,
        ),
    ),
    "3": (
        Python("3.5", BEFORE_36 | LOOPS_35, 144, WORDCODE_OPERATORS, {}, frozenset(), wide=True),
        Python("3.6", SINCE_36 | LOOPS_36, 144, WORDCODE_OPERATORS, {}, frozenset({160, 161})),
        Python("3.7", SINCE_37 | LOOPS_36, 144, WORDCODE_OPERATORS, {}, frozenset()),
    ),
    "3.8": (
        # 162 is CALL_FINALLY in 3.8, for a return that leaves a `finally`, which is not followed.
        Python("3.8", SINCE_38 | LOOPS_38, 144, WORDCODE_OPERATORS, {}, frozenset({117, 118, 162})),
        # What 3.8 has at the end of `with` and `finally`.
        Python("3.9", SINCE_39 | LOOPS_39, 144, WORDCODE_OPERATORS, {}, frozenset({53, 81, 88})),
    ),
    "3.10": (Python("3.10", SINCE_39 | LOOPS_310, 144, WORDCODE_OPERATORS, {}, frozenset()),),
    "3.11": (
        Python(
            "3.11",
            IN_311 | LOOPS_311,
            144,
            {},
            CACHES_311,
            frozenset({0, 4, 26, 62, 121, 127, 143, 150}),
            unfollowed=UNFOLLOWED_311,
        ),
        Python(
            "3.12",
            IN_312 | LOOPS_312,
            144,
            {},
            CACHES_312,
            frozenset({0, 10, 62, 86, 111, 112, 160, 166}),
            unfollowed=UNFOLLOWED_312,
        ),
        Python(
            "3.13",
            IN_313 | LOOPS_313,
            71,
            {},
            CACHES_313,
            frozenset({0, *range(119, 149), *range(150, 256)}),
            unfollowed=UNFOLLOWED_313,
        ),
        Python(
            "3.14",
            IN_314 | LOOPS_314,
            69,
            {},
            CACHES_314,
            frozenset({0, 3, *range(121, 128), *range(129, 256)}),
            unfollowed=UNFOLLOWED_314,
        ),
    ),
}
