"""Keras's own classes of optimizers and of learning rate schedules, and the order of an optimizer's slots.

A loader is to be given any other class.
"""

from __future__ import annotations

from collections.abc import Collection

from unnest.core.json_tree import is_object
from unnest.core.model import Json, JsonObject

OPTIMIZER_KEYS = ("optimizer_config", "optimizer")
"""Compile settings that hold the optimizer; their keys are never output names."""

LEGACY_MODULE = "keras.optimizers.legacy"
"""The module in which Keras 2.11 and later keep the optimizers of before."""

#: What `keras.optimizers` of Keras 3.15 and tf_keras 2.21 exports, and what these replaced.
OPTIMIZERS = frozenset({
    "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lamb", "Lion", "LossScaleOptimizer",
    "LossScaleOptimizerV1", "LossScaleOptimizerV3", "MultiOptimizer", "Muon", "Nadam", "OptimizerMap", "RMSprop", "SGD",
    "ScheduleFreeAdamW", "TFOptimizer",
})  # fmt: skip
#: What `keras.optimizers.schedules` exports.
SCHEDULES = frozenset({
    "CosineDecay", "CosineDecayRestarts", "ExponentialDecay", "InverseTimeDecay", "PiecewiseConstantDecay",
    "PolynomialDecay",
})  # fmt: skip
#: Optimizers go by these names in any case, as a user may call them; since Keras 2.11 .h5 notes today's as registered.
LOWER_CASE_NAMES = frozenset(name.lower() for name in OPTIMIZERS | SCHEDULES)
REGISTERED_PREFIX = "Custom>"
#: What an optimizer's config calls the optimizer in it, and its schedule.
NESTED_OPTIMIZER_KEYS = ("inner_optimizer", "learning_rate")


def is_keras_optimizer(class_name: str) -> bool:
    """Return True if a class that an .h5 names is one of Keras's."""
    return class_name.removeprefix(REGISTERED_PREFIX).lower() in LOWER_CASE_NAMES


def optimizer_class(training: JsonObject | None) -> str | None:
    """Return the optimizer's class name, wherever the writing release stores it."""
    for key in OPTIMIZER_KEYS:
        config = (training or {}).get(key)
        if is_object(config) and isinstance(config.get("class_name"), str):
            return str(config["class_name"])
        if isinstance(config, str):
            return config
    return None


def is_legacy_optimizer(training: JsonObject | None) -> bool:
    """Return True if a model was compiled with an optimizer of `keras.optimizers.legacy`, as a `.keras` spells it.

    No `.keras` holds the variables of such an optimizer. (Source: files of Keras 2.15.)
    """
    optimizer = (training or {}).get("optimizer")
    return is_object(optimizer) and optimizer.get("module") == LEGACY_MODULE


def custom_optimizers(training: JsonObject | None) -> list[str]:
    """Return the custom classes of the optimizer, its inner one and its schedule: names that loaders look for."""
    names: list[str] = []
    pending: list[Json] = [(training or {}).get(key) for key in OPTIMIZER_KEYS]
    while pending:
        entry = pending.pop()
        if not is_object(entry) or not isinstance(entry.get("class_name"), str):
            continue
        if not is_keras_optimizer(str(entry["class_name"])) or not _is_in_keras(entry):
            names.append(str(entry.get("registered_name") or entry["class_name"]))
        config = entry.get("config")
        if is_object(config):
            pending += [config.get(key) for key in NESTED_OPTIMIZER_KEYS]
    return names


def _is_in_keras(entry: JsonObject) -> bool:
    """Return True if the module that a `.keras` notes is one of Keras's; an .h5 notes none."""
    return str(entry.get("module", "keras")).partition(".")[0] in ("keras", "tf_keras")


def keeps_state_by_weight_name(release: tuple[int, ...]) -> bool:
    """True if optimizers of that Keras kept their state by the names of the weights; later ones keep it by layer.

    (Source: Keras 1.2.2 and 2.0.0 to 2.0.6, keras/engine/training.py: compile.)
    """
    return () < release < (2, 0, 6)


# ---- the order in which Keras 2.0 to 2.10 save the state of an optimizer with slots stored by name ----

#: What an optimizer saves beside the slots; its other variables are settings.
COUNTER_NAMES = ("iter", "momentum_cache")
#: The slots of the optimizers that have several: all of a kind, then all of the next, each in the weights' order ...
SLOT_BY_SLOT = frozenset({("m", "v"), ("m", "v", "vhat"), ("rms", "momentum"), ("rms", "mg"), ("rms", "momentum", "mg"),
                          ("accum_grad", "accum_var")})  # fmt: skip
#: ... or all of a weight.
WEIGHT_BY_WEIGHT = frozenset({("accumulator", "linear")})


def slot_order(kinds: Collection[str]) -> tuple[str, ...] | None:
    """Return the kinds of an optimizer's slots in the order it makes them; None for an unknown optimizer."""
    if len(kinds) < 2:  # noqa: PLR2004 - one has any order
        return tuple(kinds)
    return next(
        (known for known in SLOT_BY_SLOT | WEIGHT_BY_WEIGHT if set(known) == set(kinds)), None
    )
