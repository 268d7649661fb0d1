"""The tables of instructions, held against what each Python says of its own."""

from __future__ import annotations

import gzip
import json
import sys
from functools import cache
from typing import Any

import pytest

from tests.unit.core.keras3.lambdas.compiled import FOLDER, module
from unnest.core.byte_code import opcode_tables
from unnest.core.byte_code.opcode_tables import Python

BY_VERSION = {
    python.version: python for pythons in opcode_tables.PYTHONS.values() for python in pythons
}
SYMBOLS = {
    "POWER": "**", "MULTIPLY": "*", "MODULO": "%", "ADD": "+", "SUBTRACT": "-", "FLOOR_DIVIDE": "//",
    "TRUE_DIVIDE": "/", "DIVIDE": "classic /", "AND": "&", "XOR": "^", "OR": "|", "MATRIX_MULTIPLY": "@",
}  # fmt: skip
NEVER_STORED = {"CACHE", "RESERVED", "ENTER_EXECUTOR"}
OTHER_NAMES = {
    "JUMP_IF_FALSE": "POP_JUMP_IF_FALSE", "JUMP_IF_TRUE": "POP_JUMP_IF_TRUE",
    "POP_JUMP_FORWARD_IF_FALSE": "POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_TRUE": "POP_JUMP_IF_TRUE",
    "POP_JUMP_FORWARD_IF_NONE": "POP_JUMP_IF_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE": "POP_JUMP_IF_NOT_NONE",
}  # fmt: skip


@cache
def official() -> dict[str, list[dict[str, int]]]:
    """Python -> the numbers of its instructions by name, the empty words behind each."""
    return dict(json.loads(gzip.decompress((FOLDER / "opcodes.json.gz").read_bytes())))


def differences(python: Python, numbers: dict[str, int], caches: dict[str, int]) -> list[Any]:
    """Return what a table says otherwise than its Python."""
    names = {number: OTHER_NAMES.get(name, name) for name, number in numbers.items()}
    ours = {**python.names, **python.unfollowed, python.extended: "EXTENDED_ARG"}
    for number, (kind, symbol) in python.symbols.items():
        word = next(word for word, each in SYMBOLS.items() if each == symbol)
        ours[number] = f"{kind}_{word}"
    wrong: list[Any] = [(n, name, names.get(n)) for n, name in ours.items() if names.get(n) != name]
    counts = {numbers[name]: count for name, count in caches.items()}
    by_name = {number: python.caches.get(name, 0) for number, name in ours.items()}
    both = {*counts, *ours}
    wrong += [("caches", n) for n in both if counts.get(n, 0) != by_name.get(n, 0)]
    used = {number for name, number in numbers.items() if name not in NEVER_STORED}
    return wrong + [("absent", number) for number in python.absent & used - {CALL_FINALLY_38}]


CALL_FINALLY_38 = 162


def test_the_python_that_runs_this() -> None:
    """Red on a Python that has no table yet, or whose numbers are others than those of its first release."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert differences(BY_VERSION[version], *module("in_python").opcodes()) == []


def test_a_number_that_is_another() -> None:
    python = BY_VERSION["3.14"]
    names, caches = official()["3.14"]
    assert differences(python._replace(names={**python.names, 35: "RETURN_CONST"}), names, caches)
    assert differences(python._replace(caches={**python.caches, "CALL": 4}), names, caches)
    assert differences(python._replace(absent=frozenset({35})), names, caches)


@pytest.mark.parametrize("python", BY_VERSION.values(), ids=list(BY_VERSION))
def test_no_number_is_known_and_absent(python: Python) -> None:
    known = python.names.keys() | python.symbols.keys() | python.unfollowed.keys()
    assert not python.absent & known
    assert python.caches.keys() <= {*python.names.values(), *python.unfollowed.values()}
