"""A template that is called with a mask keeps it: what is left predicts what the parallel model did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "masked_calls"


@pytest.mark.parametrize("stack", ["tf27", "tf215"])
@pytest.mark.parametrize(("case", "scope"), [("masked", "embedded"), ("unmasked", "whole")])
def test_predicts_as_the_parallel_model_did(
    case: str, scope: str, stack: str, keras: Any, tmp_path: Path
) -> None:
    is_keras_3 = keras.__name__ == "keras"
    output = tmp_path / ("out.keras" if is_keras_3 else "out.h5")
    options: dict[str, Any] = {"keras": "3"} if is_keras_3 else {}
    result = unnest.fix(FOLDER / f"{stack}-{case}.h5", output, **options)
    assert result.error is None
    assert [wrapper.scope for wrapper in result.wrappers] == [scope]
    with np.load(FOLDER / f"{stack}-{case}.npz") as io:
        given = [io[name] for name in sorted(io) if name.startswith("x")]
        found = keras.models.load_model(output).predict(
            given if len(given) > 1 else given[0], verbose=0
        )
        np.testing.assert_allclose(found, io["y0"], atol=2e-6)
