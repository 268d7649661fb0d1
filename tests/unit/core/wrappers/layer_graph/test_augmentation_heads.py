"""Layers behind a merge that take the towers apart along the batch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import layer
from tests.unit.core.wrappers.towers import STORED, model
from unnest.core.architecture import read
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.wrapper_records import Recognised

TOWERS = 3


def seen(*head: dict[str, Any]) -> Recognised:
    """Result of recognition for three towers behind a custom class, with a head."""
    entry = model([[STORED["config"](f"s{i}", {"i": i, "parts": TOWERS}) for i in range(TOWERS)]])
    entry["config"]["layers"] += head
    entry["config"]["output_layers"] = [[head[-1]["name"], 0, 0]]
    return recognise_layer_graph.recognise(read(entry))


def operation(name: str, function: str, reads: str = "merge", **arguments: Any) -> dict[str, Any]:
    """The call of an operation."""
    return {
        **layer(name, kind="TFOpLambda", function=function),
        "inbound_nodes": [[reads, 0, 0, arguments]],
    }


def regrouped(reads: str) -> dict[str, Any]:
    """A head that reshapes all rows of the batch into those of every tower."""
    return operation("head", "reshape", reads, shape=[TOWERS, -1, 2])


@pytest.mark.parametrize(
    "head",
    [
        [regrouped("merge")],
        [operation("head", "split", num_or_size_splits=TOWERS, axis=0)],
        [layer("soft", ["merge"], kind="Softmax", trainable=True), regrouped("soft")],
        [operation("same", "identity"), regrouped("same")],
    ],
)  # fmt: skip
def test_heads_that_count_towers(head: list[dict[str, Any]]) -> None:
    """Also behind layers, and moves, that leave every row in its place."""
    recognised = seen(*head)
    assert recognised.wrappers == ()
    assert recognised.near_misses[0].reason.startswith("head splits what merge gives in 3 again")


@pytest.mark.parametrize(
    "head",
    [
        operation("head", "reshape", shape=[-1, 2, 1]),
        operation("head", "reshape", shape=[2, -1, 2]),
        operation("head", "reshape", shape=[-1, TOWERS]),
        operation("head", "split", num_or_size_splits=2, axis=1),
        operation("head", "transpose", perm=[1, 0]),
        operation("head", "own.regroup", shape=[TOWERS, -1, 2]),
        layer("head", ["merge"], kind="Dense", trainable=True, units=TOWERS),
    ],
)
def test_heads_that_do_not(head: dict[str, Any]) -> None:
    """Within each row, by another number, another axis; rows that no tower's end divides; unreadable code."""
    assert [wrapper.confidence for wrapper in seen(head).wrappers] == ["likely"]
