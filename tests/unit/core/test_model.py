"""The types that everyone shares."""

from __future__ import annotations

import pytest

from tests.unit.core.build import tensors
from unnest.core.model import Group, Stored, Tensor


@pytest.mark.parametrize(("shape", "size"), [((), 1), ((3, 4), 12), ((0, 7), 0)])
def test_a_tensors_size(shape: tuple[int, ...], size: int) -> None:
    assert Tensor("t", shape, "<f4", "/t").size == size


def test_parameters_are_those_of_layers_not_of_the_optimizer() -> None:
    stored = Stored("model", groups=(Group("a", tensors("k", "b")), Group("c", ())), optimizer=tensors("m", shape=(9,)))
    assert stored.parameters == 6


@pytest.mark.parametrize(
    ("stored", "answer"),
    [
        (Stored("model", keras_version="3.1.0"), True),
        (Stored("model", keras_version="2.15.0"), False),
        (Stored("model", {"class_name": "Functional", "module": "keras"}), True),
        (Stored("model", {"class_name": "Functional", "module": "keras"}, keras_version="2.13.1"), False),
        (Stored("weights"), False),
    ],
)
def test_who_is_keras_3(stored: Stored, answer: bool) -> None:
    assert stored.is_keras_3 is answer
