"""The Pythons that the bytes of a stored function may be of, and the names and constants in it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tests.unit.core.byte_code.test_names_and_constants_of_code import CODE
from tests.unit.core.keras3.lambdas import compiled
from unnest.budget import Answers, Budget, limited
from unnest.core.byte_code import candidate_decodings, read_code_objects
from unnest.core.byte_code.candidate_decodings import readings, writers
from unnest.core.byte_code.opcode_tables import PYTHONS


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
