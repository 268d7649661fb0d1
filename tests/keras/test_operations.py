"""Operations against TensorFlow's, Keras's and NumPy's functions, on random arguments, as docs/operations.md says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.compare import Compared, compare_all
from tests.operations.samples import unknown_names
from tests.operations.table import PAGE, page


@pytest.fixture(scope="module")
def compared(tf: Any) -> list[Compared]:
    """All operations, called here and there."""
    del tf
    return compare_all()


def test_nothing_differs(compared: list[Compared]) -> None:
    assert [(each.operation.name, each.differences) for each in compared if each.differences] == []


def test_most_are_compared(compared: list[Compared]) -> None:
    """By value, by shape, and by their nodes."""
    assert sum(each.kernel > 0 for each in compared) > 75
    assert sum(each.shape > 0 for each in compared) > 170
    assert sum(len(each.nodes) for each in compared) > 330


def test_the_page_says_what_was_compared(compared: list[Compared]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(compared)


def test_every_sample_is_of_an_operation() -> None:
    assert unknown_names() == []
