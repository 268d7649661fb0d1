"""The state of optimizers in the order of Keras 3; an order that does not follow from the file is not guessed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.core.keras3.training.test_convert_optimizer import MODERN, of
from unnest.core.keras3 import derived_weights
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.training.convert_optimizer import NoCounterpart, convert_optimizer
from unnest.core.keras3.training.convert_optimizer_state import convert_state
from unnest.core.model import Tensor

KERNEL = Tensor("d/kernel", (4, 3), "<f4", "/d/kernel")


BIAS = Tensor("d/bias", (3,), "<f4", "/d/bias")


PLACES = {KERNEL.ref: 0, BIAS.ref: 1}


def refs(made: Sequence[Tensor]) -> list[str]:
    """Return the refs that a state is made of, in order."""
    return [t.ref for t in made]


def slots(*shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
    """A stored state: `s0`, `s1`... of these shapes."""
    return tuple(
        Tensor(f"s{k}", shape, "<i8" if not shape else "<f4", f"s{k}")
        for k, shape in enumerate(shapes)
    )


@pytest.mark.parametrize(
    ("kind", "config", "stored", "order"),
    [
        ("SGD", {"momentum": 0.9}, [(), (4, 3), (3,)], ["s1", "s2"]),
        ("SGD", {"momentum": 0.0}, [(), (4, 3), (3,)], []),
        ("Adam", {}, [(), (4, 3), (3,), (4, 3), (3,)], ["s1", "s3", "s2", "s4"]),
        ("Adam", MODERN, [(), (), (4, 3), (4, 3), (3,), (3,)], ["s2", "s3", "s4", "s5"]),
        ("Adam", {"amsgrad": True}, [(), *[(4, 3), (3,)] * 3], ["s1", "s3", "s2", "s4", "s5", "s6"]),
        ("Adam", {"amsgrad": True, **MODERN}, [(), (4, 3), (4, 3), (3,), (3,), (4, 3), (3,)],
         ["s1", "s2", "s3", "s4", "s5", "s6"]),
        ("Adamax", {}, [(), (4, 3), (3,), (4, 3), (3,)], ["s1", "s3", "s2", "s4"]),
        ("Ftrl", {}, [(), (4, 3), (4, 3), (3,), (3,)], ["s1", "s2", "s3", "s4"]),
        ("Adagrad", {"epsilon": 1e-7}, [(4, 3), (3,)], ["s0", "s1"]),
        ("RMSprop", {"momentum": 0.9, "epsilon": 1e-7}, [(), (4, 3), (3,), (4, 3), (3,)], ["s1", "s2", "s3", "s4"]),
        ("RMSprop", {"epsilon": 1e-7}, [(), (4, 3), (3,), (4, 3), (3,)], ["s1", "s2"]),
        ("SGD", {"use_ema": True, **MODERN}, [(), (), (4, 3), (3,)], ["s2", "s3"]),
        ("SGD", {"momentum": 0.9, "use_ema": True, **MODERN}, [(), (), *[(4, 3), (3,)] * 2], ["s2", "s3", "s4", "s5"]),
        ("Adam", {"use_ema": True, **MODERN}, [(), (), (4, 3), (3,), (4, 3), (4, 3), (3,), (3,)],
         ["s2", "s3", "s4", "s5", "s6", "s7"]),
    ],
)  # fmt: skip
def test_the_state_in_today_s_order(
    kind: str, config: dict[str, Any], stored: list[tuple[int, ...]], order: list[str]
) -> None:
    """The iterations and the rate come first: those where they are stored, else 0."""
    known = of(kind, learning_rate=0.1, **config)
    iterations, rate, *rest = convert_state(
        slots(*stored), known, [KERNEL, BIAS], PLACES, Context.of("2.2.4", None)
    )
    assert refs(rest) == order
    assert iterations.ref == ("s0" if stored[0] == () else "constant iteration")
    assert iterations.dtype == "<i8"
    assert rate.recipe == derived_weights.constant("learning_rate", 0.1, (), "<f4").recipe


@pytest.mark.parametrize(
    ("kind", "config", "stored", "why"),
    [
        ("Adam", {}, [(), (4, 3), (3,)], "Adam has 2 slots for each weight, and 1 are stored"),
        ("Adam", {}, [(), (3,), (4, 3), (3,), (4, 3)], "its order does not follow"),
        ("Adam", {}, [(), (4, 3), (4, 3), (3,), (3,)], "its order does not follow"),
        ("Adam", MODERN, [(), (4, 3), (3,), (4, 3), (3,)], "its order does not follow"),
        ("SGD", {"momentum": 0.9}, [(), (4, 3)], "its order does not follow"),
        ("Adam", {}, [(4, 3), (3,), (4, 3), (3,)], "the number of steps that Adam took is missing"),
        ("SGD", {"momentum": 0.9}, [()], "SGD has 1 slots for each weight, and 0 are stored"),
        (
            "SGD",
            {"momentum": 0.9, "use_ema": True, **MODERN},
            [(), (), (4, 3), (3,)],
            "1 slots for each weight, and 0",
        ),
        ("SGD", {"use_ema": True, **MODERN}, [(), ()], "its order does not follow"),
        (
            "Adam",
            {"use_ema": True, **MODERN},
            [(), (), *[(4, 3), (4, 3), (3,), (3,)]],
            "its order does not follow",
        ),
    ],
)
def test_an_order_that_does_not_follow_from_the_file(
    kind: str, config: dict[str, Any], stored: list[tuple[int, ...]], why: str
) -> None:
    known = of(kind, learning_rate=0.1, **config)
    with pytest.raises(NoCounterpart, match=why):
        convert_state(slots(*stored), known, [KERNEL, BIAS], PLACES, Context.of("2.2.4", None))


@pytest.mark.parametrize(
    ("kind", "config", "shapes", "count"),
    [
        (
            "Adam",
            {},
            [(), (3,), (3,), (1,)],
            1,
        ),  # with a place for amsgrad's, as Keras 2.2.4 has it
        ("Adam", {}, [(), (4, 3), (4, 3)], 1),
        ("Adam", MODERN, [(), (), (3,), (3,)], 1),
        ("RMSprop", {}, [(3,)], 1),
        ("SGD", {"momentum": 0.9}, [(), (5,)], None),
        ("Adam", {}, [(), (4, 3), (4, 3), (3,), (3,)], None),
        ("SGD", {"momentum": 0.9, "use_ema": True, **MODERN}, [(), (), (4, 3)], None),
    ],
)
def test_state_of_fewer_weights(
    kind: str, config: dict[str, Any], shapes: list[tuple[int, ...]], count: int | None
) -> None:
    """Its shapes say of how many it is; who trains on has to know."""
    context = Context.of("2.2.4", "tensorflow")
    with pytest.raises(NoCounterpart) as why:
        convert_state(
            slots(*shapes), of(kind, learning_rate=0.1, **config), [KERNEL, BIAS], PLACES, context
        )
    is_told = f", as it is of {count} weights, and 2 seem to be trained" in f"{why.value}"
    assert is_told is (count is not None)


def test_nothing_is_trained() -> None:
    with pytest.raises(NoCounterpart, match="no weight of the model is trained"):
        convert_state(slots(()), of("SGD", lr=0.1), [], PLACES, Context.of("2.2.4", None))


def test_a_schedule_stores_no_rate() -> None:
    known = of("SGD", lr=0.1, decay=0.5, momentum=0.9)
    assert refs(
        convert_state(
            slots((), (4, 3), (3,)), known, [KERNEL, BIAS], PLACES, Context.of("2.2.4", None)
        )
    ) == [
        "s0",
        "s1",
        "s2",
    ]


@pytest.mark.parametrize(
    ("version", "order"),
    [
        ("1.2.2", ["s2", "s1"]),
        ("2.0.5", ["s2", "s1"]),
        ("2.0.6", ["s1", "s2"]),
        ("2.2.4", ["s1", "s2"]),
    ],
)
def test_the_state_was_kept_by_the_weights_names_until_keras_2_0_6(
    version: str, order: list[str]
) -> None:
    """`d/bias` before `d/kernel`; the new state follows the model in both cases."""
    stored = slots((), (3,), (4, 3)) if order == ["s2", "s1"] else slots((), (4, 3), (3,))
    known = of("SGD", lr=0.1, momentum=0.9)
    assert (
        refs(
            convert_state(stored, known, [KERNEL, BIAS], PLACES, Context.of(version, "tensorflow"))
        )[2:]
        == order
    )


def test_names_that_keras_1_on_theano_did_not_store() -> None:
    with pytest.raises(NoCounterpart, match="Keras 1 on Theano"):
        convert_state(
            slots((), (3,), (4, 3)),
            of("SGD", lr=0.1),
            [KERNEL, BIAS],
            PLACES,
            Context.of("1.2.2", "theano"),
        )


@pytest.mark.parametrize(
    ("kind", "power"), [("Adam", [0.5, 0.25]), ("Adadelta", [0.25, 4.0]), ("Adamax", [0.5, 0.5])]
)
def test_slots_of_a_weight_that_was_multiplied(kind: str, power: list[float]) -> None:
    """A weight twice as large has half the gradient: a slot goes with its power of that."""
    context = Context.of("2.2.4", None)
    known = of(kind, learning_rate=0.1)
    made = convert_state(
        slots((), (3,), (3,)), known, [derived_weights.scaled(BIAS, 2.0)], PLACES, context
    )
    assert refs(made)[2:] == [f"scale(s1, {power[0]})", f"scale(s2, {power[1]})"]
    assert [f.code for f in context.notes.findings] == ["other-rate"]


def test_an_average_goes_the_way_of_its_weight() -> None:
    """Multiplied, added and turned as the weight is; what was no weight has none but itself."""
    context = Context.of("2.12.0", None)
    known = of("SGD", Context.of("2.12.0", None), learning_rate=0.1, use_ema=True, **MODERN)
    other = Tensor("d/other", (3,), "<f4", "/d/other")
    places = {**PLACES, other.ref: 2}
    weights = [
        derived_weights.transposed(KERNEL, 1, 0),
        derived_weights.scaled(derived_weights.added(BIAS, other), 2.0),
        derived_weights.constant("zeros", 0.0, (3,), "<f4"),
    ]
    made = convert_state(slots((), (), (4, 3), (3,), (3,)), known, weights, places, context)
    assert refs(made)[2:] == ["transpose(s2, 1, 0)", "scale(add(s3, s4), 2.0)", "constant zeros"]


def test_a_slot_goes_the_way_of_its_weight() -> None:
    """Turned as the weight is; a sum's gradient is each part's; what is no stored weight has none."""
    context = Context.of("2.2.4", None)
    known = of("SGD", lr=0.1, momentum=0.9)
    turned = convert_state(
        slots((), (4, 3)), known, [derived_weights.transposed(KERNEL, 1, 0)], PLACES, context
    )
    assert refs(turned)[2:] == ["transpose(s1, 1, 0)"]
    assert turned[2].shape == (3, 4)
    other = Tensor("d/other", (3,), "<f4", "/d/other")
    places = {**PLACES, other.ref: 2}
    added = convert_state(
        slots((), (3,), (3,)), known, [derived_weights.added(BIAS, other)], places, context
    )
    assert refs(added)[2:] == ["s1"]
    assert context.notes.findings == []
    zeros = derived_weights.concatenated(
        [BIAS, derived_weights.constant("zeros", 0.0, (3,), "<f4")], 0
    )
    with pytest.raises(NoCounterpart, match="'zeros' was no weight before"):
        convert_state(slots((), (3,)), known, [zeros], PLACES, context)


@pytest.mark.parametrize(
    ("config", "stored", "last", "findings"),
    [
        ({}, [(), (3,), (3,)], "constant u_product", ["other-schedule"]),
        ({}, [(), (), (3,), (3,)], "s1", ["other-schedule"]),
        (MODERN, [(), (), (3,), (3,)], "s1", []),
    ],
)
def test_nadam_s_product(
    config: dict[str, Any], stored: list[tuple[int, ...]], last: str, findings: list[str]
) -> None:
    context = Context.of("2.2.4", None)
    made = convert_state(
        slots(*stored), of("Nadam", learning_rate=0.1, **config), [BIAS], PLACES, context
    )
    assert made[-1].ref == last
    assert [f.code for f in context.notes.findings] == findings


def test_the_state_of_an_optimizer_by_default() -> None:
    """Weight by weight, as it was stored, behind the steps and the rate."""
    known, stored = (
        convert_optimizer("adam", Context.of("2.15.0", "tensorflow")),
        slots((), (), (4, 3), (4, 3), (3,), (3,)),
    )
    made = convert_state(stored, known, [KERNEL, BIAS], PLACES, Context.of("2.15.0", "tensorflow"))
    assert refs(made)[2:] == ["s2", "s3", "s4", "s5"]
