"""Names out of a file are data, wherever they are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import makeh5
from tests.conftest import Cli
from unnest.report.escape_stored_names import plain

NAMES = {
    "terminal escape": "\x1b[2J\x1b]0;pwned\x07",
    "carriage return": "good\rbad",
    "new line": "one\ntwo",
    "direction": "\u202eevil",
    "markup": "[bold red]x[/]",
    "html": "<script>alert(1)</script>",
    "format": "{0.__class__}%s",
    "zero width": "a\u200bb",
}


@pytest.mark.parametrize("kind", NAMES)
def test_in_reports(kind: str, tmp_path: Path, cli: Cli) -> None:
    """No control character reaches a terminal, no markup is obeyed, and the JSON holds the very name."""
    name = NAMES[kind]
    inner = makeh5.template(name)
    names = {"x": [], "lambda_1": [], "lambda_2": [], "tmpl": makeh5.dense(), "d1": []}
    makeh5.write(tmp_path / "m.h5", makeh5.parallel(inner, name=name), names)
    for args in (["inspect"], ["fix", "-n"], ["inspect", "-v"]):
        done = cli(*args, "m.h5")
        shown = done.stdout + done.stderr
        assert all(c.isprintable() or c == "\n" for c in shown)
        assert plain(name) in shown or done.returncode == 2
    entry = json.loads(cli("inspect", "--json", "m.h5").stdout)["files"][0]
    assert entry["wrappers"] == [] or entry["wrappers"][0]["template"] == name


def test_in_paths(tmp_path: Path, cli: Cli) -> None:
    """A file may have any name, too."""
    path = tmp_path / "a\x1b[31m\nb.h5"
    makeh5.parallel_file(path)
    done = cli("fix", path)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stdout.splitlines()[0].startswith("fixed: ")
    assert done.stdout.splitlines()[0].endswith("a\\x1b[31m\\nb.unnested.h5")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("ä 漢 ", "ä 漢 "),
        ("\x1b", "\\x1b"),
        ("\u202e", "\\u202e"),
        ("\ud800", "\\ud800"),
        ("\n", "\\n"),
    ],
)
def test_plain(text: str, shown: str) -> None:
    """Letters stay, whatever their script."""
    assert plain(text) == shown
