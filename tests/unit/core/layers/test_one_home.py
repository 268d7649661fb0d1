"""Facts on a layer class stand in its record: no other module of the core keeps lists of classes.

Counted are lists, sets, keys and texts that name three classes or more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import pytest

from tests.unit.core.one_home import check_home, names_listed, texts_of
from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS
from unnest.core.layers.catalog import LAYER_RECORDS

#: Modules that list classes beside the records -> why.
EXCEPTIONS = {
    "keras3/layers/dispatch.py": "which rule converts a class that Keras 3 computes otherwise",
    "keras3/predictions_if_not_converted.py": "arguments that Keras 3 was seen to ignore",
}


def classes_in(tree: ast.AST) -> Iterator[str]:
    """Yield the layer classes that a module lists, operations of the same name left out."""
    for node in ast.walk(tree):
        found = [
            text for text in texts_of(node) if text in LAYER_RECORDS and text not in MODULE_BY_CLASS
        ]
        if len(found) > 2:
            yield from found


@pytest.fixture(scope="module")
def listed() -> Mapping[str, list[str]]:
    """Classes that each module of the core lists: read when a test asks, as reading takes seconds."""
    return names_listed("layers", classes_in)


def test_classes_are_listed_in_their_records(listed: Mapping[str, list[str]]) -> None:
    check_home(listed, EXCEPTIONS)


@pytest.mark.parametrize("module", EXCEPTIONS)
def test_an_exception_is_one(listed: Mapping[str, list[str]], module: str) -> None:
    assert listed[module]


def test_what_would_be_found() -> None:
    assert {*classes_in(ast.parse('A = {"Dense": 1, "LSTM": 2, "GRU": 3}'))} == {
        "Dense",
        "LSTM",
        "GRU",
    }
    assert [*classes_in(ast.parse('A = ("Dense", "LSTM")'))] == []
