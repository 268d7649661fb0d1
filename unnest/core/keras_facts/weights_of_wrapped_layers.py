"""Layers within a layer (a wrapped one, cells), as its config lists them: their weights, and which are frozen.

Keras's flat lists have the weights of a layer's frozen parts behind all that is trained, path-keyed files have each
where its layer is. (Source: files of Keras 2.2.4 to 3.15, whose cells and wrapped layers were frozen one by one.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unnest.core import json_tree
from unnest.core.architecture import entry_name
from unnest.core.json_tree import LEAVES, OBJECT, is_list, is_object
from unnest.core.keras_facts.stored_class_names import current_class_name, record_of
from unnest.core.keras_facts.weight_counts_by_config import RULE_SUFFIXES, initialized_weight_counts
from unnest.core.layers.record import KerasLayer, Parts
from unnest.core.model import Json, JsonObject, Tensor


def wrapped_layer(entry: JsonObject) -> JsonObject | None:
    """Return the one layer that owns all the weights of the layer around it; None for any other layer."""
    config, record = (
        entry.get("config"),
        record_of(str(entry.get("class_name")), entry.get("config")),
    )
    keys = record.holds if record.weights == () else ()
    held = config.get(keys[0]) if isinstance(config, OBJECT) and len(keys) == 1 else None
    return held if is_object(held) and "class_name" in held else None


class HeldLayer(NamedTuple):
    """A layer that another holds: how many weights its own config promises to train, and whether it is frozen."""

    trained: int
    is_frozen: bool


#: How the arguments end that hold an initializer, a regularizer or a constraint, and no layer.
OF_NO_LAYER = ("_initializer", *RULE_SUFFIXES)


def held_layers(entry: JsonObject) -> list[HeldLayer]:
    """Return the held layers that may have weights, in the order of the config; of a Bidirectional both."""
    return _held_layers(entry, is_frozen=False)


def _held_layers(entry: JsonObject, *, is_frozen: bool) -> list[HeldLayer]:
    config = entry.get("config")
    if not isinstance(config, OBJECT):
        return []
    parts: list[HeldLayer] = []
    for key, value in config.items():
        if type(value) in LEAVES or key.endswith(OF_NO_LAYER):
            continue
        for held in value if isinstance(value, list) else [value]:
            if type(held) not in LEAVES and isinstance(held, OBJECT) and "class_name" in held:
                parts += _layers_of_entry(held, is_frozen=is_frozen)
    return 2 * parts if _tells_one_way(entry) else parts


def _layers_of_entry(entry: JsonObject, *, is_frozen: bool) -> list[HeldLayer]:
    """Return a layer's own weights, and those of layers and cells in its config, each with whether it is frozen."""
    settings = entry.get("config")
    if not isinstance(settings, OBJECT):
        return []
    is_frozen = is_frozen or settings.get("trainable") is False
    own = initialized_weight_counts(
        {key: value if type(value) in LEAVES else None for key, value in settings.items()}
    )
    return [
        *([] if own is None else [HeldLayer(own.trained, is_frozen)]),
        *_held_layers(entry, is_frozen=is_frozen),
    ]


def _tells_one_way(entry: JsonObject) -> bool:
    """Return True if a config speaks of one of a Bidirectional's layers, for both."""
    config = entry.get("config")
    is_bidirectional = current_class_name(str(entry.get("class_name"))) == "Bidirectional"
    return is_bidirectional and isinstance(config, OBJECT) and config.get("backward_layer") is None


def partly_frozen_layer(architecture: Json) -> str | None:
    """Return the name of a layer that is frozen in part, or may be; None without one.

    A layer that holds a model is not one of them: its weights belong to the model's layers, frozen or not.
    """
    for entry in json_tree.all_objects(architecture):
        config = entry.get("config")
        if "class_name" not in entry or not isinstance(config, OBJECT) or "layers" in config:
            continue
        if config.get("trainable") is False or any(
            "layers" in part for part in json_tree.objects(config)
        ):
            continue
        frozen = [part.is_frozen for part in held_layers(entry)]
        if any(frozen) and (not all(frozen) or _tells_one_way(entry)):
            return entry_name(entry)
    return None


def expected_weight_total(entry: JsonObject, untold: int | None = None) -> int | None:
    """Return the number of weights of a Keras layer and the layers in it; None if the config leaves it open.

    `untold`: the number for a layer of a plain class whose config speaks of no weights.
    """
    total = 0
    pending: list[tuple[Json, int]] = [(entry, 1)]
    while pending:
        layer, times = pending.pop()
        config = layer.get("config") if isinstance(layer, OBJECT) else None
        if not isinstance(layer, OBJECT) or not isinstance(config, OBJECT):
            return None
        record = record_of(str(layer.get("class_name")), layer.get("config"))
        own = _own_total(record, config, untold)
        if own is not None:
            total += times * own
        elif record.is_plain or record.parts is Parts.CELL:
            return None
        elif _tells_one_way(layer):
            pending.append((config.get("layer"), 2 * times))
        elif record.holds and record.weights == ():
            for held in (config.get(key) for key in record.holds):
                pending += [(each, times) for each in (held if is_list(held) else [held])]
        else:
            return None
    return total


def _own_total(record: KerasLayer, config: JsonObject, untold: int | None) -> int | None:
    """Return the number of weights of a layer that makes all of them itself; None for others."""
    if record.weight_count is not None:
        return record.weight_count(config)
    if not record.is_plain and record.parts is not Parts.CELL:
        return None
    own = initialized_weight_counts(config)
    return untold if own is None else own.total


def divide_spectral_normalization(
    tensors: Sequence[Tensor],
) -> tuple[tuple[Tensor, ...], Tensor] | None:
    """Divide a Keras 3 SpectralNormalization's weights into its inner layer's, and the vector of its own.

    None where their shapes do not tell: the kernel comes first, and the vector, a row as long as the kernel's last
    axis, behind what is trained, or, of a layer that is frozen, behind the kernel.
    """
    if len(tensors) not in (2, 3) or not tensors[0].shape:
        return None
    vectors = [t for t in tensors[1:] if t.shape == (1, tensors[0].shape[-1])]
    if len(vectors) != 1:
        return None
    return tuple(t for t in tensors if t.ref != vectors[0].ref), vectors[0]
