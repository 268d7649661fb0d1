"""The types that everyone shares."""

from __future__ import annotations

import pytest

from tests.unit.core.build import tensors
from unnest.core.model import Group, Stored, Tensor, release_of


@pytest.mark.parametrize(("shape", "size"), [((), 1), ((3, 4), 12), ((0, 7), 0)])
def test_a_tensors_size(shape: tuple[int, ...], size: int) -> None:
    assert Tensor("t", shape, "<f4", "/t").size == size


def test_parameters_are_those_of_layers_not_of_the_optimizer() -> None:
    stored = Stored(
        "model",
        groups=(Group("a", tensors("k", "b")), Group("c", ())),
        optimizer=tensors("m", shape=(9,)),
    )
    assert stored.parameters == 6


@pytest.mark.parametrize(
    ("stored", "answer"),
    [
        (Stored("model", keras_version="3.1.0"), True),
        (Stored("model", keras_version="2.15.0"), False),
        (Stored("model", {"class_name": "Functional", "module": "keras"}), True),
        (
            Stored(
                "model", {"class_name": "Functional", "module": "keras"}, keras_version="2.13.1"
            ),
            False,
        ),
        (Stored("weights"), False),
    ],
)
def test_who_is_keras_3(stored: Stored, answer: bool) -> None:
    assert stored.is_keras_3 is answer


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ("2.2.4-tf", (2, 2, 4)),
        ("2.16.0.dev20240101", (2, 16, 0)),
        ("3.0.0rc1", (3, 0, 0)),
        ("1.2", (1, 2)),
        ("of yesterday", ()),
        (None, ()),
    ],
)
def test_a_release_is_numbers(version: str | None, numbers: tuple[int, ...]) -> None:
    assert release_of(version) == numbers
    assert Stored("model", keras_version=version).release == numbers


def test_a_release_of_thousands_of_digits_is_no_error() -> None:
    assert len(release_of("9" * 5_000)) == 3


@pytest.mark.parametrize(
    ("version", "answer"),
    [
        ("2.2.4", True),
        ("1.2.2", True),
        ("2.2.4-tf", False),
        ("2.4.0", False),
        ("3.5.0", False),
        (None, False),
    ],
)
def test_who_is_a_keras_of_its_own(version: str | None, answer: bool) -> None:
    assert Stored("weights", keras_version=version).is_standalone is answer
