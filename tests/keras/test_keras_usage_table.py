"""docs/usages.md has a line for every usage that its script runs, and says of it what comes of it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("keras_usages", ROOT / "scripts" / "keras_usages.py")
assert spec
assert spec.loader
usages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(usages)

TABLE = {
    cells[0]: dict(zip(("keras", "tf_keras"), cells[1:3], strict=True))
    for line in (ROOT / "docs" / "usages.md").read_text(encoding="utf-8").splitlines()
    if len(cells := [cell.strip() for cell in line.strip("|").split(" | ")]) == 4
}
QUICK = ("a last batch with fewer rows than devices", "a layer that looks at the whole batch")


def kind(cell: str) -> str:
    """Return a cell without its number, whose last digits differ between versions of TensorFlow."""
    return re.sub(r"[\d.]+e[-+]\d+", "N", cell.split(":", maxsplit=1)[0])


def test_every_usage_has_its_line() -> None:
    assert [label for label in TABLE if label != "usage"] == list(usages.USAGES)


@pytest.mark.parametrize("label", QUICK)
def test_some_lines_say_what_comes_of_it(tf: Any, keras: Any, label: str) -> None:
    assert kind(usages.cell(keras, usages.USAGES[label])) == kind(TABLE[label][keras.__name__])


@pytest.mark.slow
@pytest.mark.parametrize("label", list(usages.USAGES))
def test_all_lines_say_what_comes_of_it(tf: Any, keras: Any, label: str) -> None:
    if label == "TensorBoard":
        pytest.importorskip("tensorboard")  # TensorFlow 2.21 does not bring it
    assert kind(usages.cell(keras, usages.USAGES[label])) == kind(TABLE[label][keras.__name__])
