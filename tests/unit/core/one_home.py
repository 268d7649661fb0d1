"""A fact has one home: which modules of the core list names that belong to the entries of another package."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path

import unnest

CORE = Path(unnest.__file__).parent / "core"


def names_listed(
    home: str, names_in: Callable[[ast.AST], Iterator[str]]
) -> Mapping[str, list[str]]:
    """Return the names that each module of the core lists, but for those in the package `home`."""
    return {
        path.relative_to(CORE).as_posix(): sorted(
            {*names_in(ast.parse(path.read_text(encoding="utf-8")))}
        )
        for path in CORE.rglob("*.py")
        if CORE / home not in path.parents
    }


def check_home(listed: Mapping[str, list[str]], exceptions: Container[str]) -> None:
    """Compare the modules that list names with those that may."""
    assert {
        module: names for module, names in listed.items() if names and module not in exceptions
    } == {}


def texts_of(node: ast.AST) -> list[str]:
    """Return the texts in a list, set or tuple, or the keys of a dictionary; none of another node."""
    if isinstance(node, ast.Set | ast.List | ast.Tuple):
        return [*map(text_of, node.elts)]
    return [*map(text_of, node.keys)] if isinstance(node, ast.Dict) else []


def text_of(node: ast.AST | None) -> str:
    """Return a constant's text."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
