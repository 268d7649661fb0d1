"""Outputs of recurrent layers at masked steps: what is refused, and what is written so that Keras 3 gives the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.mask_cases import (
    CONV,
    LAST,
    LSTM,
    MADE,
    STEPS,
    TENSORFLOW,
    X,
    Y,
    Z,
    numpy,
)
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.layer_replacements import LayerCall, NewLayer, NodeTree
from unnest.core.keras3.masks import outputs_at_masked_steps
from unnest.core.keras3.masks.outputs_at_masked_steps import (
    check_masked_steps,
    is_split_in_two,
    join_directions,
    repeats_last_output,
    split_directions,
)

OF_THEN = Context(release=(2, 2, 4), zeroes_masked=False)


@pytest.mark.parametrize(
    ("layer", "kwargs", "context", "why"),
    [
        (STEPS, {}, Context(release=(2, 2, 4), zeroes_masked=False), "its last output"),
        (STEPS, {}, Context(release=(2, 4, 0)), None),
        (LAST, {}, Context(release=(2, 2, 4), zeroes_masked=False), None),
        (LSTM, {"initial_state": [Y]}, Context(release=(2, 2, 4), zeroes_masked=False), "its initial state"),
        (CONV, {"initial_state": [Y]}, Context(release=(2, 2, 4), backend=TENSORFLOW, zeroes_masked=False), "initial"),
        (LSTM, {"initial_state": [Y]}, Context(release=(2, 2, 4), backend=TENSORFLOW, zeroes_masked=False), None),
        (LSTM, {"initial_state": [Y]}, Context(release=(2, 3, 1), zeroes_masked=False), None),
        (LSTM, {"initial_state": [Y]}, Context(release=(2, 1, 6), is_tf=True, zeroes_masked=False), "initial state"),
        (LSTM, {"initial_state": [Y]}, Context(release=(2, 2, 4), is_tf=True, zeroes_masked=False), None),
        (LSTM, {"initial_state": [Y]}, Context(release=(2, 4, 0)), None),
        (LSTM, {}, Context(release=(2, 2, 4), zeroes_masked=False), None),
    ],
    ids=[
        "steps", "steps-now", "last-step", "untold-backend", "convolution", "state", "state-2.3.1", "state-old-tf",
        "state-tf", "state-now", "no-state",
    ],
)  # fmt: skip
def test_masked_steps_of_then(
    layer: NewLayer, kwargs: dict[str, NodeTree], context: Context, why: str | None
) -> None:
    """An output at masked steps that Keras 3 neither gives nor can be made to give is refused."""
    if why is None:
        check_masked_steps(layer.class_name, layer, kwargs, context)
    else:
        with pytest.raises(CannotConvert, match=rf"'{layer.name}' .*{why}"):
            check_masked_steps(layer.class_name, layer, kwargs, context)


def begun(**config: Any) -> NodeTree:
    """Return the output of Keras 2.2.4 for an LSTM whose first steps are masked."""
    layer = NewLayer("l", "LSTM", {"name": "l", **config})
    context = Context(release=(2, 2, 4), backend=TENSORFLOW, zeroes_masked=False)
    return outputs_at_masked_steps.with_initial_state_at_masked_start(
        "LSTM", layer, {"initial_state": [Y, Z], "mask": "mask of x"}, MADE, context
    )


@pytest.mark.parametrize(
    ("config", "unmasked_so_far", "state"),
    [
        ({}, numpy("Sum", "mask of x", axis=1, keepdims=False), Y),
        (
            {"return_sequences": True},
            numpy("Cumsum", "mask of x", axis=1, dtype="int32"),
            numpy("ExpandDims", Y, axis=1),
        ),
        (
            {"return_sequences": True, "go_backwards": True},
            numpy("Cumsum", numpy("Flip", "mask of x", axis=1), axis=1, dtype="int32"),
            numpy("ExpandDims", Y, axis=1),
        ),
    ],
    ids=["last", "steps", "backwards"],
)
def test_masked_first_steps_give_the_initial_state(
    config: dict[str, Any], unmasked_so_far: NodeTree, state: NodeTree
) -> None:
    has_begun = numpy("ExpandDims", numpy("Greater", unmasked_so_far, 0), axis=-1)
    assert begun(**config) == numpy("Where", has_begun, MADE, state)


def test_unrolled_they_gave_zeros_as_today() -> None:
    assert begun(unroll=True) is MADE


def test_without_a_mask_there_are_no_masked_steps() -> None:
    context = Context(release=(2, 2, 4), backend=TENSORFLOW, zeroes_masked=False)
    assert (
        outputs_at_masked_steps.with_initial_state_at_masked_start(
            "LSTM", LSTM, {"initial_state": [Y, Z]}, MADE, context
        )
        is MADE
    )


def over_steps(merge_mode: str | None = "concat", kind: str = "LSTM", **config: Any) -> NewLayer:
    """A Bidirectional that gives sequences."""
    inner: dict[str, Any] = {
        "class_name": kind,
        "config": {"name": "one", "return_sequences": True, **config},
    }
    return NewLayer("b", "Bidirectional", {"name": "b", "layer": inner, "merge_mode": merge_mode})


@pytest.mark.parametrize(
    ("layer", "kwargs", "context", "is_written"),
    [
        (over_steps(), {}, OF_THEN, True),
        (over_steps(), {}, Context(release=(2, 4, 0)), False),
        (over_steps(), {}, Context(release=(2, 2, 4), is_tf=True, zeroes_masked=False), False),
        (
            over_steps(),
            {},
            Context(release=(2, 2, 4), backend="theano", zeroes_masked=False),
            False,
        ),
        (over_steps(), {"initial_state": [Y]}, OF_THEN, False),
        (over_steps(None), {}, OF_THEN, False),
        (over_steps(kind="ConvLSTM2D"), {}, OF_THEN, False),
        (over_steps(return_state=True), {}, OF_THEN, False),
        (over_steps(stateful=True), {}, OF_THEN, False),
        (LAST, {}, OF_THEN, False),
        (LSTM, {}, OF_THEN, False),
    ],
)
def test_which_bidirectional_is_two_layers(
    layer: NewLayer, kwargs: dict[str, NodeTree], context: Context, is_written: bool
) -> None:
    assert is_split_in_two(layer, kwargs, context) is is_written


def test_one_that_gave_its_last_output_may_be_within_a_layer() -> None:
    within: dict[str, Any] = {
        "class_name": "TimeDistributed",
        "config": {"name": "t", "layer": STEPS.entry},
    }
    assert repeats_last_output(within, OF_THEN)
    assert not repeats_last_output(within, Context(release=(2, 4, 0)))
    assert not repeats_last_output(LAST.entry, OF_THEN)


@pytest.mark.parametrize(
    ("mode", "joined"),
    [
        ("concat", lambda ahead, back: numpy("Concatenate", [ahead, back], axis=-1)),
        ("sum", lambda ahead, back: numpy("Add", ahead, back)),
        ("mul", lambda ahead, back: numpy("Multiply", ahead, back)),
        ("ave", lambda ahead, back: numpy("Multiply", numpy("Add", ahead, back), 0.5)),
    ],
)
def test_two_directions(mode: str, joined: Any) -> None:
    """Each has half of the weights; the second goes the other way, and its steps are turned around."""
    ahead, back = split_directions(over_steps(mode), "f", "g")
    assert [
        (way.name, way.config["name"], way.config.get("go_backwards")) for way in (ahead, back)
    ] == [
        ("f", "f", None),
        ("g", "g", True),
    ]
    calls = [LayerCall(way, (X,), {}) for way in (ahead, back)]
    assert join_directions(over_steps(mode), (ahead, back), (X,), {}) == joined(
        calls[0], numpy("Flip", calls[1], axis=1)
    )


def test_a_direction_of_its_own() -> None:
    layer = over_steps()
    other: dict[str, Any] = {
        "class_name": "GRU",
        "config": {"name": "two", "return_sequences": True},
    }
    ways = split_directions(
        NewLayer("b", "Bidirectional", {**layer.config, "backward_layer": other}), "f", "g"
    )
    assert [(way.class_name, "go_backwards" in way.config) for way in ways] == [
        ("LSTM", False),
        ("GRU", False),
    ]
