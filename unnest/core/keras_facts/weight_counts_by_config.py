"""Weights that a layer's config promises: how many, how many of them trained, and by which names.

Keras writes one initializer into a config for every weight of a built-in layer, and beside
it a regularizer and a constraint for every weight that is trained; BatchNormalization's
moving statistics have an initializer alone (a layer that knows no rules at all trains
everything). Read that way a config gives the number of weights to expect without a list of
classes or of weight names (source: the get_config of Keras 1 to 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unnest.budget import memoize
from unnest.core import json_tree
from unnest.core.architecture.graph import Layer, is_model
from unnest.core.keras_facts.stored_class_names import current_class_name, record_of
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.record import KerasLayer
from unnest.core.model import Json, JsonObject

SEPARABLE_KERNELS = ("depthwise", "pointwise")
"""A separable convolution's kernel is made of these; its config speaks of `kernel` too, which it has not."""

SWITCHES = {"bias": ("use_bias", "bias"), "beta": ("center",), "gamma": ("scale",)}
"""The weights that a config can switch off, and the keys that do (`bias` is Keras 1's)."""


class WeightCounts(NamedTuple):
    """How many trained weights and statistics a layer's config promises."""

    trained: int
    statistics: int

    @property
    def total(self) -> int:
        """Return the number of all weights."""
        return self.trained + self.statistics


def initialized_weight_counts(config: Json) -> WeightCounts | None:
    """Return the number of weights that a layer's config promises; None if it does not show them all.

    BatchNormalization with `renorm` has three statistics more (source: TensorFlow 1.15 to 2.15), or four (1.13).
    """
    trained = statistics = 0
    known = False
    for part in _configs(config):
        if part.get("renorm") is True:
            return None
        stems = initialized_stems(part)
        kept = [
            s for s in stems if not any(part.get(switch) is False for switch in SWITCHES.get(s, ()))
        ]
        if part.get("bias_axes", ()) is None:  # EinsumDense's switch
            kept = [s for s in kept if s != "bias"]
        with_rules = {s for s in stems if f"{s}_regularizer" in part or f"{s}_constraint" in part}
        known = known or bool(kept)
        alone = sum(s not in with_rules for s in kept) if with_rules else 0
        trained += len(kept) - alone
        statistics += alone
    return WeightCounts(trained, statistics) if known else None


def cell_weight_counts(cells: Sequence[Json], total: int) -> list[int] | None:
    """Return the number of weights of each cell of a stack with `total` weights, or none; None if it does not follow.

    One cell of a custom class, whose config promises none, has those that the others leave.
    """
    if not total:
        return [0] * len(cells)
    configs = [cell.get("config") if isinstance(cell, json_tree.OBJECT) else None for cell in cells]
    promised = [initialized_weight_counts(config) for config in configs]
    left = total - sum(count.total for count in promised if count is not None)
    unknown = promised.count(None)
    if left < 0 or unknown > 1 or (left and not unknown):
        return None
    return [left if count is None else count.total for count in promised]


def switched_off_weights(config: Json) -> frozenset[str]:
    """Return the weights that a config initializes and switches off: `beta` where `center` is false."""
    return frozenset(
        stem
        for part in _configs(config)
        for stem in initialized_stems(part)
        if any(part.get(switch) is False for switch in SWITCHES.get(stem, ()))
    )


def initialized_stems(config: JsonObject) -> list[str]:
    """Return the names of the weights with an initializer in a config: `kernel` of `kernel_initializer`."""
    stems = [k.removesuffix("_initializer") for k in config if k.endswith("_initializer")]
    return [s for s in stems if s != "kernel"] if set(SEPARABLE_KERNELS) <= set(stems) else stems


def has_initializers(config: Json) -> bool:
    """Return True if a config speaks of how weights begin: whatever has this is no slice and no merge."""
    return any(
        k.endswith(("_initializer", "_init")) or k == "init"
        for part in _configs(config)
        for k in part
    )


def must_have_weights(config: Json) -> bool:
    """Return True if a layer with this config cannot be without weights."""
    told = initialized_weight_counts(config)
    if told is not None:
        return told.total > 0
    if not isinstance(config, json_tree.OBJECT):
        return False
    # The last two are arguments of Keras 1.
    return config.get("renorm") is True or any(k.endswith("_init") or k == "init" for k in config)


def is_quantized(config: Json) -> bool:
    """Return True if one of Keras 3's own layers, or one that it holds, is quantized or has LoRA weights.

    Then `.h5` lists its weights otherwise than `.keras`: a quantized kernel, which is not trained, comes behind the
    bias, and LoRA's are no part of the kernel. (Source: `quantize`, `enable_lora` and `save_own_variables` of Dense,
    and the dtype policies, whose names are `int8_from_float32` and the like, in Keras 3.15.)
    """
    return any(
        {"mode", "source_name"} <= part.keys()
        or "_from_" in (dtype if isinstance(dtype := part.get("dtype"), str) else "")
        or bool(part.get("quantization_config") or part.get("lora_rank"))
        for part in _configs(config)
    )


def unit_sizes(config: JsonObject) -> Iterator[int]:
    """Yield sizes that one of a layer's weights must have in its shape."""
    for key in ("units", "filters", "output_dim", "nb_filter"):
        value = config.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            yield value


def fits_unit_sizes(config: JsonObject, shapes: Sequence[tuple[int, ...]]) -> bool:
    """Return True if weights of these shapes may be those of a layer with this config."""
    return not shapes or all(
        any(d % unit == 0 for s in shapes for d in s) for unit in unit_sizes(config)
    )


def _configs(config: Json) -> Sequence[JsonObject]:
    """Return the config and the configs of layers and cells in it; initializers' are left out. Walked once a file."""
    return memoize(_find_configs, config)


def _find_configs(config: Json) -> Sequence[JsonObject]:
    configs = json_tree.objects(config, keys=lambda key: not key.endswith("_initializer"))
    return tuple(configs)


RULE_SUFFIXES = ("_regularizer", "_constraint")


def weight_stems(config: JsonObject) -> list[str]:
    """Return the weights that a config mentions: by initializers, or, in Keras 1, by rules."""
    stems = initialized_stems(config)
    if not stems:
        ruled = [
            k.removesuffix(r)
            for k in config
            for r in RULE_SUFFIXES
            if k.endswith(r) and not k.startswith("activity")
        ]
        stems = list(dict.fromkeys(ruled))
    off = {
        s
        for s in stems
        for switch in SWITCHES.get(s, ("bias",) if s == "b" else ())
        if config.get(switch) is False
    }
    return [s for s in stems if s not in off]


def expected_weight_counts(class_name: str, config: Json) -> WeightCounts | None:
    """Return the number of weights that a config promises, as if nothing were frozen; None if it does not show them.

    Bidirectional's config holds one layer, of which it makes two; what TimeDistributed's holds may count by its class.
    Keras 1's configs speak of rules, and not of BatchNormalization's two statistics (source: Keras 1.2).
    Discretization's config speaks of no weights: it keeps what it was adapted to as one; Keras 3's, which does not say
    whether it is trained, has none in its lists (source: TensorFlow 2.7 to 2.15, tf_keras 2.21, Keras 3.15).
    """
    if current_class_name(class_name) == "Discretization" and isinstance(config, json_tree.OBJECT):
        is_adapted = {"num_bins", "trainable"} <= set(config) and config.get(
            "bin_boundaries"
        ) is None
        return WeightCounts(0, 1) if is_adapted else None
    told = _counted(record_of(class_name, config), config) or initialized_weight_counts(config)
    if told is None and class_name == "TimeDistributed" and isinstance(config, json_tree.OBJECT):
        held = config.get("layer")
        if not isinstance(held, json_tree.OBJECT) or is_model(held):
            return None
        return expected_weight_counts(str(held.get("class_name")), held.get("config"))
    if (
        told is not None
        and current_class_name(class_name) == "Bidirectional"
        and not _has_both_ways(config)
    ):
        return WeightCounts(2 * told.trained, 2 * told.statistics)
    if (
        told is not None
        or not layer_record(class_name).keras_1_rules
        or not isinstance(config, json_tree.OBJECT)
        or initialized_stems(config)
    ):
        return told
    stems = weight_stems(config)
    return WeightCounts(len(stems), 2 * (class_name == "BatchNormalization")) if stems else None


def _counted(record: KerasLayer, config: Json) -> WeightCounts | None:
    """Return the weights of one of Keras's layers that counts them by other arguments than initializers, or None."""
    if record.weight_count is None or not isinstance(config, json_tree.OBJECT):
        return None
    weights = (record.weights or ())[: record.weight_count(config)]
    trained = sum(weight.trained for weight in weights)
    return WeightCounts(trained, len(weights) - trained) if weights else None


def _has_both_ways(config: Json) -> bool:
    return isinstance(config, json_tree.OBJECT) and config.get("backward_layer") is not None


def trained_count(layer: Layer, count: int) -> int | None:
    """Return how many of a layer's `count` weights are trained: the first so many in Keras's order.

    None if the config does not show it: it mentions no weights, or another number of them. Not for a layer that holds a
    model: the layers of that model say what is trained.
    """
    if layer.settings.get("trainable") is False:
        return 0
    weights = expected_weight_counts(layer.class_name, layer.config)
    return weights.trained if weights is not None and weights.total == count else None
