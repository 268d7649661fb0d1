"""Needs of a file: small configs; tests/slow compares with what really loads."""

from __future__ import annotations

import base64
import marshal
from typing import Any

import pytest

from unnest.core.keras_facts.custom_objects_needed_to_load import Needs, needs
from unnest.core.model import Json, JsonObject, Stored


def model(
    *layers: JsonObject, version: str | None = "2.4.0", module: str | None = None, **more: Json
) -> Stored:
    """A stored Sequential of these layers."""
    entry: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": list(layers)},
        **more,
    }
    return Stored(
        "model", entry if module is None else {"module": module, **entry}, keras_version=version
    )


def layer(kind: str, **config: Json) -> JsonObject:
    """A layer's entry."""
    return {"class_name": kind, "config": {"name": kind.lower(), **config}}


CODE: Json = ["YwEAAAA=", None, None]


@pytest.mark.parametrize(
    ("layers", "wanted"),
    [
        ([layer("Dense")], Needs()),
        ([layer("Affine"), layer("Affine"), layer("My>Norm")], Needs(("Affine", "My>Norm"))),
        ([layer("TimeDistributed", layer=layer("Affine"))], Needs(("Affine",))),
        ([layer("RNN", cell=[layer("MyCell"), layer("LSTMCell")])], Needs(("MyCell",))),
        (
            [layer("Dense", kernel_initializer={"class_name": "Mine", "config": {}})],
            Needs(functions=("Mine",)),
        ),
        (
            [layer("Dense", kernel_initializer={"class_name": "GlorotUniformV2", "config": {}})],
            Needs(),
        ),
        (
            [layer("Dense", activation="swish"), layer("Dense", activation="mine")],
            Needs(functions=("mine",)),
        ),
        (
            [layer("LSTM", recurrent_activation="hard_sigmoid", activation="gate")],
            Needs(functions=("gate",)),
        ),
        (
            [layer("Capsule", activation="default")],
            Needs(("Capsule",)),
        ),  # its own, whatever it means
        ([layer("Attention"), layer("Attention", use_scale=True)], Needs(("Attention",))),
        ([{"module": "__main__", **layer("Dense"), "registered_name": "Dense"}], Needs(("Dense",))),
        (
            [layer("Lambda", function="scale", function_type="function")],
            Needs(functions=("scale",)),
        ),
        (
            [layer("Lambda", function={"class_name": "function", "config": "f"})],
            Needs(functions=("f",)),
        ),
        ([layer("Lambda", function=CODE, function_type="lambda")], Needs(stored_code=True)),
        (
            [layer("Lambda", function={"class_name": "__lambda__", "config": {}})],
            Needs(stored_code=True),
        ),
        ([{"class_name": "Sequential", "config": [layer("Affine")]}], Needs(("Affine",))),
        ([{"module": "keras.src.ops.numpy", "class_name": "Add", "config": {}}], Needs()),
    ],
)
def test_needs(layers: list[JsonObject], wanted: Needs) -> None:
    """Custom classes and functions, and stored code."""
    assert needs(model(*layers)) == wanted


IDENTITY: JsonObject = layer("LSTM", recurrent_initializer="recurrent_identity")
GIVEN_IDENTITY = {"recurrent_identity": "initializers.Identity()"}


@pytest.mark.parametrize(
    ("entry", "version", "wanted"),
    [
        (IDENTITY, "2.3.1", Needs(of_keras=GIVEN_IDENTITY)),
        (layer("Bidirectional", layer=IDENTITY), "2.3.1", Needs(of_keras=GIVEN_IDENTITY)),
        (IDENTITY, "2.2.4", Needs(functions=("recurrent_identity",))),
        (IDENTITY, "2.3.0-tf", Needs(functions=("recurrent_identity",))),
        (
            layer("Dense", kernel_initializer="recurrent_identity"),
            "2.3.1",
            Needs(functions=("recurrent_identity",)),
        ),
        (
            layer("RandomFourierFeatures"),
            "2.4.0",
            Needs(of_keras={"RandomFourierFeatures": "layers.experimental.RandomFourierFeatures"}),
        ),
        (layer("RandomFourierFeatures"), "2.2.4", Needs(("RandomFourierFeatures",))),
        (
            layer("ConvRNN2D"),
            "2.2.4",
            Needs(of_keras={"ConvRNN2D": "layers.convolutional_recurrent.ConvRNN2D"}),
        ),
        (layer("ConvRNN2D"), "2.4.0", Needs(("ConvRNN2D",))),
    ],
)
def test_objects_of_keras(entry: JsonObject, version: str, wanted: Needs) -> None:
    """What a Keras has and finds only if it is given; of the same name in another Keras, or place, a custom one."""
    assert needs(model(entry, version=version)) == wanted


def stored(function: Any) -> Json:
    """A Lambda's function as Keras 2 stores it."""
    return [base64.b64encode(marshal.dumps(function.__code__)).decode(), None, None]


tf: Any = None
K: Any = None
helper: Any = None
array_ops: Any = None


@pytest.mark.parametrize(
    ("function", "version", "names"),
    [
        (lambda x: tf.cast(K.max(x), "float32") + helper, "2.10.0", ("K", "helper")),
        (lambda x: tf.cast(K.max(x), "float32") + helper, "2.2.4", ("helper", "tf")),
        (lambda x: tf.cast(K.max(x), "float32") + helper, "3.15.1", ("K", "helper", "tf")),
        (lambda x: (K.max(helper(y)) for y in x), "2.15.0", ("K", "helper")),
        (lambda x: next(x).K.helper, "2.15.0", ()),
        (lambda x: array_ops.shape(K.max(x)), "2.3.0-tf", ()),
        (lambda x: array_ops.shape(K.max(x)), "2.4.0", ()),
        (lambda x: array_ops.shape(K.max(x)), "2.2.4", ("array_ops",)),
        (lambda x: array_ops.shape(x)[0], "2.5.0", ("array_ops",)),
    ],
)
def test_names_that_stored_code_lacks(function: Any, version: str, names: tuple[str, ...]) -> None:
    """Globals alone, those of functions in it included; attributes and builtins are not missing."""
    assert (
        needs(model(layer("Lambda", function=stored(function)), version=version)).globals == names
    )


PYTHON_2 = (
    "YwEAAAABAAAABAAAAEMAAABzIAAAAHQAAHQBAGoCAHwAAGYBAIMCAHQDAHwAAHQEAIMCABdTKAEAAABOKAUAAAB0BQAAAGFwcGx5dAEAAABLdAMA"
    "AABzdW10AwAAAGNtcHQGAAAAcmVkdWNlKAEAAAB0AQAAAHgoAAAAACgAAAAAcwgAAAA8c3RyaW5nPnQIAAAAPGxhbWJkYT4DAAAAdAAAAAA="
)
"""What Python 2.7 made of `lambda x: apply(K.sum, (x,)) + cmp(x, reduce)`."""


@pytest.mark.parametrize(
    ("function", "names"),
    [
        ([PYTHON_2, None, None], ()),
        (stored(lambda x: apply(K.sum, (x,)) + reduce(x, len)), ("apply", "reduce")),  # type: ignore[name-defined]  # noqa: F821 - not run
    ],
    ids=["Python 2", "Python 3"],
)
def test_builtins_are_those_of_the_python_that_compiled_the_code(
    function: Json, names: tuple[str, ...]
) -> None:
    assert needs(model(layer("Lambda", function=function), version="2.2.4")).globals == names


FUNCTION: JsonObject = {
    "module": None,
    "class_name": "function",
    "config": "f",
    "registered_name": "f",
}
RULE: JsonObject = {
    "module": "mine",
    "class_name": "Rule",
    "config": {},
    "registered_name": "mine>Rule",
}
ZEROS: JsonObject = {
    "module": "keras.initializers",
    "class_name": "Zeros",
    "config": {},
    "registered_name": None,
}


@pytest.mark.parametrize(
    ("layers", "wanted"),
    [
        (
            [
                {
                    "module": "keras.layers",
                    **layer("Dense", activation=FUNCTION),
                    "registered_name": None,
                }
            ],
            Needs((), ("f",)),
        ),
        (
            [{"module": "keras.layers", **layer("Dense", kernel_regularizer=RULE)}],
            Needs(("mine>Rule",)),
        ),
        (
            [
                {
                    "module": "keras.layers",
                    **layer("Dense", bias_initializer=ZEROS, activation="mish"),
                }
            ],
            Needs(),
        ),
        (
            [{"module": None, **layer("Attention"), "registered_name": "Attention"}],
            Needs(("Attention",)),
        ),
        ([{"module": "keras.layers", **layer("Attention"), "registered_name": None}], Needs()),
    ],
)
def test_needs_of_keras_3(layers: list[JsonObject], wanted: Needs) -> None:
    """Whatever is found by its registered name, wherever it stands."""
    assert needs(model(*layers, version="3.15.1")) == wanted


@pytest.mark.parametrize(("module", "name"), [(None, "Two"), ("keras", "pk>Two")])
def test_a_registered_class_is_called_as_its_loader_looks_for_it(
    module: str | None, name: str
) -> None:
    """The loader of Keras 2's `.h5` by the class's own name, that of `.keras` by the registered one."""
    inner: JsonObject = {**layer("Two"), "registered_name": "pk>Two", "module": None}
    nested: JsonObject = {
        "class_name": "Functional",
        "config": {"name": "inner", "layers": [inner], "input_layers": []},
    }
    assert needs(model(nested, version="2.21.0", module=module)).classes == (name,)


@pytest.mark.parametrize("version", ["3.15.1", None])
def test_a_class_that_keras_3_never_had_is_to_be_given(version: str | None) -> None:
    """CategoryCrossing was tf.keras's, and ReversibleEmbedding is Keras 3's alone."""
    layers = [
        {"module": None, "class_name": kind, "config": {"name": kind}, "registered_name": kind}
        for kind in ("CategoryCrossing",)
    ]
    layers.append(
        {"module": "keras.layers", "class_name": "ReversibleEmbedding", "config": {"name": "r"}}
    )
    model: Any = {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "s", "layers": layers},
    }
    assert needs(Stored("model", model, keras_version=version)).classes == ("CategoryCrossing",)


@pytest.mark.parametrize(
    ("entry", "classes"),
    [
        ({**layer("Dense"), "module": "keras.layers", "registered_name": None}, ()),
        ({**layer("Dense"), "module": None, "registered_name": "Dense"}, ("Dense",)),
        ({"class_name": "Model", "config": {"name": "m", "layers": []}}, ("Model",)),
        ({"class_name": "Sequential", "config": {"name": "m", "layers": []}}, ()),
        ({"class_name": "Model", "config": {"layers": [], "input_layers": []}}, ()),
    ],
)
def test_classes_of_the_user_with_names_of_keras(
    entry: JsonObject, classes: tuple[str, ...]
) -> None:
    """As a `class Model(Sequential)` stores itself, in a `.keras` of Keras 2.13 with the module None."""
    assert needs(Stored("model", entry, keras_version="2.13.1")).classes == classes
