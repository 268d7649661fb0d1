"""What a wrapper in a layer graph is, and of each rule the nearest graph in which it does not hold, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, nested, sequential, source
from tests.unit.core.recognise import towers as stored
from tests.unit.core.rewrite.wrapping import MERGE, TEMPLATE, TOWERS, concatenate, split
from unnest.core.architecture import read
from unnest.core.architecture.graph import CallId, Ref
from unnest.core.recognise import wrappers
from unnest.core.recognise.wrappers import recognise

Entry = dict[str, Any]
OUTER: dict[str, Any] = {"outputs": [("m", 0, 0)], "name": "outer"}


def reasons(*layers: Entry, **ends: Any) -> dict[str, str]:
    """The near misses of a graph without a wrapper: layer -> reason."""
    result = recognise(read(functional(*layers, **{**OUTER, **ends})))
    assert result.wrappers == ()
    return {miss.layer: miss.reason for miss in result.near_misses}


def test_slices_towers_and_a_merge_are_a_wrapper() -> None:
    (found,) = wrappers.find(read(functional(source(), split("s", "x"), TOWERS, MERGE, **OUTER)))
    assert (found.template, found.towers) == ("t", (CallId("t", 0), CallId("t", 1)))
    assert (found.sources, found.slices) == ((Ref("x", 0, 0),), frozenset({CallId("s", 0)}))
    assert [(m.output, m.layer, m.on_batch_axis) for m in found.merges] == [(0, "m", True)]
    assert found.confidence == "proven"
    assert found.evidence[0] == "2 calls of the one model t"


def test_a_chain_has_no_room_for_towers() -> None:
    assert recognise(read(sequential(layer("a"), layer("b")))) == wrappers.Recognised()


def test_towers_are_merged_in_the_order_of_their_slices() -> None:
    swapped = concatenate("m", ("t", 2, 0), ("t", 1, 0))
    assert list(reasons(source(), split("s", "x"), TOWERS, swapped)) == ["m"]


@pytest.mark.parametrize(
    ("merge", "reason"),
    [
        ({**MERGE, "config": {**MERGE["config"], "axis": 1}},
         "m (Concatenate) does not line the outputs of t up along the batch"),
        ({**MERGE, "class_name": "Average", "config": {"name": "m"}},
         "m adds, averages or stacks the outputs of t instead of lining them up"),
        (concatenate("m", ("t", 1, 0), ("t", 1, 0)), "m joins one call of t more than once"),
    ],
    ids=["another axis", "an average", "one tower twice"],
)  # fmt: skip
def test_a_merge_lines_all_towers_up_along_the_batch(merge: Entry, reason: str) -> None:
    assert reasons(source(), split("s", "x"), TOWERS, merge) == {"m": reason}


def test_nobody_else_reads_the_towers() -> None:
    layers = [source(), split("s", "x"), TOWERS, MERGE]
    spy = layer("spy", [("t", 1, 0)])
    reason = "the outputs of t are read by others than m too"
    assert reasons(*layers, spy) == {"m": reason}
    assert reasons(*layers, outputs=[("m", 0, 0), ("t", 1, 0)]) == {"m": reason}


def test_nobody_else_reads_the_slices() -> None:
    layers = [source(), split("s", "x"), TOWERS, MERGE]
    reason = "s, which a tower reads, is read by others too"
    assert reasons(*layers, layer("spy", [("s", 0, 1)])) == {"m": reason}
    assert reasons(*layers, outputs=[("m", 0, 0), ("s", 0, 0)]) == {"m": reason}


def test_every_tower_is_merged() -> None:
    third = {**split("s", "x"), "inbound_nodes": [["x", 0, 0, {"num_or_size_splits": 3, "axis": 0}]]}
    towers = nested(TEMPLATE, [("s", 0, 0)], [("s", 0, 1)], [("s", 0, 2)])
    assert list(reasons(source(), third, towers, MERGE)) == ["m"]
    whole = concatenate("m", ("t", 1, 0), ("t", 2, 0), ("t", 3, 0))
    (found,) = wrappers.find(read(functional(source(), third, towers, whole, **OUTER)))
    assert len(found.towers) == 3


def test_towers_are_calls_of_one_model() -> None:
    other = {**TEMPLATE, "config": {**TEMPLATE["config"], "name": "u"}}
    layers = [source(), split("s", "x"), nested(TEMPLATE, [("s", 0, 0)]), nested(other, [("s", 0, 1)])]
    assert reasons(*layers, concatenate("m", ("t", 1, 0), ("u", 1, 0))) == {
        "m": "m joins the outputs of different models: t, u"
    }


def test_towers_are_called_alike() -> None:
    towers = nested(TEMPLATE, [("s", 0, 0)], [("s", 0, 1)])
    towers["inbound_nodes"][1][0][3] = {"training": True}
    assert reasons(source(), split("s", "x"), towers, MERGE) == {
        "m": "the calls of t differ in more than their tensors"
    }
    towers["inbound_nodes"][0][0][3] = {"training": True}
    assert wrappers.find(read(functional(source(), split("s", "x"), towers, MERGE, **OUTER)))


@pytest.mark.parametrize(
    ("towers", "reason"),
    [
        (nested(TEMPLATE, ["x"], ["z"]), "the towers read different tensors: x, z"),
        (nested(TEMPLATE, ["x"], ["x"]), "every call of t reads the whole of x"),
        (nested(TEMPLATE, ["d"], ["e"]), "d, which has weights, stands between the towers and what they read"),
    ],
    ids=["twins", "the whole for all", "layers with weights"],
)
def test_every_tower_reads_a_slice_of_one_tensor(towers: Entry, reason: str) -> None:
    weights: dict[str, Any] = {"kernel_initializer": {"class_name": "Zeros", "config": {}}}
    between = [layer("d", ["x"], **weights), layer("e", ["x"], **weights)]
    found = reasons(source(), source("z"), *between, towers, MERGE, inputs=[("x", 0, 0), ("z", 0, 0)])
    assert found["m"] == reason


def test_a_slice_of_another_axis_is_none() -> None:
    channels = {**split("s", "x"), "inbound_nodes": [["x", 0, 0, {"num_or_size_splits": 2, "axis": 1}]]}
    assert reasons(source(), channels, TOWERS, MERGE) == {"m": "s cuts another axis than the batch, or nothing at all"}


def test_a_row_of_the_source_is_a_row_for_the_template() -> None:
    wide = functional(
        source("tx", (None, 2)), layer("td", ["tx"]), inputs=[("tx", 0, 0)], outputs=[("td", 0, 0)], name="t"
    )
    towers = nested(wide, [("s", 0, 0)], [("s", 0, 1)])
    assert list(reasons(source(), split("s", "x"), towers, MERGE)) == ["m"]


def test_merges_in_pairs_are_one() -> None:
    fourth = {**split("s", "x"), "inbound_nodes": [["x", 0, 0, {"num_or_size_splits": 4, "axis": 0}]]}
    towers = nested(TEMPLATE, *([("s", 0, i)] for i in range(4)))
    pairs = [concatenate("a", ("t", 1, 0), ("t", 2, 0)), concatenate("b", ("t", 3, 0), ("t", 4, 0))]
    layers = [source(), fourth, towers, *pairs]
    whole = functional(*layers, concatenate("m", ("a", 0, 0), ("b", 0, 0)), **OUTER)
    (found,) = wrappers.find(read(whole))
    assert [merge.calls for merge in found.merges] == [(CallId("m", 0), CallId("a", 0), CallId("b", 0))]
    crossed = functional(*layers, concatenate("m", ("b", 0, 0), ("a", 0, 0)), **OUTER)
    assert wrappers.find(read(crossed)) == []


def test_no_tower_is_left_out_of_the_merge() -> None:
    """Nor where every tower has a slice of its own, which nobody else reads."""
    entries = [stored.config(f"s{i}", {}) for i in range(3)]
    model = stored.model([entries])
    assert len(recognise(read(model), {"Rows"}).wrappers) == 1
    joined = model["config"]["layers"][-1]["inbound_nodes"][0]
    del joined[2]
    result = recognise(read(model), {"Rows"})
    assert result.wrappers == ()
    assert result.near_misses[0].reason == "net is called on one more slice, which merge does not join"


class TestSomebodysOwnSlices:
    """What they are told counts; what they are called does not."""

    @staticmethod
    def lane(*told: dict[str, Any], batch: int | None = None, kind: str = "Rows") -> wrappers.Recognised:
        entries = [{**stored.config(f"s{i}", one), "class_name": kind} for i, one in enumerate(told)]
        return recognise(read(stored.model([entries], batch=batch)))

    def test_numbers_that_come_to_the_batch(self) -> None:
        (found,) = self.lane({"i": 0, "parts": 2}, {"i": 1, "parts": 2}).wrappers
        assert found.confidence == "likely"

    @pytest.mark.parametrize("kind", ["Rows", "SliceBatch", "GpuSlice"])
    def test_a_class_that_is_told_nothing_is_no_evidence(self, kind: str) -> None:
        result = self.lane({}, {}, kind=kind)
        assert result.wrappers == ()
        (miss,) = result.near_misses
        assert miss.reason.startswith(f"nothing stored tells whether {kind} cuts the batch")

    def test_unless_the_caller_vouches_for_it(self) -> None:
        model = read(stored.model([[stored.config(f"s{i}", {}) for i in range(2)]]))
        (found,) = recognise(model, {"Rows"}).wrappers
        assert found.confidence == "likely"
        assert "the caller vouches that Rows cuts the batch in order" in found.evidence
        assert recognise(model, {"Other"}).wrappers == ()

    def test_the_inputs_are_cut_in_the_same_places(self) -> None:
        one = [{"lo": 0.0, "hi": 0.5}, {"lo": 0.5, "hi": 1.0}]
        other = [{"lo": 0.0, "hi": 0.6}, {"lo": 0.6, "hi": 1.0}]

        def lanes(*told: list[dict[str, float]]) -> wrappers.Recognised:
            entries = [[stored.config(f"s{j}{i}", t) for i, t in enumerate(lane)] for j, lane in enumerate(told)]
            return recognise(read(stored.model(entries)))

        assert len(lanes(one, one).wrappers) == 1
        (miss,) = lanes(one, other).near_misses
        assert miss.reason == "the inputs of net are cut in different places"

    def test_slices_that_are_bound_late_are_named(self) -> None:
        entries = [stored.cells(f"s{i}", {"i": 1, "parts": 2}) for i in range(2)]
        (found,) = recognise(read(stored.model([entries]))).wrappers
        assert found.bound_late == ("s0", "s1")
