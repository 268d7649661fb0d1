"""Signs in the names and numbers of a layer's stored code: whether it can cut rows."""
# ruff: noqa: PLW0108 - the code of these lambdas is what is stored

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.wrappers.one_layer import called, code_lambda
from unnest.core.architecture.graph import Call, Layer
from unnest.core.wrappers.stored_code import code_names_and_numbers

K: Any = None
tf: Any = None
OneLayer = tuple[Layer, Call]


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (called("Dropout", rate=0.5), "l is Keras's Dropout, which keeps all rows"),
        (called("Rows"), None),
        (code_lambda(lambda x: K.reverse(x, axes=2)), "the code of l moves values within the rows, and cuts no rows"),
        (code_lambda(lambda x: K.reverse(x, axes=0)[: tf.shape(x)[0] // 2]), None),
        (code_lambda(lambda x: K.flip(tf.shape(x))), "the code of l moves values within the rows, and cuts no rows"),
        (code_lambda(lambda x: K.relu(x)), None),
        (code_lambda(lambda x: -x), "the code of l has no operation that cuts rows"),
        (code_lambda(lambda x: x[:4]), None),
        (code_lambda(lambda x, i=0: x[i]), None),
        (code_lambda(lambda x: -x, closure=[1, 2]), None),
        (code_lambda(lambda x: K.reverse(K.slice(x), axes=2)), None),
        (called("Lambda", function="flip"), None),
    ],
    ids=["Keras's own", "custom", "a flip", "turned rows", "turned pixels",
         "a name that says nothing", "no means", "a number", "a default",
         "a closure", "a flipped slice", "by name"],
)  # fmt: skip
def test_what_keeps_all_rows(one: OneLayer, reason: str | None) -> None:
    """A custom class may do anything, whatever it is called."""
    assert code_names_and_numbers.keeps_rows(one[0]) == reason


@pytest.mark.parametrize(
    ("one", "shows"),
    [
        (code_lambda(lambda x: K.shape(x)), True),
        (code_lambda(lambda x: K.slice(x)), True),
        (code_lambda(lambda x: K.reshape(x, 1)), False),
        (code_lambda(lambda x: helper.part_of(x)), False),  # type: ignore[name-defined]  # noqa: F821 - not run
        (called("Lambda", function="slice"), False),
        (called("SliceRows"), False),
    ],
    ids=["shape", "slice", "a part of a word", "custom", "by name", "a class"],
)
def test_code_that_shows_how_it_cuts(one: OneLayer, shows: bool) -> None:
    assert code_names_and_numbers.shows_how(one[0]) is shows


@pytest.mark.parametrize(
    ("one", "answer"),
    [(called("Lambda"), True), (called("Mine", function="f"), True), (called("Mine", arguments={}), True),
     (called("Rows"), False)],
)  # fmt: skip
def test_what_runs_somebody_s_function(one: OneLayer, answer: bool) -> None:
    assert code_names_and_numbers.is_function(one[0]) is answer


def test_numbers_come_with_their_places_in_order() -> None:
    found = code_names_and_numbers.numbers(
        {"a": [1, True, {"b": 2.5}], "c": "3", "d": None}, ("top",)
    )
    assert list(found) == [(("top", "a", 0), 1), (("top", "a", 2, "b"), 2.5)]


def test_deep_json_is_no_matter() -> None:
    value: Any = 1
    for _ in range(3_000):
        value = [value]
    assert [number for _, number in code_names_and_numbers.numbers(value)] == [1]
