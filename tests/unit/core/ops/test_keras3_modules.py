"""The modules of Keras 3's operations; tests/keras holds them against the Keras that is installed."""

from __future__ import annotations

from unnest.core.ops.keras3_modules import MODULES, ROOT


def test_modules() -> None:
    assert MODULES["Exp"] == f"{ROOT}.numpy"
    assert MODULES["Relu"] == f"{ROOT}.nn"
    assert MODULES["Rearrange"] == f"{ROOT}.einops"
    assert {module.rpartition(".")[0] for module in MODULES.values()} == {ROOT}
