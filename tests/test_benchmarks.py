"""The genuine files that benchmarks use are models: a refusal would leave a section of the page empty."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import unnest
from unnest.formats.tensorflow.read_tensor_bundle import Bundle

ROOT = Path(__file__).parents[1]
KIB = 1024


def test_wide_saved_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Graph, configs and variables agree on the width, so that it is read and cut."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    folder, output = tmp_path / "m", tmp_path / "out"
    import_module("wide_saved_model").wide_saved_model(folder, 64 * KIB)
    report = unnest.inspect(folder)
    assert (report.verdict, report.wrappers[0].towers) == ("parallel", 3), report.error
    assert report.template is not None
    assert report.template.parameters == 64 * KIB // 4 + 3  # a bias that is not wide
    result = unnest.fix(folder, output)
    assert result.action == "fixed", result.error
    shapes = {entry.shape for entry in Bundle(str(output / "variables/variables")).entries.values()}
    assert shapes == {(), (4, 2048), (2048,), (2048, 3), (3,)}
