"""HTML and XML from plain text: escape text, build a self-contained page, or the fragment that a notebook shows."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape

from unnest.report.escape_stored_names import plain


def html_text(words: str) -> str:
    """Return words escaped for the text of an HTML or XML element, or the value of a quoted attribute."""
    return escape(plain(words))


def self_contained_page(title: str, body: str, style: str, *scripts: str, head: str = "") -> str:
    """Return an HTML page that loads nothing; the browser runs only these scripts and styles, by their hashes.

    `head` is markup for the page's head, before the title.
    """
    hashes = " ".join(map(_hash, scripts))
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {hashes}; base-uri 'none'; form-action 'none'"
    parts = "\n".join(f"<script>{script}</script>" for script in scripts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">{head}
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html_text(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
{parts}
</body>
</html>
"""


def notebook_fragment(
    path: str,
    title: str,
    message: str = "",
    *,
    picture: str = "",
    code: Mapping[str, str | None] | None = None,
) -> str:
    """Return a report as a notebook shows it, without a page around it; lines of `code` have a label each.

    All but `picture`, which is markup, is escaped.
    """
    parts = [f"<p><b>{html_text(path)}</b>: {html_text(title)}</p>"]
    if message:
        parts.append(f"<p>{html_text(message)}</p>")
    lines = [
        f"<p>{label}: <code>{html_text(line)}</code></p>"
        for label, line in (code or {}).items()
        if line
    ]
    return "".join([*parts, picture, *lines])


def _hash(source: str) -> str:
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
