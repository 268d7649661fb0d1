"""Operations against TensorFlow's, Keras's and NumPy's functions, on random arguments, as docs/operations.md says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.compare import Compared, compare_all
from tests.operations.samples import NOT_COMPARED, unknown_names
from tests.operations.table import PAGE, page
from unnest.core.ops.keras3_nodes.function_registry import known_functions


@pytest.fixture(scope="module")
def compared(tf: Any) -> list[Compared]:
    """All operations, called here and there."""
    del tf
    return compare_all()


def test_nothing_differs(compared: list[Compared]) -> None:
    assert [(each.operation.name, each.differences) for each in compared if each.differences] == []


def test_each_is_compared_or_has_a_reason(compared: list[Compared]) -> None:
    """By its real function, and for each function of Keras 3's nodes by them."""
    operations = {each.operation.name for each in compared[:-1] if not each.references}
    functions = {*known_functions()} - {path for each in compared for path in each.nodes}
    assert operations | functions == {*NOT_COMPARED}


def test_most_are_compared(compared: list[Compared]) -> None:
    """By value, by the rows that results depend on, and by shape."""
    assert sum(each.kernel > 0 for each in compared) >= 90
    assert sum(each.rows > 0 for each in compared) >= 280
    assert sum(each.shape > 0 for each in compared) >= 185


def test_the_page_says_what_was_compared(compared: list[Compared]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(compared)


def test_every_sample_is_of_an_operation() -> None:
    assert unknown_names() == []
