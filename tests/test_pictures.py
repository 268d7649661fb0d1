"""--diagram and --report from outside: what is written, and what never is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES

STARTS = {"m.svg": "<svg ", "m.html": "<!doctype html>", "m.mmd": "%% m.h5\nflowchart LR\n"}


@pytest.mark.parametrize("name", STARTS)
def test_a_diagram(name: str, bad: Path, cli: Cli) -> None:
    """By its suffix, the same bytes each time; a different one is kept unless told."""
    assert cli("inspect", bad.name, "--diagram", name, "-q").returncode == 1
    drawn = bad.with_name(name).read_text(encoding="utf-8")
    assert drawn.startswith(STARTS[name])
    assert cli("inspect", bad.name, "--diagram", name, "-q").returncode == 1
    bad.with_name(name).write_text("mine")
    refused = cli("inspect", bad.name, "--diagram", name, "-q")
    assert (refused.returncode, refused.stderr) == (
        2,
        f"unnest: {name}: exists already; use --force to replace it, or another name to write elsewhere\n",
    )
    assert bad.with_name(name).read_text() == "mine"
    assert cli("inspect", bad.name, "--diagram", name, "-q", "--force").returncode == 1
    assert bad.with_name(name).read_text(encoding="utf-8") == drawn
    assert sorted(p.name for p in bad.parent.iterdir()) == sorted(["m.h5", name])


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ("m.h5 --diagram m.png", "must end in .svg or .html or .mmd"),
        ("m.h5 clean.h5 --diagram m.svg", "draws one model"),
        (". --diagram m.svg", "draws one model"),
        (". --report m.txt", "must end in .html"),
        ("m.h5 --diagram no/folder.svg", "its folder does not exist"),
        ("m.svg --diagram m.svg --force", "is an input"),
        ("m.svg clean.h5 --report linked.html --force", "is an input"),
    ],
)
@pytest.mark.usefixtures("clean")
def test_refusals(args: str, why: str, bad: Path, cli: Cli) -> None:
    """One line, exit code 2, and nothing written."""
    shutil.copy(bad, bad.with_name("m.svg"))
    bad.with_name("linked.html").symlink_to("m.svg")
    before = {p.name: p.read_bytes() for p in bad.parent.iterdir()}
    done = cli("inspect", *args.split(), "-q")
    assert done.returncode == 2
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {p.name: p.read_bytes() for p in bad.parent.iterdir()} == before


def test_a_scan(bad: Path, clean: Path, cli: Cli) -> None:
    """One line a file, by kind at the end, and a page of it."""
    (bad.parent / "torn.h5").write_bytes(bad.read_bytes()[:2000])
    done = cli("inspect", ".", "--report", "scan.html")
    assert done.returncode == 2
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["clean", f"./{clean.name}"],
        ["parallel", "./m.h5"],
        ["unreadable", "./torn.h5"],
    ]
    assert "the file is cut short" in done.stdout
    assert "3 files: 1 unreadable, 1 parallel, 1 clean" in done.stderr
    page = (bad.parent / "scan.html").read_text(encoding="utf-8")
    assert all(
        f'<td class="path">./{name}</td>' in page for name in ("m.h5", "clean.h5", "torn.h5")
    )
    assert len(cli("inspect", ".", "-v").stdout.splitlines()) > 10


def test_the_tree_is_drawn_for_one_file(bad: Path, clean: Path, cli: Cli) -> None:
    """With the wrapper in it, with -v; plain letters where the terminal has no others."""
    assert "  x ─┬─ lambda_1 ── tmpl ─┬─ d1\n" in cli("inspect", "-v", bad).stdout
    assert "─" not in cli("inspect", "-v", clean).stdout
    assert "─" not in cli("inspect", bad, clean).stdout


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize(("option", "name"), [("--diagram", "m.svg"), ("--report", "m.html")])
def test_an_architecture_is_never_replaced(
    option: str, name: str, link: bool, tmp_path: Path, cli: Cli
) -> None:
    """By no other name of it, either."""
    saved = FIXTURES / "weights_h5/keras3/sharded-carried-named-adam"
    page = tmp_path / name
    architecture = Path(shutil.copy(saved / "model.json", tmp_path / "m.json" if link else page))
    if link:
        os.link(architecture, page)
    done = cli(
        "inspect",
        saved / "parallel.weights.json",
        "--architecture",
        architecture,
        option,
        page,
        "--force",
    )
    assert done.returncode == 2
    assert "which is an input" in done.stderr
    assert page.read_bytes() == (saved / "model.json").read_bytes()
