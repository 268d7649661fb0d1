"""tf_keras is named for a file if it loads it, classes of Keras given where the report asks for them."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.layers.catalog import LAYER_RECORDS

#: Models of classes that a later Keras lacks, of cells, and of arrays in initializers; none with stored code.
FILES = [
    path
    for path in sorted((FIXTURES / "load_lines").glob("*.h5"))
    if path.stem.partition("-")[2]
    in {
        "maxout",
        "highway",
        "crossing",
        "fourier",
        "spectral",
        "conv-cell",
        "sync",
        "cell",
        "cells",
        "constant",
        "identity",
    }
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_tf_keras_is_named_if_it_loads_the_file(path: Any, keras: Any) -> None:
    if keras.__name__ != "tf_keras":
        pytest.skip("for tf_keras")
    report = unnest.inspect(path)
    given = {
        name: attrgetter(place.removesuffix("()"))(keras)
        for name, place in report.needs.of_keras.items()
        if not name.startswith("Conv")  # which tf_keras has not
    }
    try:
        keras.models.load_model(path, custom_objects=given)
    except (ValueError, TypeError):
        loads = False
    else:
        loads = True
    assert any(software.startswith("tf_keras") for software in report.loads_in) is loads


@pytest.mark.parametrize("path", sorted((FIXTURES / "archive_state").glob("*.keras")), ids=str)
def test_tf_keras_is_named_if_it_restores_an_archive(path: Any, keras: Any) -> None:
    if keras.__name__ != "tf_keras":
        pytest.skip("for tf_keras")
    report = unnest.inspect(path)
    lost = path.stem.partition("-")[2] in {"bins", "residual", "residual-dense", "residual-stack"}
    try:
        keras.models.load_model(path)
    except (ValueError, TypeError):
        loads = False
    else:
        loads = not lost
    assert any(software.startswith("tf_keras") for software in report.loads_in) is loads


def test_the_records_know_the_classes_of_tf_keras(keras: Any) -> None:
    if keras.__name__ != "tf_keras":
        pytest.skip("for tf_keras")
    from tf_keras.src.layers import serialization

    serialization.populate_deserializable_objects()
    found = set(serialization.LOCAL.ALL_OBJECTS)
    older = {name: record for name, record in LAYER_RECORDS.items() if {1, 2} & {*record.keras}}
    told = {n for n, record in older.items() if record.missing_in_tf_keras or record.found_if_given}
    assert told == older.keys() - found


@pytest.mark.parametrize("path", sorted((FIXTURES / "subclassed").glob("*.json")), ids=str)
def test_tf_keras_is_named_if_it_runs_a_subclassed_model_without_its_class(
    path: Any, keras: Any
) -> None:
    if keras.__name__ != "tf_keras":
        pytest.skip("for tf_keras")
    report = unnest.inspect(path.with_suffix(""))
    facts = json.loads(path.read_text())
    x = np.arange(6, dtype="float32").reshape(2, 3)
    try:
        predictions = keras.models.load_model(path.with_suffix("")).predict(x, verbose=0)
    except ValueError:
        loads = False
    else:
        loads = np.allclose(predictions, facts["predictions"], atol=1e-6)
    assert loads is facts["loads_without_class"]
    assert any(software.startswith("tf_keras") for software in report.loads_in) is loads
