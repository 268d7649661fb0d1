"""Lambdas as arguments of layers, which a `.keras` stores as code: named, and said to load where they do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "lambda_arguments"
FILES = sorted(FOLDER.glob("*.keras"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_code_is_named_and_the_writer_where_it_loads(path: Path) -> None:
    """As the writer found, with safe_mode=False; of an activation the class is not stored, and no Keras reads it."""
    stack, _, kind = path.stem.partition("-")
    loads = json.loads((FOLDER / f"{stack}.json").read_text())[kind]
    report = unnest.inspect(path)
    assert "stored-code" in [finding.code for finding in report.findings]
    assert report.needs.stored_code
    assert bool(report.loads_in) is loads
    assert (report.load is not None) is loads
    assert "safe_mode=False" in str(report.load) or not loads


@pytest.mark.parametrize("kind", ["activation", "text"])
@pytest.mark.parametrize("stack", ["tf213", "tf215"])
def test_a_lambda_becomes_a_function_that_is_given(stack: str, kind: str, tmp_path: Path) -> None:
    """Its code is not carried, as that of a function by name is not."""
    done = unnest.fix(FOLDER / f"{stack}-{kind}.keras", tmp_path / "out.keras", keras="3")
    assert (done.error, done.loads_in) == (None, ("Keras 3, with your <lambda>",))
    assert not done.needs.stored_code


@pytest.mark.parametrize("stack", ["tf213", "tf215"])
def test_two_lambdas_have_one_name(stack: str, tmp_path: Path) -> None:
    """A loader would give both layers the same function."""
    done = unnest.fix(FOLDER / f"{stack}-two.keras", tmp_path / "out.keras", keras="3")
    assert done.error is not None
    assert "several lambdas as arguments" in done.error.message
