"""One tower behind a slice that takes all rows, which nothing merges; and what only looks like it."""
# ruff: noqa: PLW0108 - the code of these lambdas is what is stored

from __future__ import annotations

from typing import Any

import pytest

from tests.judged import check_verdict, only_wrapper
from tests.unit.core.build import functional, nested, source
from tests.unit.core.rewrite.wrapping import TEMPLATE
from tests.unit.core.wrappers.near import Entry
from tests.unit.core.wrappers.one_layer import function
from tests.unit.core.wrappers.towers import arguments, model
from unnest.core.architecture import read
from unnest.core.make_plan import plan
from unnest.core.model import Ref, Stored
from unnest.core.wrappers.layer_graph.recognise_layer_graph import recognise

K: Any = None
tf: Any = None
helper: Any = None


def behind(code: Any, **arguments: Any) -> Entry:
    """A model that reads nothing but a Lambda of this code."""
    config = {
        "name": "s",
        "trainable": True,
        "function": function(code),
        "arguments": arguments,
        "output_shape": [4],
    }
    cut = {
        "class_name": "Lambda",
        "name": "s",
        "config": config,
        "inbound_nodes": [[["x", 0, 0, {}]]],
    }
    return functional(
        source(), cut, nested(TEMPLATE, [("s", 0, 0)]), outputs=[("t", 1, 0)], name="outer"
    )


SLICE = lambda x, idx, parts: x[tf.shape(x)[0] // parts * idx : tf.shape(x)[0] // parts * (idx + 1)]  # noqa: E731


def test_one_tower_that_takes_all_rows_is_a_wrapper() -> None:
    graph = read(behind(SLICE, idx=0, parts=1))
    found = only_wrapper(recognise(graph))
    assert (found.template, found.sources, found.merges, found.confidence) == (
        "t",
        (Ref("x", 0, 0),),
        (),
        "proven",
    )
    assert found.results(graph) == {Ref("t", 0, 0): 0}
    assert found.evidence == (
        "1 call of the one model t",
        "every tower reads a slice of x, cut by s",
        "slice arguments: idx = 0 of parts = 1",
        "the code of s takes all rows, so that there is nothing to merge",
    )


def test_what_is_left_is_the_template() -> None:
    made = plan(Stored(contents="model", architecture=behind(SLICE, idx=0, parts=1)))
    wrapper = only_wrapper(made)
    assert (wrapper.scope, wrapper.towers, wrapper.merge) == ("whole", 1, ())
    assert made.result is not None
    assert [*read(made.result.architecture or {}).layers] == [*read(TEMPLATE).layers]


UNSHOWN = "nothing is merged, and the code of s does not show that it takes all rows"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (lambda x, idx, parts: (x - idx) / parts, None),
        (lambda x, idx, parts: K.clip(x, idx, parts), None),
        (lambda x, idx, parts: x[:, idx:parts], None),
        (lambda x, idx, parts: x[idx:parts], None),
        (lambda x, idx, parts: mine(x, idx, parts), None),  # type: ignore[name-defined] # noqa: F821
        (
            lambda x, idx, parts: x[: tf.shape(x)[0] // (parts + 1) + idx],
            "the code of s does not take every row once",
        ),
        (lambda x, idx, parts: tf.slice(mine(x), idx, parts), UNSHOWN),  # type: ignore[name-defined] # noqa: F821
    ],
    ids=[
        "a mean of 0 and a deviation of 1",
        "limits",
        "a column",
        "the first row",
        "code not in the file",
        "a half",
        "a slice of what is not in the file",
    ],
)
def test_a_zero_and_a_one_may_be_anything(code: Any, reason: str | None) -> None:
    result = recognise(read(behind(code, idx=0, parts=1)))
    assert result.wrappers == ()
    assert [tuple(miss) for miss in result.near_misses] == ([("s", reason)] if reason else [])


@pytest.mark.parametrize("told", [{"idx": 1, "parts": 1}, {"idx": 0, "parts": 2}, {"idx": 0}, {}])
def test_other_numbers_are_not_even_near(told: dict[str, int]) -> None:
    result = recognise(read(behind(SLICE, **told)))
    assert (result.wrappers, result.near_misses) == ((), ())


def test_the_slice_is_read_by_the_tower_alone() -> None:
    model = behind(SLICE, idx=0, parts=1)
    model["config"]["output_layers"].append(["s", 0, 0])
    (miss,) = recognise(read(model)).near_misses
    assert miss.reason == "s, which a tower reads, is read by other layers too"


def test_code_that_cannot_be_followed_is_not_the_whole_batch() -> None:
    """It may cut rows, and nothing shows that it takes them all."""
    entry = arguments("s0", {})
    entry["config"]["function"] = function(lambda x: helper(x)[:3])
    check_verdict(recognise(read(model([[entry]]))), "clean")
