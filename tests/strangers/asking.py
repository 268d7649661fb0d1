"""What a case's `case.json` asks for, and what was said of its file, in the same words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import unnest

#: `verdict`, `wrappers` (their number), `towers`, `scope`, `parameters` (of the template), `action`.
Facts: TypeAlias = dict[str, object]

#: What comes out otherwise than asked and does no harm: which facts, and why.
AsGood: TypeAlias = Mapping[str, tuple[Facts, str]]


def told(folder: Path) -> dict[str, Any]:
    """What its maker says of a case."""
    facts = json.loads((folder / "case.json").read_text())
    assert isinstance(facts, dict)
    return facts


def asked(folder: Path, as_good: AsGood) -> Facts:
    """What should be said of a case, and done."""
    case = told(folder)
    if case["expected"] == "clean":
        facts: Facts = dict.fromkeys(("towers", "scope", "parameters"))
        facts |= {"verdict": "clean", "wrappers": 0, "action": "unchanged"}
    else:
        facts = {"towers": case["towers"], "scope": case["scope"], "parameters": case["template_parameters"]}
        facts |= {"verdict": "parallel", "wrappers": case.get("wrappers", 1), "action": "fixed"}
    return facts | as_good.get(folder.name, ({}, ""))[0]


def said(seen: unnest.Report, made: unnest.Result) -> Facts:
    """What was said and done; what is not the same throughout is told as it is."""
    towers, scopes = {w.towers for w in seen.wrappers}, {w.scope for w in seen.wrappers}
    return {
        "verdict": seen.verdict,
        "wrappers": len(seen.wrappers),
        "towers": next(iter(towers), None) if len(towers) < 2 else towers,
        "scope": next(iter(scopes), None) if len(scopes) < 2 else scopes,
        "parameters": seen.template.parameters if seen.template else None,
        "action": made.action,
    }


def contents(path: Path) -> dict[str, bytes]:
    """Every file of a folder by its name within, or the one file."""
    return dict(_contents(path))


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            yield file.relative_to(path).as_posix(), file.read_bytes()
