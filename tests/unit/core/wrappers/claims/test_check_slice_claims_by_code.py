"""Claims of a lane held against its code: code that does otherwise wins, code that cannot be followed does not."""

# ruff: noqa: ARG005, RUF005  slices are given all their arguments, and need not use them; lists are added as people do

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.wrappers.one_layer import code_lambda, lane
from unnest.budget import Answers, Budget, limited
from unnest.core.model import Json
from unnest.core.wrappers.claims import slice_claims
from unnest.core.wrappers.claims.check_slice_claims_by_code import (
    are_followed,
    checked,
    takes_all_rows,
)
from unnest.core.wrappers.claims.slice_claims import ClaimStatus, SliceClaim

tf: Any = None  # what the code of these functions names; they are read, not called
K: Any = None
helper: Any = None
split: Any = None
shape: Any = None


def halves(x: Any, i: int, parts: int) -> Any:
    n = tf.shape(x)[0] // parts
    return x[i * n : (i + 1) * n]


def scaled(x: Any, i: int, parts: int) -> Any:
    n = tf.shape(x)[0] // parts
    return x[i * n : (i + 1) * n] / 255.0


def strided(x: Any, i: int, parts: int) -> Any:
    return x[i::parts]


def other_end(x: Any, i: int, parts: int) -> Any:
    n = tf.shape(x)[0] // parts
    return x[(parts - 1 - i) * n : (parts - i) * n]


def scaled_in_a_loop(x: Any, i: int, parts: int) -> Any:
    n = tf.shape(x)[0] // parts
    y = x[i * n : (i + 1) * n]
    for _ in range(i):
        y = y * 1.5
    return y


def all_but_one(x: Any, i: int, parts: int) -> Any:
    return tf.concat([part for place, part in enumerate(tf.split(x, parts)) if place != i], 0)


def one_more(x: Any, i: int, parts: int) -> Any:
    part = tf.split(x, parts)[i]
    return part + tf.fill([tf.shape(part)[0], 3], 1.0)


def first_half(x: Any, i: int, parts: int) -> Any:
    return x[: tf.shape(x)[0] // parts + 0 * i]


def without_the_last_row(x: Any, i: int, parts: int) -> Any:
    n = tf.shape(x)[0] // parts
    return x[i * n : -1 if i == parts - 1 else (i + 1) * n]


def four_rows(x: Any, i: int, parts: int) -> Any:
    return x[4 * i : 4 * i + 4 + 0 * parts]


def custom_function(x: Any, i: int, parts: int) -> Any:
    return helper(x, i, parts)


def by_the_size_tried(x: Any, i: int, parts: int) -> Any:
    return x[700 * i : 700 * i + 700 + 0 * parts]


def turned_twice(x: Any, i: int, parts: int) -> Any:
    n = tf.shape(x)[0] // parts
    return tf.reverse(tf.reverse(x, [0])[(parts - 1 - i) * n : (parts - i) * n], [0])


def turned_once(x: Any, i: int, parts: int) -> Any:
    n = tf.shape(x)[0] // parts
    return tf.reverse(x, [0])[i * n : (i + 1) * n]


CLAIM = SliceClaim(ClaimStatus.ROWS, "slice arguments: i counts from 0, parts is 2")


def told(function: Any, claim: SliceClaim = CLAIM, parts: int = 2) -> SliceClaim:
    slices = [code_lambda(function, i=i, parts=parts) for i in range(parts)]
    return checked(
        claim,
        lane(
            *((layer._replace(name=f"lambda_{k}"), call) for k, (layer, call) in enumerate(slices))
        ),
    )


def test_rows_that_are_turned() -> None:
    """Each half in its order again, or all rows from the last to the first."""
    assert told(turned_twice) == CLAIM
    assert told(turned_once).status is ClaimStatus.OTHERWISE


@pytest.mark.parametrize("function", [halves, four_rows, custom_function])
def test_code_that_does_not_contradict(function: Any) -> None:
    assert told(function) == CLAIM


def thirds_with_the_rest(x: Any, i: int, parts: int) -> Any:
    n = tf.shape(x)[0] // parts
    return x[i * n : (i + 1) * n if i < parts - 1 else None]


@pytest.mark.parametrize(
    ("function", "parts", "remainder"),
    [
        (halves, 2, ", but for a remainder of fewer rows than slices"),
        (halves, 3, ", but for a remainder of fewer rows than slices"),
        (thirds_with_the_rest, 2, ""),
        (thirds_with_the_rest, 3, ""),
    ],
)
def test_code_tells_what_arguments_leave_open(function: Any, parts: int, remainder: str) -> None:
    """Also of what batch sizes: of an odd one, `n // 2` rows twice leave a row."""
    names = ", ".join(f"lambda_{k}" for k in range(parts))
    sentence = f"the code of {names} takes all rows, each once and in order{remainder}"
    found = told(function, SliceClaim(ClaimStatus.PARTLY), parts)
    assert (found.status, found.sentence) == (ClaimStatus.ROWS, sentence)


def test_other_code_numbers_and_types_are_other_questions() -> None:
    """While answers are kept for the files that follow: what differs by little is followed by itself."""
    i: Any = None

    def captured(x: Any, parts: int) -> Any:
        n = tf.shape(x)[0] // parts
        return x[i * n : (i + 1) * n]

    def objection(function: Any, closure: Json = None, **arguments: Json) -> SliceClaim:
        layer, call = code_lambda(function, closure, **arguments)
        second = code_lambda(halves, i=1, parts=2)
        return checked(CLAIM, lane((layer, call), second))

    cases: list[tuple[Any, Json, dict[str, Json]]] = [
        (halves, None, {"i": 0, "parts": 2}),
        (halves, None, {"i": 1, "parts": 2}),
        (halves, None, {"i": 0, "parts": 2.0}),
        (halves, None, {"i": False, "parts": 2}),
        (other_end, None, {"i": 0, "parts": 2}),
        (captured, [0], {"parts": 2}),
        (captured, [1], {"parts": 2}),
    ]
    alone = [objection(function, closure, **arguments) for function, closure, arguments in cases]
    assert len(set(alone)) > 1
    answers = Answers()
    for _ in range(2):
        for (function, closure, arguments), claim in zip(cases, alone, strict=True):
            with limited(Budget("m.h5", 10**9, 10**9, answers=answers)):
                assert objection(function, closure, **arguments) == claim


@pytest.mark.parametrize("function", [four_rows, by_the_size_tried, custom_function])
def test_code_that_takes_all_rows_of_one_batch_alone_tells_nothing(function: Any) -> None:
    assert told(function, SliceClaim(ClaimStatus.PARTLY)) == SliceClaim(ClaimStatus.PARTLY)


@pytest.mark.parametrize("parts", [2, 3, 7, 13, 64])
def test_any_number_of_parts(parts: int) -> None:
    assert told(halves, parts=parts) == CLAIM


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (scaled, "the code of lambda_0 does more than cut rows: it computes with the values (`/`)"),
        (other_end, "the code of lambda_0, lambda_1 takes the rows in another order"),
        (first_half, "the code of lambda_0, lambda_1 does not take every row once"),
        (without_the_last_row, "the code of lambda_0, lambda_1 leaves rows of every batch out"),
        (
            scaled_in_a_loop,
            "the code of lambda_1 does more than cut rows: it computes with the values (`*`)",
        ),
        (all_but_one, "the code of lambda_0, lambda_1 takes the rows in another order"),
        (
            one_more,
            "the code of lambda_0 does more than cut rows: it computes with the values (`+`)",
        ),
    ],
)
def test_code_that_does_otherwise(function: Any, sentence: str) -> None:
    assert told(function) == SliceClaim(ClaimStatus.OTHERWISE, sentence)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x, i, parts: tf.split(tf.random_shuffle(helper(x)), parts)[i], "random_shuffle"),
        (lambda x, i, parts: tf.linalg.band_part(helper(x), i, parts), "band_part"),
        (lambda x, i, parts: tf.gather(helper(x), tf.segment_sum(x, i)), "segment_sum"),
        (lambda x, i, parts: tf.map_fn(lambda row: row * i, tf.split(x, parts)[i]), "map_fn"),
        (lambda x, i, parts: tf.custom_gradient(helper)(tf.split(x, parts)[i]), "custom_gradient"),
        (lambda x, i, parts: K.in_train_phase(helper(x), tf.split(x, parts)[i]), "in_train_phase"),
    ],
)
def test_code_that_cannot_be_followed_may_not_compute(function: Any, name: str) -> None:
    """Arguments such as these belong to many functions."""
    sentence = f"the code of lambda_0 does more than cut rows: it uses `{name}`"
    assert told(function) == SliceClaim(ClaimStatus.OTHERWISE, sentence)


def _by_shape(x: Any, i: int, parts: int) -> Any:
    n = shape(x)[0] // parts
    return x[i * n : (i + 1) * n]


OPEN = SliceClaim(ClaimStatus.OTHERWISE, "no numbers")


@pytest.mark.parametrize(
    ("function", "name"),
    [(lambda x, i, parts: split(x, parts)[i], "split"), (_by_shape, "shape")],
)
def test_bare_names_may_be_functions_of_tensorflow(function: Any, name: str) -> None:
    """They make a claim that is open good, and say what they are taken for; numbers that tell are better."""
    sentence = (
        "the code of lambda_0, lambda_1 takes all rows, each once and in order, but for a remainder of fewer rows than "
        f"slices, taking `{name}` for TensorFlow's"
    )
    found = told(function, OPEN)
    assert found.status is ClaimStatus.PARTLY
    assert found.sentence in (
        sentence,
        sentence.replace(", but for a remainder of fewer rows than slices", ""),
    )
    assert told(function) == CLAIM


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x, i, parts: split(x, parts)[1 - i], "takes the rows in another order"),
        (
            lambda x, i, parts: split(x, parts, 1)[i],
            "more than cut rows: it takes a part of its rows",
        ),
        (
            lambda x, i, parts: split(x, parts)[i] / 255.0,
            "more than cut rows: it computes with the values (`/`)",
        ),
    ],
    ids=["another order", "another axis", "computes"],
)
def test_what_bare_names_speak_against(function: Any, reason: str) -> None:
    sentence = f"{reason}, taking `split` for TensorFlow's"
    found = told(function)
    assert (found.status, str(found.sentence)[-len(sentence) :]) == (
        ClaimStatus.OTHERWISE,
        sentence,
    )


def test_a_bare_name_that_no_operation_has_says_nothing() -> None:
    assert told(lambda x, i, parts: helper(x, parts)[i]) == CLAIM


def test_code_that_cannot_be_followed_may_compute_its_bounds() -> None:
    def by_sums(x: Any, i: int, parts: int) -> Any:
        return tf.slice(
            x, [tf.reduce_sum(helper(x, i))], [tf.cast(tf.shape(x)[0] / parts, "int32")]
        )

    assert told(by_sums) == CLAIM


def test_what_is_followed_to_its_end() -> None:
    def masked(x: Any, i: int, parts: int) -> Any:
        return tf.boolean_mask(x, tf.equal(tf.range(tf.shape(x)[0]) % parts, i))

    def masked_by_somebody(x: Any, i: int, parts: int) -> Any:
        return tf.boolean_mask(x, helper(x, i, parts))

    def slices(function: Any) -> Any:
        return lane(*(code_lambda(function, i=i, parts=2) for i in range(2)))

    def of_five_features(x: Any, i: int, parts: int) -> Any:
        return tf.slice(x, [i * 200 // parts, 0], [100, 5])

    assert are_followed(slices(halves), None)
    assert are_followed(slices(masked), None)
    assert are_followed(slices(of_five_features), (200, 5))
    assert not are_followed(slices(of_five_features), (200, None))
    assert not are_followed(slices(masked_by_somebody), None)


REORDERED = "the code of lambda_0, lambda_1 takes the rows in another order"
TWICE = "the code of lambda_0, lambda_1 does not take every row once"
CHANGED = "the code of lambda_0 does more than cut rows: it "


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda x, i, parts: tf.gather(x, range(i, 8, parts)), REORDERED),
        (lambda x, i, parts: K.gather(x, K.arange(i, 8, parts)), REORDERED),
        (lambda x, i, parts: tf.strided_slice(x, [i], [8], [parts]), REORDERED),
        (lambda x, i, parts: tf.gather(x, [0, 1, 2, 3]), TWICE),
        (lambda x, i, parts: tf.slice(x, [i, 0, 0, 0], [parts, -1, -1, -1]), TWICE),
        (lambda x, i, parts: tf.slice(x, [i * 4 + 1, 0], [4, -1]), TWICE),
        (
            lambda x, i, parts: tf.gather(x, [i, i + parts], axis=1),
            CHANGED + "takes a part of axis 1",
        ),
        (
            lambda x, i, parts: tf.sort(x, axis=0)[4 * i : 4 * i + 4],
            CHANGED + "calls tensorflow.sort",
        ),
        (lambda x, i, parts: tf.where(i, x, x), CHANGED + "calls tensorflow.where"),
        (lambda x, i, parts: K.repeat_elements(x, parts, 0)[i::parts], TWICE),
        (
            lambda x, i, parts: K.repeat_elements(x[4 * i : 4 * i + 4], parts, 1),
            CHANGED + "rearranges axis 1",
        ),
        (
            lambda x, i, parts: tf.cast(x[4 * i : 4 * i + 4], "float16"),
            CHANGED + "casts the values to float16",
        ),
        (
            lambda x, i, parts: K.cast(K.cast(x, "int32")[4 * i : 4 * i + 4], x.dtype),
            CHANGED + "casts the values to int32",
        ),
    ],
)
def test_calls_that_take_other_rows(function: Any, sentence: str) -> None:
    assert told(function) == SliceClaim(ClaimStatus.OTHERWISE, sentence)


def test_one_slice_that_cuts_another_axis_is_enough() -> None:
    def features(x: Any, i: int, parts: int) -> Any:
        size = tf.shape(x)[0] // parts
        return tf.slice(x, [0, i * size, 0, 0], [-1, size, -1, -1])

    sentence = "the code of lambda_1 does more than cut rows: it takes a part of axis 1"
    assert told(features) == SliceClaim(ClaimStatus.OTHERWISE, sentence)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i, parts: tf.gather(x, range(4 * i, 4 * i + 4)),
        lambda x, i, parts: K.gather(x, K.arange(4 * i, 4 * i + 4)),
        lambda x, i, parts: tf.slice(x, [4 * i, 0], [4, -1]),
        lambda x, i, parts: tf.strided_slice(x, [4 * i], [4 * i + 4]),
        lambda x, i, parts: tf.cast(x[4 * i : 4 * i + 4], "float32"),
        lambda x, i, parts: tf.cast(x[4 * i : 4 * i + 4], x.dtype),
        lambda x, i, parts: K.cast(x, K.floatx())[4 * i : 4 * i + 4],
        lambda x, i, parts: K.cast_to_floatx(x)[4 * i : 4 * i + 4],
    ],
)
def test_calls_that_take_the_rows_of_a_batch_of_eight(function: Any) -> None:
    assert told(function) == CLAIM


def test_code_that_takes_no_row() -> None:
    """The one slice of one tower, told that it is the second: its numbers could count from 1, but its code does not."""
    layer, call = code_lambda(halves, i=1, parts=1)
    counted_from_1 = SliceClaim(ClaimStatus.ROWS, "slice arguments: parts counts from 1, i is 1")
    sentence = "the code of lambda_0 does not take every row once"
    assert checked(counted_from_1, lane((layer._replace(name="lambda_0"), call))) == SliceClaim(
        ClaimStatus.OTHERWISE, sentence
    )


def test_code_that_is_told_nothing_and_cannot_be_followed_is_no_slice() -> None:
    """A custom function decides which rows it takes."""
    first, second = (lambda x: x[: helper(x) // 2]), (lambda x: x[helper(x) // 2 :])
    sentence = "no number tells which rows l take, and their code cannot be followed"
    assert checked(CLAIM, lane(code_lambda(first), code_lambda(second))) == SliceClaim(
        ClaimStatus.OTHERWISE, sentence
    )
    told_so = [code_lambda(custom_function, i=i, parts=2) for i in range(2)]
    assert checked(CLAIM, lane(*told_so)) == CLAIM
    by_cells = [code_lambda(lambda x: helper(x) + 1, closure=["a function"]) for _ in range(2)]
    assert checked(CLAIM, lane(*by_cells)) == CLAIM


def test_rows_that_are_dealt_out() -> None:
    assert told(strided) == SliceClaim(
        ClaimStatus.DEALT, "the code of lambda_0, lambda_1 deals the rows out"
    )
    dealt = SliceClaim(ClaimStatus.DEALT, "said otherwise")
    assert told(strided, dealt) == dealt


@pytest.mark.parametrize("verdict", [ClaimStatus.OTHERWISE, ClaimStatus.LATE])
def test_claims_that_code_does_not_change(verdict: ClaimStatus) -> None:
    """Cells that were bound late are the last part's in every slice, whatever the code does with them."""
    assert told(scaled, SliceClaim(verdict)) == SliceClaim(verdict)


LATE = SliceClaim(ClaimStatus.LATE, "slice arguments: every slice stores the last part's")


def in_closure(i: int, parts: int) -> Any:
    return lambda x: x[i * (tf.shape(x)[0] // parts) : (i + 1) * (tf.shape(x)[0] // parts)]


def bounds_in_closure(start: int, stop: int) -> Any:
    return lambda x: x[start:stop]


def first_in_closure(parts: int) -> Any:
    return lambda x: x[: tf.shape(x)[0] // parts]


@pytest.mark.parametrize(
    ("function", "cells", "claim"),
    [
        (in_closure(1, 2), [1, 2], LATE),
        (
            in_closure(1, 2),
            [0, 2],
            SliceClaim(ClaimStatus.OTHERWISE, "the code of l does not take every row once"),
        ),
        (
            first_in_closure(2),
            [2],
            SliceClaim(ClaimStatus.OTHERWISE, "the code of l does not take every row once"),
        ),
        (bounds_in_closure(4, 8), [4, 8], LATE),
        (
            bounds_in_closure(0, 4),
            [0, 4],
            SliceClaim(ClaimStatus.OTHERWISE, "the code of l does not take every row once"),
        ),
        (lambda x: helper(x)[:2], [1, 2], LATE),
    ],
)
def test_cells_bound_late_are_used_for_the_last_part(
    function: Any, cells: list[Json], claim: SliceClaim
) -> None:
    """With those cells code that can be followed takes the last part: a number of parts alone is no index."""
    assert checked(LATE, lane(*(code_lambda(function, closure=cells) for _ in range(2)))) == claim


def end_to_end(towers: Any) -> Any:
    return tf.concat(towers, 0)


def fixed_part(x: Any, first: int) -> Any:
    return x[first : first + 4]


def fixed_slice(x: Any, first: int) -> Any:
    return tf.slice(x, [first, 0], [4, 5])


FIRST_EIGHT = SliceClaim(
    ClaimStatus.PARTLY, "the code of l takes the first 8 rows, each once and in order"
)


@pytest.mark.parametrize("unsure", [ClaimStatus.OTHERWISE, ClaimStatus.UNEXPLAINED])
@pytest.mark.parametrize(
    ("function", "shape", "told"),
    [
        (fixed_part, (8, 5), ClaimStatus.ROWS),
        (fixed_slice, (8, 5), ClaimStatus.ROWS),
        (fixed_part, (12, 5), ClaimStatus.OTHERWISE),  # rows are left over
        (fixed_part, (None, 5), ClaimStatus.PARTLY),
        (fixed_slice, (None, 5), ClaimStatus.PARTLY),
        (fixed_part, None, ClaimStatus.PARTLY),
        (fixed_slice, None, ClaimStatus.OTHERWISE),  # 5 may be a part of the features
    ],
)
def test_bounds_that_are_written_for_one_batch(
    function: Any, shape: Any, told: ClaimStatus, unsure: ClaimStatus
) -> None:
    """For a source with so many rows, code says more than the numbers `first` is 0, 4."""
    slices = lane(*(code_lambda(function, first=first) for first in (0, 4)))
    claim = checked(SliceClaim(unsure), slices, shape)
    assert claim == FIRST_EIGHT if told is ClaimStatus.PARTLY else claim.status is told


def test_rows_that_are_left_over_of_a_fixed_batch() -> None:
    """The first eight of any batch may be all that there are; of twelve they are not."""
    slices = lane(*(code_lambda(fixed_part, first=first) for first in (0, 4)))
    assert checked(SliceClaim(ClaimStatus.PARTLY), slices, (None, 5)).status is ClaimStatus.PARTLY
    assert checked(SliceClaim(ClaimStatus.PARTLY), slices, (12, 5)) == SliceClaim(
        ClaimStatus.OTHERWISE, "the code of l does not take every row once"
    )


def sized(data: Any, idx: int, batch_size: int, input_shape: Any) -> Any:
    """As kuza55's, for a batch of which every part has so many rows."""
    size = [batch_size] + list(input_shape)
    start = [idx * batch_size] + [0] * len(input_shape)
    return tf.slice(data, start, size)


def with_a_gap(data: Any, idx: int, batch_size: int, input_shape: Any) -> Any:
    return tf.slice(
        data, [idx * (batch_size + 1)] + [0] * len(input_shape), [batch_size] + list(input_shape)
    )


def overlapping(data: Any, idx: int, batch_size: int, input_shape: Any) -> Any:
    return tf.slice(
        data, [idx * (batch_size - 1)] + [0] * len(input_shape), [batch_size] + list(input_shape)
    )


def without_the_first(data: Any, idx: int, batch_size: int, input_shape: Any) -> Any:
    return tf.slice(
        data, [idx * batch_size + 1] + [0] * len(input_shape), [batch_size] + list(input_shape)
    )


def part_of_the_features(data: Any, idx: int, batch_size: int, input_shape: Any) -> Any:
    return tf.slice(
        data,
        [idx * batch_size] + [0] * len(input_shape),
        [batch_size] + [n - 1 for n in input_shape],
    )


@pytest.mark.parametrize(
    ("function", "parts", "told"),
    [
        (sized, (0, 1), ClaimStatus.PARTLY),
        (sized, (0, 1, 2), ClaimStatus.PARTLY),
        (sized, (1, 0), ClaimStatus.OTHERWISE),
        (sized, (1, 2), ClaimStatus.OTHERWISE),
        (sized, (0, 2), ClaimStatus.OTHERWISE),
        (sized, (0, 0), ClaimStatus.OTHERWISE),
        (with_a_gap, (0, 1), ClaimStatus.OTHERWISE),
        (overlapping, (0, 1), ClaimStatus.OTHERWISE),
        (without_the_first, (0, 1), ClaimStatus.OTHERWISE),
        (part_of_the_features, (0, 1), ClaimStatus.OTHERWISE),
    ],
)
def test_arguments_that_say_too_much_are_made_good_by_their_code(
    function: Any, parts: tuple[int, ...], told: ClaimStatus
) -> None:
    """`batch_size` is no number of parts, but the code shows what becomes of it."""
    slices = lane(*(code_lambda(function, idx=idx, batch_size=6, input_shape=[5]) for idx in parts))
    claim = slice_claims.claim(slices)
    assert claim.status is ClaimStatus.OTHERWISE
    assert checked(claim, slices, (None, 5)).status is told


def test_every_other_row_beside_arguments_that_say_too_much() -> None:
    def stepped(x: Any, first: int, step: int, width: int) -> Any:
        return x[first::step, :width]

    def slices(width: int) -> Any:
        return lane(*(code_lambda(stepped, first=first, step=2, width=width) for first in (0, 1)))

    assert (
        checked(SliceClaim(ClaimStatus.OTHERWISE), slices(5), (None, 5)).status is ClaimStatus.DEALT
    )
    assert (
        checked(SliceClaim(ClaimStatus.OTHERWISE), slices(5), None).status is ClaimStatus.OTHERWISE
    )
    assert (
        checked(SliceClaim(ClaimStatus.OTHERWISE), slices(4), (None, 5)).status
        is ClaimStatus.OTHERWISE
    )


def test_a_part_of_the_features_is_no_cut_of_the_batch() -> None:
    slices = lane(*(code_lambda(fixed_slice, first=first) for first in (0, 4)))
    assert checked(SliceClaim(ClaimStatus.PARTLY), slices, (8, 6)).sentence == (
        "the code of l does more than cut rows: it takes a part of axis 1"
    )


def test_an_index_times_a_number_of_rows_deals_nothing_out() -> None:
    """The number is the captured one, not that of the parts."""
    slices = lane(
        *(code_lambda(lambda x, i, parts: x[i * 6 : (i + 1) * 6], i=i, parts=2) for i in (0, 1))
    )
    assert checked(SliceClaim(ClaimStatus.DEALT), slices).status is ClaimStatus.PARTLY


def test_what_takes_all_rows_leaves_nothing_out() -> None:
    def part_one_of_one(x: Any, i: int, parts: int) -> Any:
        return x[i * (tf.shape(x)[0] // parts) :]

    def of_some_features(x: Any, i: int, parts: int) -> Any:
        return x[i * (tf.shape(x)[0] // parts) :, : helper(parts)]

    answers = [
        takes_all_rows(*lane(code_lambda(each, i=0, parts=1)))
        for each in (part_one_of_one, of_some_features)
    ]
    assert answers == [True, False]


def test_a_slice_without_rows_tells_nothing() -> None:
    def eight_rows(x: Any, i: int, parts: int) -> Any:
        return x[8 * i : 8 * i + 8 + 0 * parts]

    slices = lane(*(code_lambda(eight_rows, i=i, parts=2) for i in range(2)))
    assert checked(SliceClaim(ClaimStatus.PARTLY), slices, (8, 5)) == SliceClaim(ClaimStatus.PARTLY)
    assert (
        checked(SliceClaim(ClaimStatus.UNEXPLAINED), slices, (8, 5)).status is ClaimStatus.OTHERWISE
    )
