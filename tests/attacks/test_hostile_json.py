"""Architecture JSON made to hurt, as an input and as --architecture."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import unnest
from tests.conftest import Cli
from unnest.errors import Unreadable
from unnest.formats.parse_json import parse

TEXTS = {
    "nothing": ("", "empty"),
    "no JSON": ("{", "bad-json"),
    "no model": ('{"a": 1}', "not-keras"),
    "a list": ('["class_name", "config"]', "not-keras"),
    "text in text in text": ('"\\"\\\\\\"x\\\\\\"\\""', "not-keras"),
    "deep": ('{"class_name": ' * 100_000, "json-too-deep"),
    "a number without end": (
        '{"class_name": "Model", "config": ' + "9" * 500_000 + "}",
        "bad-json",
    ),
    "a config that is no object": ('{"class_name": "Model", "config": 3}', None),
    "layers that are no list": ('{"class_name": "Model", "config": {"layers": 3}}', None),
    "layers that are no objects": (
        '{"class_name": "Model", "config": {"layers": [3, null]}}',
        None,
    ),
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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"class_name": "Model", "config": ' + "9" * 5_000 + "}", "(a number is too long)"),
        ("\ufeff{}", "(it starts with a byte order mark)"),
    ],
    ids=["number", "mark"],
)
def test_no_advice_for_programmers(text: str, why: str) -> None:
    """Advice to call Python functions, as exceptions give it, is not passed on to users."""
    with pytest.raises(
        Unreadable,
        match=f"^m.json is not JSON {re.escape(why)}; the file is damaged; copy it again$",
    ):
        parse(text, "m.json")


@pytest.mark.skipif(os.name == "nt", reason="no such pipes there")
@pytest.mark.parametrize("command", ["inspect", "fix"])
def test_architecture_is_a_file(command: str, bad: Path, cli: Cli) -> None:
    """A pipe would keep us waiting; a model is no JSON."""
    os.mkfifo(bad.parent / "pipe")
    done = cli(command, bad, "--architecture", "pipe")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pipe: is no regular file" in done.stderr
    done = cli(command, bad, "--architecture", bad)
    assert (done.returncode, done.stdout) == (2, "")
    assert "m.h5: is HDF5, not an architecture; pass the JSON" in done.stderr


@pytest.mark.parametrize("text", ["{", "[]", '{"class_name": ' * 100_000])
def test_architecture(text: str, bad: Path, cli: Cli) -> None:
    """A bad --architecture is the caller's mistake, whatever the input is."""
    (bad.parent / "a.json").write_text(text)
    done = cli("inspect", bad, "--architecture", "a.json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "a.json" in done.stderr
