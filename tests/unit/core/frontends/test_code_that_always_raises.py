"""Errors that stored code raises on the values beside it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.frontends.code_of import stored
from unnest.budget import Answers, Budget, limited
from unnest.core.byte_code.machine import Machine
from unnest.core.frontends.code_that_always_raises import raises
from unnest.core.model import Json


@pytest.mark.parametrize(
    ("function", "value", "is_raised"),
    [
        ("v(x)", "sigmoid", True),
        ("v(x)", 2, True),
        ("v[0](x)", ["sigmoid"], True),
        ("v.sigmoid(x)", "backend", True),
        ("v.upper()", "name", False),
        ("x * v[1]", {"1": 2.0}, True),
        ('x * v["a"]', {"a": 2.0}, False),
        ('x * v["a", 0]', {"a": 2.0}, True),
        ("x * v[x]", {"a": 2.0}, False),
        ("x * sum((1, *v))", [2], False),
        ("x * sum(v + (1,))", [2], True),
        ("x * sum(v + [1])", [2], False),
        ("x * v", {"type": "ndarray", "value": [1.0]}, False),
        ("x * v", {"class_name": "Dense", "config": {}}, True),
        ("x * v", {"class_name": "__tuple__", "items": [1]}, False),
        # An array becomes a list of lists in tf.keras; a tensor takes it, Python's own operators do not.
        ("x * v", [1.0, 2.0], False),
        ("x * (1.0 - v)", [1.0, 2.0], True),
        ("x * (v / 255.0)", [1.0, 2.0], True),
        ("x * -v", [1.0, 2.0], True),
        ("x * (v ** 2)", [1.0, 2.0], True),
        ("x * (v * 2.0)", [1.0, 2.0], True),
        ("x * (v > 1)", [1.0, 2.0], True),
        ("x * (v == 1)", [1.0, 2.0], False),
        ("x * v[:, 0]", [[1.0], [2.0]], True),
        ("x * v[:1]", [1.0, 2.0], False),
        ("x * v[1]", [1.0, 2.0], False),
        ("x * v[2]", [1.0, 2.0], True),
        ("x * v[x]", [1.0, 2.0], False),
        ("x * v.shape[0]", [1.0, 2.0], True),
        ("sum(v * 2)", [1.0, 2.0], False),
        ("sum(v * 2 + v)", [1.0, 2.0], False),
        ("x * (1 - v * 2)", [1.0, 2.0], True),
        ("x * (1 - (v + v))", [1.0, 2.0], True),
        ("x * (v * 10000000000)", [1.0, 2.0], False),
        ("x * (1 - x * v)", [1.0, 2.0], False),
        ("x * v[0]", 2.0, True),
        ("x * (1.0 - v)", 2.0, False),
        ("x * (1.0 - v ** 10000000)", 2.5, False),
        ('"%d %s" % v', [1], False),
        ("v(x) if x else x", "sigmoid", False),  # a branch on what only a run knows
    ],
)
def test_values_beside_code(function: str, value: Json, *, is_raised: bool) -> None:
    """A function becomes its name in JSON, a tuple a list, a key a text."""
    code, _, _ = stored(f"return {function}", parameters="x, v")
    assert raises([code, None, None], {"v": value}, reads_arrays=True) is is_raised
    assert raises([code, [value], None], {}, reads_arrays=True) is is_raised


def test_arrays_beside_code() -> None:
    """Keras before 2.2 reads them again among the arguments alone."""
    code, _, _ = stored("return x * v", parameters="x, v")
    array: Json = {"type": "ndarray", "value": [1.0]}
    assert raises([code, [array], None], {}, reads_arrays=False)
    assert not raises([code, None, None], {"v": array}, reads_arrays=False)


def test_a_keras_archive_makes_functions_of_their_names() -> None:
    """So its closure says nothing."""
    code, _, _ = stored("return v(x)", parameters="x, v")
    config = {"code": code, "defaults": ["sigmoid"], "closure": None}
    assert not raises({"class_name": "__lambda__", "config": config}, {}, reads_arrays=True)


def test_an_answer_is_kept_for_later_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same code with the same values beside it, and of no other; not where JSON cannot spell them."""
    code, _, _ = stored("return v(x)", parameters="x, v")
    other, _, _ = stored("return x * v", parameters="x, v")
    followed: list[object] = []
    run = Machine.run

    def noted_run(machine: Any) -> Any:
        followed.append(machine)
        return run(machine)

    monkeypatch.setattr(Machine, "run", noted_run)
    answers = Answers()
    counts = []
    for text, value in ((code, "name"), (code, "name"), (code, 1), (other, 1), (code, {1, 2})):
        with limited(Budget("m.h5", 10**6, 10**6, answers=answers)):
            raises([text, None, None], {"v": value}, reads_arrays=True)  # type: ignore[dict-item]
        counts.append(len(followed))
    assert counts[0] == counts[1] < counts[2] < counts[3] < counts[4]
