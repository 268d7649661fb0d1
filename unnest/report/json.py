"""The JSON report: one document, sorted, free of timestamps; described by schema.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from unnest import __version__
from unnest.report.result import Report, Result

SCHEMA_VERSION = 1


def render(entries: Sequence[Report]) -> str:
    """The document as text, ASCII only: control characters in names are escaped by JSON itself."""
    return json.dumps(document(entries), indent=2, sort_keys=True)


def document(entries: Sequence[Report]) -> dict[str, Any]:
    """The document as data."""
    summary: dict[str, Any] = {"files": len(entries), **dict.fromkeys(("clean", "parallel", "unreadable"), 0)}
    summary.update(Counter(e.verdict for e in entries))
    summary["actions"] = dict(Counter(e.action for e in entries if isinstance(e, Result)))
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "unnest", "version": __version__},
        "files": [_entry(e) for e in entries],
        "summary": summary,
    }


def _entry(report: Report) -> dict[str, Any]:
    entry = asdict(report)
    if entry["template"] is not None:
        entry["template"]["class"] = entry["template"].pop("class_name")
    return entry
