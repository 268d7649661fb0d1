"""The letters of a product's axes: by NumPy's own rule they compute what NumPy's products compute."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from unnest.core.model import Unknown
from unnest.core.ops import product_axes
from unnest.core.ops.element_dtype_and_checks import Array
from unnest.core.ops.registry import OPERATIONS

RNG = np.random.default_rng(0)


def tensor(*shape: int) -> Array:
    return RNG.random(shape)


def by_letters(letters: list[str], output: str, *tensors: Array) -> Array:
    made: Array = np.einsum(f"{','.join(letters)}->{output}", *tensors)
    return made


@pytest.mark.parametrize(
    "shapes",
    [((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((6, 5, 2, 3), (5, 3, 4)), ((2, 3), (5, 3, 4))],
)
@pytest.mark.parametrize("are_turned", [*product((False, True), repeat=2)])
def test_matrices(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], are_turned: tuple[bool, bool]
) -> None:
    first, second = (tensor(*shape) for shape in shapes)
    stored = [
        np.swapaxes(x, -1, -2) if turned else x
        for x, turned in zip((first, second), are_turned, strict=True)
    ]
    letters, output = product_axes.of_matrices((first.ndim, second.ndim), are_turned)
    np.testing.assert_allclose(by_letters(letters, output, *stored), first @ second)


def test_a_vector_is_no_matrix() -> None:
    with pytest.raises(Unknown):
        product_axes.of_matrices((1, 2), (False, False))


@pytest.mark.parametrize("summed", [([2], [0]), ([1, 2], [1, 0]), ([-1], [-2]), ([], [])])
def test_tensordot(summed: tuple[list[int], list[int]]) -> None:
    first, second = tensor(2, 3, 4), tensor(4, 3)
    letters, output = product_axes.of_tensordot((3, 2), summed)
    np.testing.assert_allclose(
        by_letters(letters, output, first, second), np.tensordot(first, second, summed)
    )


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij, jk", [(2, 3), (3, 4)]),
        ("ba,cb", [(3, 2), (4, 3)]),
        ("...i,ij->...j", [(6, 5, 3), (3, 4)]),
        ("...i,...ij->j...", [(5, 3), (6, 5, 3, 4)]),
        ("...i,ij", [(6, 5, 3), (3, 4)]),
        ("A...,Ab->b...", [(3, 5, 6), (3, 4)]),
        ("ii->i", [(3, 3)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    tensors = [tensor(*shape) for shape in shapes]
    letters, output = product_axes.of_einsum(equation, [x.ndim for x in tensors])
    assert "." not in "".join([*letters, output])
    np.testing.assert_allclose(by_letters(letters, output, *tensors), np.einsum(equation, *tensors))


@pytest.mark.parametrize(
    ("name", "shapes", "beside"),
    [
        ("matmul", [(5, 2, 3), (5, 3, 4)], {}),
        ("matmul", [(3, 2), (3, 4)], {"transpose_a": True}),
        ("dot", [(2, 3), (3, 4)], {}),
        ("dot", [(5, 2, 3), (6, 3, 4)], {}),
        ("tensordot", [(2, 3, 4), (3, 4, 5)], {"axes": 2}),
        ("tensordot", [(2, 3, 4), (4, 3)], {"axes": [[1, 2], [1, 0]]}),
        ("einsum", [(2, 3), (3, 4)], {"subscripts": "ij,jk->ki"}),
    ],
)
def test_rules_stand_at_the_entries(
    name: str, shapes: list[tuple[int, ...]], beside: dict[str, Any]
) -> None:
    """By NumPy's functions of these names, with `dot` as Keras has it."""
    rule, tensors = OPERATIONS[name].axes_rule, [tensor(*shape) for shape in shapes]
    assert rule is not None
    letters, output = rule([x.ndim for x in tensors], **beside)
    first, second = tensors
    expected: dict[str, Callable[[], Array]] = {
        "matmul": lambda: (first.T if beside else first) @ second,
        "dot": lambda: np.dot(first, second),
        "tensordot": lambda: np.tensordot(first, second, **beside),
        "einsum": lambda: np.einsum(beside["subscripts"], first, second),
    }
    np.testing.assert_allclose(by_letters(letters, output, *tensors), expected[name]())


def test_tensors_of_unknown_rank_are_matrices_or_as_the_equation_says() -> None:
    matmul, einsum = OPERATIONS["matmul"].axes_rule, OPERATIONS["einsum"].axes_rule
    assert matmul is not None
    assert einsum is not None
    assert matmul([3, None]) == (["Aik", "kj"], "Aij")
    assert einsum([None, None], subscripts="abc,c->ab") == (["abc", "c"], "ab")
