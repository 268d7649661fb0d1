"""Keras's own classes of optimizers and of learning rate schedules; a loader is to be given any other."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.architecture.compile_config import NOT_BY_OUTPUT
from unnest.core.model import Json, JsonObject

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
LOWER = frozenset(name.lower() for name in OPTIMIZERS | SCHEDULES)
REGISTERED = "Custom>"
#: What an optimizer's config calls the optimizer in it, and its schedule.
HELD = ("inner_optimizer", "learning_rate")


def is_keras_optimizer(class_name: str) -> bool:
    """Return True if a class that an .h5 names is one of Keras's."""
    return class_name.removeprefix(REGISTERED).lower() in LOWER


def custom_optimizers(training: JsonObject | None) -> list[str]:
    """Custom classes among the optimizer, the one in it and its schedule: the names that loaders look for."""
    names: list[str] = []
    pending: list[Json] = [(training or {}).get(key) for key in NOT_BY_OUTPUT]
    while pending:
        entry = pending.pop()
        if not isinstance(entry, Mapping) or not isinstance(entry.get("class_name"), str):
            continue
        if not is_keras_optimizer(str(entry["class_name"])) or not _is_in_keras(entry):
            names.append(str(entry.get("registered_name") or entry["class_name"]))
        config = entry.get("config")
        if isinstance(config, Mapping):
            pending += [config.get(key) for key in HELD]
    return names


def _is_in_keras(entry: JsonObject) -> bool:
    """Return True if the module that a `.keras` notes is one of Keras's; an .h5 notes none."""
    return str(entry.get("module", "keras")).partition(".")[0] in ("keras", "tf_keras")
