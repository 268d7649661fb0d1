"""The masks that an older Keras's layers saw: which layer is given one, which is refused, which is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.context import CannotConvert, Context
from unnest.core.keras3.masks import Mask, Masks, check_chain
from unnest.core.keras3.op_nodes import OpNode
from unnest.core.keras3.pieces import Arguments, Known, NewLayer, Tree

NUMPY = "keras.src.ops.numpy"
X, Y, Z, MADE = (Known(name, 0, 0) for name in ("x", "y", "z", "made"))
#: What Keras 3 computes too, and what it does not, of two sources.
SAME_X, SAME_Y = Mask("mask of x", frozenset({X})), Mask("mask of y", frozenset({Y}))
OTHER = Mask("another", frozenset({X}), today=False)
LOST = Mask(None, frozenset({X}), today=False)


def unequal(tensor: Known, value: float) -> OpNode:
    """Where a tensor is not that value."""
    return OpNode(NUMPY, "NotEqual", {}, (tensor, value))  # type: ignore[arg-type]  # trees are operands


def call(*tensors: Known, **kwargs: Tree) -> Arguments:
    """A call on those tensors."""
    return Arguments(tensors, kwargs, {})


def made(kind: str, config: dict[str, Any], masks: dict[Known, Mask], *tensors: Known) -> Mask | None:
    """The mask of what comes out of that call."""
    known = Masks(Context(), dict(masks))
    known.note(kind, config, call(*tensors), [MADE])
    return known.of.get(MADE)


@pytest.mark.parametrize(
    ("kind", "config", "mask"),
    [
        ("Embedding", {"mask_zero": True}, Mask(unequal(X, 0), frozenset({X}))),
        ("Embedding", {"mask_zero": False}, None),
        ("Masking", {"mask_value": -1.0},
         Mask(OpNode(NUMPY, "Any", {"axis": -1, "keepdims": False}, (unequal(X, -1.0),)), frozenset({X}))),
        ("Dense", {"mask_zero": True}, None),
    ],
    ids=["embedding", "embedding-without", "masking", "dense"],
)  # fmt: skip
def test_what_makes_a_mask(kind: str, config: dict[str, Any], mask: Mask | None) -> None:
    assert made(kind, config, {}, X) == mask


@pytest.mark.parametrize(
    ("kind", "config", "mask"),
    [
        ("Dense", {}, SAME_X),
        ("Flatten", {}, None),
        ("LSTM", {"return_sequences": True}, SAME_X),
        ("LSTM", {"return_sequences": False}, None),
        ("Bidirectional", {"layer": {"class_name": "LSTM", "config": {"return_sequences": True}}}, SAME_X),
        ("Bidirectional", {"layer": {"class_name": "LSTM", "config": {"return_sequences": False}}}, None),
        ("GlobalAveragePooling1D", {}, None),
    ],
    ids=["through", "flatten", "steps", "last-step", "both-ways", "both-ways-last-step", "pooled"],
)
def test_what_hands_a_mask_on(kind: str, config: dict[str, Any], mask: Mask | None) -> None:
    assert made(kind, config, {X: SAME_X}, X) == mask


BOTH = Mask(
    OpNode(NUMPY, "LogicalAnd", {}, ("mask of x", "mask of y")), frozenset({X, Y}), today=False,
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "config", "masks", "mask"),
    [
        ("Add", {}, {X: SAME_X, Y: SAME_Y}, BOTH),
        ("Add", {}, {X: SAME_X, Y: SAME_X}, SAME_X),
        ("Add", {}, {X: SAME_X}, Mask("mask of x", frozenset({X}), today=False)),
        ("Add", {}, {X: SAME_X, Y: LOST}, LOST),
        ("Add", {}, {}, None),
        ("Concatenate", {"axis": -1}, {X: SAME_X, Y: SAME_Y}, BOTH),
        ("Concatenate", {"axis": 2}, {X: SAME_X, Y: SAME_Y}, BOTH),
        ("Concatenate", {"axis": 1}, {X: SAME_X, Y: SAME_Y}, Mask(None)),
        ("Concatenate", {"axis": 1}, {X: OTHER, Y: SAME_Y}, Mask(None, today=False)),
        ("Merge", {"mode": "concat", "concat_axis": 1}, {X: SAME_X, Y: SAME_Y}, Mask(None)),
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
    kind: str, config: dict[str, Any], masks: dict[Known, Mask], mask: Mask | None
) -> None:
    """Keras 3 has the same mask where one source alone masks all inputs."""
    assert made(kind, config, masks, X, Y) == mask


LSTM = NewLayer("l", "LSTM", {"name": "l"})
STEPS = NewLayer(
    "b", "Bidirectional", {"name": "b", "layer": {"class_name": "LSTM", "config": {"return_sequences": True}}}
)
LAST = NewLayer(
    "b", "Bidirectional", {"name": "b", "layer": {"class_name": "LSTM", "config": {"return_sequences": False}}}
)


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
def test_a_layer_is_given_the_old_mask(mask: Mask, layer: NewLayer, kwargs: dict[str, Tree]) -> None:
    """Where it heeds one, and Keras 3 would compute another."""
    context = Context(release=(2, 4, 0))
    given = Masks(context, {X: mask}).given(layer.class_name, layer, call(X), {"training": False})
    assert given == kwargs
    assert [c.rule for c in context.conversions()] == (["mask"] if "mask" in kwargs else [])


def test_a_mask_that_the_file_gives_stays() -> None:
    context = Context(release=(2, 4, 0))
    assert Masks(context, {X: OTHER}).given("LSTM", LSTM, call(X, mask=Y), {"mask": Y}) == {"mask": Y}
    assert context.conversions() == ()


@pytest.mark.parametrize(
    ("masks", "layer"),
    [
        ({X: LOST}, LSTM),
        ({X: OTHER, Y: SAME_Y}, LSTM),
        ({X: OTHER}, NewLayer("s", "Softmax", {"name": "s"})),
        ({X: OTHER}, NewLayer("f", "Functional", {"name": "f"})),
    ],
    ids=["lost", "two", "opaque", "model"],
)
def test_refused_where_it_cannot_be_given(masks: dict[Known, Mask], layer: NewLayer) -> None:
    with pytest.raises(CannotConvert, match=rf"'{layer.name}' \({layer.class_name}\): heeds a mask"):
        Masks(Context(release=(2, 4, 0)), masks).given(layer.class_name, layer, call(X, Y), {})


@pytest.mark.parametrize(
    ("layer", "kwargs", "release", "zeroes", "why"),
    [
        (STEPS, {}, (2, 2, 4), False, "its last output"),
        (STEPS, {}, (2, 4, 0), True, None),
        (LAST, {}, (2, 2, 4), False, None),
        (LSTM, {"initial_state": [Y]}, (2, 2, 4), False, "its initial state"),
        (LSTM, {"initial_state": [Y]}, (2, 2, 4), True, "its initial state"),
        (LSTM, {"initial_state": [Y]}, (2, 4, 0), True, None),
        (LSTM, {}, (2, 2, 4), False, None),
    ],
    ids=["steps", "steps-now", "last-step", "state", "state-of-tf", "state-now", "no-state"],
)
def test_masked_steps_of_then(
    layer: NewLayer, kwargs: dict[str, Tree], release: tuple[int, ...], zeroes: bool, why: str | None
) -> None:
    """What came out at masked steps; without a mask there are none, and nothing is refused."""
    context = Context(release=release, zeroes_masked=zeroes)
    assert Masks(context).given(layer.class_name, layer, call(X), kwargs) == kwargs
    masks = Masks(context, {X: SAME_X})
    if why is None:
        assert masks.given(layer.class_name, layer, call(X), kwargs) == kwargs
    else:
        with pytest.raises(CannotConvert, match=rf"'{layer.name}' .*{why}"):
            masks.given(layer.class_name, layer, call(X), kwargs)


MASKING = {"class_name": "Masking", "config": {"name": "m"}}
FLATTEN = {"class_name": "Flatten", "config": {"name": "f"}}
ONE_WAY = {"class_name": "LSTM", "config": {"name": "l", "return_sequences": True}}


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
    ],
    ids=["masked", "handed-on", "within", "before", "stopped", "last-step", "now"],
)  # fmt: skip
def test_a_sequential(entries: list[Any], context: Context, is_refused: bool) -> None:
    if is_refused:
        with pytest.raises(CannotConvert, match=r"'b' .* its last output"):
            check_chain(entries, context)
    else:
        check_chain(entries, context)
        assert context.conversions() == ()
