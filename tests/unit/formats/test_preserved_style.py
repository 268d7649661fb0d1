"""JSON is set out as the input sets it out."""

from __future__ import annotations

import json

import pytest

from unnest.core.model import Json
from unnest.formats.preserved_style import JsonStyle

MODEL: Json = {"class_name": "Model", "config": {"name": "m\u00fc", "layers": []}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(MODEL),
        json.dumps(MODEL) + "\n",
        json.dumps(MODEL, indent=2),
        json.dumps(MODEL, indent="\t"),
        json.dumps(MODEL, separators=(",", ":")),
        json.dumps(MODEL, ensure_ascii=False),
    ],
    ids=["Keras's own", "with a line end", "indented", "by tabs", "compact", "beyond ASCII"],
)
def test_what_is_read_is_written_again(text: str) -> None:
    assert JsonStyle.of(text, text, 1).dump(MODEL) == text.encode()


def test_json_in_json() -> None:
    inner = json.dumps(MODEL)
    text = json.dumps(inner)
    assert JsonStyle.of(text, inner, 2).dump(MODEL) == text.encode()
