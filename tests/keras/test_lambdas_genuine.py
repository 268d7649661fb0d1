"""Lambdas as people write them, by the Keras that wrote the file: what is translated predicts what was recorded there.

`fixtures/lambdas` has one archive a stack; `case.json` says of each Lambda whether it can be said without its Python.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.corpus.unpacked import FIXTURES
from tests.keras.test_lambdas import check_shape
from tests.layer_cases import unpacked
from tests.operations.run_op_nodes import run_node
from unnest.core.keras3.lambdas.translate_lambda import (
    LambdaCall,
    Translation,
    Untranslatable,
    translate,
)

FOLDER = FIXTURES / "lambdas"

#: Scripts that call something of their own by a builtin's name, which the file does not tell.
SHADOWED = {"global_abs_is_other", "global_sum_is_other"}

#: At least so many of those that can be said, in every archive.
SHARE = 0.85

#: Archives where less is: they hold more functions that are not in the table, and fewer that are.
SHARE_OF = dict.fromkeys(("keras3", "py312keras3", "py313keras3", "py314keras3", "py27k122"), 0.79)


@dataclass
class Lambda:
    """One layer of one archive, and what it was called on and gave in its own stack."""

    name: str
    translatable: str
    config: dict[str, Any]
    called: LambdaCall
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]


def lambdas(archive: Path) -> Iterator[Lambda]:
    """Every Lambda of an archive."""
    cases = unpacked(archive)
    for path in sorted(name for name in cases.namelist() if name.endswith("case.json")):
        folder = path.removesuffix("case.json")
        model = next(name for name in cases.namelist() if name.startswith(f"{folder}model."))
        version, backend, config = _architecture(model, cases.read(model))
        arrays = np.load(io.BytesIO(cases.read(f"{folder}io.npz")))
        inputs = [
            arrays[f"x{index}"]
            for index in range(sum(name.startswith("x") for name in arrays.files))
        ]
        layers = {layer["config"]["name"]: layer for layer in config["layers"]}
        ordered = [layers[name] for name in _names(config["input_layers"])]
        dtypes = [layer["config"].get("dtype") or "float32" for layer in ordered]
        shapes = [(None, *each.shape[1:]) for each in inputs]
        called = LambdaCall(len(inputs), shapes, dtypes, keras_version=version, backend=backend)
        for told in json.loads(cases.read(path))["lambdas"]:
            # Where chance had a part in it, nothing is recorded.
            outputs = [
                arrays[f"y{index}"] for index in told["outputs"] if f"y{index}" in arrays.files
            ]
            stored = layers[told["name"]]["config"]
            yield Lambda(told["name"], told["translatable"], stored, called, inputs, outputs)


def _names(references: Any) -> list[str]:
    one = references and isinstance(references[0], str)
    return [str(reference[0]) for reference in ([references] if one else references)]


def _architecture(name: str, data: bytes) -> tuple[str | None, str | None, dict[str, Any]]:
    if name.endswith(".keras"):
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            version = json.loads(file.read("metadata.json"))["keras_version"]
            return version, "tensorflow", json.loads(file.read("config.json"))["config"]
    with h5py.File(io.BytesIO(data)) as file:
        version, backend, config = (
            _text(file.attrs.get(key)) for key in ("keras_version", "backend", "model_config")
        )
        assert config is not None
        return version, backend, json.loads(config)["config"]


def _text(value: Any) -> str | None:
    return value.decode() if isinstance(value, bytes) else value


def predicted(translation: Translation, each: Lambda) -> list[np.ndarray]:
    """Return the results of Keras 3."""
    keras = import_module("keras")
    dtypes = each.called.dtypes or ()
    inputs = [
        keras.Input(x.shape[1:], dtype=dtype) for x, dtype in zip(each.inputs, dtypes, strict=True)
    ]
    model = keras.Model(
        inputs, [run_node(output, inputs, {}, check_shape) for output in translation.outputs]
    )
    results = model(
        [keras.ops.cast(x, dtype) for x, dtype in zip(each.inputs, dtypes, strict=True)]
    )
    return [
        np.asarray(result)
        for result in (results if isinstance(results, list | tuple) else [results])
    ]


@pytest.mark.parametrize(
    "archive", sorted(FOLDER.glob("*.zip.xz")), ids=lambda path: path.name.partition(".")[0]
)
def test_as_recorded(archive: Path) -> None:
    counts = {"yes": [0, 0], "maybe": [0, 0], "no": [0, 0]}
    for each in lambdas(archive):
        result = translate(each.config, each.called)
        assert isinstance(result, Translation | Untranslatable)
        counts[each.translatable][isinstance(result, Translation)] += 1
        if isinstance(result, Translation) and each.outputs and each.name not in SHADOWED:
            for ours, theirs in zip(predicted(result, each), each.outputs, strict=True):
                assert ours.shape == theirs.shape, each.name
                scale = max(1.0, float(np.abs(theirs).max(initial=0)))
                np.testing.assert_allclose(
                    ours, theirs, rtol=0, atol=1e-5 * scale, err_msg=each.name
                )
    assert counts["no"][1] == 0
    share = SHARE_OF.get(archive.name.partition(".")[0], SHARE)
    assert counts["yes"][1] >= share * sum(counts["yes"])
