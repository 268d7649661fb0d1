"""The recipe for a new Keras layer in docs/contributing.md, followed to the letter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.unit.core.build import functional, layer, source
from unnest.core.architecture import read
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.layer_replacements import NewLayer
from unnest.core.keras3.layers.dispatch import convert_layer
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.keras_facts.stored_class_names import is_keras_class
from unnest.core.keras_facts.weight_counts_by_config import trained_count
from unnest.core.layers import catalog, core, record
from unnest.core.model import Tensor
from unnest.core.weight_assignment.weight_order_within_layer import (
    NamedWeight,
    Variable,
    in_creation_order,
)
from unnest.core.wrappers.stored_code.code_names_and_numbers import keeps_rows

PAGE = Path(__file__).parents[4] / "docs" / "contributing.md"
CONFIG: dict[str, Any] = {
    "units": 3, "dtype": "float32", "use_bias": True, "kernel_initializer": "zeros", "kernel_regularizer": None,
    "bias_initializer": "zeros", "bias_regularizer": None, "gate_initializer": "zeros",
}  # fmt: skip
NAMES = ("kernel", "bias", "gate")


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A Gate layer of a model, once the page's record stands in the catalog."""
    block = re.search(
        r"^ +KerasLayer\(\n +\"Gate\".*?^ +\),$",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert block is not None
    found = eval(f"({block[0]})", {**vars(core), **vars(record)})  # noqa: S307 - the page's own code
    monkeypatch.setitem(catalog.LAYER_RECORDS, "Gate", found[0])
    model = functional(source(), layer("y", ["x"], kind="Gate", trainable=True, **CONFIG))
    return read(model).layers["y"]


def test_it_is_no_slice(gate: Any) -> None:
    assert is_keras_class("Gate", gate.stored)
    assert keeps_rows(gate) == "y is Keras's Gate, which keeps all rows"


def test_its_weights_are_known(gate: Any) -> None:
    assert trained_count(gate, 3) == 2
    named = [NamedWeight(Variable(f"y/{name}:0", None), (), name, 0) for name in reversed(NAMES)]
    made = in_creation_order(gate, named)
    assert made is not None
    assert tuple(named.weight for named in made) == NAMES


def test_its_shape_is_known(gate: Any) -> None:
    given = Spec((None, 3), "float32")
    assert keras3_layer_output_specs.output_spec(gate.stored, [given]) == given


def test_an_older_one_converts_to_keras_3(gate: Any) -> None:
    weights = tuple(Tensor(name, (3,), "<f4", name) for name in NAMES)
    made = convert_layer(gate.stored, "y", weights, Context.of("2.13.1", "tensorflow"))
    assert isinstance(made, NewLayer)
    assert (made.class_name, made.config["units"]) == ("Gate", 3)
    assert [(w.name, w.trained) for w in made.weights] == [
        ("kernel", True),
        ("bias", True),
        ("gate", False),
    ]
