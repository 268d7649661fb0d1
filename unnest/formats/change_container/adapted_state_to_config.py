"""State of preprocessing layers that older files keep beside a layer's config, and Keras 3 in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from unnest.core import json_tree
from unnest.core.architecture import entry_name
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.keras3.conversion_context import Conversion
from unnest.core.keras3.rule_catalog import RULES
from unnest.core.keras_facts.vocabularies_and_bin_boundaries import (
    TF_IDF,
    bin_boundaries,
    idf_weights_of_words,
    index_count,
    layers_without_vocabulary,
    lookups_with_words,
    vocabulary_in_order,
    with_vocabularies,
)
from unnest.core.model import Json, JsonObject, Stored, Tensor
from unnest.formats.container_interface import Source

#: Values of the largest summary that is read; `adapt` keeps some hundred.
MAX_SUMMARY_VALUES = 1 << 16
#: Bytes of the largest file of words.
MAX_WORDS_BYTES = 64 << 20


def with_adapted_state(source: Source, model: Stored) -> tuple[Stored, list[Conversion]]:
    """Return the model with all that `adapt` found in the configs of its layers, and the rules that put it there."""
    made: list[Conversion] = []
    if model.architecture is None:
        return model, made
    missing = layers_without_vocabulary(model.architecture)
    words = _words(source, missing) if missing else {}
    if words:
        model = model._replace(architecture=with_vocabularies(model.architecture, missing, words))
        made.append(Conversion("vocabulary", tuple(sorted(words)), RULES["vocabulary"].what))
    model, adapted = _with_word_state(source, model)
    if adapted:
        made.append(Conversion("word-state", adapted, RULES["word-state"].what))
    bound, names = _with_boundaries(source, model)
    if names:
        made.append(Conversion("bin-boundaries", names, RULES["bin-boundaries"].what))
    return bound, made


def _words(source: Source, missing: Mapping[str, JsonObject]) -> dict[str, list[Json]]:
    """Return the words of lookup layers by the layers' names, from the files that the source keeps them in.

    The source may hold more than the model that is written. Of a name that several layers with words bear, none is
    returned.
    """
    found: dict[str, list[Json]] = {}
    members = {(name, member) for name, member in source.vocabulary_members() if name in missing}
    names = Counter(name for name, _ in members)
    for name, member in sorted(members):
        if names[name] > 1 or source.member_size(member) > MAX_WORDS_BYTES:
            continue
        kind, config = str(missing[name]["class_name"]), _config(missing[name])
        try:
            lines = b"".join(source.member(member)).decode().split("\n")
            elements: list[Json] = [*map(int, lines)] if kind == "IntegerLookup" else [*lines]
        except ValueError:  # neither UTF-8 nor integers
            continue
        words = vocabulary_in_order(kind, config, dict(enumerate(elements)))
        found |= {} if words is None else {name: words}
    return found


def _with_word_state(source: Source, model: Stored) -> tuple[Stored, tuple[str, ...]]:
    """Return the model in which each lookup layer has its words' weights in its config, and as its only tensor.

    Their number, and that of all texts, are left out: they follow, or are read by `adapt` alone. A layer with a name
    of several, or with other tensors, stays as it is.
    """
    entries = [*lookups_with_words(model.architecture)]
    if not entries:
        return model, ()
    import numpy as np

    names = Counter(map(entry_name, entries))
    found: dict[int, JsonObject] = {}
    read: set[str] = set()
    for entry in entries:
        name = entry_name(entry)
        tensors = [*_tensors_of(model, name)] if name and names[name] == 1 else []
        vectors = [t for t in tensors if t.dtype == "<f4" and len(t.shape) == 1]
        counts = [t for t in tensors if t.dtype == "<i4" and not t.shape]
        others = [t for t in tensors if t not in (*vectors, *counts)]
        sizes = {int.from_bytes(b"".join(source.blocks(t)), "little", signed=True) for t in counts}
        if (
            not tensors
            or any(t.shape or t.dtype != "<i8" for t in others)
            or (sizes and sizes != {index_count(entry)})
            or any(t.nbytes > MAX_WORDS_BYTES for t in vectors)
            or bool(vectors) is not (_config(entry).get("output_mode") in TF_IDF)
        ):
            continue
        stored = {b"".join(source.blocks(t)) for t in vectors}
        change: dict[str, Json] = {}
        if stored:
            weights = idf_weights_of_words(entry, np.frombuffer(stored.pop(), "<f4").tolist())
            if weights is None or stored:
                continue
            change = {"idf_weights": weights, "output_mode": "tf_idf"}
        found[id(entry)] = change
        read |= {t.ref for t in (*vectors[1:], *counts, *others)}

    def completed(part: JsonObject, inner: dict[str, Json]) -> Json:
        if id(part) not in found:
            return inner
        return {**inner, "config": {**_config(part), **found[id(part)]}}

    return _completed(model, completed, read), _names_of(entries, found)


def _with_boundaries(source: Source, model: Stored) -> tuple[Stored, tuple[str, ...]]:
    """Return the model in which each adapted Discretization has its boundaries in its config, and no summary.

    A layer with a name of several, or without one summary of float32, shape (2, n), stays as it is.
    """
    entries = list(_unbound(model.architecture))
    if not entries:
        return model, ()
    names = Counter(map(entry_name, entries))
    found: dict[int, list[float]] = {}
    read: set[str] = set()
    for entry in entries:
        name = entry_name(entry)
        summaries = [*_summaries(model, name)] if name and names[name] == 1 else []
        bins = _config(entry).get("num_bins")
        if len(summaries) == 1 and isinstance(bins, int) and bins > 0:
            import numpy as np

            summary = np.frombuffer(b"".join(source.blocks(summaries[0])), "<f4").reshape(
                summaries[0].shape
            )
            found[id(entry)] = bin_boundaries(summary, bins)
            read.add(summaries[0].ref)

    def completed(part: JsonObject, inner: dict[str, Json]) -> Json:
        if id(part) not in found:
            return inner
        boundaries: list[Json] = [*found[id(part)]]
        return {
            **inner,
            "config": {**_config(part), "bin_boundaries": boundaries, "num_bins": None},
        }

    return _completed(model, completed, read), _names_of(entries, found)


def _completed(
    model: Stored, change: Callable[[JsonObject, dict[str, Json]], Json], read: Container[str]
) -> Stored:
    """Return the model with changed configs, without the tensors that they hold now, by their `ref`."""
    groups = tuple(
        g._replace(tensors=tuple(t for t in g.tensors if t.ref not in read)) for g in model.groups
    )
    architecture = json_tree.transform(model.architecture, change)
    assert isinstance(architecture, Mapping)
    return model._replace(architecture=architecture, groups=groups)


def _names_of(entries: Sequence[JsonObject], found: Container[int]) -> tuple[str, ...]:
    return tuple(str(entry_name(entry)) for entry in entries if id(entry) in found)


def _unbound(architecture: Json) -> Iterator[JsonObject]:
    for entry in layer_entries(architecture):
        if entry["class_name"] == "Discretization" and _config(entry).get("bin_boundaries") is None:
            yield entry


def _summaries(model: Stored, name: str) -> Iterator[Tensor]:
    for tensor in _tensors_of(model, name):
        if (
            tensor.dtype == "<f4"
            and tensor.shape[:-1] == (2,)
            and 0 < tensor.shape[-1] <= MAX_SUMMARY_VALUES
        ):
            yield tensor


def _tensors_of(model: Stored, name: str) -> Iterator[Tensor]:
    for group in model.groups:
        for tensor in group.tensors:
            if (tensor.owner[-1] if tensor.owner else group.name) == name:
                yield tensor


def _config(entry: JsonObject) -> JsonObject:
    config = entry.get("config")
    return config if isinstance(config, Mapping) else {}
