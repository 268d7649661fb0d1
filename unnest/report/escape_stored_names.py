"""Names out of a file are data: made harmless before they reach a terminal, or a comment in Python code."""

from __future__ import annotations


def plain(text: str) -> str:
    """Escape control, format and direction characters."""
    return (
        text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
