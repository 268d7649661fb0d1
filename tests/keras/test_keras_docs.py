"""The pages on training are executed, block by block, as a reader would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(
    r"^(?:<!-- (?P<kind>\w+) -->\n)?```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize(
    "page",
    ["training.md", "balance.md", "checkpoints.md", "migrating.md", "examples.md", "strategies.md"],
)
def test_a_page_runs(
    tf: Any, two_replicas: Any, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks marked `before` need software of another time and are compiled only; `setup` was done for all tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tf.distribute, "MirroredStrategy", lambda _: two_replicas)
    names: dict[str, Any] = {"__name__": "__docs__"}
    blocks = list(BLOCK.finditer((DOCS / page).read_text(encoding="utf-8")))
    assert blocks
    for block in blocks:
        code = compile(block["code"], page, "exec")
        if block["kind"] is None:
            exec(code, names)  # noqa: S102 - our own pages


def test_every_before_has_an_after() -> None:
    """The page that replaces things says with what."""
    kinds = [
        block["kind"]
        for block in BLOCK.finditer((DOCS / "migrating.md").read_text(encoding="utf-8"))
    ]
    assert kinds == [None, *["before", None] * 5]
