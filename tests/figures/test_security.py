"""SECURITY.md says what was measured."""

from __future__ import annotations

from tests.figures.security import pages


def test_the_pages_are_what_their_command_writes() -> None:
    """Nothing in them is changed by hand."""
    assert {path: path.read_text("utf8") for path in pages()} == pages()
