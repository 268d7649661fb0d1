"""Attributes of tensors, and the number of their rows."""

from __future__ import annotations

from tests.unit.core.frontends.code_of import result


def test_the_number_of_rows_is_first_not_known_then_a_number() -> None:
    """As in TensorFlow, then as in Theano and JAX, where `x.shape[0] // 2` is one."""
    assert result("return x.shape[0]") is None
    part = result("return x[: x.shape[0] // 2]")
    assert part.shape == (3, 4)
