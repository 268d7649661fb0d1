"""Slices and joins by stored code, as people spell them: wrappers where Keras predicts what the template does."""

from __future__ import annotations

import json

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "code_spellings"
CASES = [
    (stack, name, is_wrapper)
    for stack in ("k216", "tf23", "tf215")
    for name, is_wrapper in json.loads((FOLDER / stack / "expected.json").read_text()).items()
]


#: Its code names a number (`WIDTH`) that the file does not hold.
OPEN = "shape_is_set"


@pytest.mark.parametrize(("stack", "name", "is_wrapper"), CASES)
def test_what_its_own_keras_predicts(stack: str, name: str, is_wrapper: bool) -> None:
    """Code that can be followed proves a wrapper, and leaves no look-alike likely."""
    seen = unnest.inspect(FOLDER / stack / f"{name}.h5")
    confidence = "likely" if name == OPEN else "proven"
    assert [(each.confidence, each.towers) for each in seen.wrappers] == (
        [(confidence, 3)] if is_wrapper else []
    )
