"""Facts that a report adds to the plan, and those not worth finding out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import h5py
import pytest

import unnest
from tests.corpus.unpacked import CASES, FIXTURES
from unnest import report_builder
from unnest.core.model import JsonObject
from unnest.core.recognition_results import Scope, Wrapper
from unnest.options import PAGE, FixOptions
from unnest.repair import fix_with
from unnest.report.diagram import drawing
from unnest.report.result import AsKeras3

OLD = CASES / "h5/972-slice-code-branch-k224/parallel.h5"


def test_what_keras_3_would_make_is_tried_for_models_of_a_usual_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tried = AsKeras3(opens=True, compile_false=True)
    assert unnest.fix(OLD, tmp_path / "tried.h5").as_keras_3 == tried
    monkeypatch.setattr(report_builder, "TRIED_LAYERS", 4)  # its outermost model has five
    assert unnest.fix(OLD, tmp_path / "not_tried.h5").as_keras_3 is None


@pytest.mark.parametrize(
    ("scope", "model"),
    [
        (None, "the model that was saved"),
        ("whole", "the template"),
        ("head", "tpl with the layers that follow it"),
        ("embedded", "the larger model, with one call of tpl"),
    ],
)
def test_fixed_weights_load_into_the_model_that_is_left(scope: Scope | None, model: str) -> None:
    wrapper = Wrapper("model_1", "tpl", 2, scope or "whole", ("concatenate_1",), 0, "proven", ())
    assert report_builder.fixed_model([] if scope is None else [wrapper], ()) == model


@pytest.mark.parametrize(
    "path",
    [
        "k224/official-cnn-adam/parallel.h5",
        "keras_zip/tf213/keras_zip-carried-mlp-double/parallel.keras",
        "saved_model/tf23/plain-official-named/parallel",
        "weights_h5/*/*/parallel.weights.h5",
        "checkpoint/tf*/*/parallel.ckpt.index",
    ],
)
def test_the_next_command_names_the_file_that_fix_writes(path: str, tmp_path: Path) -> None:
    """Of every container: a copy is fixed, and its report said under which name."""
    found = next(
        p
        for p in sorted(FIXTURES.glob(path))
        if unnest.inspect(p.with_suffix("") if p.suffix == ".index" else p).fix_would
    )
    copies = [found] if found.suffix != ".index" else [*found.parent.glob("parallel.ckpt.*")]
    for each in copies:
        (shutil.copytree if each.is_dir() else shutil.copy)(each, tmp_path / each.name)
    copy = tmp_path / found.name.removesuffix(".index")
    result = unnest.fix(copy)
    assert result.output is not None
    assert unnest.inspect(copy).fix_would == f"unnest fix writes {Path(result.output).name}"


def test_a_view_draws_what_was_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The written model is drawn beside the input, as if both were drawn at once."""
    drawn: list[JsonObject] = []
    levels = drawing._levels  # noqa: SLF001 - the graphs of the side that was read

    def counted(model: JsonObject, vouched: Collection[str], depth: int = 0) -> Iterator[Any]:
        drawn.extend([model] * (depth == 0))
        return levels(model, vouched, depth)

    monkeypatch.setattr(drawing, "_levels", counted)
    output = tmp_path / "fixed.h5"
    result = fix_with(
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
