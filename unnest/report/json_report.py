"""The JSON report: one document, sorted, free of timestamps; described by schema.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from unnest import __version__
from unnest.report.result import Report, Tally

SCHEMA_VERSION = 1
#: Fields of a report that are for its text and its picture alone.
LEFT_OUT = (
    "drawing", "view", "inside", "inspector", "as_keras_3", "architecture_beside", "stub",
    "copy_state", "options",
)  # fmt: skip


def render(entries: Sequence[Report]) -> str:
    """Return the document as ASCII text; JSON escapes control characters in names."""
    return json.dumps(document(entries), indent=2, sort_keys=True)


def line(report: Report) -> str:
    """One entry of `files[]` alone, on one line."""
    return json.dumps(entry(report), sort_keys=True)


def document(entries: Sequence[Report]) -> dict[str, Any]:
    """Return the report as JSON values, as `--json` prints them."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "unnest", "version": __version__},
        "files": [entry(report) for report in entries],
        "summary": summary(Tally.of(entries)),
    }


def summary(tally: Tally) -> dict[str, Any]:
    """The document's `summary`: how many files there are of each verdict and action."""
    verdicts = {verdict: tally.verdicts[verdict] for verdict in ("clean", "parallel", "unreadable")}
    return {"files": tally.files, **verdicts, "actions": dict(tally.actions)}


def entry(report: Report) -> dict[str, Any]:
    """One entry of `files[]` as data."""
    values: dict[str, Any] = {
        f.name: _plain(getattr(report, f.name)) for f in fields(report) if f.name not in LEFT_OUT
    }
    if values["template"] is not None:
        values["template"]["class"] = values["template"].pop("class_name")
    return values


def _plain(value: object) -> object:
    """A value of a report as JSON has it: named tuples are objects, other tuples arrays.

    Half a surrogate pair, in names that are not UTF-8, is spelt out: no strict reader of JSON takes it.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            return {name: _plain(part) for name, part in value._asdict().items()}
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {_plain(key): _plain(part) for key, part in value.items()}
    return value
