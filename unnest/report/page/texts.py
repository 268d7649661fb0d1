"""Limits of the texts and lists that a page takes from a file; what is cut says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Letters of a name in a graph or a table, and of any other text.
NAME_LETTERS, TEXT_LETTERS = 200, 2_000
#: Items of one list.
ITEMS = 500


def shorten(text: str, letters: int = NAME_LETTERS) -> str:
    """The text, or of a longer one its beginning and its end, and how long it is."""
    if len(text) <= letters:
        return text
    end = letters // 5
    return f"{text[: letters - end]}\u2026{text[-end:]} ({len(text):,} letters)"


def shorten_all(value: object) -> object:
    """A value of the JSON report with every text cut, and lists of ITEMS items at most."""
    if isinstance(value, str):
        return shorten(value, TEXT_LETTERS)
    if isinstance(value, Mapping):
        return {shorten(str(key), TEXT_LETTERS): shorten_all(part) for key, part in value.items()}
    if isinstance(value, Sequence):
        shown = [shorten_all(part) for part in value[:ITEMS]]
        return shown if len(value) <= ITEMS else [*shown, f"\u2026 and {len(value) - ITEMS:,} more"]
    return value
