"""Attentions that were told `causal` when they were made, or when they were called, are causal in Keras 3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.corpus.unpacked import FIXTURES
from tests.keras.recorded import check_prediction

FOLDER = FIXTURES / "attention_arguments"
STACKS = ("tf23", "tf27", "tf215")
CASES = ("plain", "masked", "additive_and_shared", "nested")


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("case", CASES)
def test_predicts_as_its_own_stack_did(
    case: str, stack: str, keras: Any, tf: Any, tmp_path: Path
) -> None:
    check_prediction(FOLDER / f"{stack}-{case}.h5", keras, tf, tmp_path)
