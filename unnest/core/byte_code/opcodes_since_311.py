"""Numbers of CPython's instructions since 3.11 -> their names, and how many empty words follow each."""

from __future__ import annotations

from unnest.core.byte_code.opcodes_until_310 import (
    CLASSIC,
    CONTROL,
    CONTROL_311,
    F_STRING_OPCODES,
    IS_AND_IN,
    OPCODES_OF_ALL_BEFORE_311,
    SINCE_36_LOOPS,
)

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


PUSH_EXC_INFO = {"3.11": 35, "3.12": 35, "3.13": 33, "3.14": 32}
"""First instructions of an exception handler: of `except` and `finally`, and of the one that leaves a `with` block."""


WITH_EXCEPT_START = {"3.11": 49, "3.12": 49, "3.13": 44, "3.14": 43}
"""Instruction that follows them in a handler that leaves a `with` block, which only an exception reaches."""


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
