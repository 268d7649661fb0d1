"""The names and constants in stored code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas import compiled
from unnest.core.byte_code.candidate_decodings import readings, writers
from unnest.core.byte_code.names_and_constants_of_code import every_constant, names_used
from unnest.core.byte_code.read_code_objects import CodeObject

CODE = CodeObject(
    layout="3.8", arguments=2, keyword_only=1, stack=4, flags=0, code=b"", constants=(None,), names=(),
    locals=("x", "i", "parts", "n"), free=(), cells=(), slots=(),
)  # fmt: skip


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("3.12", (151, 0, 124, 0, 124, 0, 95, 1, *(0, 0) * 4, 116, 0, *(0, 0) * 4, 83, 0)),
        ("3.13", (149, 0, 85, 0, 91, 2, *(0, 0) * 4, 59, 0, 0, 0, 91, 0, *(0, 0) * 4, 36, 0)),
        ("3.14", (128, 0, 84, 0, 92, 2, *(0, 0) * 4, 57, 0, 0, 0, 92, 0, *(0, 0) * 4, 35, 0)),
    ],
    ids=["an attribute that is set", "a membership test", "a membership test of 3.14"],
)
def test_names_behind_an_instruction_that_is_not_followed(
    version: str, code: tuple[int, ...]
) -> None:
    made = replace(CODE, layout="3.11", code=bytes(code), names=("foo", "bar"))
    (python,) = (python for python in writers(made) if python.version == version)
    as_global, _ = names_used(python, made)
    assert as_global - {"bar"} == {"foo"}


@pytest.mark.parametrize("python", compiled.PYTHONS)
def test_constants_stand_in_the_code_in_slices_or_in_instructions(python: str) -> None:
    text = compiled.functions()[python]["lambda x: x[:, 1:]"][0]
    (code,) = {code for code, _ in readings(text)}
    assert 1 in list(every_constant(code))
