"""Layers whose class has another name in Keras 3: Merge by its mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.layer_cases import cases
from tests.unit.core.keras3.layers.making import made, one, refuses


@pytest.mark.parametrize(
    ("config", "kind", "more"),
    [
        ({"mode": "sum"}, "Add", {}),
        ({"mode": "mul"}, "Multiply", {}),
        ({"mode": "ave"}, "Average", {}),
        ({"mode": "max"}, "Maximum", {}),
        ({"mode": "concat", "concat_axis": 1}, "Concatenate", {"axis": 1}),
        ({"mode": "dot", "dot_axes": [2, 1]}, "Dot", {"axes": [2, 1], "normalize": False}),
    ],
)
def test_a_mode(config: dict[str, Any], kind: str, more: dict[str, Any]) -> None:
    layer = one(made("Merge", config, release=(1, 2, 2)))
    assert (layer.class_name, {key: layer.config[key] for key in more}) == (kind, more)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"mode": "cos"}, "mode 'cos' has no counterpart"),
        ({"mode": "sum", "layers": [{}]}, "holds its branches"),
    ],
)
def test_a_merge_that_is_refused(config: dict[str, Any], why: str) -> None:
    refuses("Merge", config, why)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Merge-mode-lambda", "xs[0] - 2 * xs[1]"),
        ("Merge-mode-lambda_tuple", "K.abs(xs[0] - xs[1]) (K for keras.backend)"),
    ],
)
def test_a_mode_that_is_code(name: str, written: str, tmp_path: Path) -> None:
    """As a Lambda's: of files that Keras 1.2.2 wrote."""
    case = next(case for case in cases("k122") if case.name == name)
    done = unnest.fix(case.extract(tmp_path), tmp_path / "today.keras", keras="3")
    assert (done.error, done.action) == (None, "converted")
    (conversion,) = done.conversions
    assert (conversion.rule, conversion.what.rpartition("operations: ")[2]) == ("lambda", written)
