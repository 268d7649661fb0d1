"""Numbers of CPython's instructions up to 3.10 -> their names; what later Pythons share with these is here, too."""

from __future__ import annotations

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


LOOPS_27 = BEFORE_36_LOOPS | {
    54: "STORE_MAP",
    71: "PRINT_ITEM",
    72: "PRINT_NEWLINE",
    81: "WITH_CLEANUP",
    94: "LIST_APPEND",
}


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


WORDCODE_OPERATORS = OPERATOR_OPCODES | MATMUL
