"""The optimizer's state of weights alone, in the optimizer that the caller's model is compiled with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from unnest.core.architecture.automatic_names import stem_and_number
from unnest.core.architecture.nested_models import LeafPath
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.training.convert_optimizer import (
    NOT_CONVERTED,
    SLOTS_BY_CLASS,
    KnownOptimizer,
    NoCounterpart,
)
from unnest.core.keras3.training.convert_optimizer_state import convert_state, is_fresh
from unnest.core.model import JsonObject, Tensor
from unnest.core.weight_transfer.target_model import TargetModel, TargetOptimizer
from unnest.findings import Code, Finding

#: Optimizer class by its name in lower case: optimizers are called `adam`, `Adam`, `SGD`, `loss_scale_optimizer`.
CLASS_BY_LOWER_NAME = {kind.lower(): kind for kind in (*SLOTS_BY_CLASS, *NOT_CONVERTED)}


class StateAlone(NamedTuple):
    """Optimizer state in stored order; `names` are those in which the file may say its class (`Adam/m/dense/kernel`).

    `order` are the refs of the model's weights, in order. `modern`: by an optimizer of Keras 2.11 or later that is no
    legacy one. `is_keras_3`: in Keras 3's order.
    """

    tensors: tuple[Tensor, ...]
    names: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    modern: bool = True
    is_keras_3: bool = False


def place_state(
    stored: StateAlone,
    weights: Mapping[LeafPath, tuple[Tensor, ...]],
    target: TargetModel,
    context: Context,
) -> tuple[tuple[Tensor, ...] | None, tuple[Finding, ...]]:
    """Return the state for the target's optimizer, or None, and the findings that say why.

    `weights` are those that the target's leaf layers get.
    """
    optimizer = target.optimizer
    if is_fresh(stored.tensors):
        return None, (Code.NEVER_TRAINED(),)
    if optimizer is None:
        return None, (Code.OPTIMIZER_DROPPED(why="your model is not compiled"),)
    kind = class_in(stored.names)
    if kind not in (None, optimizer.class_name):
        why = f"the file's optimizer is {kind}, your model is compiled with {optimizer.class_name}"
        return None, (Code.OPTIMIZER_DROPPED(why=why),)
    before = tuple(context.notes.findings)
    try:
        tensors = (
            stored.tensors if stored.is_keras_3 else _converted(stored, weights, target, context)
        )
    except NoCounterpart as e:
        return None, (Code.OPTIMIZER_DROPPED(why=f"{e}"),)
    if tuple(t.shape for t in tensors) != optimizer.shapes:
        return None, (Code.OPTIMIZER_DROPPED(why=OTHER_VARIABLES),)
    unnamed = () if kind else (Code.STATE_BY_SHAPES(kind=optimizer.class_name),)
    return tensors, (*unnamed, *(f for f in context.notes.findings if f not in before))


OTHER_VARIABLES = "your optimizer has other variables: compile it with the settings of the file's"


def class_in(names: Iterable[str]) -> str | None:
    """Return the optimizer class that names of an optimizer or its variables begin with; None if they say none."""
    for name in names:
        for part in name.split("/"):
            kind = CLASS_BY_LOWER_NAME.get(stem_and_number(part)[0].replace("_", "").lower())
            if kind is not None:
                return kind
    return None


def _converted(
    stored: StateAlone,
    weights: Mapping[LeafPath, tuple[Tensor, ...]],
    target: TargetModel,
    context: Context,
) -> tuple[Tensor, ...]:
    """Return the state of Keras 2 in the order of Keras 3. Raises NoCounterpart."""
    optimizer = target.optimizer
    assert optimizer is not None
    if optimizer.class_name not in SLOTS_BY_CLASS:
        raise NoCounterpart(f"the state of the optimizer {optimizer.class_name!r} is not converted")
    trained = [
        _trained_weight(weights, target, path, position) for path, position in optimizer.trained
    ]
    places = {ref: place for place, ref in enumerate(stored.order)}
    return convert_state(
        stored.tensors, _target_facts(optimizer, modern=stored.modern), trained, places, context
    )


def _trained_weight(
    weights: Mapping[LeafPath, tuple[Tensor, ...]],
    target: TargetModel,
    path: LeafPath,
    position: int,
) -> Tensor:
    if tuple(t.shape for t in weights[path]) != target.shapes[path]:
        raise NoCounterpart(f"the weights of {'/'.join(path)!r} stand in another order in the file")
    return weights[path][position]


def _target_facts(optimizer: TargetOptimizer, *, modern: bool) -> KnownOptimizer:
    rate = optimizer.config.get("learning_rate")
    number = float(rate) if isinstance(rate, int | float) else None
    entry: JsonObject = {"class_name": optimizer.class_name, "config": optimizer.config}
    return KnownOptimizer(optimizer.class_name, entry, modern, number)
