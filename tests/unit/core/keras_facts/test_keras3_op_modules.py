"""Every class of Keras 3's operations has one module."""

from __future__ import annotations

from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS, ROOT


def test_modules() -> None:
    assert MODULE_BY_CLASS["Exp"] == f"{ROOT}.numpy"
    assert MODULE_BY_CLASS["Relu"] == f"{ROOT}.nn"
    assert MODULE_BY_CLASS["Rearrange"] == f"{ROOT}.einops"
    assert {module.rpartition(".")[0] for module in MODULE_BY_CLASS.values()} == {ROOT}
