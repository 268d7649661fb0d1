"""The view of a page, before and after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import pytest

from tests.corpus.unpacked import CASES
from unnest.core.model import JsonObject
from unnest.options import PAGE, FixOptions
from unnest.repair import fix_one
from unnest.report.diagram import drawing

OLD = CASES / "h5/972-slice-code-branch-k224/parallel.h5"


def test_a_view_draws_what_was_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The written model is drawn beside the input, as if both were drawn at once."""
    drawn: list[JsonObject] = []
    level_of = drawing._level  # noqa: SLF001 - the graphs of the side that was read

    def counted(model: JsonObject, *place: Any) -> Any:
        drawn.extend([model] * (len(place) == 1))
        return level_of(model, *place)

    monkeypatch.setattr(drawing, "_level", counted)
    output = tmp_path / "fixed.h5"
    result = fix_one(
        str(OLD), FixOptions(str(output), parts=PAGE._replace(drawing=False, values=False))
    )
    assert (result.action, len(drawn)) == ("fixed", 1)
    assert result.view is not None
    assert result.view.after is not None
    both = drawing.draw(drawn[0], config_in(output), result.wrappers, whole=True)
    assert both is not None
    assert result.view.before.figure == both.before[0]
    assert result.view.after.figure == both.after


def config_in(path: Path) -> JsonObject:
    """Return the architecture in an `.h5`."""
    with h5py.File(path) as file:
        model: JsonObject = json.loads(file.attrs["model_config"])
    return model
