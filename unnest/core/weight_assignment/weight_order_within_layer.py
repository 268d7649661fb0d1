"""The order in which Keras's own layers make their weights.

For files that name weights and nothing else. The order is needed only where the file does not store it.
(Source: files of Keras 1.2 to 2.3 and tf.keras 1.8 to 2.15.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.stored_class_names import current_class_name, record_of
from unnest.core.keras_facts.weight_counts_by_config import (
    initialized_stems,
    weight_stems,
)
from unnest.core.model import JsonObject, Tensor


class Variable(NamedTuple):
    """A stored variable. `made` is its place in the order of making, None if unknown.

    `read`: whether the graph shows that the towers read it; None without towers. `tensor` is None where the
    program had a variable that was not saved.
    """

    name: str
    tensor: Tensor | None
    made: int | None = None
    trained: bool | None = None
    read: bool | None = None


class NamedWeight(NamedTuple):
    """A variable that bears a layer's name: what stands between that and its own, and its own without a number."""

    variable: Variable
    inner: tuple[str, ...]
    weight: str
    number: int


def layers_with_weights(layer: Layer) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield (class, name, config) of a layer, and of the layers in its config that have weights, in order."""
    pending: list[tuple[str, str, object]] = [(layer.class_name, layer.name, layer.config)]
    while pending:
        kind, name, config = pending.pop()
        if not isinstance(config, Mapping):
            continue
        if weight_stems(config):
            yield kind, name, config
        held = [
            part for value in config.values() for part in (value if isinstance(value, list) else [value])
            if isinstance(part, Mapping) and "class_name" in part and isinstance(part.get("config"), Mapping)
        ]  # fmt: skip
        held = [part for part in held if "name" in part["config"]]
        if current_class_name(kind) == "Bidirectional":
            held = [
                {**p, "name": f"{way}_{p['config']['name']}"}
                for way in ("forward", "backward")
                for p in held[:1]
            ]
        pending += [
            (str(p["class_name"]), str(p.get("name") or p["config"]["name"]), p["config"])
            for p in held[::-1]
        ]


def weight_stem(weight: str, stems: Iterable[str]) -> str | None:
    """Return the stem that a weight's own name begins with: `recurrent` of `recurrent_kernel`, `W` of `W_i`."""
    return max(
        (s for s in stems if weight == s or weight.startswith(s + "_")), key=len, default=None
    )


def in_creation_order(
    layer: Layer, named_weights: Sequence[NamedWeight]
) -> list[NamedWeight] | None:
    """Return the variables in the order in which that Keras class makes its weights; None if unknown."""
    parts = list(layers_with_weights(layer))
    sets: dict[tuple[tuple[str, ...], int], list[NamedWeight]] = {}
    for named in named_weights:
        sets.setdefault((named.inner, named.number), []).append(named)
    if len(sets) != len(parts) or any(not _is_order_known(kind, part) for kind, _, part in parts):
        return None
    if len(parts) == 1:
        matched = list(sets.values())
    elif len({inner for inner, _ in sets}) == 1:
        matched = [sets[key] for key in sorted(sets)]
    else:
        by_name = [
            [own for (inner, _), own in sets.items() if name in inner] for _, name, _ in parts
        ]
        if any(len(found) != 1 for found in by_name):
            return None
        matched = [found[0] for found in by_name]
    ordered = [
        _layer_in_creation_order(kind, part, own)
        for (kind, _, part), own in zip(parts, matched, strict=True)
    ]
    return (
        None if any(own is None for own in ordered) else [c for own in ordered for c in own or ()]
    )


def _is_order_known(class_name: str, config: JsonObject) -> bool:
    record = record_of(class_name, config)
    return record.exported or bool(record.renamed_to and record.weights)


def _layer_in_creation_order(
    kind: str, config: JsonObject, named_weights: Sequence[NamedWeight]
) -> list[NamedWeight] | None:
    """Return one layer's variables in the order in which it makes its weights; None if that is unknown."""
    record = record_of(kind, config)
    stems, gates = weight_stems(config), record.keras_1_gates
    modern = bool(initialized_stems(config))
    order = {
        stem: index
        for index, weight in enumerate(record.weights or ())
        for stem in (weight.stem, weight.keras_1)
    }
    weights_by_place: dict[tuple[int, int], NamedWeight] = {}
    for named in named_weights:
        stem = weight_stem(named.weight, stems)
        if stem is None:
            stem = named.weight if not modern and named.weight.startswith("running_") else ""
        gate = named.weight.removeprefix(stem).removeprefix("_")
        at = gates.find(gate) if not modern and gate else 0
        if stem not in order or at < 0 or (at, order[stem]) in weights_by_place:
            return None
        weights_by_place[at, order[stem]] = named
    return [weights_by_place[key] for key in sorted(weights_by_place)]
