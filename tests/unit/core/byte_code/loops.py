"""The functions of `fixtures/loop_code`, compiled by ten Pythons."""

from __future__ import annotations

import gzip
import json
import sys
from functools import cache
from importlib import import_module
from typing import Any

from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "loop_code"


def _sources() -> Any:
    sys.path.insert(0, str(FOLDER))
    sys.modules.pop("sources", None)
    try:
        return import_module("sources")
    finally:
        sys.path.remove(str(FOLDER))
        del sys.modules["sources"]


SOURCES = _sources()


@cache
def compiled() -> dict[str, dict[str, list[Any]]]:
    """Python -> source -> code and what it gave there; of layers code, defaults and closure."""
    return dict(json.loads(gzip.decompress((FOLDER / "compiled.json.gz").read_bytes())))
