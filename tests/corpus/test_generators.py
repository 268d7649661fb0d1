"""The cases in the files of a dialect: each is a script, and has its note where its author's words are."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

GENERATORS = Path(__file__).with_name("generators")
spec = importlib.util.spec_from_file_location("cells", GENERATORS / "cells.py")
assert spec is not None
assert spec.loader is not None
cells = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cells)

#: Above 400 KB, and not kept: their words stand in the script.
NOT_KEPT = {"152-k231-hundred-layers", "162-tf215-hundred-layers-adamw"}


@pytest.mark.parametrize(
    ("folder", "containers", "number"),
    [("h5", ("keras", "h5"), 176), ("checkpoint", ("checkpoint",), 85)],
)
def test_every_case_has_a_note(folder: str, containers: tuple[str, ...], number: int) -> None:
    """By its name; two dialects never share one."""
    found = [name for name, *_ in cells.cells(GENERATORS / folder / "cases")]
    assert len(found) == len({*found}) == number
    assert {*found} - cells.notes(*containers).keys() <= NOT_KEPT


@pytest.mark.parametrize("folder", ["h5", "checkpoint"])
def test_every_case_is_a_script(folder: str) -> None:
    """With the lines above the first case, which belong to all; it ends with what writes the case down."""
    for name, _, _, source in cells.cells(GENERATORS / folder / "cases"):
        called = {
            n.func.id
            for n in ast.walk(ast.parse(source))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        assert called & {"wrapper", "lookalike", "finish", "write_case"}, name
