"""Bytes to instructions, in each Python: arguments, caches, and bytes that no compiler of that Python writes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.byte_code.test_machine import CODE
from unnest.core.byte_code.instruction_decoder import (
    Instruction,
    at_offset,
    comparison,
    may_have_written,
)
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible
from unnest.core.byte_code.opcode_tables import PYTHONS

NO_CACHE = (0, 0) * 5
BY_VERSION = {python.version: python for pythons in PYTHONS.values() for python in pythons}


def read(version: str, *code: int) -> list[Instruction | None]:
    """All instructions, up to the first that the table lacks."""
    read, at = list[Instruction | None](), 0
    while at < len(code) and None not in read:
        instruction, at = at_offset(BY_VERSION[version], bytes(code), at)
        read.append(instruction)
    return read


def test_every_python_has_a_table() -> None:
    assert list(BY_VERSION) == [
        "2.7",
        "3.5",
        "3.6",
        "3.7",
        "3.8",
        "3.9",
        "3.10",
        "3.11",
        "3.12",
        "3.13",
        "3.14",
    ]


@pytest.mark.parametrize(
    ("version", "code", "expected"),
    [
        ("2.7", (124, 1, 2, 83), [Instruction("LOAD_FAST", 0x201), Instruction("RETURN_VALUE")]),
        ("3.5", (124, 1, 2, 83), [Instruction("LOAD_FAST", 0x201), Instruction("RETURN_VALUE")]),
        ("3.6", (124, 1, 83, 0), [Instruction("LOAD_FAST", 1), Instruction("RETURN_VALUE")]),
        ("3.13", (85, 1, 36, 0), [Instruction("LOAD_FAST", 1), Instruction("RETURN_VALUE")]),
        (
            "2.7",
            (21, 27),
            [Instruction("BINARY", symbol="classic /"), Instruction("BINARY", symbol="/")],
        ),
        (
            "3.8",
            (27, 0, 59, 0),
            [Instruction("BINARY", symbol="/"), Instruction("INPLACE", symbol="%")],
        ),
        ("3.11", (122, 0, 0, 0), [Instruction("BINARY", symbol="+")]),
        ("3.12", (122, 23, 0, 0), [Instruction("INPLACE", symbol="-")]),
        ("3.13", (45, 5, 0, 0), [Instruction("BINARY", symbol="*")]),
        ("3.14", (44, 5, *NO_CACHE), [Instruction("BINARY", symbol="*")]),
        ("3.14", (44, 26, *NO_CACHE), [Instruction("BINARY_SUBSCR")]),
    ],
)
def test_instructions(version: str, code: tuple[int, ...], expected: list[Instruction]) -> None:
    """One number means different things, and has an argument of one or two bytes, or none."""
    assert read(version, *code) == expected


@pytest.mark.parametrize(
    ("version", "code", "argument"),
    [
        ("2.7", (145, 1, 0, 100, 2, 0), 0x10002),
        ("3.5", (144, 1, 0, 100, 2, 0), 0x10002),
        ("3.8", (144, 1, 100, 2), 0x102),
        ("3.13", (71, 1, 83, 2), 0x102),
    ],
)
def test_an_extension_goes_before_the_argument(
    version: str, code: tuple[int, ...], argument: int
) -> None:
    assert read(version, *code) == [Instruction("LOAD_CONST", argument)]


@pytest.mark.parametrize(
    ("code", "versions"),
    [
        ((124, 0, 0, 83), ["2.7", "3.5"]),
        ((124, 0, 83, 0), ["3.6", "3.7"]),
        ((124, 83, 0, 83), ["2.7", "3.5"]),
    ],
)
def test_the_last_instruction_tells_bytes_from_words(
    code: tuple[int, ...], versions: list[str]
) -> None:
    pythons = [*PYTHONS["2"], *PYTHONS["3"]]
    assert [
        python.version
        for python in pythons
        if may_have_written(python, replace(CODE, layout="3", code=bytes(code)))
    ] == versions


def test_an_extension_counts_for_one_instruction() -> None:
    assert read("3.8", 144, 1, 100, 2, 100, 2)[-1] == Instruction("LOAD_CONST", 2)


def test_what_the_table_lacks_ends_the_reading() -> None:
    setup_loop = 120
    assert read("3.8", setup_loop, 0, 83, 0) == [None]


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("3.8", (124,)),
        ("2.7", (124, 0)),
        ("3.8", (144, 255, 144, 255, 144, 255, 124, 255)),
        ("3.6", (160, 0)),
        ("3.11", (122, 0, 1, 0)),
        ("3.11", (122, 0)),
        ("3.11", (122, 26, 0, 0)),
        ("3.13", (45, 26, 0, 0)),
        ("3.14", (44, 27, *NO_CACHE)),
        ("3.11", (106, 0, *(0, 0) * 9)),
    ],
    ids=["cut short", "half an argument", "an argument beyond C", "of a later Python", "a filled cache", "no cache",
         "no operator",
         "a subscript before 3.14", "none in 3.14 either", "a cache too many"],
)  # fmt: skip
def test_what_this_python_does_not_write(version: str, code: tuple[int, ...]) -> None:
    with pytest.raises(Impossible):
        read(version, *code)


@pytest.mark.parametrize(
    ("version", "arguments"),
    [
        ("3.11", (0, 1, 2, 3, 4, 5)),
        ("3.12", (2, 26, 40, 55, 68, 92)),
        ("3.13", (2, 42, 72, 103, 132, 172)),
        ("3.13", (18, 58, 88, 119, 148, 188)),
        ("3.14", (18, 58, 88, 119, 148, 188)),
    ],
)
def test_comparisons(version: str, arguments: tuple[int, ...]) -> None:
    """Since 3.12 beside the outcomes that they hold for, since 3.13 with a bit that asks for a truth value."""
    assert [comparison(BY_VERSION[version], argument) for argument in arguments] == [
        "<",
        "<=",
        "==",
        "!=",
        ">",
        ">=",
    ]


@pytest.mark.parametrize(
    ("version", "argument"), [("3.12", 41), ("3.12", 0), ("3.12", 96), ("3.13", 71), ("3.13", 195)]
)
def test_comparisons_that_contradict_their_outcomes(version: str, argument: int) -> None:
    with pytest.raises(Impossible):
        comparison(BY_VERSION[version], argument)
