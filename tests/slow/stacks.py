"""The original stacks: UNNEST_STACKS names the folder of environments that fixtures/scripts/make-stack makes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def python_of(stack: str) -> Path:
    """The Python of a stack; skips the test where it is not there."""
    folder = os.environ.get("UNNEST_STACKS")
    if not folder:
        pytest.skip(
            "UNNEST_STACKS names no folder of original stacks (fixtures/scripts/make-stack)"
        )
    python = Path(folder) / stack / "bin" / "python"
    if not python.exists():
        pytest.skip(f"UNNEST_STACKS has no {stack}: fixtures/scripts/make-stack {stack} {folder}")
    return python
