"""Code, modules and files that loading a file would run, import or read."""

from __future__ import annotations

import base64
import marshal
from collections.abc import Callable
from typing import Any

import pytest

from unnest.core.keras_facts.load_time_code import (
    lambdas,
    lambdas_from_loops,
    loaded_code,
    names_in_code,
)
from unnest.core.model import Stored

CODE = {"class_name": "__lambda__", "config": {"code": "4wEA", "defaults": None, "closure": None}}


def model(*layers: dict[str, Any]) -> dict[str, Any]:
    """A Sequential of these layers."""
    return {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "s", "layers": list(layers)},
    }


#: Marshalled code as a text, the beginning of it.
OF_KERAS_1_0 = "c\x01\x00\x00\x00"


def of(layer: dict[str, Any], training: dict[str, Any] | None = None) -> tuple[str, ...]:
    """Return what is named for a model with this layer."""
    return loaded_code(Stored("model", model(layer), training))


def function(module: str, name: str) -> dict[str, Any]:
    """A function as Keras 3 writes it."""
    return {"module": module, "class_name": "function", "config": name, "registered_name": name}


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        ({"class_name": "Lambda", "config": {"name": "l", "function": ["4wEA", None, None]}}, "code of the Lambda 'l'"),
        ({"class_name": "Lambda", "config": {"name": "l", "function": CODE}}, "code of the Lambda 'l'"),
        ({"class_name": "Lambda", "config": {"name": "l", "function": OF_KERAS_1_0}}, "code of the Lambda 'l'"),
        ({"class_name": "Merge", "config": {"name": "m", "mode": ["4wEA", None, None]}}, "code of the Merge 'm'"),
        ({"class_name": "Merge", "config": {"name": "m", "mode": "concat", "output_shape": OF_KERAS_1_0}},
         "code of the Merge 'm'"),
        (
            {"class_name": "Lambda", "config": {"name": "l", "function": "f", "output_shape": ["4wEA", None, None]}},
            "code of the Lambda 'l'",
        ),
        (
            {"class_name": "Lambda", "config": {"function": "system", "function_type": "function", "module": "os"}},
            "'system' of the module 'os'",
        ),
        ({"module": "subprocess", "class_name": "Popen", "config": {}}, "'Popen' of the module 'subprocess'"),
        ({"module": "mine.layers", "class_name": "Scale", "config": {}}, "'Scale' of the module 'mine.layers'"),
        ({"class_name": "Activation", "config": {"activation": function("builtins", "eval")}},
         "'eval' of the module 'builtins'"),
        ({"class_name": "Activation", "config": {"activation": function("keras.src.utils.file_utils", "get_file")}},
         "'get_file' of the module 'keras.src.utils.file_utils'"),
        ({"class_name": "StringLookup", "config": {"vocabulary": "/etc/x"}}, "the file '/etc/x' as a vocabulary"),
    ],
)  # fmt: skip
def test_named(layer: dict[str, Any], words: str) -> None:
    """Each of the ways in which a file reaches out of itself."""
    assert of(layer) == (words,)


@pytest.mark.parametrize(
    "layer",
    [
        {"module": "keras.layers", "class_name": "Dense", "config": {"units": 3}},
        {"module": "keras.src.models.functional", "class_name": "Functional", "config": {}},
        {"module": "tensorflow.python.keras.layers", "class_name": "Dense", "config": {}},
        {"module": None, "class_name": "Scale", "config": {}, "registered_name": "mine>Scale"},
        {"module": "__main__", "class_name": "Scale", "config": {}},
        {
            "class_name": "Lambda",
            "config": {"function": "get_slice", "function_type": "function", "module": "__main__"},
        },
        {"class_name": "Activation", "config": {"activation": function("builtins", "relu")}},
        {
            "class_name": "Activation",
            "config": {"activation": function("keras.activations", "relu")},
        },
        {
            "class_name": "A",
            "config": {"kind": {"module": "builtins", "class_name": "float", "config": 1}},
        },
        {"class_name": "StringLookup", "config": {"vocabulary": ["a", "b"]}},
        {"class_name": "kerasish", "config": {"module": "os"}},
        {"class_name": "Merge", "config": {"mode": "concat", "output_shape": [3, 4, 5]}},
        {"class_name": "Mine", "config": {"function": OF_KERAS_1_0}},
    ],
)
def test_not_named(layer: dict[str, Any]) -> None:
    """Keras's own writings are not named, nor names that only the caller's program gives a meaning."""
    assert of(layer) == ()


def test_a_name_that_begins_as_keras_does() -> None:
    """A custom module."""
    assert of({"module": "keras_evil", "class_name": "A", "config": {}}) == (
        "'A' of the module 'keras_evil'",
    )


def test_compile_settings_and_once() -> None:
    """Losses are functions, too; a name that occurs twice is reported once."""
    loss = function("mine", "loss")
    assert of(
        {"module": "mine", "class_name": "A", "config": {}}, {"loss": loss, "metrics": [loss]}
    ) == (
        "'A' of the module 'mine'",
        "'loss' of the module 'mine'",
    )


def test_lambdas() -> None:
    """Those with code alone, nested ones, too."""
    inner = model({"class_name": "Lambda", "config": {"name": "b", "function": CODE}})
    named = {"class_name": "Lambda", "config": {"name": "a", "function": "get_slice"}}
    assert lambdas(model(named, inner)) == ("b",)


def code_of(call: Callable[..., Any]) -> list[Any]:
    """A function as Keras 2 keeps it."""
    return [base64.b64encode(marshal.dumps(call.__code__)).decode(), None, None]


def test_names_in_code() -> None:
    """Also in functions inside of it; None for what is in no known layout."""

    def outer(x: Any) -> Any:
        def run(v: Any) -> Any:
            return __import__("os").system(v.shape)

        return run(x.inner)

    layers = [
        {"class_name": "Lambda", "config": {"name": "a", "function": code_of(outer)}},
        {"class_name": "Lambda", "config": {"name": "b", "function": code_of(lambda x: x * 2)}},
        {"class_name": "Lambda", "config": {"name": "c", "function": CODE}},
        {"class_name": "Dense", "config": {"name": "d"}},
    ]
    found = dict(names_in_code(model(*layers)))
    assert {"__import__", "system", "shape", "inner"} == {*(found["a"] or ())}
    assert (found["b"], found["c"], "d" in found) == ((), None, False)


@pytest.mark.parametrize(
    ("second", "names"),
    [
        ({}, ("a", "b")),
        ({"function": ["4wEA", None, [1]]}, ()),
        ({"function": ["4wEB", None, [3]]}, ()),
        ({"arguments": {"k": 1}}, ()),
        ({"reads": "y"}, ()),
    ],
    ids=["alike", "another value", "another code", "an argument", "another tensor"],
)
def test_lambdas_that_were_made_in_a_loop(second: dict[str, Any], names: tuple[str, ...]) -> None:
    """Of one code with one closure, on one tensor: anything else may differ on purpose."""
    reads = second.pop("reads", "x")
    config: dict[str, Any] = {"function": ["4wEA", None, [3]]}
    layers = (lambda_layer("a", "x", **config), lambda_layer("b", reads, **{**config, **second}))
    assert from_loops(*layers) == names


@pytest.mark.parametrize(
    ("folder", "names"),
    [("site-packages/tensorflow/python/util", ()), ("home/tensorflow/python/util", ("a", "b"))],
)
def test_a_decorator_of_a_library_is_no_loop(folder: str, names: tuple[str, ...]) -> None:
    """TensorFlow's, around functions of its own, is one code with one closure, whatever it calls."""
    code = compile("lambda x: f(x)", f"/usr/{folder}/dispatch.py", "eval").co_consts[0]
    text = base64.b64encode(marshal.dumps(code)).decode()
    layers = [lambda_layer(name, "x", function=[text, None, ["wrapped"]]) for name in "ab"]
    assert from_loops(*layers) == names


def lambda_layer(name: str, reads: str, **config: Any) -> dict[str, Any]:
    """A Lambda that reads one tensor."""
    return {
        "class_name": "Lambda",
        "name": name,
        "config": {"arguments": {}, **config, "name": name},
        "inbound_nodes": [[[reads, 0, 0, {}]]],
    }


def from_loops(*layers: dict[str, Any]) -> tuple[str, ...]:
    """What is said of a model with two inputs and these layers."""
    inputs = [
        {"class_name": "InputLayer", "name": n, "config": {"name": n}, "inbound_nodes": []}
        for n in "xy"
    ]
    config: dict[str, Any] = {
        "name": "m",
        "layers": [*inputs, *layers],
        "input_layers": [["x", 0, 0], ["y", 0, 0]],
        "output_layers": [["a", 0, 0], ["b", 0, 0]],
    }
    return lambdas_from_loops({"class_name": "Model", "config": config})
