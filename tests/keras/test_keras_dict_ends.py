"""Templates with dictionaries of inputs and outputs: what is fed and read by name stays what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "dict_ends"
SCOPES = {
    "alike": "whole", "outputs_exchanged": "embedded", "inputs_exchanged": "embedded", "under_a_head": "head",
}  # fmt: skip


@pytest.mark.parametrize(("name", "scope"), SCOPES.items())
def test_names_mean_what_they_did(name: str, scope: str, keras: Any, tmp_path: Path) -> None:
    """The template's keys are z of ia, then y of ib, and sort the other way round."""
    source = FOLDER / f"{'k3' if keras.__name__ == 'keras' else 'tf'}-{name}.keras"
    result = unnest.fix(source, tmp_path / "out.keras")
    assert (result.action, result.wrappers[0].scope) == ("fixed", scope)
    assert "other-ends" not in {finding.code for finding in result.findings}
    model = keras.models.load_model(tmp_path / "out.keras", safe_mode=False)
    with np.load(source.with_suffix(".npz")) as io:
        given, expected = ({n[2:]: io[n] for n in io.files if n[0] == kind} for kind in "xy")
    found = model.predict(
        given if isinstance(model.input, dict) else [given["a"], given["b"]], verbose=0
    )
    for key, value in (found if isinstance(found, dict) else {"": found}).items():
        np.testing.assert_allclose(value, expected.pop(key), atol=1e-5)
    assert not expected
