"""Differences of training behind a mask: the divisor of a loss, and the statistics of a batch."""

from __future__ import annotations

from unnest.core import json_tree
from unnest.core.keras3.context import Context
from unnest.core.layers.shape_rules import settings
from unnest.core.model import JsonObject

BY_ALL = "it was divided by the number of all steps, and is by that of the unmasked ones in Keras 3"


def note_end(name: str, context: Context, *, today: bool = True) -> None:
    """The loss of this output saw a mask; `today`: whether it sees the same one in Keras 3.

    (Source: a step of each, recorded by its stack. The masked loss was divided by the number of all steps in
    Keras 2.3 and in tf.keras from 1.13 until 2.10, by that of the unmasked ones in Keras 1.2 to 2.2.4; Keras 2.11,
    losses.py: the first that asks for the mask of what was predicted.)
    """
    first = (2, 2, 4) if context.is_tf else (2, 3)
    if not today:
        context.graph.masked_ends[name] = "it sees another mask in Keras 3, or none"
    elif first <= context.release < (2, 11):
        context.graph.masked_ends[name] = BY_ALL


def note_normalization(entry: JsonObject, name: str, context: Context) -> None:
    """A layer behind a mask: BatchNormalization, itself or in it, counted the masked steps too in training.

    (Source: Keras 2.12, batch_normalization.py, the first whose call takes a mask.)
    """
    trained = (p for p in json_tree.objects(entry) if settings(p).get("trainable") is not False)
    if () < context.release < (2, 12) and any(p.get("class_name") == "BatchNormalization" for p in trained):
        context.notes.masked_norms.append(name)
