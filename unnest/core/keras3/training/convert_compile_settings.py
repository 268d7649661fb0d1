"""Compile settings and the optimizer's state as Keras 3 resumes them.

What has no counterpart stays out, and a finding says which part and why: the weights are never touched by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unnest.core import json_tree
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.convert_config_values import class_and_config, keras_object, plain_json
from unnest.core.keras3.layer_replacements import NewLayer
from unnest.core.keras3.masks.layer_mask_behaviour import BY_ALL
from unnest.core.keras3.training.convert_optimizer import (
    KnownOptimizer,
    NoCounterpart,
    convert_optimizer,
)
from unnest.core.keras3.training.convert_optimizer_state import convert_state, is_fresh
from unnest.core.keras_facts.optimizer_classes import is_legacy_optimizer
from unnest.core.layers.read_config_values import settings as settings_of
from unnest.core.model import Json, JsonObject, Stored, Tensor
from unnest.findings import Code, listed

LOSSES = {
    **{name: name for name in (
        "mean_squared_error", "mse", "MSE", "mean_absolute_error", "mae", "MAE", "mean_absolute_percentage_error",
        "mape", "MAPE", "mean_squared_logarithmic_error", "msle", "MSLE", "squared_hinge", "hinge",
        "categorical_hinge", "binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy",
        "poisson", "cosine_similarity", "log_cosh", "huber", "kl_divergence", "kld", "binary_focal_crossentropy",
    )},
    "logcosh": "log_cosh", "huber_loss": "huber", "kullback_leibler_divergence": "kl_divergence",
    "KLD": "kl_divergence",
    "bce": "binary_crossentropy", "BCE": "binary_crossentropy",
}  # fmt: skip
"""Loss by name -> its name today (source: Keras 3.15, keras.losses)."""

COSINE = frozenset({"cosine_proximity", "cosine"})
"""Keras 2's name of cosine_similarity; Keras 1's took the mean, today's the sum."""

LOSS_CLASSES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError",
         "Hinge", "SquaredHinge", "CategoricalHinge", "Poisson", "KLDivergence", "LogCosh"), (),
    ),
    "CosineSimilarity": ("axis",), "Huber": ("delta",),
    "BinaryCrossentropy": ("from_logits", "label_smoothing", "axis"),
    "CategoricalCrossentropy": ("from_logits", "label_smoothing", "axis"),
    "SparseCategoricalCrossentropy": ("from_logits", "ignore_class", "axis"),
    "BinaryFocalCrossentropy": ("apply_class_balancing", "alpha", "gamma", "from_logits", "label_smoothing", "axis"),
}  # fmt: skip
"""Loss class -> its arguments beside `name` and `reduction`."""

REDUCTIONS = {
    "auto": "sum_over_batch_size",
    "sum_over_batch_size": "sum_over_batch_size",
    "sum": "sum",
    "none": None,
}

METRIC_CLASSES = {
    "kld": "KLDivergence", "kullback_leibler_divergence": "KLDivergence", "kl_divergence": "KLDivergence",
    "KLD": "KLDivergence", "logcosh": "LogCoshError", "cosine_proximity": "CosineSimilarity",
    "cosine": "CosineSimilarity", "cosine_similarity": "CosineSimilarity",
}  # fmt: skip
"""Metrics whose old names Keras 3 knows by class alone."""

METRICS = frozenset({
    "accuracy", "acc", "binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy",
    "top_k_categorical_accuracy", "sparse_top_k_categorical_accuracy", "mse", "MSE", "mean_squared_error", "mae", "MAE",
    "mean_absolute_error", "mape", "MAPE", "mean_absolute_percentage_error", "msle", "MSLE",
    "mean_squared_logarithmic_error", "hinge", "squared_hinge", "categorical_hinge", "binary_crossentropy",
    "categorical_crossentropy", "sparse_categorical_crossentropy", "poisson", "auc", "AUC", "precision", "Precision",
    "recall", "Recall",
})  # fmt: skip

METRIC_ARGUMENTS = frozenset({
    "name", "dtype", "thresholds", "top_k", "class_id", "num_classes", "target_class_ids", "num_thresholds", "curve",
    "summation_method", "multi_label", "num_labels", "label_weights", "from_logits", "threshold", "k", "axis",
    "label_smoothing", "specificity", "sensitivity", "precision", "recall", "average", "ignore_class",
})  # fmt: skip
METRIC_OBJECTS = frozenset({
    "Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy", "TopKCategoricalAccuracy",
    "SparseTopKCategoricalAccuracy", "AUC", "Precision", "Recall", "TruePositives", "TrueNegatives", "FalsePositives",
    "FalseNegatives", "MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredLogarithmicError", "KLDivergence", "LogCoshError", "CosineSimilarity", "BinaryCrossentropy",
    "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "Hinge", "SquaredHinge", "CategoricalHinge", "Poisson",
    "MeanIoU", "PrecisionAtRecall", "RecallAtPrecision", "SensitivityAtSpecificity", "SpecificityAtSensitivity",
})  # fmt: skip


def with_compile_settings(
    stored: Stored, model: NewLayer, result: Stored, context: Context
) -> Stored:
    """Return `result` with the compile settings and optimizer state of `stored`."""
    settings = plain_json(stored.training)
    if not isinstance(settings, Mapping) or stored.contents != "model":
        return result
    given = settings.get("optimizer_config") or settings.get("optimizer")
    if not given and "loss" not in settings:
        return result
    noted, findings = (
        {rule: [*layers] for rule, layers in context.notes.applied.items()},
        [*context.notes.findings],
    )
    try:
        known = convert_optimizer(given, context)
        compiled = _compile_config(settings, known, _outputs(model), context)
    except NoCounterpart as why:
        # What was changed is not in the output.
        context.notes.applied, context.notes.findings = noted, findings
        context.notes.findings.append(Code.COMPILE_DROPPED(why=f"{why}"))
        return result
    _note_masked_losses(compiled["loss"], _outputs(model), context)
    embeddings = list(_embeddings_of_words(model)) if known.kind in SQUARING else []
    if embeddings:
        context.notes.findings.append(
            Code.EMBEDDING_STEPS(kind=known.kind, what=listed([*dict.fromkeys(embeddings)]))
        )
    new = result._replace(training=compiled)
    if stored.optimizer is None:
        if is_legacy_optimizer(settings):
            context.notes.findings.append(Code.STATE_NOT_STORED())
        return new
    try:
        tensors = convert_state(
            stored.optimizer, known, list(_trained(model)), _places(stored), context
        )
    except NoCounterpart as why:
        fresh = is_fresh(stored.optimizer)
        context.notes.findings.append(
            Code.NEVER_TRAINED() if fresh else Code.OPTIMIZER_DROPPED(why=f"{why}")
        )
        return new
    return new._replace(optimizer=tensors)


#: Optimizers that compute with more than the sum of gradients. Keras 3.15 on TensorFlow gives them those of a row that
#: is read twice one by one (measured: files of Keras 2.1.6 to 2.3.1 and TensorFlow 2.0 to 2.15).
SQUARING = frozenset({"Adam", "AdamW", "Adamax", "Nadam", "RMSprop", "Adagrad", "Adadelta"})


def _embeddings_of_words(model: NewLayer) -> Iterator[str]:
    """Yield the names of trained Embeddings; one with a regularizer has a gradient for all its rows."""
    for part in json_tree.all_objects(model.config):
        config = settings_of(part)
        if (
            part.get("class_name") == "Embedding"
            and config.get("trainable") is not False
            and config.get("embeddings_regularizer") is None
        ):
            yield str(config.get("name"))


def _trained(model: NewLayer) -> Iterator[Tensor]:
    """Yield the trained weights in the order in which Keras 3's model lists them."""
    return (w for w in model.weights if w.trained)


def _places(stored: Stored) -> dict[str, int]:
    """Ref of a stored weight -> its index in the old model's order."""
    return {t.ref: k for k, t in enumerate(t for g in stored.groups for t in g.tensors)}


def _outputs(model: NewLayer) -> list[str]:
    """Return the names of the layers that give the outputs; several outputs of one layer are one name each."""
    ends = model.config.get("output_layers")
    if isinstance(ends, list) and ends and isinstance(ends[0], list):
        return [str(end[0]) for end in ends]
    return [model.name]


def _compile_config(
    settings: JsonObject, known: KnownOptimizer, outputs: Sequence[str], context: Context
) -> JsonObject:
    """Return Keras 3's compile_config. Raises NoCounterpart for a loss that it lacks."""
    loss = _by_output(_losses(settings.get("loss"), context), context)
    weights = _by_output(settings.get("loss_weights"), context)
    compiled: dict[str, Json] = {
        "optimizer": known.entry,
        "loss": _for_every_output(loss, weights, outputs),
    }
    if weights is not None:
        compiled["loss_weights"] = weights
    for key in ("metrics", "weighted_metrics"):
        metrics = _metrics(settings.get(key), context)
        if (
            len(outputs) > 1
            and isinstance(metrics, list)
            and not any(isinstance(m, list) for m in metrics)
        ):
            metrics = [metrics] * len(outputs)  # those of a flat list were every output's
        if metrics:
            compiled[key] = _by_output(metrics, context)
    if settings.get("sample_weight_mode"):
        context.notes.findings.append(
            Code.COMPILE_PART(what="sample_weight_mode", why="Keras 3 takes weights of any shape")
        )
    return compiled


def _for_every_output(loss: Json, weights: Json, outputs: Sequence[str]) -> Json:
    """Return the loss by output name, as Keras 3 wants it of several outputs: one for every weight and output.

    (Source: Keras 3.15, keras/src/trainers/compile_utils.py: CompileLoss.build.)
    """
    if len(outputs) == 1:
        return loss
    if isinstance(loss, Mapping) and "class_name" not in loss:
        return {**loss, **{name: None for name in outputs if name not in loss}}
    if weights is not None and not isinstance(loss, list):
        return (
            dict.fromkeys(outputs, loss) if isinstance(weights, Mapping) else [loss] * len(outputs)
        )
    return loss


def _note_masked_losses(loss: Json, outputs: Sequence[str], context: Context) -> None:
    """Note the outputs whose loss used a mask otherwise; a sum was never divided."""
    by_output = isinstance(loss, Mapping) and _is_structure(loss)
    whys: dict[str, list[str]] = {}
    ends = list(context.graph.masked_ends) if len(outputs) == 1 else outputs
    for k, name in enumerate(ends):
        why = context.graph.masked_ends.get(name)
        its = (
            loss.get(name)
            if by_output and isinstance(loss, Mapping)
            else loss[k]
            if isinstance(loss, list)
            else loss
        )
        settings = class_and_config(its)[1] if its else {}
        if (
            why is not None
            and its is not None
            and not (why == BY_ALL and settings.get("reduction") == "sum")
        ):
            whys.setdefault(why, []).append(name)
    for why, names in whys.items():
        context.notes.findings.append(Code.MASKED_LOSS(what=listed(names), why=why))


def _by_output(value: Json, context: Context) -> Json:
    """Return settings by output name, under the outputs' names in Keras 3."""
    if isinstance(value, Mapping) and "class_name" not in value:
        return {context.graph.output_names.get(k, k): v for k, v in value.items()}
    return value


def _is_structure(value: JsonObject) -> bool:
    """Return True for a mapping of losses or metrics by name, which is not one itself."""
    return "class_name" not in value


def _losses(value: Json, context: Context) -> Json:
    """Return the losses that Keras 3 has, in the structure in which they are stored."""

    def holder(part: Sequence[Json] | JsonObject, parts: list[Json]) -> Json:
        return dict(zip(part, parts, strict=True)) if isinstance(part, Mapping) else parts

    return json_tree.fold(value, lambda leaf: _loss(leaf, context), holder, into=_is_structure)


def _loss(value: Json, context: Context) -> Json:
    """Convert one loss. Raises NoCounterpart."""
    if value is None:
        return None
    kind, config = class_and_config(value)
    kind = kind.rpartition(">")[2]
    _check_same(kind, context)
    if kind in COSINE and context.release[:1] != (1,):
        context.note("loss-or-metric-name", kind)
        return "cosine_similarity"
    if kind in LOSSES and not config:
        if LOSSES[kind] != kind:
            context.note("loss-or-metric-name", kind)
        return LOSSES[kind]
    if kind in LOSS_CLASSES:
        reduction = config.get("reduction", "auto")
        reduction = str(reduction).lower() if reduction is not None else "none"
        kept = {k: v for k, v in config.items() if k in (*LOSS_CLASSES[kind], "name")}
        if reduction in REDUCTIONS and not set(config) - {*kept, "reduction", "fn", "dtype"}:
            return keras_object("keras.losses", kind, {**kept, "reduction": REDUCTIONS[reduction]})
    if kind.strip("_<>") in ("", "lambda"):
        raise NoCounterpart("the loss is a function without a name (a lambda)")
    raise NoCounterpart(f"Keras 3 has no loss {kind!r}")


def _check_same(loss: str, context: Context) -> None:
    """Raise NoCounterpart for a loss that another release computed otherwise (source: steps recorded by its stack)."""
    if (
        loss in ("hinge", "squared_hinge")
        and not context.is_tf
        and (1,) <= context.release < (2, 3)
    ):
        raise NoCounterpart(
            f"the loss {loss!r} left labels of 0 as they are, and takes them for -1 today"
        )
    if (
        loss in (*COSINE, "cosine_similarity", "CosineSimilarity")
        and context.is_tf
        and context.release[:3] == (2, 2, 4)
    ):
        raise NoCounterpart(
            f"the loss {loss!r} of TensorFlow 1 was another, and whether this is 1 or 2 is not stored"
        )


def _metrics(value: Json, context: Context) -> Json:
    """Return the metrics that Keras 3 has, in the structure in which they are stored."""

    def holder(part: Sequence[Json] | JsonObject, parts: list[Json]) -> Json:
        if isinstance(part, Mapping):
            return {name: kept or [] for name, kept in zip(part, parts, strict=True)}
        return [kept for kept in parts if kept is not None]

    return json_tree.fold(value, lambda leaf: _metric(leaf, context), holder, into=_is_structure)


def _metric(value: Json, context: Context) -> Json:
    """Convert one metric. Raises NoCounterpart."""
    if value is None:
        return None
    from unnest.core.keras_facts.metric_objects_to_names import metric_by_name

    found = metric_by_name(value)
    value = value if found is ... else found
    kind, config = class_and_config(value)
    kind = kind.rpartition(">")[2]
    if kind in METRICS and not config:
        return kind
    if kind in METRIC_CLASSES and not config:
        context.note("loss-or-metric-name", kind)
        return keras_object("keras.metrics", METRIC_CLASSES[kind], {"name": kind})
    kept_config = {k: v for k, v in config.items() if k in METRIC_ARGUMENTS}
    if kind in METRIC_OBJECTS and set(config) <= {*kept_config, "fn", "dynamic", "trainable"}:
        return keras_object("keras.metrics", kind, kept_config)
    context.notes.findings.append(
        Code.COMPILE_PART(what=f"the metric {kind!r}", why="Keras 3 does not have it")
    )
    return None
