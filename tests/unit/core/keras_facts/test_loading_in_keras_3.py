"""Reasons why Keras 3 does not load a file: small configs; genuine files are loaded in tests/keras."""

from __future__ import annotations

import pytest

from unnest.core.keras_facts.loading_in_keras_3 import why_not_keras_3
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json, JsonObject, Stored

INPUT: JsonObject = {
    "class_name": "InputLayer",
    "config": {"name": "x", "batch_input_shape": [None, 4]},
}
CODE: Json = ["YwEAAAA=", None, None]
LEGACY = "2.4.0"
TODAY = "3.15.1"


def model(
    *layers: JsonObject, version: str = LEGACY, module: str | None = None, **more: Json
) -> Stored:
    """A stored Sequential of an input and these layers."""
    entry: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": [INPUT, *layers]},
        **more,
    }
    return Stored(
        "model", entry if module is None else {"module": module, **entry}, keras_version=version
    )


def layer(kind: str, **config: Json) -> JsonObject:
    """A layer's entry."""
    return {"class_name": kind, "config": {"name": kind.lower(), **config}}


def functional(*layers: JsonObject, output: tuple[str, int]) -> Stored:
    """A functional model of Keras 2 of an input and these layers."""
    entries: list[Json] = [{**INPUT, "name": "x", "inbound_nodes": []}, *layers]
    ends: JsonObject = {"input_layers": [["x", 0, 0]], "output_layers": [[*output, 0]]}
    entry: JsonObject = {"class_name": "Model", "config": {"name": "m", "layers": entries, **ends}}
    return Stored("model", entry, keras_version=LEGACY)


def called(entry: JsonObject, name: str, *reads: tuple[str, int]) -> JsonObject:
    """The entry as a layer that is called once, on these tensors (layer, number of its call)."""
    nodes: Json = [[[layer_name, number, 0, {}] for layer_name, number in reads]] if reads else []
    config = entry["config"]
    assert isinstance(config, dict)
    return {**entry, "name": name, "config": {**config, "name": name}, "inbound_nodes": nodes}


@pytest.mark.parametrize(
    ("stored", "container", "reason"),
    [
        (model(layer("DepthwiseConv2D", groups=1)), "h5", "DepthwiseConv2D with `groups`"),
        (model(layer("Conv2D", groups=1)), "h5", None),
        (model(layer("LSTM", time_major=False)), "h5", "LSTM with `time_major`"),
        (model(layer("RNN", cell={"module": "keras.layers", **layer("GRU", time_major=True)})), "h5",
         "GRU with `time_major`"),
        (model(layer("CuDNNLSTM"), version="2.2.4"), "h5", "a CuDNNLSTM layer"),
        (model(layer("TFOpLambda")), "h5", "a TFOpLambda layer"),
        (model(layer("Dense"), config=[layer("Dense")]), "h5", "a Sequential that is stored as a bare list"),
        (model(layer("Dense", init="uniform"), version="1.2.2"), "h5", "the arguments of Keras 1.2.2"),
        (model(layer("InputLayer", input_dtype="float32"), layer("ELU"), version="1.2.2"), "h5", None),
        (model(layer("Dense")), "json", "the form of the JSON, of Keras 2.4.0"),
        (model(layer("Dense"), module="keras.src.engine.functional"), "keras", "the form of a .keras of Keras 2.4.0"),
        (model(layer("Dense"), module="keras"), "keras", None),
        (model(layer("DepthwiseConv2D", groups=1), version=TODAY), "keras", None),
        (model(layer("Split"), version=TODAY), "h5", "an operation (Split), of which .h5 does not say the module"),
        (model(layer("Add"), version=TODAY), "h5", "an operation (Add), of which .h5 does not say the module"),
        (model(layer("Add", trainable=True), version=TODAY), "h5", None),
        (model(layer("Softmax", axis=-1), version=TODAY), "h5", None),
        (model(layer("SpatialDropout2D", dtype="float32"), version=TODAY), "h5", None),
        (model(layer("Mine"), version=TODAY), "h5", "an operation (Mine), of which .h5 does not say the module"),
        (model(layer("Attention", trainable=True, score_mode="concat"), version=TODAY), "h5", None),
        (
            model(layer("Attention", trainable=True, score_mode="dot"), version=TODAY),
            "h5",
            "Attention with the score_mode 'dot', which Keras 3 takes for its function of that name",
        ),
        (model({"module": "keras.src.ops.core", **layer("Split")}, version=TODAY), "keras", None),
        (model(layer("Affine", trainable=True), version=TODAY), "h5", None),
        (model(layer("Lambda", function=CODE), version="2.2.4"), "h5",
         "its Lambda code was compiled by another Python"),
        (model(layer("Lambda", function=CODE), version="2.15.0"), "h5",
         "Lambda layers with stored code, which Keras 3 runs with safe_mode=False alone"),
        (model(layer("Lambda", function="scale"), version="2.2.4"), "h5", None),
    ],
)  # fmt: skip
def test_why_not_keras_3(stored: Stored, container: str, reason: str | None) -> None:
    """The first reason that is certain."""
    assert why_not_keras_3(stored, container) == reason


def _held(config: JsonObject, **of_it: Json) -> JsonObject:
    return layer("TimeDistributed", layer={"class_name": "Dense", "config": config, **of_it})


def _zeros(**config: Json) -> Json:
    return {"class_name": "Zeros", "config": config}


#: What Keras's LayerNormalization stores beside its axes; without it the class is a custom one.
NORMALIZED: JsonObject = {
    key: True for key in layer_record("LayerNormalization").always_stored if key != "axis"
}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (_held({"units": 2}), "the Dense within TimeDistributed, stored without its module"),
        (_held({"units": 2}, module="keras.layers"), None),
        (layer("Dense", kernel_initializer=_zeros(dtype="a")), "Dense with a dtype in its `kernel_initializer`"),
        (layer("Dense", kernel_initializer=_zeros()), None),
        (layer("PReLU", alpha_initializer={"class_name": "Constant", "config": {"value": 1, "dtype": "a"}}), None),
        (layer("SpatialDropout1D", trainable=True), "SpatialDropout1D with `trainable`"),
        (layer("Dropout", trainable=True), None),
        (layer("Dense", dtype={"class_name": "Policy", "config": {"name": "mixed_float16"}}),
         "Dense with a dtype policy of Keras 2"),
        (layer("Dense", dtype="float32"), None),
        (layer("GRU", units=2), "a GRU without `reset_after`, as Keras wrote before 2.1.5"),
        (layer("GRU", units=2, use_bias=False), None),
        (layer("GRU", units=2, reset_after=False), None),
        (layer("LayerNormalization", **NORMALIZED, axis=[1, 2]), "LayerNormalization over 2 axes"),
        (layer("LayerNormalization", **NORMALIZED, axis=[1]), None),
        (layer("LayerNormalization", axis=[1, 2]), None),
        (layer("GaussianNoise", stddev=1.5), "GaussianNoise of more than 1"),
        (layer("GaussianNoise", stddev=1.0), None),
        (layer("Attention", score_mode="dot"),
         "Attention with the score_mode 'dot', which Keras 3 takes for its function of that name"),
        (layer("Attention", score_mode="concat"), None),
        (layer("TextVectorization", pad_to_max_tokens=True, max_tokens=None),
         "a TextVectorization that pads to no number of words, as TensorFlow wrote up to 2.5"),
        (layer("TextVectorization", pad_to_max_tokens=True, max_tokens=9), None),
        (layer("CategoryEncoding", max_tokens=3), "CategoryEncoding with `max_tokens`"),
        (layer("CategoryEncoding", num_tokens=3), None),
    ],
)  # fmt: skip
def test_layer_of_keras_2_that_keras_3_does_not_read(entry: JsonObject, reason: str | None) -> None:
    """Beside each the nearest form that it reads."""
    assert why_not_keras_3(model(entry), "h5") == reason


DENSE = layer("Dense", units=2)
INNER: JsonObject = {**functional(called(DENSE, "d", ("x", 0)), output=("d", 0)).architecture}  # type: ignore[dict-item]
CHAIN: JsonObject = {"class_name": "Sequential", "config": {"name": "s", "layers": [INPUT, DENSE]}}


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (
            functional(called(INNER, "i", ("x", 0)), called(DENSE, "d", ("i", 1)), output=("d", 0)),
            "i",
        ),
        (
            functional(called(INNER, "i", ("x", 0)), called(DENSE, "d", ("i", 0)), output=("d", 0)),
            None,
        ),
        (
            functional(called(INNER, "i", ("x", 0)), output=("i", 1)),
            None,
        ),  # which it counts from 1, too
        (functional(called(CHAIN, "s", ("x", 0)), output=("s", 1)), "s"),
        (functional(called(CHAIN, "s", ("x", 0)), output=("s", 0)), None),
    ],
)
def test_last_call_of_a_nested_model_of_keras_2(stored: Stored, reason: str | None) -> None:
    """Its calls count from 1, and Keras 3 looks for them from 0."""
    expected = (
        None
        if reason is None
        else f"a model within the model ({reason}), whose calls Keras 2 counts from 1"
    )
    assert why_not_keras_3(stored, "h5") == expected


def test_earlier_call_of_a_nested_model_that_keras_3_takes_for_a_later_one() -> None:
    """It loads, and computes something else: no promise."""
    shared = called(INNER, "i", ("x", 0))
    twice: JsonObject = {**shared, "inbound_nodes": [[["x", 0, 0, {}]], [["x", 0, 0, {}]]]}
    assert (
        why_not_keras_3(functional(twice, called(DENSE, "d", ("i", 1)), output=("i", 2)), "h5")
        is None
    )
    assert (
        why_not_keras_3(functional(twice, called(DENSE, "d", ("i", 2)), output=("d", 0)), "h5")
        is not None
    )


def test_initial_state_that_is_a_further_input() -> None:
    """A layer that merges its inputs takes several."""
    for kind, reason in (
        ("LSTM", "an initial state as a further input of l (LSTM)"),
        ("Add", None),
    ):
        stored = functional(called(layer(kind), "l", ("x", 0), ("x", 0), ("x", 0)), output=("l", 0))
        assert why_not_keras_3(stored, "h5") == reason


def test_sequential_without_an_input_layer() -> None:
    """Keras 3 builds it as it is loaded only where the file says on which shape it was built."""
    config: JsonObject = {"name": "m", "layers": [DENSE]}
    bare = Stored("model", {"class_name": "Sequential", "config": config}, keras_version=LEGACY)
    built: JsonObject = {
        "class_name": "Sequential",
        "config": {**config, "build_input_shape": [None, 4]},
    }
    assert why_not_keras_3(bare, "h5") == "a Sequential without an input layer"
    assert why_not_keras_3(bare._replace(architecture=built), "h5") is None
