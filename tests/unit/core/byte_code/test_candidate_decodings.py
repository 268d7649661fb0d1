"""The Pythons that the bytes of a stored function may be of, and the names and constants in it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas import compiled
from unnest.budget import Answers, Budget, limited
from unnest.core.byte_code import candidate_decodings, read_code_objects
from unnest.core.byte_code.candidate_decodings import every_constant, names_used, readings, writers
from unnest.core.byte_code.opcode_tables import PYTHONS
from unnest.core.byte_code.read_code_objects import CodeObject


def test_since_3_11_the_opening_shows_who_wrote_a_function() -> None:
    """Each has another number for RESUME, but 3.11 and 3.12."""
    made = replace(CODE, layout="3.11")
    opened = {
        version: [
            python.version for python in writers(replace(made, code=bytes((number, 0, 83, 0))))
        ]
        for version, number in {"3.12": 151, "3.13": 149, "3.14": 128}.items()
    }
    assert opened == {"3.12": ["3.11", "3.12"], "3.13": ["3.13"], "3.14": ["3.14"]}
    assert list(writers(replace(made, code=bytes((83, 0))))) == []
    assert {python.version for python in PYTHONS["3.11"]} == {"3.11", "3.12", "3.13", "3.14"}


@pytest.mark.parametrize("python", compiled.PYTHONS)
def test_the_python_that_wrote_a_function_is_among_its_readings(python: str) -> None:
    for text, *_ in compiled.functions()[python].values():
        assert python in [version.version for _, version in readings(text)]


@pytest.mark.parametrize(("most", "times"), [(1 << 16, 1), (10, 2)])
def test_code_is_read_once_for_all_files_unless_it_is_long(
    monkeypatch: pytest.MonkeyPatch, most: int, times: int
) -> None:
    """Within a file it is read once either way."""
    text = compiled.functions()["3.11"]["lambda x: x[:, 1:]"][0]
    read, times_read = read_code_objects.read, itertools.count(1)
    monkeypatch.setattr(read_code_objects, "read", lambda text: next(times_read) and read(text))
    monkeypatch.setattr(candidate_decodings, "MAX_CODE_KEPT", most)
    answers = Answers()
    for path in ("a.h5", "b.h5"):
        with limited(Budget(path, 10_000, 1 << 20, answers=answers)):
            assert readings(text) is readings(text)
    assert next(times_read) == times + 1


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
