"""Lambdas whose stored code no Keras runs."""

from __future__ import annotations

import pytest

from tests.unit.core.frontends.code_of import stored
from unnest.core.keras_facts.lambdas_no_keras_runs import failing_lambda
from unnest.core.model import Json, JsonObject, Stored


@pytest.mark.parametrize(
    ("version", "value", "is_failing"),
    [
        ("2.2.4", "sigmoid", True),
        ("2.15.0", "sigmoid", True),
        ("3.15.1", "sigmoid", False),
        ("2.2.4", {"type": "ndarray", "value": [1.0]}, False),
    ],
)
def test_a_function_beside_code(version: str, value: Json, *, is_failing: bool) -> None:
    """It is called, and the file holds its name; Keras 3 stores it as a function."""
    code, *_ = stored("return v(x)", parameters="x, v")
    config: Json = {"name": "applied", "function": [code, [value], None]}
    entry: Json = {"class_name": "Lambda", "config": config}
    graph: Json = {"class_name": "Sequential", "config": {"name": "m", "layers": [entry]}}
    assert isinstance(graph, dict)
    reason = failing_lambda(Stored("model", graph, keras_version=version))
    assert (reason is not None) is is_failing
    assert reason is None or reason.startswith("the Lambda 'applied', whose code")


@pytest.mark.parametrize("version", ["2.13.1", "3.15.1"])
@pytest.mark.parametrize(
    ("parameters", "arguments", "is_failing"),
    [
        ("x, *, low", {}, True),
        ("x, *, low", {"low": 1}, False),
        ("x, *, mask", {}, False),
        ("x, low", {}, False),
    ],
    ids=["its default is lost", "given as an argument", "given by Keras", "not by keyword only"],
)
def test_a_keyword_only_parameter(
    version: str, parameters: str, arguments: JsonObject, *, is_failing: bool
) -> None:
    """Keras stores the defaults of positional parameters alone."""
    function = stored("return x", parameters=parameters)
    config: Json = {"name": "cut", "function": function, "arguments": arguments}
    entry: Json = {"class_name": "Lambda", "config": config}
    graph: Json = {"class_name": "Sequential", "config": {"name": "m", "layers": [entry]}}
    assert isinstance(graph, dict)
    reason = "the Lambda 'cut', whose code takes 'low' by keyword only, with a default that Keras does not store"
    assert failing_lambda(Stored("model", graph, keras_version=version)) == (
        reason if is_failing else None
    )
