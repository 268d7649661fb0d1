"""Wrappers of layer graphs, and for each rule the nearest graph in which it does not hold, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.judged import check_verdict, only_wrapper
from tests.unit.core.build import DENSE, functional, layer, nested, source
from tests.unit.core.rewrite.wrapping import MERGE, TEMPLATE, TOWERS, concatenate, split
from tests.unit.core.wrappers import towers as stored
from tests.unit.core.wrappers.near import OUTER, Entry, reasons
from tests.unit.core.wrappers.one_layer import function
from unnest.core.architecture import read
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.recognise_layer_graph import recognise
from unnest.core.wrappers.layer_graph.wrapper_records import Assumptions


def test_slices_towers_and_a_merge_are_a_wrapper() -> None:
    found = only_wrapper(
        recognise_layer_graph.recognise(
            read(functional(source(), split("s", "x"), TOWERS, MERGE, **OUTER))
        )
    )
    assert (found.template, found.towers) == ("t", (CallId("t", 0), CallId("t", 1)))
    assert (found.sources, found.slices) == ((Ref("x", 0, 0),), frozenset({CallId("s", 0)}))
    assert [(m.output, m.layer, m.on_batch_axis) for m in found.merges] == [(0, "m", True)]
    assert found.confidence == "proven"
    assert found.evidence[0] == "2 calls of the one model t"


def test_towers_are_merged_in_the_order_of_their_slices() -> None:
    swapped = concatenate("m", ("t", 2, 0), ("t", 1, 0))
    assert list(reasons(source(), split("s", "x"), TOWERS, swapped)) == ["m"]


def test_nobody_else_reads_the_towers() -> None:
    layers = [source(), split("s", "x"), TOWERS, MERGE]
    spy = layer("spy", [("t", 1, 0)])
    reason = "the outputs of t are read by other layers than m too"
    assert reasons(*layers, spy) == {"m": reason}
    assert reasons(*layers, outputs=[("m", 0, 0), ("t", 1, 0)]) == {"m": reason}


def test_every_tower_is_merged() -> None:
    third = {
        **split("s", "x"),
        "inbound_nodes": [["x", 0, 0, {"num_or_size_splits": 3, "axis": 0}]],
    }
    towers = nested(TEMPLATE, [("s", 0, 0)], [("s", 0, 1)], [("s", 0, 2)])
    assert list(reasons(source(), third, towers, MERGE)) == ["m"]
    whole = concatenate("m", ("t", 1, 0), ("t", 2, 0), ("t", 3, 0))
    found = only_wrapper(
        recognise_layer_graph.recognise(read(functional(source(), third, towers, whole, **OUTER)))
    )
    assert len(found.towers) == 3


def test_towers_are_called_alike() -> None:
    towers = nested(TEMPLATE, [("s", 0, 0)], [("s", 0, 1)])
    towers["inbound_nodes"][1][0][3] = {"training": True}
    assert reasons(source(), split("s", "x"), towers, MERGE) == {
        "m": "the calls of t differ in their arguments"
    }
    towers["inbound_nodes"][0][0][3] = {"training": True}
    check_verdict(
        recognise_layer_graph.recognise(
            read(functional(source(), split("s", "x"), towers, MERGE, **OUTER))
        ),
        "parallel",
    )


def test_no_tower_is_left_out_of_the_merge() -> None:
    """Nor where every tower has a slice of its own, which nothing else reads."""
    entries = [stored.config(f"s{i}", {}) for i in range(3)]
    model = stored.model([entries])
    only_wrapper(recognise(read(model), Assumptions({"Rows"})))
    joined = model["config"]["layers"][-1]["inbound_nodes"][0]
    del joined[2]
    result = recognise(read(model), Assumptions({"Rows"}))
    assert result.wrappers == ()
    assert (
        result.near_misses[0].reason == "net is called on one more slice, which merge does not join"
    )


def test_one_output_is_joined_once() -> None:
    """Nothing shows which of two joins of it stands for the template's output."""
    model = stored.model([[stored.config(f"s{i}", {}) for i in range(2)]])
    layers = model["config"]["layers"]
    layers.append(
        {**layers[-1], "name": "again", "config": {**layers[-1]["config"], "name": "again"}}
    )
    model["config"]["output_layers"].append(["again", 0, 0])
    result = recognise(read(model), Assumptions({"Rows"}))
    assert result.wrappers == ()
    assert result.near_misses[0].reason == "one output of net is joined more than once"


@pytest.mark.parametrize(
    ("listed", "joins", "outputs"),
    [
        (["f", "f"], ["merge", "again"], [0, 1]),
        (["f", "f"], ["again", "merge"], [1, 0]),  # in the order of the parallel model's outputs
        (
            ["f", "f", "f"],
            ["merge", "again"],
            None,
        ),  # one of three is not joined: which, nothing shows
        (["f"], ["merge", "again"], None),
    ],
)
def test_outputs_that_are_one_tensor(
    listed: list[str], joins: list[str], outputs: list[int] | None
) -> None:
    """Keras stores that every join of it reads the last of these outputs."""
    model = stored.model([[stored.config(f"s{i}", {}) for i in range(2)]])
    layers = model["config"]["layers"]
    net, merge = layers[-2], layers[-1]
    net["config"]["output_layers"] = [[name, 0, 0] for name in listed]
    for ref in merge["inbound_nodes"][0]:
        ref[2] = len(listed) - 1
    layers.append({**merge, "name": "again", "config": {**merge["config"], "name": "again"}})
    model["config"]["output_layers"] = [[name, 0, 0] for name in joins]
    result = recognise(read(model), Assumptions({"Rows"}))
    if outputs is None:
        assert result.wrappers == ()
        assert result.near_misses[0].reason == "one output of net is joined more than once"
        return
    wrapper = only_wrapper(result)
    assert {m.layer: m.output for m in wrapper.merges} == dict(
        zip(["merge", "again"], outputs, strict=True)
    )


tf: Any = None  # what the code of these functions names; it is read, not called
Code = Callable[[Any], Any]


def in_turn(towers: Any) -> Any:
    return tf.reshape(tf.stack(towers, axis=1), [-1, 3])


def end_to_end(towers: Any) -> Any:
    return tf.reshape(tf.stack(towers, axis=0), [-1, 3])


def other_way_round(towers: Any) -> Any:
    return tf.reshape(tf.stack(towers[::-1], axis=1), [-1, 3])


def cut_up(towers: Any) -> Any:
    return tf.reshape(tf.stack(towers, axis=1), [-1, 1])


def halved(x: Any) -> Any:
    return x[: tf.shape(x)[0] // 2]


def other_half(x: Any) -> Any:
    return x[tf.shape(x)[0] // 2 :]


EVERY_OTHER: tuple[Code, ...] = (lambda x: x[::2], lambda x: x[1::2])
HALVES: tuple[Code, ...] = (halved, other_half)


def by_code(slices: Sequence[Code], merge: Code, *, is_own: bool) -> list[Entry]:
    """The layers of towers cut and joined by stored code: of the model's own layers, or of one that is nested."""
    cut = [
        layer(f"s{k}", ["x"], kind="Lambda", function=function(code))
        for k, code in enumerate(slices)
    ]
    calls = [[entry["name"]] for entry in cut]
    towers = layer("t", *calls, **DENSE) if is_own else nested(TEMPLATE, *calls)
    joined = layer(
        "m",
        [("t", int(not is_own) + k, 0) for k in range(len(cut))],
        kind="Lambda",
        function=function(merge),
    )
    return [source(), *cut, towers, joined]


@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize(("slices", "merge"), [(EVERY_OTHER, in_turn), (HALVES, end_to_end)])
def test_code_that_stacks_the_towers_rows(
    slices: Sequence[Code], merge: Code, is_own: bool
) -> None:
    found = only_wrapper(
        recognise_layer_graph.recognise(
            read(functional(*by_code(slices, merge, is_own=is_own), **OUTER))
        )
    )
    assert (len(found.towers), found.merges[0].layer) == (2, "m")


@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize(
    ("slices", "merge", "reason"),
    [
        (EVERY_OTHER, end_to_end, "the code of m joins the rows in another order"),
        (HALVES, in_turn, "the code of m joins the rows in another order"),
        (EVERY_OTHER[::-1], in_turn, "the code of s0, s1 takes the rows in another order"),
        (EVERY_OTHER, cut_up, "the code of m does more than join rows: it reshapes its rows"),
    ],
    ids=["dealt, joined end to end", "halves, dealt back", "the odd ones first", "rows cut up"],
)
def test_code_that_stacks_other_rows(
    slices: Sequence[Code], merge: Code, reason: str, is_own: bool
) -> None:
    assert reasons(*by_code(slices, merge, is_own=is_own))["m"] == reason


def test_code_that_puts_no_rows_in_order() -> None:
    assert reasons(*by_code(EVERY_OTHER, other_way_round, is_own=True)).keys() == {"t"}
    assert reasons(*by_code(EVERY_OTHER, other_way_round, is_own=False)) == {
        "m": "the code of m joins the rows in another order"
    }


def test_rows_that_are_dealt_out_twice() -> None:
    """Every fourth row is not what every other one of every other one is, taken one after the other."""

    def of_four(towers: Any) -> Any:
        return tf.reshape(tf.stack(towers, axis=1), [-1, 3])

    first = [
        layer(f"s{k}", ["x"], kind="Lambda", function=function(code))
        for k, code in enumerate(EVERY_OTHER)
    ]
    second = [
        layer(f"s{k}{j}", [f"s{k}"], kind="Lambda", function=function(code))
        for k in range(2)
        for j, code in enumerate(EVERY_OTHER)
    ]
    towers = layer("t", *([entry["name"]] for entry in second), **DENSE)
    joined = layer("m", [("t", k, 0) for k in range(4)], kind="Lambda", function=function(of_four))
    assert (
        reasons(source(), *first, *second, towers, joined)["m"]
        == "the rows of x are dealt out more than once"
    )
