"""The state of an optimizer in the order in which Keras 3 stores it.

Every Keras stores an optimizer's own numbers first, then its slots: slot after slot, each with an array per trained
weight, or weight after weight, each with all its slots. (Source: files of Keras 1.2.2 to 2.3.1, tf.keras 1.13 to
2.15 and Keras 3.15; one more training step from each was compared, see docs/keras3-measured.md.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from unnest.core.keras3 import derived_weights
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.training.convert_optimizer import (
    SLOTS_BY_CLASS,
    STEP_CORRECTED,
    KnownOptimizer,
    NoCounterpart,
)
from unnest.core.keras_facts.optimizer_classes import keeps_state_by_weight_name
from unnest.core.model import Tensor
from unnest.findings import Code

#: More numbers of its own no optimizer stores.
MOST_NUMBERS = 3


def convert_state(
    old: Sequence[Tensor],
    known: KnownOptimizer,
    trained: Sequence[Tensor],
    places: Mapping[str, int],
    context: Context,
) -> tuple[Tensor, ...]:
    """Return the state in Keras 3's order; `trained`: the new model's weights, `places`: the old model's order.

    Raises NoCounterpart where the old order does not follow from the file.
    """
    leaves = _old_order(
        {leaf.ref: leaf for w in trained for leaf in derived_weights.stored_operands(w)}.values(),
        places,
        context,
    )
    slots = SLOTS_BY_CLASS[known.kind]
    stored = _parted(old, known, leaves)
    if any(w.recipe is not None and _is_scaled(w) for w in trained):
        context.notes.findings.append(Code.OTHER_RATE())
    count = _iterations(stored.numbers)
    if count is None and known.kind in STEP_CORRECTED:
        raise NoCounterpart(f"the number of steps that {known.kind} took is missing")
    first = [
        derived_weights.cast(count, "<i8")
        if count is not None
        else derived_weights.constant("iteration", 0, (), "<i8")
    ]
    if known.rate is not None:
        first.append(derived_weights.constant("learning_rate", known.rate, (), "<f4"))
    first += [_average(w, _by_leaf(leaves, stored.averages)) for w in trained if stored.averages]
    wanted = _slots_in_keras_3(known, len(stored.kinds))
    new = [
        [_slot(w, _by_leaf(leaves, stored.kinds[k]), slots.powers[k]) for w in trained]
        for k in range(wanted)
    ]
    body = (
        [s for of_weight in zip(*new, strict=True) for s in of_weight]
        if slots.by_weight
        else [s for block in new for s in block]
    )
    body += [_slot(w, _by_leaf(leaves, stored.maxima), 2) for w in trained if stored.maxima]
    if known.kind == "Nadam":
        body.append(_product(stored.numbers, known, context))
    if not known.modern or known.rate is not None:
        context.note("optimizer-state", known.kind)
    return (*first, *body)


#: Numbers of an optimizer that has no slots yet: the count of steps and, from Keras 2.11 on, the learning rate.
MOST_NUMBERS_BEFORE_TRAINING = 2


def is_fresh(stored: Sequence[Tensor]) -> bool:
    """Return True for the state of before the first step of training, in which Keras 2 makes the slots."""
    return len(stored) <= MOST_NUMBERS_BEFORE_TRAINING and not any(
        tensor.shape for tensor in stored
    )


def _old_order(
    weights: Iterable[Tensor], places: Mapping[str, int], context: Context
) -> list[Tensor]:
    """Return the old model's trained weights in the order of its optimizer: by layer, in early releases by name.

    Raises NoCounterpart.
    """
    if keeps_state_by_weight_name(context.release):
        if context.backend == "theano" and context.release < (2,):
            raise NoCounterpart(
                "Keras 1 on Theano sorted the weights by names that it did not store"
            )
        return sorted(weights, key=lambda t: t.name)
    return sorted(weights, key=lambda t: places[t.ref])


def _slots_in_keras_3(known: KnownOptimizer, stored: int) -> int:
    """Return how many slots a weight has in Keras 3's optimizer with these arguments. Raises NoCounterpart."""
    config = known.entry["config"]
    assert isinstance(config, Mapping)
    if known.kind == "SGD":
        wanted = int(bool(config.get("momentum")))
    elif known.kind == "RMSprop":
        wanted = 1 + bool(config.get("momentum")) + bool(config.get("centered"))
    else:
        wanted = len(SLOTS_BY_CLASS[known.kind].powers)
    if wanted > stored:
        raise NoCounterpart(
            f"{known.kind} has {wanted} slots for each weight, and {stored} are stored"
        )
    return wanted


class StoredState(NamedTuple):
    """An optimizer's state in parts: its own numbers, and arrays in the order of the old model's trained weights.

    `averages`: of the weights, with `use_ema`; `kinds`: the slots by kind; `maxima`: those of amsgrad.
    """

    numbers: Sequence[Tensor]
    averages: Sequence[Tensor]
    kinds: list[Sequence[Tensor]]
    maxima: Sequence[Tensor]


def _parted(old: Sequence[Tensor], known: KnownOptimizer, leaves: Sequence[Tensor]) -> StoredState:
    """Divide the state into numbers and slots. Raises NoCounterpart if the file does not show how.

    (Source: Keras 2.11 to 2.15, optimizer.py, and Keras 3.15, base_optimizer.py: averages are made before the slots.)
    """
    size, most = len(leaves), len(SLOTS_BY_CLASS[known.kind].powers)
    if not size:
        raise NoCounterpart("no weight of the model is trained")
    averaged = size if known.modern and _is_set(known, "use_ema") else 0
    # Its own numbers are its iterations, and with some its rate or a product: how many, the weights' shapes decide.
    for start in range(MOST_NUMBERS + 1):
        if (
            (len(old) - start) % size
            or any(t.shape for t in old[:start])
            or len(old) < start + averaged
        ):
            continue
        averages, body = old[start : start + averaged], old[start + averaged :]
        if averages and not _alike(averages, leaves):
            continue
        for kinds in _divisions_in_slots(body, len(body) // size, size, known):
            if all(_alike(kind, leaves) for kind in kinds[:most]):
                has_maxima = (
                    len(kinds) > most and _is_set(known, "amsgrad") and _alike(kinds[most], leaves)
                )
                return StoredState(
                    old[:start], averages, list(kinds[:most]), kinds[most] if has_maxima else ()
                )
    count, why = _trained_count(old, known, leaves), "its order does not follow from the file"
    if count is not None:
        why += f", as it is of {count} weights, and {size} seem to be trained"
        why += "; if you had frozen some, freeze them again"
    raise NoCounterpart(why)


def _trained_count(
    old: Sequence[Tensor], known: KnownOptimizer, leaves: Sequence[Tensor]
) -> int | None:
    """Return the number of `leaves`, fewer than all, that a state is for by its shapes; None if no such number fits.

    Keras of its own does not store that a model within was frozen, and no Keras which weights a custom layer does not
    train. (Source: files of Keras 2.2.4.)
    """
    slots = SLOTS_BY_CLASS[known.kind]
    fewest = 1 if known.kind == "RMSprop" else len(slots.powers)
    most = len(slots.powers) + ("amsgrad" in slots.arguments)
    for size in range(len(leaves) - 1, 0, -1) if not _is_set(known, "use_ema") else ():
        for start in range(MOST_NUMBERS + 1):
            each, rest = divmod(len(old) - start, size)
            if rest or not fewest <= each <= most or any(t.shape for t in old[:start]):
                continue
            (kinds,) = _divisions_in_slots(old[start:], each, size, known)
            shapes = iter([leaf.shape for leaf in leaves])
            if all(_alike(kind, kinds[0]) for kind in kinds[:fewest]) and all(
                t.shape in shapes for t in kinds[0]
            ):
                return size
    return None


def _by_leaf(leaves: Sequence[Tensor], arrays: Sequence[Tensor]) -> dict[str, Tensor]:
    """Ref of an old weight -> its array; `arrays` are in the order of the weights."""
    return {leaf.ref: array for leaf, array in zip(leaves, arrays, strict=True)}


def _divisions_in_slots(
    body: Sequence[Tensor], each: int, size: int, known: KnownOptimizer
) -> list[list[Sequence[Tensor]]]:
    by_slot = [body[k * size : (k + 1) * size] for k in range(each)]
    by_weight: list[Sequence[Tensor]] = [body[k::each] for k in range(each)] if each else []
    if known.kind == "Ftrl" or (known.modern and SLOTS_BY_CLASS[known.kind].by_weight):
        if _is_set(known, "amsgrad") and each == 3:  # noqa: PLR2004 - the maxima follow all the others
            pairs = body[: 2 * size]
            return [[pairs[::2], pairs[1::2], body[2 * size :]]]
        return [by_weight]
    return [by_slot]


def _is_set(known: KnownOptimizer, argument: str) -> bool:
    config = known.entry["config"]
    return isinstance(config, Mapping) and bool(config.get(argument))


def _alike(slot: Sequence[Tensor], leaves: Sequence[Tensor]) -> bool:
    return all(s.shape == w.shape for s, w in zip(slot, leaves, strict=True))


def _iterations(head: Sequence[Tensor]) -> Tensor | None:
    return next((t for t in head if not t.shape), None)


def _product(head: Sequence[Tensor], known: KnownOptimizer, context: Context) -> Tensor:
    """Return Nadam's product of momenta; before Keras 2.11 the schedule differed, and its product is the nearest."""
    stored = len(head) > 1
    if not known.modern or not stored:
        context.notes.findings.append(Code.OTHER_SCHEDULE())
    return head[-1] if stored else derived_weights.constant("u_product", 1.0, (), "<f4")


def _is_scaled(weight: Tensor) -> bool:
    recipe = weight.recipe
    return recipe is not None and (recipe.step == "scale" or any(_is_scaled(t) for t in recipe.of))


def _average(weight: Tensor, averages: Mapping[str, Tensor]) -> Tensor:
    """A weight's average: computed from the old weights' averages as the weight is from the old weights."""
    recipe = weight.recipe
    if recipe is None:
        return averages[weight.ref]._replace(owner=())
    if recipe.step == "constant":
        return weight._replace(owner=())
    return derived_weights.with_step_applied(
        recipe, [_average(t, averages) for t in recipe.of], weight.shape
    )


def _slot(weight: Tensor, slots: Mapping[str, Tensor], power: int) -> Tensor:
    """A weight's slot: computed from the old weights' slots as the weight is from the old weights.

    Raises NoCounterpart.
    """
    recipe = weight.recipe
    if recipe is None:
        return slots[weight.ref]._replace(owner=())
    if recipe.step == "constant":
        raise NoCounterpart(f"{weight.name!r} was no weight before")
    of = [_slot(t, slots, power) for t in recipe.of]
    if recipe.step == "scale":
        return derived_weights.scaled(of[0], *(float(f) ** -power for f in recipe.arguments))
    if recipe.step == "add":  # the gradient of a sum is that of each part
        return of[0]
    return derived_weights.with_step_applied(recipe, of, weight.shape)
