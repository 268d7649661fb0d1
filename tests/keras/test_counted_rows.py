"""Operations that read how many rows a tensor has compute in Keras 3 what they did: attention by hand, and its kin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.keras.recorded import check_all_converted

FOLDER = FIXTURES / "counted_rows"
STACKS = ("tf23", "tf215")
CONVERTED = (
    *("heads", "heads_of_any_length", "heads_in_code"),
    *("class_token", "filled_tokens", "tokens_of_ids", "token_in_code"),
    *("positions", "later_half", "resized_in_code"),
    *("positions_of_any_length", "causal_of_any_length", "places_in_code"),
    *("heads_within_rows", "class_of_zeros", "places_behind_a_mask", "sizes_as_floats"),
)
SEVERAL_UNKNOWN = "a shape with several unknown sizes"
REFUSED: dict[str, str | tuple[str, ...]] = {
    "of_another": SEVERAL_UNKNOWN,
    "merged_rows": SEVERAL_UNKNOWN,
    "rows_along_time": SEVERAL_UNKNOWN,
    "steps_of_steps": SEVERAL_UNKNOWN,
    "longest_of_lengths": (
        "a mask as long as the longest of the lengths",
        "a tensor in a number's place",
    ),
    "two_tokens": "more than one entry, repeated as often as a size that is not known",
}


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("case", CONVERTED)
def test_predicts_as_its_own_stack_did(
    case: str, stack: str, keras: Any, tf: Any, tmp_path: Path
) -> None:
    check_all_converted(FOLDER / f"{stack}-{case}.h5", keras, tf, tmp_path)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("case", sorted(REFUSED))
def test_rows_of_another_tensor(case: str, stack: str, tmp_path: Path) -> None:
    """Where the number that is read is not that of the rows, -1 would give other numbers, or other rows."""
    result = unnest.fix(FOLDER / f"{stack}-{case}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is not None
    assert result.error.message.endswith(REFUSED[case])
