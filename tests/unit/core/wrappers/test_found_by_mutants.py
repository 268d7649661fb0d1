"""Graphs that semantic mutants (`tests.mutants`) found, which were unwrapped and computed something else."""

from __future__ import annotations

import types
from typing import Any

import pytest

from tests.judged import check_verdict
from tests.unit.core.wrappers.one_layer import function
from tests.unit.core.wrappers.towers import Entry, arguments, model
from unnest.core.architecture import read
from unnest.core.wrappers.layer_graph import recognise_layer_graph


def reasons(parallel: Entry) -> list[str]:
    """Return the near misses of a graph; [] if it has a wrapper."""
    found = recognise_layer_graph.recognise(read(parallel))
    return [] if found.wrappers else [miss.reason for miss in found.near_misses]


def two_outputs(second: str, kind: str, batch: int | None = None) -> Entry:
    """A template whose second output is made by a layer of class `kind`; its towers' are joined by a layer `second`."""
    parallel = model([[arguments(f"s{i}", {"i": i, "parts": 2}) for i in range(2)]], batch=batch)
    config = parallel["config"]
    template = next(entry for entry in config["layers"] if entry["name"] == "net")["config"]
    settings: dict[str, Any] = {"name": "g", "trainable": True}
    if kind == "Lambda":
        settings["function"] = ["not code", None, None]
    template["layers"].append(
        {"class_name": kind, "name": "g", "config": settings, "inbound_nodes": [[["t0", 0, 0, {}]]]}
    )
    template["output_layers"] = [["f", 0, 0], ["g", 0, 0]]
    axis = {"axis": 0} if second == "Concatenate" else {}
    towers = [["net", 1, 1, {}], ["net", 2, 1, {}]]
    joined = {"name": "second", "trainable": True, **axis}
    config["layers"].append(
        {"class_name": second, "name": "second", "config": joined, "inbound_nodes": [towers]}
    )
    config["output_layers"] = [["merge", 0, 0], ["second", 0, 0]]
    return parallel


@pytest.mark.parametrize(
    ("second", "kind", "is_wrapper"),
    [
        ("Concatenate", "Dense", True),
        ("Average", "Lambda", True),
        ("Average", "MyLoss", True),
        ("Average", "Dense", False),
        ("Add", "Lambda", False),
        ("Maximum", "MyLoss", False),
        ("Multiply", "Dense", False),
    ],
)
def test_beside_joined_rows_only_the_mean_of_a_number_is_one(
    second: str, kind: str, is_wrapper: bool
) -> None:
    """One output is joined along the batch; the other's rows must be too, unless it may be a loss that is averaged."""
    why = "second makes one of the rows of net's outputs instead of concatenating them"
    assert reasons(two_outputs(second, kind)) == ([] if is_wrapper else [why])


def test_a_slice_that_all_towers_read_is_no_whole_input() -> None:
    """The first half of one input goes to every tower, with a half each of the other."""
    lanes = [[arguments(f"s{j}{i}", {"i": i, "parts": 2}) for i in range(2)] for j in range(2)]
    parallel = model(lanes)
    assert reasons(parallel) == []
    towers = next(entry for entry in parallel["config"]["layers"] if entry["name"] == "net")[
        "inbound_nodes"
    ]
    assert towers[1][0][0] == "s01"
    towers[1][0][0] = "s00"
    assert reasons(parallel) == ["every call of net reads all rows of s00, and parts of the others"]


@pytest.mark.parametrize("batch", [None, 1])
def test_an_input_that_is_not_cut_goes_to_every_tower_as_it_is(batch: int | None) -> None:
    """Anchors of one row, a support set: no tower could add its rows of the batch to all rows of another input."""
    lanes = [[arguments(f"s{j}{i}", {"i": i, "parts": 2}) for i in range(2)] for j in range(2)]
    parallel = model(lanes)
    layers = parallel["config"]["layers"]
    towers = next(entry for entry in layers if entry["name"] == "net")["inbound_nodes"]
    towers[0][0], towers[1][0] = ["x0", 0, 0, {}], ["x0", 0, 0, {}]
    next(entry for entry in layers if entry["name"] == "x0")["config"]["batch_input_shape"] = [
        batch,
        3,
    ]
    assert reasons(parallel) == []


def with_cells(told: dict[str, int], cells: list[int]) -> Entry:
    """A slice with arguments and a closure."""
    entry = arguments("", told)
    entry["config"]["function"] = ["not code", None, cells]
    return entry


@pytest.mark.parametrize(
    ("told", "cells", "is_wrapper"),
    [
        ([{"i": 0, "parts": 2}, {"i": 1, "parts": 2}], [2], True),
        ([{"i": 0, "parts": 2}, {"i": 0, "parts": 2}], [2], False),
        ([{"i": 1, "parts": 2}, {"i": 1, "parts": 2}], [2], False),
        ([{"i": 0, "parts": 1}, {"i": 1, "parts": 1}], [2], False),
        ([{"i": 0, "parts": 1}, {"i": 1, "parts": 2}], [2], False),
        ([{"parts": 2}, {"parts": 2}], [1], True),
        ([{"parts": 2}, {"parts": 2}], [0], False),
    ],
)
def test_arguments_are_never_bound_late(
    told: list[dict[str, int]], cells: list[int], is_wrapper: bool
) -> None:
    """tf.keras 1.8 keeps the number of parts in a cell, too: an index that two layers store alike is the same part."""
    lane = [with_cells(one, cells) for one in told]
    for i, entry in enumerate(lane):
        entry["config"]["name"] = f"s{i}"
    check_verdict(
        recognise_layer_graph.recognise(read(model([lane]))), "parallel" if is_wrapper else "clean"
    )


def closing_over(source: str) -> Any:
    """The code of a function that captures `i` and `parts`, whose cells Keras stores in this order."""
    scope: dict[str, types.FunctionType] = {}
    exec(f"def make(i, parts):\n    return {source}", scope)  # noqa: S102 - our own text
    return function(scope["make"](0, 2))[0]


@pytest.mark.parametrize(
    ("source", "is_wrapper"),
    [
        ("lambda x: K.slice(x, (i - 1) * K.shape(x)[0] // parts, i)", True),
        ("lambda x: K.slice(x, i, K.shape(x)[0] if i == parts - 1 else parts)", False),
    ],
)
def test_a_cell_counts_from_1_only_where_1_is_taken_off_that_cell(
    source: str, is_wrapper: bool
) -> None:
    """The official slices take 1 off the number of parts: parts 1 and 2 of 2 are no batch."""
    lane = [with_cells({}, [i, 2]) for i in (1, 2)]
    for i, entry in enumerate(lane):
        entry["config"] |= {"name": f"s{i}", "function": [closing_over(source), None, [i + 1, 2]]}
    check_verdict(
        recognise_layer_graph.recognise(read(model([lane]))), "parallel" if is_wrapper else "clean"
    )
