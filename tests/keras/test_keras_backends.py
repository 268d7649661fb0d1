"""Parts of `unnest.keras` that work on each backend of Keras 3, without loading another backend."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def python_of(backend: str) -> str | None:
    """The Python that has a backend: this one, or the one that UNNEST_JAX or UNNEST_TORCH names."""
    if find_spec(backend) is not None:
        return sys.executable
    return os.environ.get(f"UNNEST_{backend.upper()}")


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_a_backend(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All tasks work, and towers say in one line where they do not."""
    python = python_of(backend)
    if python is None:
        pytest.skip(
            f"{backend} is not installed, and UNNEST_{backend.upper()} names no Python that has it"
        )
    monkeypatch.syspath_prepend(ROOT / "scripts")
    told: dict[str, Any] = import_module("backend_table").outcome(backend, python)
    failed = {name: why for name, why in told["tasks"].items() if why != "works"}
    if backend == "tensorflow":
        assert failed == {}
        assert told["loaded"] == ["tensorflow"]
    else:
        assert set(failed) == {"`make_parallel`"}
        assert "need TensorFlow" in failed["`make_parallel`"]
        assert (told["at_once"], told["loaded"]) == ([], [backend])


def test_the_page_has_a_table() -> None:
    """Written by scripts/backend_table.py; every cell but those of towers says that it works."""
    page = (ROOT / "docs" / "versions-tested.md").read_text(encoding="utf-8")
    rows = page.partition("<!-- backends")[2].partition("<!-- /backends")[0].splitlines()[3:]
    cells = [
        row.strip("|").split("|")[1:]
        for row in rows
        if row.startswith("| `") and "make_parallel" not in row
    ]
    assert len(cells) >= 8
    assert {cell.strip() for row in cells for cell in row} == {"works"}
