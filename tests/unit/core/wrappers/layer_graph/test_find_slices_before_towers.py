"""Layers that slice, and for each rule the nearest graph in which it does not hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.corpus.unpacked import FIXTURES
from tests.judged import check_verdict, only_wrapper
from tests.unit.core.build import functional, layer, nested, source
from tests.unit.core.rewrite.wrapping import MERGE, TEMPLATE, TOWERS, split
from tests.unit.core.wrappers import towers as stored
from tests.unit.core.wrappers.near import OUTER, Entry, reasons
from tests.unit.core.wrappers.one_layer import function
from unnest.core.architecture import read
from unnest.core.recognition_results import UnevenTowers
from unnest.core.wrappers.layer_graph.recognise_layer_graph import recognise
from unnest.core.wrappers.layer_graph.wrapper_records import Assumptions, Recognised

KERAS_3 = FIXTURES / "weights_h5/keras3/weights_h5-carried-named-adam"
#: A template that does not say what rows it takes.
TEMPLATE_OF_ANY = functional(
    layer("tx", kind="InputLayer"),
    layer("td", ["tx"]),
    inputs=[("tx", 0, 0)],
    outputs=[("td", 0, 0)],
    name="t",
)


def test_nobody_else_reads_the_slices() -> None:
    layers = [source(), split("s", "x"), TOWERS, MERGE]
    reason = "s, which a tower reads, is read by other layers too"
    assert reasons(*layers, layer("spy", [("s", 0, 1)])) == {"m": reason}
    assert reasons(*layers, outputs=[("m", 0, 0), ("s", 0, 0)]) == {"m": reason}


def test_a_layer_behind_one_slice_alone() -> None:
    """The other tower reads its slice as it is; where both have one, it is what stands between."""
    flip = layer("flip", [("s", 0, 1)], kind="RandomFlip", mode="horizontal")
    one = nested(TEMPLATE, [("s", 0, 0)], ["flip"])
    reason = "flip stands behind some slices alone, not all"
    assert reasons(source(), split("s", "x"), flip, one, MERGE) == {"m": reason}
    (miss,) = recognise(
        read(functional(source(), split("s", "x"), flip, one, MERGE, **OUTER))
    ).near_misses
    assert isinstance(miss, UnevenTowers)
    flop = layer("flop", [("s", 0, 0)], kind="RandomFlip", mode="vertical")
    both = nested(TEMPLATE, ["flop"], ["flip"])
    reason = "flop stands between a slice and its tower, and does not cut its input"
    assert reasons(source(), split("s", "x"), flip, flop, both, MERGE) == {"m": reason}


@pytest.mark.parametrize(
    ("towers", "reason"),
    [
        (nested(TEMPLATE, ["x"], ["z"]), "the towers read different tensors: x, z"),
        (nested(TEMPLATE, ["x"], ["x"]), "every call of t reads the whole of x"),
        (
            nested(TEMPLATE, ["d"], ["e"]),
            "d, which has weights, stands between the towers and what they read",
        ),
    ],
    ids=["twins", "the whole for all", "layers with weights"],
)
def test_every_tower_reads_a_slice_of_one_tensor(towers: Entry, reason: str) -> None:
    weights: dict[str, Any] = {"kernel_initializer": {"class_name": "Zeros", "config": {}}}
    between = [layer("d", ["x"], **weights), layer("e", ["x"], **weights)]
    found = reasons(
        source(), source("z"), *between, towers, MERGE, inputs=[("x", 0, 0), ("z", 0, 0)]
    )
    assert found["m"] == reason


def halves(*names: str) -> list[Entry]:
    """Lambdas with the arguments of a cut of x in two."""
    return [{**stored.arguments(n, {"i": i, "parts": 2}), **layer(n, ["x"], kind="Lambda")} | {
        "config": stored.arguments(n, {"i": i, "parts": 2})["config"]} for i, n in enumerate(names)]  # fmt: skip


def own_code(name: str, *reads: str) -> Entry:
    """A Lambda whose code cannot be followed."""
    return layer(
        name, [(read, 0, 0) for read in reads], kind="Lambda", function=[stored.CODE, None, None]
    )


def around(*between: Entry) -> Recognised:
    """Return what is recognised if these layers stand between two halves and their towers, which read p and q."""
    entries = [source(), *halves("a", "b"), *between, nested(TEMPLATE, ["p"], ["q"]), MERGE]
    return recognise(read(functional(*entries, **OUTER)))


def test_what_is_computed_of_each_slice_stays_with_its_tower() -> None:
    wrapper = only_wrapper(around(own_code("p", "a"), own_code("q", "b")))
    assert wrapper.inline is not None
    assert {at.layer for at in wrapper.inline.calls} == {"p", "t"}


@pytest.mark.parametrize("reads", [("b", "a"), ("a", "b")], ids=["crossed", "in one order"])
def test_what_reads_both_halves_mixes_them(reads: tuple[str, str]) -> None:
    seen = around(own_code("p", "a", "b"), own_code("q", *reads))
    assert seen.wrappers == ()
    assert {miss.reason for miss in seen.near_misses} == {
        "p reads several tensors, which it may combine"
    }


def test_one_layer_that_is_called_alike_gives_the_same_twice() -> None:
    """Two views of one half by a layer that cannot be followed."""
    views = {**own_code("p", "a"), "inbound_nodes": [[["a", 0, 0, {}]], [["a", 0, 0, {}]]]}
    towers = nested(TEMPLATE, [("p", 0, 0)], [("p", 1, 0)])
    reason = "p is called on one tensor several times alike, and gives no different parts"
    assert reasons(source(), *halves("a"), views, towers, MERGE) == {"m": reason}


def test_a_row_of_the_source_is_a_row_for_the_template() -> None:
    wide = functional(
        source("tx", (None, 2)),
        layer("td", ["tx"]),
        inputs=[("tx", 0, 0)],
        outputs=[("td", 0, 0)],
        name="t",
    )
    towers = nested(wide, [("s", 0, 0)], [("s", 0, 1)])
    assert list(reasons(source(), split("s", "x"), towers, MERGE)) == ["m"]


@pytest.mark.parametrize(
    ("promise", "shape", "is_wrapper"),
    [
        ([4], (None, 4), True),
        ([2], (None, 4), False),
        ([None, 4], (None, 6, 4), True),
        ([3, 4], (None, 6, 4), False),
        ([6, 2], (None, 6, 4), False),
        ([3, 4], (None, None, 4), True),
        (
            [None, 2],
            (None, 4),
            True,
        ),  # with the axis of rows, which Keras did not ask for, and does not heed
        ("lambda", (None, 4), True),
        (None, (None, 4), True),
    ],
)
def test_a_slice_gives_the_rows_that_it_takes(
    promise: Any, shape: tuple[int | None, ...], *, is_wrapper: bool
) -> None:
    """A Lambda whose author promised rows of another shape cuts another axis than the batch."""
    promised = {"output_shape": promise, "function": "get_slice"}
    cutting = [{**half, "config": {**half["config"], **promised}} for half in halves("a", "b")]
    entries = [source("x", shape), *cutting, nested(TEMPLATE_OF_ANY, ["a"], ["b"]), MERGE]
    result = recognise(read(functional(*entries, **OUTER)))
    assert len(result.wrappers) == int(is_wrapper)
    assert (
        is_wrapper
        or "a gives rows of another shape than those of x" in result.near_misses[0].reason
    )


def test_code_says_more_than_its_author_promised() -> None:
    """Keras 2 uses TensorFlow's shape, whatever was promised."""
    code = function(lambda x, i, parts: x[len(x) // parts * i : len(x) // parts * (i + 1)])
    told = {"output_shape": [3], "function": code}
    cutting = [{**half, "config": {**half["config"], **told}} for half in halves("a", "b")]
    check_verdict(
        recognise(
            read(functional(source(), *cutting, nested(TEMPLATE, ["a"], ["b"]), MERGE, **OUTER))
        ),
        "parallel",
    )


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        (None, None),
        ([], None),
        ([None, 2], "lambda gives rows of another shape than those of features"),
    ],
)
def test_keras_3_notes_what_a_slice_gives(
    shape: list[int | None] | None, reason: str | None
) -> None:
    """Of a named function, whose code is nowhere, that is all there is beside its arguments.

    What `--keras 3` writes notes no axes where it does not know a shape.
    """
    model = json.loads((KERAS_3 / "model.json").read_text())
    for note in notes_of(model):
        if shape is not None and note["keras_history"][0] == "lambda":
            note["shape"] = shape
    result = recognise(read(model))
    assert [miss.reason for miss in result.near_misses] == ([] if reason is None else [reason])
    assert len(result.wrappers) == int(reason is None)


def notes_of(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the specs that Keras 3 notes for the tensors that calls read."""
    if isinstance(value, dict):
        if value.get("class_name") == "__keras_tensor__":
            yield value["config"]
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from notes_of(inner)


class TestSomebodysOwnSlices:
    """Their arguments count; their names do not."""

    @staticmethod
    def lane(*told: dict[str, Any], batch: int | None = None, kind: str = "Rows") -> Recognised:
        entries = [
            {**stored.config(f"s{i}", one), "class_name": kind} for i, one in enumerate(told)
        ]
        return recognise(read(stored.model([entries], batch=batch)))

    def test_numbers_that_come_to_the_batch(self) -> None:
        found = only_wrapper(self.lane({"i": 0, "parts": 2}, {"i": 1, "parts": 2}))
        assert found.confidence == "likely"

    @pytest.mark.parametrize("kind", ["Rows", "SliceBatch", "GpuSlice"])
    def test_a_class_that_is_told_nothing_is_no_evidence(self, kind: str) -> None:
        result = self.lane({}, {}, kind=kind)
        assert result.wrappers == ()
        (miss,) = result.near_misses
        assert miss.reason.startswith(f"the file does not show whether {kind} cuts the batch")

    def test_unless_the_caller_vouches_for_it(self) -> None:
        model = read(stored.model([[stored.config(f"s{i}", {}) for i in range(2)]]))
        found = only_wrapper(recognise(model, Assumptions({"Rows"})))
        assert found.confidence == "likely"
        assert "the caller vouches that Rows cuts the batch in order" in found.evidence
        check_verdict(recognise(model, Assumptions({"Other"})), "clean")

    def test_the_inputs_are_cut_in_the_same_places(self) -> None:
        one = [{"lo": 0.0, "hi": 0.5}, {"lo": 0.5, "hi": 1.0}]
        other = [{"lo": 0.0, "hi": 0.6}, {"lo": 0.6, "hi": 1.0}]

        def lanes(*told: list[dict[str, float]]) -> Recognised:
            entries = [
                [stored.config(f"s{j}{i}", t) for i, t in enumerate(lane)]
                for j, lane in enumerate(told)
            ]
            return recognise(read(stored.model(entries)))

        only_wrapper(lanes(one, one))
        (miss,) = lanes(one, other).near_misses
        assert miss.reason == "the inputs of net are cut in different places"
