"""Optimizers of Keras 1 and 2 as Keras 3 has them: their classes, arguments and schedules; and the slots of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.convert_config_values import class_and_config, keras_object
from unnest.core.keras_facts.optimizer_classes import REGISTERED_PREFIX, SCHEDULES
from unnest.core.model import Json, JsonObject
from unnest.findings import Code


class NoCounterpart(Exception):
    """Keras 3 has no such optimizer, loss or order; the message says which."""


class Slots(NamedTuple):
    """The slots of an optimizer class.

    `powers`: with which power of the gradient each slot goes, in the old order; a weight that was multiplied by f has a
    gradient of 1/f. `by_weight`: whether Keras 3 stores them weight by weight. `arguments`: of its constructor.
    """

    powers: tuple[int, ...]
    by_weight: bool
    arguments: tuple[str, ...]


#: Arguments of all optimizers of Keras 3.
COMMON_ARGUMENTS = ("name", "learning_rate", "weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema",
          "ema_momentum", "ema_overwrite_frequency")  # fmt: skip
#: Orders of the slots in Keras 3: kind by kind, or weight by weight.
BLOCKS, PAIRS = False, True

SLOTS_BY_CLASS: dict[str, Slots] = {
    "SGD": Slots((1,), BLOCKS, ("momentum", "nesterov")),
    "RMSprop": Slots((2, 1, 1), BLOCKS, ("rho", "momentum", "epsilon", "centered")),
    "Adagrad": Slots((2,), BLOCKS, ("initial_accumulator_value", "epsilon")),
    "Adadelta": Slots((2, -2), PAIRS, ("rho", "epsilon")),
    "Adam": Slots((1, 2), PAIRS, ("beta_1", "beta_2", "epsilon", "amsgrad")),
    "AdamW": Slots((1, 2), PAIRS, ("beta_1", "beta_2", "epsilon", "amsgrad")),
    "Adamax": Slots((1, 1), PAIRS, ("beta_1", "beta_2", "epsilon")),
    "Nadam": Slots((1, 2), PAIRS, ("beta_1", "beta_2", "epsilon")),
    "Lion": Slots((1,), BLOCKS, ("beta_1", "beta_2")),
    "Ftrl": Slots(
        (2, 1), PAIRS,
        ("learning_rate_power", "initial_accumulator_value", "l1_regularization_strength", "l2_regularization_strength",
         "l2_shrinkage_regularization_strength", "beta"),
    ),
}  # fmt: skip

#: What `compile` takes for an optimizer as it is by default, which a `.keras` stores as that word.
DEFAULT_OPTIMIZERS = {"adam": "Adam", "sgd": "SGD", "rmsprop": "RMSprop", "adagrad": "Adagrad", "adadelta": "Adadelta",
           "adamax": "Adamax", "nadam": "Nadam", "ftrl": "Ftrl"}  # fmt: skip
#: The learning rates by default in Keras 2.12 to 2.15, the other arguments being those of Keras 3.
DEFAULT_RATE, DEFAULT_RATES = 0.001, {"SGD": 0.01}
#: Optimizers that Keras 3 has too, with a state of another form.
NOT_CONVERTED = frozenset({"Adafactor", "LossScaleOptimizer", "LossScaleOptimizerV3"})

#: Arguments that no longer exist: name -> what it may hold without being missed.
REMOVED_ARGUMENTS = {
    "jit_compile",
    "is_legacy_optimizer",
    "schedule_decay",
    "use_locking",
    "loss_scale",
}
#: Optimizers whose epsilon stands outside the root before Keras 2.11, inside today.
OUTSIDE = frozenset({"RMSprop", "Adagrad"})
#: Optimizers that correct their slots by the number of steps: a wrong one makes the next steps many times too large.
STEP_CORRECTED = frozenset({"Adam", "AdamW", "Adamax", "Nadam"})
EPSILON = 1e-7
#: Up to here an epsilon counts for next to nothing, inside the root or outside (measured: 22 % of a step at 0.1).
NEGLIGIBLE_EPSILON = 1e-6


class KnownOptimizer(NamedTuple):
    """An optimizer as Keras 3 stores it. `modern`: its file is by Keras 2.11 or later, and it is no legacy one.

    `rate` is the learning rate, None where it is a schedule.
    """

    kind: str
    entry: JsonObject
    modern: bool
    rate: float | None


def convert_optimizer(given: Json, context: Context) -> KnownOptimizer:
    """The optimizer for Keras 3. Raises NoCounterpart."""
    kind, config = class_and_config(given)
    kind = DEFAULT_OPTIMIZERS.get(kind, kind.removeprefix(REGISTERED_PREFIX))
    if isinstance(given, str) and kind in SLOTS_BY_CLASS:
        config = {"learning_rate": DEFAULT_RATES.get(kind, DEFAULT_RATE)}
    if kind in NOT_CONVERTED:
        raise NoCounterpart(f"the optimizer {kind!r}, and its state, are not converted")
    if kind not in SLOTS_BY_CLASS:
        raise NoCounterpart(f"Keras 3 has no optimizer {kind!r}")
    says_modern = "jit_compile" in config and config.get("is_legacy_optimizer") is not True
    modern = says_modern or (isinstance(given, str) and context.release >= (2, 11))
    new, decay = _arguments(kind, config, context, modern=modern)
    rate = new.get("learning_rate")
    if decay:
        context.note("optimizer-decay", kind)
        new["learning_rate"] = keras_object("keras.optimizers.schedules", "InverseTimeDecay", {
            "initial_learning_rate": rate, "decay_steps": 1, "decay_rate": decay, "staircase": False,
        })  # fmt: skip
        rate = None
    elif isinstance(rate, Mapping):
        schedule, settings = class_and_config(rate)
        if schedule not in SCHEDULES:
            raise NoCounterpart(f"Keras 3 has no learning rate schedule {schedule!r}")
        new["learning_rate"] = keras_object(
            "keras.optimizers.schedules",
            schedule,
            {k: v for k, v in settings.items() if k != "name" or v is not None},
        )
    number = float(rate) if isinstance(rate, int | float) else None
    return KnownOptimizer(kind, keras_object("keras.optimizers", kind, new), modern, number)


def _arguments(
    kind: str, config: JsonObject, context: Context, *, modern: bool
) -> tuple[dict[str, Json], float]:
    """Return the constructor's arguments, and the decay that was one of them. Raises NoCounterpart."""
    new: dict[str, Json] = {}
    decay = 0.0
    known = (*COMMON_ARGUMENTS, *SLOTS_BY_CLASS[kind].arguments)
    if kind == "Ftrl" and not modern and config.get("l2_shrinkage_regularization_strength"):
        raise NoCounterpart(
            "Ftrl's l2_shrinkage_regularization_strength acted otherwise before Keras 2.11"
        )
    for key, value in config.items():
        if key == "lr":
            new["learning_rate"] = value
        elif key == "decay":
            decay = float(value) if isinstance(value, int | float) and kind != "Nadam" else 0.0
        elif key in known:
            new[key] = value
        elif key not in REMOVED_ARGUMENTS and value not in (None, False, 0, 0.0):
            raise NoCounterpart(
                f"{kind}'s argument {key!r} = {value!r} has no counterpart in Keras 3"
            )
    if "lr" in config or set(config) - set(known):
        context.note("optimizer-arguments", kind)
    if "epsilon" in SLOTS_BY_CLASS[kind].arguments and new.get("epsilon") is None:
        new["epsilon"] = EPSILON
    inside = modern or bool(new.get("momentum"))
    if kind in OUTSIDE and not inside:
        epsilon = new["epsilon"]
        assert isinstance(epsilon, int | float)
        new["epsilon"] = float(epsilon) ** 2
        context.note("optimizer-epsilon", kind)
        if epsilon > NEGLIGIBLE_EPSILON:
            context.notes.findings.append(Code.OTHER_EPSILON(kind=kind, epsilon=epsilon))
    if new.get("clipnorm") and not modern and not context.is_tf and context.release < (2, 4):
        # Keras of its own clips by the norm of all gradients together (source: Keras 2.2.4, optimizers.py).
        new["global_clipnorm"] = new.pop("clipnorm")
    new = {
        k: v
        for k, v in new.items()
        if v is not None or k not in ("weight_decay", "ema_overwrite_frequency")
    }
    return new, decay
