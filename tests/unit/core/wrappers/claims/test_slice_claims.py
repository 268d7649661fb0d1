"""The arguments of slices must come to all rows in order: the forms that do, and the nearest that do not.

(Every stored number of every form as another: test_mutants.py.)
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.wrappers.one_layer import called, code_lambda, lane, op_function
from unnest.core.wrappers.claims import slice_claims
from unnest.core.wrappers.claims.slice_claims import ClaimStatus, SliceClaim, claim
from unnest.core.wrappers.claims.stored_slice_numbers import Slice

K: Any = None


def lambdas(*arguments: dict[str, Any]) -> list[Slice]:
    """Lambdas of one function by name, told by arguments."""
    return lane(
        *(
            called("Lambda", name=f"s{i}", function=["f", None, None], arguments=a)
            for i, a in enumerate(arguments)
        )
    )


def classes(*configs: dict[str, Any]) -> list[Slice]:
    """A custom class with its numbers in the config."""
    return lane(*(called("Rows", name=f"s{i}", trainable=True, **c) for i, c in enumerate(configs)))


@pytest.mark.parametrize(
    ("slices", "told", "edges"),
    [
        (lambdas({"i": 0, "parts": 2}, {"i": 1, "parts": 2}), ClaimStatus.ROWS, (0, 0.5)),
        (lambdas({"i": 1, "parts": 2}, {"i": 2, "parts": 2}), ClaimStatus.ROWS, (0, 0.5)),
        (lambdas({"i": 0, "parts": 2}, {"i": 1, "parts": 3}), ClaimStatus.OTHERWISE, ()),
        (lambdas({"i": 1, "parts": 2}, {"i": 0, "parts": 2}), ClaimStatus.OTHERWISE, ()),
        (lambdas({"i": 2, "parts": 2}, {"i": 3, "parts": 2}), ClaimStatus.OTHERWISE, ()),
        (lambdas({"i": 0}, {"i": 1}), ClaimStatus.PARTLY, ()),
        (classes({"i": 0, "parts": 2}, {"i": 1, "parts": 2}), ClaimStatus.ROWS, (0, 0.5)),
        (classes({"i": 0}, {"i": 1}), ClaimStatus.OPAQUE, ()),
    ],
    ids=["from 0", "from 1", "two counts", "the wrong way round", "from 2", "no count", "of a class",
         "of a class, no count"],
)  # fmt: skip
def test_an_index_and_the_number_of_parts(
    slices: list[Slice], told: ClaimStatus, edges: tuple[float, ...]
) -> None:
    found = claim(slices)
    assert (found.status, found.part_starts) == (told, edges)


@pytest.mark.parametrize(
    ("slices", "rows", "told"),
    [
        (lambdas({"start": 0, "n": 3, "of": 5}, {"start": 3, "n": 2, "of": 5}), None, ClaimStatus.ROWS),
        (lambdas({"start": 0, "n": 3, "of": 6}, {"start": 3, "n": 2, "of": 6}), None, ClaimStatus.OTHERWISE),
        (lambdas({"start": 0, "n": 3, "of": 5}, {"start": 2, "n": 2, "of": 5}), None, ClaimStatus.OTHERWISE),
        (lambdas({"start": 1, "n": 2, "of": 5}, {"start": 3, "n": 2, "of": 5}), None, ClaimStatus.OTHERWISE),
        (lambdas({"lo": 0.0, "hi": 0.5}, {"lo": 0.5, "hi": 1.0}), None, ClaimStatus.ROWS),
        (lambdas({"lo": 0.0, "hi": 0.5}, {"lo": 0.4, "hi": 1.0}), None, ClaimStatus.OTHERWISE),
        (lambdas({"lo": 0, "hi": 60}, {"lo": 60, "hi": 100}), None, ClaimStatus.ROWS),
        (lambdas({"lo": 0, "hi": 4}, {"lo": 4, "hi": 7}), 7, ClaimStatus.ROWS),
        (lambdas({"lo": None, "hi": 4}, {"lo": 4, "hi": None}), None, ClaimStatus.ROWS),
    ],
    ids=["shares", "of another total", "overlapping shares", "not from the first row", "fractions",
         "overlapping fractions", "percent", "rows of a fixed batch", "open ends"],
)  # fmt: skip
def test_shares_and_bounds(slices: list[Slice], rows: int | None, told: ClaimStatus) -> None:
    assert claim(slices, rows).status is told


@pytest.mark.parametrize(
    ("slices", "rows"),
    [
        (lambdas({"i": 0, "parts": 2}, {"i": 2, "parts": 2}), None),
        (lambdas({"lo": 0.0, "hi": 0.5}, {"lo": 0.5, "hi": 0.9}), None),
        (lambdas({"lo": 0, "hi": 4}, {"lo": 4, "hi": 7}), 8),
    ],
    ids=["one left out", "not to the end", "of a larger batch"],
)
def test_claims_must_add_up(slices: list[Slice], rows: int | None) -> None:
    """The parts line up, but what they come to is not the batch."""
    found = claim(slices, rows)
    assert found.status not in (ClaimStatus.ROWS, ClaimStatus.DEALT, ClaimStatus.LATE)
    assert found.part_starts == ()


def test_two_forms_must_tell_one_cut() -> None:
    both = lambdas(
        {"i": 0, "parts": 2, "lo": 0.0, "hi": 0.6}, {"i": 1, "parts": 2, "lo": 0.6, "hi": 1.0}
    )
    assert claim(both).status is ClaimStatus.OTHERWISE
    same = lambdas(
        {"i": 0, "parts": 2, "lo": 0.0, "hi": 0.5}, {"i": 1, "parts": 2, "lo": 0.5, "hi": 1.0}
    )
    assert claim(same).status is ClaimStatus.ROWS


def test_a_number_that_varies_in_another_way_is_no_order_of_parts() -> None:
    found = claim(lambdas({"i": 0, "parts": 2, "scale": 3}, {"i": 1, "parts": 2, "scale": 7}))
    assert (found.status, found.sentence) == (
        ClaimStatus.OTHERWISE,
        "scale is 3, 7 in the slices, which does not number parts in order",
    )


@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("key", ["axis", "dim", "axes"])
def test_a_slice_of_another_axis_is_none(key: str, axis: int) -> None:
    found = claim(lambdas({"i": 0, "parts": 2, key: axis}, {"i": 1, "parts": 2, key: axis}))
    assert (found.status, found.sentence) == (
        ClaimStatus.OTHERWISE,
        f"s0 cuts axis {axis}, which is not the batch",
    )
    assert (
        claim(lambdas({"i": 0, "parts": 2, key: 0}, {"i": 1, "parts": 2, key: 0})).status
        is ClaimStatus.ROWS
    )


class TestClosures:
    """Cells that a loop bound late all hold the last part's numbers."""

    @staticmethod
    def cells(*values: list[int]) -> list[Slice]:
        functions = [["code", None, value] for value in values]
        return lane(*(called("Lambda", name=f"s{i}", function=f) for i, f in enumerate(functions)))

    def test_in_order(self) -> None:
        assert claim(self.cells([0, 2], [1, 2])).status is ClaimStatus.ROWS

    @pytest.mark.parametrize(
        "cells", [[1, 2], [1], [2, 4]], ids=["index and count", "index alone", "bounds"]
    )
    def test_the_last_part_s_in_every_slice(self, cells: list[int]) -> None:
        assert claim(self.cells(cells, cells)).status is ClaimStatus.LATE

    def test_the_first_part_s_in_every_slice(self) -> None:
        assert claim(self.cells([0, 2], [0, 2])).status is ClaimStatus.OTHERWISE


class TestOpaque:
    """A name alone is no evidence."""

    @pytest.mark.parametrize("name", ["Rows", "SliceBatch", "Augment", "GetSlice"])
    def test_a_class_that_is_told_nothing(self, name: str) -> None:
        slices = lane(*(called(name, name=f"s{i}", trainable=True) for i in range(2)))
        found = claim(slices)
        assert found.status is ClaimStatus.OPAQUE
        assert found.sentence is not None
        assert found.sentence.endswith(f"if it cuts, pass --slice-layer {name}")

    def test_a_layer_of_keras_s_own_is_no_slice(self) -> None:
        slices = lane(
            *(called("Dropout", name=f"s{i}", trainable=True, rate=0.5) for i in range(2))
        )
        assert claim(slices).status is ClaimStatus.OTHERWISE

    def test_a_function_by_name_alone(self) -> None:
        assert (
            claim(lane(*(called("Lambda", name=f"s{i}", function="half") for i in range(2)))).status
            is ClaimStatus.OPAQUE
        )

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ({"flip": False}, {"flip": True}),
            ({"mode": "identity"}, {"mode": "mirror"}),
            ({"mode": "identity", "parts": 2}, {"mode": "mirror", "parts": 2}),
            ({"seed": 1}, {"seed": 2}),
            ({"angle": 0.0}, {"angle": 1.0}),
        ],
    )
    def test_a_function_by_name_whose_arguments_tell_no_rows(
        self, first: dict[str, Any], second: Any
    ) -> None:
        found = claim(lambdas(first, second))
        assert found.status is ClaimStatus.OPAQUE
        assert found.sentence is not None
        assert found.sentence.endswith("if it cuts, pass --slice-layer Lambda")

    def test_code_in_the_file_may_still_tell_them(self) -> None:
        def half(x: Any, second: Any) -> Any:
            n = K.shape(x)[0] // 2
            return x[n:] if second else x[:n]

        def of_two(x: Any, k: int) -> Any:
            n = K.shape(x)[0] // 2
            return x[(k - 1) * n : k * n]

        for source, first in ((half, {"second": False}), (half, {"second": 0}), (of_two, {"k": 1})):
            ((key, value),) = first.items()
            both = lane(
                code_lambda(source, **first), code_lambda(source, **{key: type(value)(value + 1)})
            )
            assert claim(both).status is ClaimStatus.PARTLY

    def test_a_class_that_is_told_numbers_that_nothing_explains(self) -> None:
        assert claim(classes({"a": 5}, {"a": 9})).status is ClaimStatus.OPAQUE

    def test_a_class_that_is_told_the_same_for_all(self) -> None:
        assert (
            claim(classes({"i": 0, "parts": 2}, {"i": 0, "parts": 2})).status
            is ClaimStatus.OTHERWISE
        )


class TestOneLayerForAllTowers:
    """An output per tower."""

    @staticmethod
    def split(*outputs: int, kind: str = "Split", **config: Any) -> list[Slice]:
        layer, call = called(kind, trainable=True, **config)
        return [Slice(layer, call, output) for output in outputs]

    @pytest.mark.parametrize(
        ("slices", "told"),
        [
            (split(0, 1, parts=2), ClaimStatus.ROWS),
            (split(1, 0, parts=2), ClaimStatus.OTHERWISE),
            (split(0, 1, parts=3), ClaimStatus.OTHERWISE),
            (split(0, 1, parts=2, axis=1), ClaimStatus.OTHERWISE),
            (split(0, 1), ClaimStatus.OPAQUE),
            (split(0, 1, kind="Lambda", function="f"), ClaimStatus.PARTLY),
        ],
        ids=[
            "two of two",
            "the wrong way round",
            "two of three",
            "another axis",
            "told nothing",
            "a function",
        ],
    )
    def test_the_parts_in_use_are_all(self, slices: list[Slice], told: ClaimStatus) -> None:
        assert claim(slices).status is told


def test_the_inputs_are_cut_alike() -> None:
    """In places that are nearer to each other than two rows of a batch, too."""
    halves = claim(lambdas({"lo": 0.0, "hi": 0.5}, {"lo": 0.5, "hi": 1.0}))
    counted = claim(lambdas({"i": 0, "parts": 2}, {"i": 1, "parts": 2}))
    uneven = claim(lambdas({"lo": 0.0, "hi": 0.50001}, {"lo": 0.50001, "hi": 1.0}))
    thirds = claim(lambdas(*({"i": i, "parts": 3} for i in range(3))))
    silent = claim(lambdas({"i": 0}, {"i": 1}))
    assert slice_claims.agree([halves, counted, silent, thirds])
    assert not slice_claims.agree([halves, uneven])


@pytest.mark.parametrize(
    ("config", "one_of_one", "nothing"),
    [
        ({"i": 0, "parts": 1}, True, False),
        ({"i": 1, "parts": 1}, False, False),
        ({"i": 0, "parts": 1, "axis": 0}, False, False),
        ({"i": 0.0, "parts": 1.0}, False, False),
        ({"trainable": True}, False, True),
    ],
)
def test_what_one_tower_alone_is_told(
    config: dict[str, Any], one_of_one: bool, nothing: bool
) -> None:
    layer, _ = called("Rows", **config)
    assert (slice_claims.is_part_one_of_one(layer), slice_claims.says_nothing(layer)) == (
        one_of_one,
        nothing,
    )


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_in_defaults_are_called_as_the_code_calls_them(first: int) -> None:
    """From 1 on only where the code takes 1 off that parameter."""
    codes = [
        (lambda x, i=i, parts=2: K.shape(x)[0] // parts * (i - 1))
        if first
        else (lambda x, i=i, parts=2: K.shape(x)[i] // parts)
        for i in (first, first + 1)
    ]
    told = claim(lane(*(code_lambda(code) for code in codes)))
    sentence = f"slice arguments: i = {first}, {first + 1} of parts = 2"
    assert told == SliceClaim(ClaimStatus.ROWS, sentence, (0.0, 0.5))
    off_by_one = [(lambda x, i=i, parts=2: K.shape(x)[i] // (parts - 1)) for i in (1, 2)]
    assert claim(lane(*(code_lambda(code) for code in off_by_one))).status is ClaimStatus.OTHERWISE


def test_code_without_a_call_can_but_deal_rows_out() -> None:
    """Bounds in such code are numbers of rows; an index is where each k-th row begins."""
    dealt = lane(
        *(code_lambda(lambda x, i=0, parts=2: x[i::parts], i=i, parts=2) for i in range(2))
    )
    assert claim(dealt).status is ClaimStatus.DEALT
    measured = lane(
        *(
            code_lambda(lambda x, i=0, parts=2: K.shape(x)[i] // parts, i=i, parts=2)
            for i in range(2)
        )
    )
    assert claim(measured).status is ClaimStatus.ROWS


def test_constants_of_a_call_count_and_its_tensors_do_not() -> None:
    layers = [op_function("f", i=i, parts=2) for i in range(2)]
    as_classes = lane(
        *((called("Rows", name=f"s{i}")[0], call) for i, (_, call) in enumerate(layers))
    )
    assert claim(as_classes).status is ClaimStatus.ROWS


def _by_helper(x: Any, k: int, share: Any) -> Any:
    lo, hi = K.helper(K.shape(x)[0], k, share)
    return x[lo:hi]


def _without_rows(x: Any, k: int, share: Any) -> Any:
    return K.helper(x, k, share)


@pytest.mark.parametrize(
    ("source", "share", "told"),
    [
        (_by_helper, [2, 1, 1], ClaimStatus.PARTLY),
        (_by_helper, [0, 2, 4, 5], ClaimStatus.PARTLY),
        (_by_helper, [2, 1], ClaimStatus.OTHERWISE),
        (_by_helper, [2, 1, 0], ClaimStatus.OTHERWISE),
        (_by_helper, [0, 4, 2, 5], ClaimStatus.OTHERWISE),
        (_without_rows, [2, 1, 1], ClaimStatus.OTHERWISE),
    ],
    ids=["shares", "bounds", "of two parts", "an empty part", "not rising", "no rows in the code"],
)
def test_ratios_of_all_parts_beside_an_index(
    source: Any, share: list[int], told: ClaimStatus
) -> None:
    found = claim(lane(*(code_lambda(source, k=k, share=share) for k in range(3))))
    assert found.status is told
    if told is ClaimStatus.OTHERWISE:
        assert found.sentence is not None
        assert "but share is" in found.sentence


def test_ratios_beside_the_index_of_a_class_leave_it_open() -> None:
    """What a class does is not stored: the reason says how to vouch for it, not that the ratios are against it."""
    found = claim(classes(*({"index": k, "ratios": [3, 1]} for k in range(2))))
    assert found.status is ClaimStatus.OPAQUE
