"""Slices and joins carried out together, computed and claimed ones alike."""

from __future__ import annotations

from tests.judged import only_wrapper
from tests.unit.core.build import functional, nested, source
from tests.unit.core.rewrite.wrapping import MERGE, TEMPLATE, TOWERS, concatenate, split
from tests.unit.core.wrappers import towers as stored
from tests.unit.core.wrappers.near import OUTER, Entry, reasons
from unnest.core.architecture import read
from unnest.core.wrappers.layer_graph import recognise_layer_graph


def test_a_slice_of_another_axis_is_none() -> None:
    channels = {
        **split("s", "x"),
        "inbound_nodes": [["x", 0, 0, {"num_or_size_splits": 2, "axis": 1}]],
    }
    assert reasons(source(), channels, TOWERS, MERGE) == {
        "m": "s cuts another axis than the batch, or nothing at all"
    }


def test_claims_and_operations_are_carried_out_together() -> None:
    """Halves that are claimed, each split by an operation; with two of these exchanged there is no wrapper."""
    halves = [stored.config(f"s{i}", {"lo": i / 2, "hi": (i + 1) / 2}) for i in range(2)]
    layers = [
        {**half, "name": f"s{i}", "inbound_nodes": [[["x", 0, 0, {}]]]}
        for i, half in enumerate(halves)
    ]
    quarters = [split(f"q{i}", f"s{i}") for i in range(2)]

    def towers(*parts: tuple[str, int, int]) -> list[Entry]:
        joined = concatenate("m", *(("t", i + 1, 0) for i in range(4)))
        return [source(), *layers, *quarters, nested(TEMPLATE, *([part] for part in parts)), joined]

    in_order = [("q0", 0, 0), ("q0", 0, 1), ("q1", 0, 0), ("q1", 0, 1)]
    found = only_wrapper(
        recognise_layer_graph.recognise(read(functional(*towers(*in_order), **OUTER)))
    )
    assert (len(found.towers), found.confidence) == (4, "likely")
    crossed = [("q0", 0, 1), ("q0", 0, 0), ("q1", 0, 0), ("q1", 0, 1)]
    reason = "m gives all rows of x, in another order"
    assert reasons(*towers(*crossed)) == {"m": reason}
