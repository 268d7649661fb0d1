"""What is known of a layer class stands in its record: no other module of the core keeps lists of classes.

Counted are lists, sets, keys and texts that name three classes or more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import unnest
from unnest.core.layers.catalog import LAYERS
from unnest.core.ops.keras3_modules import MODULES

CORE = Path(unnest.__file__).parent / "core"

#: Modules that list classes beside the records -> why.
EXCEPTIONS = {
    "keras3/layers/dispatch.py": "which rule converts a class that Keras 3 computes otherwise",
    "keras3/unconverted.py": "arguments that Keras 3 was seen to ignore",
}


def classes_in(source: str) -> Iterator[str]:
    """Yield the layer classes that a module lists, operations of the same name left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            texts = [part.value for part in node.elts if isinstance(part, ast.Constant)]
        elif isinstance(node, ast.Dict):
            texts = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        else:
            continue
        found = [text for text in texts if isinstance(text, str) and text in LAYERS and text not in MODULES]
        if len(found) > 2:
            yield from found


FOUND = {
    path.relative_to(CORE).as_posix(): sorted({*classes_in(path.read_text(encoding="utf-8"))})
    for path in CORE.rglob("*.py")
    if path.parent != CORE / "layers"
}


def test_classes_are_listed_in_their_records() -> None:
    assert {module: names for module, names in FOUND.items() if names and module not in EXCEPTIONS} == {}


@pytest.mark.parametrize("module", EXCEPTIONS)
def test_an_exception_is_one(module: str) -> None:
    assert FOUND[module]


def test_what_would_be_found() -> None:
    assert {*classes_in('A = {"Dense": 1, "LSTM": 2, "GRU": 3}')} == {"Dense", "LSTM", "GRU"}
    assert [*classes_in('A = ("Dense", "LSTM")')] == []
