"""SECURITY.md says what was measured."""

from __future__ import annotations

from tests.figures.security import PAGE, page


def test_the_page_is_what_its_command_writes() -> None:
    """Nothing in it is changed by hand."""
    assert PAGE.read_text("utf8") == page()
