"""Facts that a report adds to the plan."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.build_report import fields_from_plan
from unnest.core.recognition_results import Scope, Wrapper


@pytest.mark.parametrize(
    ("scope", "model"),
    [
        (None, "the model that was saved"),
        ("whole", "your single-device model"),
        ("head", "tpl with the layers that follow it"),
        ("embedded", "the larger model, with one call of tpl"),
    ],
)
def test_fixed_weights_load_into_the_model_that_is_left(scope: Scope | None, model: str) -> None:
    wrapper = Wrapper("model_1", "tpl", 2, scope or "whole", ("concatenate_1",), 0, "proven", ())
    assert fields_from_plan.model_for_weights([] if scope is None else [wrapper], ()) == model


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
