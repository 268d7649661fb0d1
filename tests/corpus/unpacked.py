"""The cases and fixtures, unpacked: every module that reads them takes their folders from here."""

from __future__ import annotations

from tests.corpus.store import ROOT, tree

TREE = tree()
FIXTURES = TREE / "fixtures"
CASES = TREE / "tests/corpus/cases"
#: The scripts that made the fixtures, which are not data.
SCRIPTS = ROOT / "fixtures/scripts"
SPELLINGS = TREE / "tests/corpus/spellings"
