"""Layers of Keras 1 by the names that their classes and arguments have had since Keras 2."""

from __future__ import annotations

from unnest.core.keras3.conversion_context import Context
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.keras_1_arguments import OF_KERAS_1_ALONE, arguments_since_keras_2
from unnest.core.model import JsonObject
from unnest.findings import Code

#: Keys that only Keras 1 writes; one of them shows the dialect of a config.
TELLING = OF_KERAS_1_ALONE | {"input_dtype"}


def is_keras_1(config: JsonObject, context: Context) -> bool:
    """Return True if a layer's config is in Keras 1's words."""
    if context.release:
        return context.release[0] == 1
    return not TELLING.isdisjoint(config)


def renamed_class_and_arguments(
    kind: str, config: JsonObject, name: str, context: Context
) -> tuple[str, JsonObject]:
    """Return class and config by the names of Keras 2. Raises CannotConvert."""
    record = layer_record(kind)
    new = arguments_since_keras_2(record, config)
    if kind == "Embedding" and config.get("dropout"):
        # (Source: Keras 1.2.2, keras/layers/embeddings.py: call, by K.in_train_phase.)
        context.notes.findings.append(
            Code.WORDS_NOT_DROPPED(what=f"{name} (dropout {config['dropout']})")
        )
    if new != dict(config) or record.renamed_to:
        context.note("keras-1-arguments", name)
    return record.renamed_to or kind, new
