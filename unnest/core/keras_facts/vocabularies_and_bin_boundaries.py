"""Words of lookup layers, and boundaries of Discretization, put back into configs after `adapt` found them.

(Source: files of Keras 2.15, tf_keras 2.21 and Keras 3.15. A vocabulary lies in a table of TensorFlow, or in a file
beside the weights; Discretization keeps a summary, from which its own `adapt` makes boundaries.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from unnest.core import json_tree
from unnest.core.architecture import entry_name
from unnest.core.keras_facts.stored_class_names import record_of
from unnest.core.model import Json, JsonObject

if TYPE_CHECKING:
    import numpy as np

#: The output mode that weighs words by how many texts have them, as TensorFlow up to 2.5 and later ones call it.
TF_IDF = ("tf-idf", "tf_idf")
#: What TextVectorization gives the StringLookup in it.
OF_TEXT: JsonObject = {"mask_token": "", "oov_token": "[UNK]", "num_oov_indices": 1}


def vocabulary_in_order(
    kind: str, config: JsonObject, words: Mapping[int, Json]
) -> list[Json] | None:
    """Return a lookup layer's words in order; None if its table is not one that `vocabulary` alone makes again.

    `words`: index -> word, of the layer's table. The first indices are those of the mask, in the mode "int", and of
    words that are not in the table; TensorFlow up to 2.5 stores them too.
    (Source: TensorFlow 2.3 and 2.7, keras/layers/preprocessing/index_lookup.py; files of TensorFlow 2.3 to 2.15.)
    """
    renamed = record_of(kind, config).renamed_arguments
    settings = {renamed.get(argument, argument): value for argument, value in config.items()}
    settings |= OF_TEXT if kind == "TextVectorization" else {}
    unknown = settings.get("num_oov_indices", 1)
    if not isinstance(unknown, int):
        return None
    has_mask = (
        settings.get("mask_token") is not None and settings.get("output_mode", "int") == "int"
    )
    start = unknown + has_mask
    own = {index: word for index, word in words.items() if index >= start}
    ordered = [own.get(index) for index in range(start, start + len(own))]
    special = [settings.get("mask_token"), settings.get("oov_token")]
    # The words are counted from elsewhere.
    if any(word not in special for index, word in words.items() if index < start):
        return None
    if (
        None in ordered
        or len(set(map(str, ordered))) < len(ordered)
        or any(word in special for word in ordered)
    ):
        return None
    return ordered or None


def layers_without_vocabulary(architecture: Json) -> dict[str, JsonObject]:
    """Return the entry of each lookup layer without its words, or with the name of a file of them, by the layer's name.

    Of a name that several layers bear, none is returned.
    """
    entries = [entry for entry in json_tree.objects(architecture) if _numbers_words(entry)]
    names = Counter(map(entry_name, entries))
    return {
        name: entry
        for entry in entries
        if (name := entry_name(entry)) and names[name] == 1 and _lacks_words(entry)
    }


def with_vocabularies(
    architecture: JsonObject, missing: Mapping[str, JsonObject], words: Mapping[str, Sequence[Json]]
) -> JsonObject:
    """Return the architecture with the words of lookup layers in their configs, by the layers' names.

    `missing`: the entries that `layers_without_vocabulary` found in it.
    """

    def completed(part: JsonObject, inner: dict[str, Json]) -> Json:
        config = inner.get("config")
        name = str(entry_name(part))
        if name in words and part is missing.get(name) and isinstance(config, Mapping):
            return {**inner, "config": {**config, "vocabulary": [*words[name]]}}
        return inner

    made = json_tree.transform(architecture, completed) if words else architecture
    assert isinstance(made, Mapping)
    return made


def _numbers_words(entry: JsonObject) -> bool:
    return (
        record_of(str(entry.get("class_name")), entry.get("config")).adapted_argument
        == "vocabulary"
    )


def adapted_to_words(entry: JsonObject) -> bool:
    """Return True for a lookup layer whose words `adapt` found; False if its config has them, or names their file."""
    config = entry.get("config")
    given = config.get("vocabulary") if isinstance(config, Mapping) else []
    return given is None and _numbers_words(entry)


def _lacks_words(entry: JsonObject) -> bool:
    config = entry.get("config")
    words = config.get("vocabulary") if isinstance(config, Mapping) else []
    return words is None or isinstance(words, str)


def lookups_with_words(architecture: Json) -> Iterator[JsonObject]:
    """Yield the lookup layers that have their words in their configs."""
    for entry in json_tree.objects(architecture):
        if _numbers_words(entry) and isinstance(entry.get("config"), Mapping) and _words(entry):
            yield entry


def weighted_lookups(architecture: Json) -> Iterator[JsonObject]:
    """Yield the lookup layers that weigh words, as TensorFlow does since 2.6."""
    for entry in json_tree.objects(architecture):
        config = entry.get("config")
        if (
            isinstance(config, Mapping)
            and config.get("output_mode") == TF_IDF[-1]
            and _numbers_words(entry)
        ):
            yield entry


def index_count(entry: JsonObject) -> int | None:
    """Return how many indices a lookup layer of `lookups_with_words` counts on; None if its words do not show it."""
    config, words = entry["config"], _words(entry)
    assert isinstance(config, Mapping)
    settings = {**config, **(OF_TEXT if entry["class_name"] == "TextVectorization" else {})}
    unknown, mark = settings.get("num_oov_indices", 1), settings.get("oov_token")
    if not isinstance(unknown, int):
        return None
    if mark in words:
        return len(words) if [*words[:unknown]] == [mark] * unknown else None
    return unknown + len(words)


def idf_weights_of_words(entry: JsonObject, weights: Sequence[float]) -> list[Json] | None:
    """Return the weights of a lookup layer's words (TF-IDF), in their order; None if there are not as many.

    `weights`: one for each index, the unknown words' first; then up to `max_tokens` if the layer pads.
    (Source: TensorFlow 2.3 to 2.15 and Keras 3.15, keras/layers/preprocessing/index_lookup.py: `set_vocabulary`.)
    """
    config, count = entry["config"], index_count(entry)
    assert isinstance(config, Mapping)
    padded = config.get("max_tokens") if config.get("pad_to_max_tokens") is True else None
    if count is None or len(weights) != (count if padded is None else padded):
        return None
    return [*weights[count - len(_words(entry)) : count]]


def _words(entry: JsonObject) -> Sequence[Json]:
    config = entry.get("config")
    words = config.get("vocabulary") if isinstance(config, Mapping) else None
    return words if isinstance(words, Sequence) and not isinstance(words, str) else ()


def counted_words(entry: JsonObject) -> int | None:
    """Return how many numbers a TextVectorization gives each text that it splits, if it gives no list of indices.

    Keras 3.15 takes it for one axis more: of texts of shape (batch, 1), (batch, 1, words) in place of (batch, words).
    (Source: keras/src/layers/preprocessing/text_vectorization.py: compute_output_shape, and what it computes.)
    """
    config = entry["config"]
    assert isinstance(config, Mapping)
    lists_indices = config.get("output_mode", "int") in ("int", None)
    if lists_indices or config.get("split") is None or config.get("sparse") is True:
        return None
    most = config.get("max_tokens")
    if config.get("pad_to_max_tokens") is True and isinstance(most, int):
        return most
    return index_count(entry) if _words(entry) else None


def bin_boundaries(summary: np.ndarray, bins: int) -> list[float]:
    """Return the boundaries of an adapted Discretization from its summary: values and their weights, shape (2, n).

    The weight up to each boundary is k / bins of all, between two values in proportion; rounded to float32.
    (Source: TensorFlow 2.7 and 2.15, keras/layers/preprocessing/discretization.py: compress_summary.)
    """
    import numpy as np

    values, weights = summary
    step = 1.0 / bins
    if len(values) * step < 1:
        return [float(value) for value in values[:-1]]
    shares = step + np.arange(0.0, 1.0, step)
    reached = weights.cumsum()
    found = np.interp(shares, reached / reached[-1], values)[:-1]
    return [float(value) for value in found.astype(np.float32)]
