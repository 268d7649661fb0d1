"""The masks that an older Keras's layers saw: which layer is given one, which is refused, which is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.mask_cases import (
    CONVOLUTION,
    DENSE,
    FLATTEN,
    LAST,
    LSTM,
    MADE,
    MASKING,
    ONE_WAY,
    STEPS,
    X,
    Y,
    Z,
    call,
    numpy,
)
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.layer_replacements import LayerArguments, LayerCall, NewLayer, NodeTree
from unnest.core.keras3.masks.keep_old_masks import OldMask, OldMasks, check_chain
from unnest.core.keras3_op_node import GraphTensor, OpNode
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import JsonObject

#: What Keras 3 computes too, and what it does not, of two sources.
SAME_X, SAME_Y = OldMask("mask of x", frozenset({X})), OldMask("mask of y", frozenset({Y}))
OTHER = OldMask("another", frozenset({X}), today=False)
LOST = OldMask(None, frozenset({X}), today=False)


def made(
    kind: str, config: dict[str, Any], masks: dict[GraphTensor, OldMask], *tensors: GraphTensor
) -> OldMask | None:
    """The mask of what comes out of that call."""
    known = OldMasks(Context(), dict(masks))
    known.note(known.behind(kind, config, call(*tensors)), [MADE])
    return known.of.get(MADE)


@pytest.mark.parametrize(
    ("kind", "config", "mask"),
    [
        ("Embedding", {"mask_zero": True}, OldMask(numpy("NotEqual", X, 0), frozenset({X}))),
        ("Embedding", {"mask_zero": False}, None),
        ("Masking", {"mask_value": -1.0},
         OldMask(numpy("Any", numpy("NotEqual", X, -1.0), axis=-1, keepdims=False), frozenset({(X, -1.0)}))),
        ("Dense", {"mask_zero": True}, None),
    ],
    ids=["embedding", "embedding-without", "masking", "dense"],
)  # fmt: skip
def test_what_makes_a_mask(kind: str, config: dict[str, Any], mask: OldMask | None) -> None:
    assert made(kind, config, {}, X) == mask


@pytest.mark.parametrize(
    ("kind", "config", "mask"),
    [
        ("Dense", {}, SAME_X),
        ("Flatten", {}, None),
        ("LSTM", {"return_sequences": True}, SAME_X),
        ("LSTM", {"return_sequences": False}, None),
        (
            "Bidirectional",
            {"layer": {"class_name": "LSTM", "config": {"return_sequences": True}}},
            SAME_X,
        ),
        (
            "Bidirectional",
            {"layer": {"class_name": "LSTM", "config": {"return_sequences": False}}},
            None,
        ),
        ("GlobalAveragePooling1D", {}, None),
    ],
    ids=["through", "flatten", "steps", "last-step", "both-ways", "both-ways-last-step", "pooled"],
)
def test_what_hands_a_mask_on(kind: str, config: dict[str, Any], mask: OldMask | None) -> None:
    assert made(kind, config, {X: SAME_X}, X) == mask


BOTH = OldMask(
    numpy("LogicalAnd", "mask of x", "mask of y"), frozenset({X, Y}), today=False,
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "config", "masks", "mask"),
    [
        ("Add", {}, {X: SAME_X, Y: SAME_Y}, BOTH),
        ("Add", {}, {X: SAME_X, Y: SAME_X}, SAME_X),
        ("Add", {}, {X: SAME_X}, OldMask("mask of x", frozenset({X}), today=False)),
        ("Add", {}, {X: SAME_X, Y: LOST}, LOST),
        ("Add", {}, {}, None),
        ("Concatenate", {"axis": -1}, {X: SAME_X, Y: SAME_Y}, BOTH),
        ("Concatenate", {"axis": 2}, {X: SAME_X, Y: SAME_Y}, BOTH),
        ("Concatenate", {"axis": 1}, {X: SAME_X, Y: SAME_Y}, OldMask(None, frozenset({MADE}))),
        (
            "Concatenate",
            {"axis": 1},
            {X: OTHER, Y: SAME_Y},
            OldMask(None, frozenset({MADE}), today=False),
        ),
        (
            "Merge",
            {"mode": "concat", "concat_axis": 1},
            {X: SAME_X, Y: SAME_Y},
            OldMask(None, frozenset({MADE})),
        ),
        ("Merge", {"mode": "sum", "concat_axis": 1}, {X: SAME_X, Y: SAME_Y}, BOTH),
    ],
    ids=[
        "two",
        "one-twice",
        "one-of-two",
        "lost",
        "none",
        "features",
        "features-2",
        "steps",
        "steps-of-other",
        "old-steps",
        "old-sum",
    ],
)
def test_merges_take_what_no_input_masks(
    kind: str, config: dict[str, Any], masks: dict[GraphTensor, OldMask], mask: OldMask | None
) -> None:
    """Keras 3 has the same mask where one source alone masks all inputs."""
    assert made(kind, config, masks, X, Y) == mask


@pytest.mark.parametrize(
    ("mask", "layer", "kwargs"),
    [
        (OTHER, LSTM, {"training": False, "mask": "another"}),
        (SAME_X, LSTM, {"training": False}),
        (OTHER, NewLayer("d", "Dense", {"name": "d"}), {"training": False}),
        (LOST, NewLayer("d", "Dense", {"name": "d"}), {"training": False}),
        (SAME_X, NewLayer("s", "Softmax", {"name": "s"}), {"training": False}),
    ],
    ids=["other", "same", "heedless", "heedless-lost", "same-opaque"],
)
def test_a_layer_is_given_the_old_mask(
    mask: OldMask, layer: NewLayer, kwargs: dict[str, NodeTree]
) -> None:
    """A layer that heeds a mask gets the old one if Keras 3 would compute another."""
    context = Context(release=(2, 5, 0))
    given = OldMasks(context, {X: mask}).call_with_masks(
        layer.class_name, layer, call(X), (X,), {"training": False}
    )
    assert given == ((X,), kwargs)
    assert [c.rule for c in context.conversions()] == (["mask"] if "mask" in kwargs else [])


def test_a_mask_that_the_file_gives_stays() -> None:
    context = Context(release=(2, 4, 0))
    assert OldMasks(context, {X: OTHER}).call_with_masks(
        "LSTM", LSTM, call(X, mask=Y), (X,), {"mask": Y}
    ) == (
        (X,),
        {"mask": Y},
    )
    assert context.conversions() == ()


@pytest.mark.parametrize(
    ("masks", "layer"),
    [
        ({X: LOST}, LSTM),
        ({X: OTHER, Y: SAME_Y}, LSTM),
        ({X: LOST}, NewLayer("s", "Softmax", {"name": "s"})),
        ({X: LOST}, NewLayer("f", "Functional", {"name": "f"})),
        ({X: SAME_X, Y: LOST}, NewLayer("a", "Attend", {"name": "a"})),
    ],
    ids=["lost", "two", "opaque", "model", "own"],
)
def test_refused_where_it_cannot_be_given(
    masks: dict[GraphTensor, OldMask], layer: NewLayer
) -> None:
    with pytest.raises(
        CannotConvert, match=rf"'{layer.name}' \({layer.class_name}\): heeds a mask"
    ):
        OldMasks(Context(release=(2, 5, 0)), masks).call_with_masks(
            layer.class_name, layer, call(X, Y), (X, Y), {}
        )


@pytest.mark.parametrize("kind", ["Softmax", "Functional", "Attend"])
def test_a_tensor_carries_the_old_mask_to_what_takes_none_as_an_argument(kind: str) -> None:
    """By a layer for each tensor; one whose mask is today's is left as it is."""
    names = iter(["layer_mask", "layer_mask_1"])
    masks = OldMasks(
        Context(release=(2, 5, 0)), {X: OTHER, Y: SAME_Y, Z: OTHER}, reserve=lambda _: next(names)
    )
    layer, given = NewLayer("layer", kind, {"name": "layer"}), call(X, Y, Z)
    (first, others), kwargs = masks.call_with_masks(
        kind, layer, given, (X, [Y, Z]), {"training": False}
    )
    assert isinstance(others, list)
    assert (others[0], kwargs) == (Y, {"training": False})
    for made, tensor, name in ((first, X, "layer_mask"), (others[1], Z, "layer_mask_1")):
        assert isinstance(made, LayerCall)
        assert (made.args, made.kwargs, made.layer.name) == ((tensor,), {"mask": OTHER.tree}, name)
        assert made.layer.class_name == "TimeDistributed"
    masks.note(masks.behind(kind, {}, given), [MADE])
    assert masks.of[MADE].today
    assert [c.rule for c in masks.context.conversions()] == ["carried-mask"]


@pytest.mark.parametrize(("mask", "is_carried"), [(OTHER, True), (SAME_X, False), (None, False)])
def test_a_model_in_a_model_hands_on_the_old_mask(mask: OldMask | None, is_carried: bool) -> None:
    masks = OldMasks(Context(), {} if mask is None else {X: mask})
    assert isinstance(masks.handed_on("Dense", X, "float32"), LayerCall) is is_carried


def test_a_model_in_a_model_whose_mask_nobody_knows_is_refused() -> None:
    with pytest.raises(CannotConvert, match=r"\(Add\): hands on a mask"):
        OldMasks(Context(), {X: LOST}).handed_on("Add", X, "float32")


@pytest.mark.parametrize(
    ("mask", "layer", "kwargs", "rules"),
    [
        (SAME_X, LSTM, {"initial_state": [Y], "mask": "mask of x"}, ["initial-state-mask"]),
        (SAME_X, LAST, {"initial_state": [Y], "mask": "mask of x"}, ["initial-state-mask"]),
        (OTHER, LSTM, {"initial_state": [Y], "mask": "another"}, ["mask"]),
        (SAME_X, NewLayer("d", "Dense", {"name": "d"}), {"initial_state": [Y]}, []),
    ],
    ids=["same", "both-ways", "other", "heedless"],
)
def test_an_initial_state_makes_keras_3_forget_the_mask(
    mask: OldMask, layer: NewLayer, kwargs: dict[str, NodeTree], rules: list[str]
) -> None:
    context = Context(release=(2, 7, 0))
    given = OldMasks(context, {X: mask}).call_with_masks(
        layer.class_name, layer, call(X), (X,), {"initial_state": [Y]}
    )
    assert given == ((X,), kwargs)
    assert [c.rule for c in context.conversions()] == rules


@pytest.mark.parametrize(
    "entry",
    [
        {"args": [], "kwargs": {"initial_state": ["s"]}},
        {"class_name": "MultiHeadAttention", "config": {}},
    ],
)
def test_a_model_whose_layers_would_not_see_the_mask_as_they_did(entry: JsonObject) -> None:
    model = NewLayer("f", "Functional", {"name": "f", "layers": [entry]})
    with pytest.raises(CannotConvert, match=r"'f' \(Functional\): heeds a mask"):
        OldMasks(Context(release=(2, 7, 0)), {X: SAME_X}).call_with_masks(
            "Functional", model, call(X), (X,), {}
        )


def unmasked(tensor: GraphTensor) -> OpNode:
    """A tensor behind an operation."""
    return numpy("Multiply", tensor, 1.0)


ATTENTION = NewLayer("a", "MultiHeadAttention", {"name": "a"})
SOFTMAX = NewLayer("s", "Softmax", {"name": "s"})


@pytest.mark.parametrize(
    ("layer", "release", "sizes", "is_heedless"),
    [
        (ATTENTION, (2, 9, 0), (6, 4), True),
        (ATTENTION, (2, 10, 0), (6, 4), False),
        (ATTENTION, (), (6, 4), False),
        (SOFTMAX, (2, 4, 0), (6, 4), True),
        (SOFTMAX, (2, 5, 0), (6, 4), False),
    ],
)
def test_layers_that_heeded_no_mask(
    layer: NewLayer, release: tuple[int, ...], sizes: tuple[int, int], is_heedless: bool
) -> None:
    """They read the same tensors, without a mask; one that has none stays."""
    given = LayerArguments((X,), {"value": Y}, {X: Spec((None, *sizes), "float32")})
    masks = OldMasks(Context(release=release), {X: SAME_X})
    args, kwargs = masks.call_with_masks(layer.class_name, layer, given, (X,), {"value": Y})
    assert (args, kwargs) == ((unmasked(X) if is_heedless else X,), {"value": Y})


@pytest.mark.parametrize("shape", [None, (None, 4, 4), (None, None, 4), (None, 4)])
def test_a_softmax_that_may_have_heeded_its_mask(shape: tuple[int | None, ...] | None) -> None:
    """With as many steps as features, TensorFlow 2.4 computes something else than 2.3, and nothing fails."""
    given = LayerArguments((X,), {}, {X: None if shape is None else Spec(shape, "float32")})
    with pytest.raises(CannotConvert, match=r"both call themselves Keras 2\.4\.0"):
        OldMasks(Context(release=(2, 4, 0)), {X: SAME_X}).call_with_masks(
            "Softmax", SOFTMAX, given, (X,), {}
        )


@pytest.mark.parametrize(
    ("kind", "context", "mask"),
    [
        ("ReLU", Context(release=(2, 3, 0), is_tf=True), None),
        ("ReLU", Context(release=(2, 2, 4)), SAME_X),
        ("ReLU", Context(release=(2, 5, 0)), SAME_X),
        ("ReLU", Context(release=(2, 4, 0)), LOST._replace(sure=False)),
        ("Softmax", Context(release=(2, 4, 0)), SAME_X._replace(today=False)),
        ("MultiHeadAttention", Context(release=(2, 9, 0)), None),
        ("MultiHeadAttention", Context(release=(2, 10, 0)), SAME_X),
        ("BatchNormalizationV1", Context(), SAME_X),
        ("Conv1D", Context(), None),
        ("Normalization", Context(), None),
        ("TFOpLambda", Context(), None),
        ("Mine", Context(), OldMask(None, frozenset({X}), sure=False)),
        ("Functional", Context(), OldMask(None, frozenset({X}), sure=False)),
    ],
)
def test_what_became_of_a_mask(kind: str, context: Context, mask: OldMask | None) -> None:
    """The effect of a custom class on it is unknown."""
    masks = OldMasks(context, {X: SAME_X})
    masks.note(masks.behind(kind, {}, call(X)), [MADE])
    assert masks.of.get(MADE) == mask


def test_a_lambda_hands_on_no_mask() -> None:
    """So a merge of a masked tensor with a Lambda of it has the mask of the first; one that gives a mask is unknown."""
    masks = OldMasks(Context(release=(2, 10, 0)), {X: SAME_X})
    assert masks.behind("Lambda", {"mask": None}, call(X)) is None
    assert masks.behind("Add", {}, call(X, Y)) == SAME_X._replace(today=False)
    given = masks.behind("Lambda", {"mask": ["code", None, None]}, call(X))
    assert given is not None
    assert not given.sure


def test_the_mask_of_what_is_asked_counts() -> None:
    """An attention hands on the mask of its query, not of what it looks up."""
    masks = OldMasks(Context(release=(2, 10, 0)), {Y: SAME_Y})
    masks.note(masks.behind("Attention", {}, call(X, Y)), [MADE])
    assert MADE not in masks.of


@pytest.mark.parametrize(
    ("entries", "context", "is_refused"),
    [
        ([MASKING, STEPS.entry], Context(masks=True, zeroes_masked=False), True),
        ([MASKING, ONE_WAY, STEPS.entry], Context(masks=True, zeroes_masked=False), True),
        ([MASKING, {"class_name": "TimeDistributed", "config": {"name": "b", "layer": STEPS.entry}}],
         Context(masks=True, zeroes_masked=False), True),
        ([STEPS.entry, MASKING], Context(masks=True, zeroes_masked=False), False),
        ([MASKING, FLATTEN, STEPS.entry], Context(masks=True, zeroes_masked=False), False),
        ([MASKING, LAST.entry], Context(masks=True, zeroes_masked=False), False),
        ([MASKING, STEPS.entry], Context(masks=True, zeroes_masked=True), False),
        ([MASKING, CONVOLUTION, STEPS.entry], Context(masks=True, zeroes_masked=False), False),
    ],
    ids=["masked", "handed-on", "within", "before", "stopped", "last-step", "now", "convolution"],
)  # fmt: skip
def test_a_sequential(entries: list[Any], context: Context, is_refused: bool) -> None:
    if is_refused:
        with pytest.raises(CannotConvert, match=r"'b' .* its last output"):
            check_chain(entries, context)
    else:
        check_chain(entries, context)
        assert context.conversions() == ()


OPEN_SOFTMAX = {"class_name": "Softmax", "config": {"name": "b"}}
OPEN_RELU = {"class_name": "ReLU", "config": {"name": "r"}}


@pytest.mark.parametrize(
    ("entries", "release", "is_refused"),
    [
        ([MASKING, OPEN_SOFTMAX], (2, 4, 0), True),
        ([MASKING, OPEN_SOFTMAX], (2, 5, 0), False),
        ([MASKING, FLATTEN, OPEN_SOFTMAX], (2, 4, 0), False),
        ([MASKING, OPEN_RELU, LAST.entry], (2, 4, 0), True),
        ([MASKING, OPEN_RELU, FLATTEN], (2, 4, 0), False),
        ([MASKING, OPEN_RELU, LAST.entry], (2, 5, 0), False),
    ],
)
def test_a_sequential_of_two_tensorflows(
    entries: list[Any], release: tuple[int, ...], is_refused: bool
) -> None:
    context = Context(masks=True, release=release)
    if is_refused:
        with pytest.raises(CannotConvert, match=r"'b' .*both call themselves Keras 2\.4\.0"):
            check_chain(entries, context)
    else:
        check_chain(entries, context)


def test_masks_of_one_tensor_may_differ() -> None:
    """Two Masking layers that mask other values: what neither masks, where today's merge takes what either does not."""
    masks = OldMasks(Context())
    masks.note(masks.behind("Masking", {"mask_value": 0.0}, call(X)), [Y])
    masks.note(masks.behind("Masking", {"mask_value": 0.5}, call(X)), [Z])
    masks.note(masks.behind("Add", {}, call(Y, Z)), [MADE])
    assert not masks.of[MADE].today
    masks.note(masks.behind("Masking", {}, call(X)), [Z])
    masks.note(masks.behind("Add", {}, call(Y, Z)), [MADE])
    assert masks.of[MADE].today


@pytest.mark.parametrize(
    ("entries", "ends"),
    [
        ([MASKING, DENSE], ["d"]),
        ([MASKING, ONE_WAY], ["l"]),
        ([MASKING, DENSE, LAST.entry], []),
        ([DENSE], []),
        ([MASKING, {"class_name": "Mine", "config": {"name": "mine"}}], []),
    ],
    ids=["dense", "steps", "last-step", "no-mask", "own-class"],
)
def test_a_sequential_whose_loss_is_masked(entries: list[Any], ends: list[str]) -> None:
    context = Context(masks=True, release=(2, 10, 0))
    check_chain(entries, context)
    assert list(context.graph.masked_ends) == ends


def test_a_model_in_a_model_that_makes_a_mask() -> None:
    """Its mask meets others in merge layers as any."""
    masks = OldMasks(Context())
    masks.note(masks.behind("Sequential", {"name": "s", "layers": [MASKING]}, call(X)), [Y])
    assert Y in masks.of
    masks.note(masks.behind("Add", {}, call(Y, Z)), [MADE])
    assert not masks.of[MADE].today


def test_masked_steps_of_then() -> None:
    """Without a mask nothing is refused."""
    context = Context(release=(2, 2, 4), zeroes_masked=False)
    assert OldMasks(context).call_with_masks("Bidirectional", STEPS, call(X), (X,), {}) == (
        (X,),
        {},
    )
    with pytest.raises(CannotConvert, match=r"'b' .*its last output"):
        OldMasks(context, {X: SAME_X}).call_with_masks("Bidirectional", STEPS, call(X), (X,), {})


def test_where_training_goes_on_otherwise() -> None:
    """Of what has a mask for sure alone."""
    context = Context(release=(2, 4, 1))
    masks = OldMasks(context, {X: SAME_X, Y: SAME_Y._replace(sure=False), Z: OTHER})
    masks.note_ends([X, Y, Z, MADE])
    assert list(context.graph.masked_ends) == ["x", "z"]
    assert "another mask" in context.graph.masked_ends["z"]
    normalization = NewLayer("n", "BatchNormalization", {"name": "n"})
    OldMasks(context).call_with_masks("BatchNormalization", normalization, call(X), (X,), {})
    assert context.notes.masked_norms == []
    masks.call_with_masks("BatchNormalization", normalization, call(X), (X,), {})
    assert context.notes.masked_norms == ["n"]
