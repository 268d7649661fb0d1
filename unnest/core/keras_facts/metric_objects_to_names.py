"""Names of metrics in compile settings: abbreviations, and the names of which Keras 2 made objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unnest.core.model import JsonObject

#: How metrics are abbreviated, and the function that each stands for. Accuracy has one for each kind of target.
METRIC_ABBREVIATIONS = {
    "mse": "mean_squared_error", "mae": "mean_absolute_error", "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error", "kld": "kl_divergence", "cosine_similarity": "cosine_similarity",
}  # fmt: skip
ACCURACIES = frozenset({"binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy"})


def metric_by_name(value: Any) -> Any:  # noqa: ANN401 - JSON is any; an ellipsis is what has no such form
    """Return metrics by name where Keras 2 made objects of names; `...` if an object has no such name.

    `value`: one metric, or lists and mappings (by output) of metrics.
    """
    if isinstance(value, Mapping) and value.get("class_name") == "MeanMetricWrapper":
        config = value.get("config")
        return _wrapped_name(config if isinstance(config, Mapping) else {})
    if isinstance(value, list):
        names = [metric_by_name(v) for v in value]
        return ... if ... in names else names
    if isinstance(value, Mapping) and "module" not in value:
        by_key = {k: metric_by_name(v) for k, v in value.items()}
        return ... if ... in by_key.values() else by_key
    return value


def _wrapped_name(config: JsonObject) -> Any:  # noqa: ANN401 - a text, or an ellipsis
    """Return the name that a MeanMetricWrapper was made of; `...` if it had another one."""
    name, function = str(config.get("name", "")), str(config.get("fn", ""))
    for short in ("accuracy", "acc", *METRIC_ABBREVIATIONS, function):
        functions = (
            ACCURACIES if short.startswith("acc") else {METRIC_ABBREVIATIONS.get(short, short)}
        )
        # Where a model has several outputs, an output's name is in front.
        if function in functions and (name == short or name.endswith(f"_{short}")):
            return short
    return ...
