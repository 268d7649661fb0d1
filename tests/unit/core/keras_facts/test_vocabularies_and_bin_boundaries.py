"""Words and boundaries that `adapt` found, put back into configs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unnest.core.keras_facts.vocabularies_and_bin_boundaries import (
    bin_boundaries,
    counted_words,
    idf_weights_of_words,
    index_count,
    layers_without_vocabulary,
    vocabulary_in_order,
    with_vocabularies,
)

WORDS = {1: "a", 2: "b", 3: "c"}


MASKED = {0: "", 1: "[UNK]", 2: "a", 3: "b"}


@pytest.mark.parametrize(
    ("kind", "config", "words", "expected"),
    [
        ("StringLookup", {"mask_token": None, "oov_token": "[UNK]"}, WORDS, ["a", "b", "c"]),
        ("StringLookup", {"mask_token": None, "num_oov_indices": 0}, WORDS, None),  # counts from 0
        ("StringLookup", {"mask_token": "", "oov_token": "[UNK]"}, MASKED, ["a", "b"]),
        (
            "StringLookup",
            {"mask_token": "", "oov_token": "[UNK]"},
            WORDS,
            None,
        ),  # "a" where another word belongs
        (
            "StringLookup",
            {"mask_token": None, "oov_token": "b"},
            WORDS,
            None,
        ),  # a word that stands for others
        ("StringLookup", {"mask_token": None}, {1: "a", 3: "b"}, None),
        ("StringLookup", {"mask_token": None}, {1: "a", 2: "a"}, None),
        ("StringLookup", {"mask_token": None}, {}, None),
        ("TextVectorization", {"output_mode": "int"}, {2: "a", 3: "b"}, ["a", "b"]),
        ("TextVectorization", {"output_mode": "count"}, {1: "a", 2: "b"}, ["a", "b"]),
        ("TextVectorization", {"output_mode": "count"}, {2: "a", 3: "b"}, None),
        ("IntegerLookup", {"mask_token": None, "oov_token": -1}, {1: 42, 2: 12}, [42, 12]),
    ],
)
def test_words_in_order(kind: str, config: Any, words: Any, expected: Any) -> None:
    """Behind the indices of the mask and of other words; a table that counts otherwise has none."""
    assert vocabulary_in_order(kind, config, words) == expected


def test_words_in_the_config() -> None:
    """Of a layer that lacks them, or names a file of them, and whose name no other bears."""
    layers: Any = [
        {"class_name": "StringLookup", "config": {"name": name, "vocabulary": words}}
        for name, words in (("a", None), ("b", "words.txt"), ("c", ["x"]), ("d", None), ("d", None))
    ]
    model: Any = {"class_name": "Functional", "config": {"name": "m", "layers": layers}}
    missing = layers_without_vocabulary(model)
    assert list(missing) == ["a", "b"]
    made: Any = with_vocabularies(model, missing, {name: ["y"] for name in "abcd"})
    assert [layer["config"]["vocabulary"] for layer in made["config"]["layers"]] == [
        ["y"],
        ["y"],
        ["x"],
        None,
        None,
    ]


def test_a_name_beside_the_config() -> None:
    """Keras 1 to 2.3 name layers there; of those without any name none is known."""
    config: Any = {"vocabulary": None}
    layers: Any = [
        {"class_name": "StringLookup", "name": "a", "config": config},
        {"class_name": "StringLookup", "config": config},
    ]
    assert [
        *layers_without_vocabulary({"class_name": "Functional", "config": {"layers": layers}})
    ] == ["a"]


def test_boundaries_of_a_summary() -> None:
    """Equal weights; and of fewer values than bins all but the last."""
    summary = np.array([[1, 2, 3, 4], [1, 1, 1, 1]], "f4")
    assert bin_boundaries(summary, 2) == [2.0]
    assert bin_boundaries(summary, 4) == [1.0, 2.0, 3.0]
    assert bin_boundaries(summary, 9) == [1.0, 2.0, 3.0]


def _lookup(kind: str = "StringLookup", **config: Any) -> Any:
    return {
        "class_name": kind,
        "config": {"oov_token": "[UNK]", "vocabulary": ["a", "b"], **config},
    }


@pytest.mark.parametrize(
    ("entry", "weights", "expected"),
    [
        (_lookup(), [9, 1, 2], [1, 2]),
        (_lookup(num_oov_indices=2), [9, 9, 1, 2], [1, 2]),
        (_lookup(pad_to_max_tokens=True, max_tokens=5), [9, 1, 2, 0, 0], [1, 2]),
        (_lookup(vocabulary=["[UNK]", "a"]), [9, 1], [9, 1]),
        (_lookup(vocabulary=["a", "[UNK]"]), [9, 1], None),
        (_lookup(), [1, 2], None),
        (_lookup(num_oov_indices="2"), [9, 9, 1, 2], None),
    ],
)
def test_weights_of_words(entry: Any, weights: Any, expected: Any) -> None:
    """Behind those of unknown words, as many as words; other numbers are not taken."""
    assert idf_weights_of_words(entry, weights) == expected


def test_indices_that_a_layer_counts_on() -> None:
    assert index_count(_lookup("TextVectorization", num_oov_indices=7)) == 3


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"output_mode": "count", "split": "whitespace"}, 3),
        ({"output_mode": "count", "split": "whitespace", "max_tokens": 9}, 3),
        (
            {
                "output_mode": "count",
                "split": "character",
                "max_tokens": 9,
                "pad_to_max_tokens": True,
            },
            9,
        ),
        ({"output_mode": "count", "split": None}, None),
        ({"output_mode": "int", "split": "whitespace"}, None),
        ({"output_mode": "count", "split": "whitespace", "sparse": True}, None),
        ({"output_mode": "count", "split": "whitespace", "vocabulary": None}, None),
    ],
)
def test_numbers_that_a_text_becomes(config: Any, expected: Any) -> None:
    """As Keras 3 computes them, for a layer whose shape it mistakes."""
    assert counted_words(_lookup("TextVectorization", **config)) == expected
