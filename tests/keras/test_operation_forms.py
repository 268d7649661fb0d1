"""Operations in forms that few models use compute in Keras 3 what they did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.corpus.unpacked import FIXTURES
from tests.keras.recorded import check_all_converted

FOLDER = FIXTURES / "operation_forms"
STACKS = ("tf23", "tf215")
CONVERTED = (
    "shifted_windows",
    "like_ids",
    "fields_of_the_best",
    "last_relevant",
    "known_numbers",
    "matrix_before",
    "whole_numbers",
    "fairseq_positions",
)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("case", CONVERTED)
def test_predicts_as_its_own_stack_did(
    case: str, stack: str, keras: Any, tf: Any, tmp_path: Path
) -> None:
    check_all_converted(FOLDER / f"{stack}-{case}.h5", keras, tf, tmp_path)
