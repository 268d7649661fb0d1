"""Every layer class and argument of every stack: carried, or refused as the table says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import unnest
from tests.judged import check_verdict
from tests.layer_cases import cases, stacks

#: Stack -> the cases that Keras 3 cannot hold.
TABLE = Path(__file__).with_name("refused_cases.json")
#: Cases of a stack that are looked at here; tests/slow looks at all.
STRIDE = 12


@pytest.mark.parametrize("stack", stacks())
def test_outcomes(stack: str, tmp_path: Path) -> None:
    """A refusal names the layer; whatever is not refused is written, and read back."""
    refused = json.loads(TABLE.read_text())[stack]
    for case in list(cases(stack))[::STRIDE]:
        path = case.extract(tmp_path)
        result = unnest.fix(path, path.with_name("today.keras"), keras="3")
        assert (result.error is not None) is (case.name in refused), (case.name, result.error)
        if result.error is None:
            assert result.action == "converted"
            assert "weights" in result.checks
            check_verdict(unnest.inspect(path.with_name("today.keras")), "clean")
        else:
            assert result.error.code == "cannot-convert"
