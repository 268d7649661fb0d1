"""Names out of a file are data: made harmless before they reach a terminal, or Python code that a user runs."""

from __future__ import annotations

import keyword
import re


def plain(text: str) -> str:
    """Escape control, format and direction characters."""
    return (
        text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def python_identifier(stored_name: str) -> str:
    """Return the name that Python code can have for a class or function: without its package (`package>Name`).

    A function without a name is stored as `<lambda>`, and becomes `_lambda_`.
    """
    bare = re.sub(r"[^0-9A-Za-z_]", "_", stored_name.rpartition(">")[2] or stored_name)
    return bare if bare.isidentifier() and not keyword.iskeyword(bare) else f"object_{bare}"
