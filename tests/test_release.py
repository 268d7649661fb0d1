"""A release's statements about itself agree in all places."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import yaml

from unnest import __version__

ROOT = Path(__file__).parents[1]


def test_one_version() -> None:
    """The package's, the citation's, and the newest in the changelog, which has a date."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\d+\.\d+\.\d+), (\d{4}-\d\d-\d\d)$", changes, re.MULTILINE)
    assert newest is not None
    assert (newest[1], citation["version"]) == (__version__, __version__)
    assert date.fromisoformat(newest[2]) == date.fromisoformat(str(citation["date-released"]))


def test_a_release_is_read_on_a_screen() -> None:
    """By feature; single cases have a page of their own."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.split(r"^## ", changes, flags=re.MULTILINE)[1:]
    assert [release.splitlines()[0] for release in releases if len(release.split()) > 550] == []
