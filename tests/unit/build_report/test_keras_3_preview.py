"""What --keras 3 would do, and models of which that is not found out."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import CASES
from unnest.build_report import keras_3_preview
from unnest.report.result import AsKeras3

OLD = CASES / "h5/972-slice-code-branch-k224/parallel.h5"


def test_what_keras_3_would_make_is_tried_for_models_of_a_usual_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tried = AsKeras3(opens=True, compile_false=True)
    assert unnest.fix(OLD, tmp_path / "tried.h5").as_keras_3 == tried
    monkeypatch.setattr(keras_3_preview, "TRIED_LAYERS", 4)  # its outermost model has five
    assert unnest.fix(OLD, tmp_path / "not_tried.h5").as_keras_3 is None
