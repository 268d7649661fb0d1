"""The texts that f-strings make of constants, where every Python makes the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unnest.core.byte_code.value_domain import TextConversion

NUMBER_SPEC = re.compile(
    r"([^{}]?[<>=^])?[+\- ]?#?0?\d{0,3}[,_]?(\.\d{1,3})?[bdeEfFgGoxX%]?", re.ASCII
)
"""Specs for numbers that depend on neither the Python nor the locale, and give no long text."""

MAX_TEXT_LENGTH = 10_000
"""Characters of a text: more than anyone's name."""


def format_text(value: object, conversion: TextConversion, spec: object) -> str | None:
    """Return the text of `f"{value!conversion:spec}"`; None if it is unknown.

    `spec` is None for none. Texts with a spec are not known, since 3.10 pads them otherwise; nor how a text that is not
    ASCII is written, on which Pythons differ.
    """
    if not isinstance(value, (bool, int, float, str, type(None))):
        return None
    if conversion in {"r", "a"} and isinstance(value, str) and not value.isascii():
        return None
    shown = value if conversion == "" else str(value) if conversion == "s" else repr(value)
    if spec is None or spec == "":
        return join_texts([format(shown)])
    if (
        not isinstance(shown, (int, float))
        or not isinstance(spec, str)
        or not NUMBER_SPEC.fullmatch(spec)
    ):
        return None
    try:
        return join_texts([format(shown, spec)])
    except (ValueError, ArithmeticError):
        return None


def join_texts(texts: Sequence[object]) -> str | None:
    """Return the texts as one; None if one is unknown, or if it is too long."""
    known = [text for text in texts if isinstance(text, str)]
    if len(known) < len(texts) or sum(map(len, known)) > MAX_TEXT_LENGTH:
        return None
    return "".join(known)
