"""Architecture JSON made to hurt, as an input and as --architecture."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.conftest import Cli

TEXTS = {
    "nothing": ("", "empty"),
    "no JSON": ("{", "bad-json"),
    "no model": ('{"a": 1}', "not-keras"),
    "a list": ('["class_name", "config"]', "not-keras"),
    "text in text in text": ('"\\"\\\\\\"x\\\\\\"\\""', "not-keras"),
    "deep": ('{"class_name": ' * 100_000, "json-too-deep"),
    "a number without end": ('{"class_name": "Model", "config": ' + "9" * 500_000 + "}", "bad-json"),
    "a config that is no object": ('{"class_name": "Model", "config": 3}', None),
    "layers that are no list": ('{"class_name": "Model", "config": {"layers": 3}}', None),
    "layers that are no objects": ('{"class_name": "Model", "config": {"layers": [3, null]}}', None),
}


@pytest.mark.parametrize("name", TEXTS)
def test_json(name: str, tmp_path: Path) -> None:
    """A report and no traceback; where the core may call it a model without a graph, any honest answer will do."""
    text, code = TEXTS[name]
    path = tmp_path / "m.json"
    path.write_text(text)
    report = unnest.inspect(path)
    if code is None:
        assert report.error is None or report.error.code in ("not-a-graph", "bad-json")
        assert report.verdict in ("clean", "unreadable")
    else:
        assert report.error
        assert report.error.code == code
    result = unnest.fix(path)
    assert result.action in ("failed", "refused", "unchanged")
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


@pytest.mark.parametrize("text", ["{", "[]", '{"class_name": ' * 100_000])
def test_architecture(text: str, bad: Path, cli: Cli) -> None:
    """A bad --architecture is the caller's mistake, whatever the input is."""
    (bad.parent / "a.json").write_text(text)
    done = cli("inspect", bad, "--architecture", "a.json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "a.json" in done.stderr
