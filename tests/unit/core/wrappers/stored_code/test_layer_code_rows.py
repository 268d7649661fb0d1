"""Rows in the results of a layer's code, asked once for all files with that code."""

from __future__ import annotations

import numpy as np

from tests.unit.core.wrappers.one_layer import code_lambda
from unnest.budget import Answers, Budget, limited
from unnest.core.architecture.graph import Layer
from unnest.core.wrappers.stored_code.layer_code_rows import code_answer, code_result_rows

ROWS = np.arange(4, dtype=np.int32)


def test_rows_that_code_takes() -> None:
    layer, _ = code_lambda(lambda x: (x[:2], x[::-1]))
    first, turned = code_result_rows([ROWS], (None, 6), layer) or (None, None)
    assert first is not None
    assert turned is not None
    assert (first.numbers, turned.numbers) == ((0, 1), (3, 2, 1, 0))


def test_a_layer_without_stored_code_has_no_answer() -> None:
    layer, _ = code_lambda(lambda x: x)
    dense = layer._replace(class_name="Dense", config={"name": "l", "units": 6})
    assert code_result_rows([ROWS], (None, 6), dense) is None


def test_code_is_followed_once_for_all_files() -> None:
    """Other arguments are another question."""
    asked: list[object] = []

    def follow(layer: Layer) -> int:
        asked.append(layer.settings.get("arguments"))
        return len(asked)

    answers = Answers()
    for argument in (0, 1, 0):
        layer, _ = code_lambda(lambda x, i: x[i:], i=argument)
        with limited(Budget("m.h5", 10**9, 10**9, answers=answers)):
            code_answer(layer, "rows", follow)
    assert asked == [{"i": 0}, {"i": 1}]
