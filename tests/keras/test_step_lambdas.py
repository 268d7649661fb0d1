"""A Lambda in a TimeDistributed computes in Keras 3 what it did, or is refused where a step sees other rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.keras.recorded import check_all_converted

FOLDER = FIXTURES / "step_lambdas"
STACKS = ("k224", "tf23")
CONVERTED = (
    *("scaled", "given", "of_any_length", "masked"),
    *("summed", "first_row", "turned", "reshaped"),
)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("case", CONVERTED)
def test_predicts_as_its_own_stack_did(
    case: str, stack: str, keras: Any, tf: Any, tmp_path: Path
) -> None:
    check_all_converted(FOLDER / f"{stack}-{case}.h5", keras, tf, tmp_path)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("over_rows", "the code of its Lambda may mix rows"),
        ("shared", "for which the shape of its input must be known"),
    ],
)
def test_is_refused(case: str, why: str, stack: str, tmp_path: Path) -> None:
    """Keras 3 gives the code one step of all rows; before, it was given the steps of all rows at once."""
    result = unnest.fix(FOLDER / f"{stack}-{case}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is not None
    assert why in result.error.message


@pytest.mark.parametrize("stack", STACKS)
def test_what_is_kept_stays_a_lambda(stack: str, keras: Any, tmp_path: Path) -> None:
    """Its code calls a function of its program, which is given to load it."""
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    result = unnest.fix(FOLDER / f"{stack}-helped.h5", tmp_path / "out.keras", keras="3")
    (function,) = result.needs.functions
    given = {function: lambda t: t + 1.0}
    model = keras.models.load_model(tmp_path / "out.keras", custom_objects=given)
    (held,) = (layer.layer for layer in model.layers if hasattr(layer, "layer"))
    assert type(held).__name__ == "Lambda"
