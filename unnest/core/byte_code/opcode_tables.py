"""The numbers of CPython's instructions: a table for each Python, by the layout of its code objects.

Source: Include/opcode.h, Lib/opcode.py and, since 3.13, Lib/_opcode_metadata.py of each version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from unnest.core.byte_code.opcodes_since_311 import (
    CACHES_311,
    CACHES_312,
    CACHES_313,
    CACHES_314,
    CONTROL_313,
    IN_311,
    IN_312,
    IN_313,
    IN_314,
    LOOPS_311,
    LOOPS_312,
    LOOPS_313,
    LOOPS_314,
    UNFOLLOWED_311,
    UNFOLLOWED_312,
    UNFOLLOWED_313,
    UNFOLLOWED_314,
)
from unnest.core.byte_code.opcodes_until_310 import (
    BEFORE_36,
    CLASSIC_DIVISION,
    CONTROL_UNTIL_310,
    LOOPS_27,
    LOOPS_35,
    LOOPS_36,
    LOOPS_38,
    LOOPS_39,
    LOOPS_310,
    OPERATOR_OPCODES,
    SINCE_36,
    SINCE_37,
    SINCE_38,
    SINCE_39,
    WORDCODE_OPERATORS,
)
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


BINARY_OP = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")
"""The argument of 3.11's BINARY_OP; those in place are 13 further."""

SUBSCRIPT = 2 * len(BINARY_OP)
"""Argument of BINARY_OP for `a[b]` in Python 3.14."""

COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
COMPARISONS_UNTIL_38 = (*COMPARISONS, "in", "not in", "is", "is not")
OUTCOMES = {"<": 2, "<=": 10, "==": 8, "!=": 7, ">": 4, ">=": 12}
"""Bits for unordered, less, greater and equal, for which an operator holds."""

IMPORTS = frozenset({"IMPORT_NAME", "IMPORT_FROM"})


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
