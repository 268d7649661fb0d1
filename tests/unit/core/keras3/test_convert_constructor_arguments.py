"""Arguments: dropped where they say nothing, converted, or refused by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from unnest.core.keras3.conversion_context import CannotConvert, Context, OldLayer
from unnest.core.keras3.convert_constructor_arguments import converted_arguments
from unnest.core.keras3.convert_stored_model import convert
from unnest.core.keras3.layer_replacements import Expansion, NewLayer
from unnest.core.keras3.layers.dispatch import convert_layer
from unnest.core.keras3.rule_catalog import RULES
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json, JsonObject, Stored, Tensor

POLICY = {"class_name": "Policy", "config": {"name": "mixed_float16"}}
RNN = {"units": 2, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}


def layer(
    kind: str, config: dict[str, Any], *shapes: tuple[int, ...], version: str = "2.4.0"
) -> Any:
    """Return the converted layer, and the rules that did it."""
    context = Context.of(version, "tensorflow")
    weights = tuple(Tensor(f"w{k}", s, "<f4", f"w{k}") for k, s in enumerate(shapes))
    made = convert_layer(
        {"class_name": kind, "config": {"name": "it", **config}}, "it", weights, context
    )
    return made, [c.rule for c in context.conversions()]


#: (class, config, argument of the result, value, rule)
WRITTEN = [
    ("LSTM", {**RNN, "time_major": False}, "units", 2, "arguments"),
    ("DepthwiseConv2D", {"kernel_size": [3, 3], "groups": 1}, "data_format", "channels_last", "arguments"),
    ("LeakyReLU", {"alpha": 0.1}, "negative_slope", 0.1, None),
    ("ThresholdedReLU", {"theta": 0.5}, "threshold", 0.5, "thresholded-relu"),
    ("BatchNormalizationV1", {"axis": [3]}, "axis", 3, "class-name"),
    ("GRU", RNN, "reset_after", False, "defaults-of-then"),
    ("Dense", {"units": 3, "dtype": POLICY}, "dtype", "mixed_float16", "dtype-policy"),
    ("Dense", {"units": 3, "activation": "linear"}, "dtype", "float32", None),
    ("ReLU", {"max_value": {"type": "ndarray", "value": 6.0}}, "max_value", 6.0, None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "config", "argument", "value", "rule"), WRITTEN)
def test_written(
    kind: str, config: dict[str, Any], argument: str, value: Any, rule: str | None
) -> None:
    """By today's name, with the value of then."""
    made, rules = layer(kind, config)
    assert isinstance(made, NewLayer)
    assert made.config[argument] == value
    assert rule is None or rule in rules


#: The nearest cases in which a rule must not hold: (class, config, what the refusal names)
REFUSED = [
    ("DepthwiseConv2D", {"kernel_size": [3, 3], "groups": 2}, "'groups'"),
    ("Dense", {"units": 3, "novelty": 1}, "'novelty' = 1"),
    ("Dense", {"units": 3, "quantization_config": {"bits": 8}}, "'quantization_config'"),
    ("BatchNormalization", {"renorm": True}, "'renorm'"),
    ("BatchNormalization", {"axis": [1, 2]}, "[1, 2]"),
    ("LSTM", {**RNN, "activation": "hard_sigmoid"}, "hard_sigmoid"),
    ("Attention", {"use_scale": False, "causal": 1}, "'causal'"),
    ("RandomCrop", {"height": 3, "width": 3}, "RandomCrop"),
    (
        "LocallyConnected1D",
        {"filters": 1, "kernel_size": [2], "implementation": 2},
        "implementation 2",
    ),
    (
        "Dense",
        {"units": 3, "kernel_constraint": {"class_name": "RadialConstraint", "config": {}}},
        "RadialConstraint",
    ),
]


@pytest.mark.parametrize(("kind", "config", "named"), REFUSED)
def test_refused(kind: str, config: dict[str, Any], named: str) -> None:
    """The message names the layer, its class, and what has no counterpart."""
    with pytest.raises(CannotConvert) as refusal:
        layer(kind, config)
    message = str(refusal.value)
    assert "'it'" in message
    assert named in message


def test_hard_sigmoid() -> None:
    """A gate's share of the weights is scaled, the candidate's is not; another activation leaves them alone."""
    made, rules = layer(
        "LSTM", {**RNN, "recurrent_activation": "hard_sigmoid"}, (3, 8), (2, 8), (8,)
    )
    assert rules == ["hard-sigmoid"]
    assert all(w.recipe.arguments == (1.2, 1.2, 1.0, 1.2) for w in made.weights)
    made, rules = layer("LSTM", RNN, (3, 8), (2, 8), (8,))
    assert (rules, [w.recipe for w in made.weights]) == ([], [None, None, None])
    made, _ = layer("Activation", {"activation": "hard_sigmoid"})
    assert isinstance(made, Expansion)
    assert [part.class_name for part in made.chain or ()] == ["Rescaling", "Activation"]


def test_functions_of_then() -> None:
    """A name that was a custom function then is taken only where there is one function of that name."""
    made, rules = layer("Activation", {"activation": "swish"}, version="2.1.6")
    assert (made.config["activation"], rules) == ("swish", ["known-function"])
    assert layer("Activation", {"activation": "swish"}, version="2.4.0")[1] == []


#: (class, config, version, where the function stands, its name)
OWN_FUNCTIONS = [
    ("Activation", {"activation": "gelu"}, "2.1.6", "activation", "gelu"),  # older than Keras's own
    (
        "Activation",
        {"activation": "hard_swish"},
        "2.4.0",
        "activation",
        "hard_swish",
    ),  # Keras 3 has one
    ("Dense", {"units": 3, "activation": "my_act"}, "2.4.0", "activation", "my_act"),
    ("LSTM", {**RNN, "recurrent_activation": "gate"}, "2.4.0", "recurrent_activation", "gate"),
    ("Dense", {"units": 3, "kernel_regularizer": "mine"}, "2.4.0", "kernel_regularizer", "mine"),
]


@pytest.mark.parametrize(("kind", "config", "version", "argument", "name"), OWN_FUNCTIONS)
def test_functions_of_ones_own(
    kind: str, config: dict[str, Any], version: str, argument: str, name: str
) -> None:
    """Written so that custom_objects alone give them: never by a name that Keras 3 takes for its own."""
    made, _ = layer(kind, config, version=version)
    assert made.config[argument] == {
        "module": None, "class_name": "function", "config": name, "registered_name": name,
    }  # fmt: skip


SCALED = {"axis": -1, "epsilon": 1e-5, "center": True, "scale": True, "beta_initializer": "zeros",
          "gamma_initializer": "ones"}  # fmt: skip
#: (class, config, version, whether it is custom): the names that people gave before Keras did.
NAMESAKES = [
    ("LayerNormalization", SCALED, "2.2.4", True),
    ("LayerNormalization", SCALED, "2.2.4-tf", False),
    ("LayerNormalization", {}, "2.4.0", True),
    ("Attention", {}, "2.2.4-tf", True),
    ("Attention", {"use_scale": False}, "2.2.4-tf", False),
    ("Attention", {"use_scale": False}, "2.3.1", True),
    ("GroupNormalization", {"groups": 2, **SCALED}, "2.4.0", True),
    ("GroupNormalization", {"groups": 2, **SCALED}, "2.15.0", False),
    ("MultiHeadAttention", {"head_num": 2}, "2.4.0", True),
    ("Dense", {"units": 2}, "2.2.4", False),
]


@pytest.mark.parametrize(("kind", "config", "version", "is_own"), NAMESAKES)
def test_namesakes(kind: str, config: dict[str, Any], version: str, is_own: bool) -> None:
    """A class that Keras had not, or whose config is not Keras's, is kept and found by its registered name alone."""
    made, _ = layer(kind, config, version=version)
    assert isinstance(made, NewLayer)
    assert (made.entry.get("module"), made.entry.get("registered_name")) == (
        (None, kind) if is_own else ("keras.layers", None)
    )


def test_a_class_of_another_module() -> None:
    """A module that the file names decides."""
    context = Context.of("2.13.1", "tensorflow")
    entry: JsonObject = {
        "module": "__main__",
        "registered_name": "Dense",
        "class_name": "Dense",
        "config": {"units": 3},
    }
    made = convert_layer(entry, "it", (), context)
    assert isinstance(made, NewLayer)
    assert made.entry["registered_name"] == "Dense"
    assert context.notes.custom == {"Dense": "layer 'it'"}


def test_rules_have_sources() -> None:
    """Each says what it does, and where that is known from."""
    assert all(rule.what and rule.source for rule in RULES.values())
    assert layer_record("Dense").is_in_keras_3


def model(*layers: tuple[str, dict[str, Any]]) -> Stored:
    """A Sequential of Keras 2.2.4 without weights."""
    entries: list[Json] = [
        {"class_name": kind, "config": {"name": f"l{k}", **config}}
        for k, (kind, config) in enumerate(layers)
    ]
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "s", "layers": entries},
    }
    return Stored("architecture", architecture, keras_version="2.2.4", backend="tensorflow")


@pytest.mark.parametrize(
    ("activation", "version", "codes"),
    [
        ("swish", "2.2.4", ["assumed-function"]),  # some wrote it with a factor
        ("relu6", "2.2.4", []),
        ("swish", "2.4.0", []),
    ],
)
def test_a_function_of_then_that_some_wrote_otherwise(
    activation: str, version: str, codes: list[str]
) -> None:
    made = model(("Activation", {"activation": activation, "batch_input_shape": [None, 3]}))
    done = convert(made._replace(keras_version=version))
    assert done.model is not None, done.refusal
    assert [f.code for f in done.findings] == codes


@pytest.mark.parametrize(
    ("version", "config", "codes"),
    [
        ("2.2.4-tf", {}, ["assumed-interpolation"]),
        ("2.2.4-tf", {"interpolation": "nearest"}, []),
        ("2.2.4", {}, []),
    ],
    ids=["TensorFlow 1.13", "stored", "Keras of its own stores it, or had none"],
)
def test_an_interpolation_that_is_not_stored(
    version: str, config: dict[str, Any], codes: list[str]
) -> None:
    up = {"size": [2, 2], "data_format": "channels_last", "batch_input_shape": [None, 4, 4, 3]}
    done = convert(model(("UpSampling2D", {**up, **config}))._replace(keras_version=version))
    assert done.model is not None, done.refusal
    assert [f.code for f in done.findings] == codes


PADDING = {"padding": [1, 1], "trainable": True, "batch_input_shape": [None, 4, 4, 3]}


@pytest.mark.parametrize(
    ("others", "data_format", "is_guess"),
    [
        ((), "channels_last", True),
        (("th",), "channels_first", False),
        (("tf",), "channels_last", False),
    ],
)
def test_order_of_axes_that_keras_1_does_not_store(
    others: tuple[str, ...], data_format: str, is_guess: bool
) -> None:
    """The other layers decide; if none says it, a finding names the layers."""
    pooled = [
        ("MaxPooling2D", {"dim_ordering": said, "pool_size": [2, 2], "border_mode": "valid"})
        for said in others
    ]
    done = convert(model(("ZeroPadding2D", PADDING), *pooled)._replace(keras_version="1.2.2"))
    assert done.model is not None, done.refusal
    entries: Any = done.model.architecture["config"]["layers"]  # type: ignore[index,call-overload]
    (padding,) = [entry for entry in entries if entry["class_name"] == "ZeroPadding2D"]
    assert padding["config"]["data_format"] == data_format
    assert [f.code for f in done.findings] == (["assumed-data-format"] if is_guess else [])
    assert not is_guess or "l0 (ZeroPadding2D)" in done.findings[0].message


@pytest.mark.parametrize(
    ("kind", "config", "data_format"),
    [
        ("Flatten", {}, "channels_last"),
        ("Flatten", {"data_format": "channels_first"}, "channels_first"),
        ("MaxPooling1D", {"pool_size": 2, "strides": 2, "padding": "valid"}, "channels_last"),
        ("GlobalAveragePooling1D", {}, "channels_last"),
        ("RandomFlip", {"mode": "horizontal", "seed": None}, "channels_last"),
        ("SpatialDropout2D", {"rate": 0.5}, "channels_first"),
    ],
)
def test_layers_that_knew_one_order_of_axes_keep_it(
    kind: str, config: dict[str, Any], data_format: str
) -> None:
    """Beside layers of channels_first: Flatten without a data_format took the axes as they came."""
    context = replace(Context.of("2.6.0", None), data_format="channels_first")
    old = OldLayer(kind, {"name": "l", **config}, "l", (), context)
    assert converted_arguments(old)["data_format"] == data_format


BOTH_WAYS = (
    "Bidirectional",
    {
        "layer": {"class_name": "LSTM", "config": {"name": "r", **RNN, "return_sequences": True}},
        "merge_mode": None,
    },
)
WORDS = {"input_dim": 5, "output_dim": 3, "trainable": True, "batch_input_shape": [None, 4]}


def test_masked_steps() -> None:
    """Outputs of standalone Keras at masked steps that Keras 3 cannot give are refused; without a mask they are not."""
    refusal = convert(model(("Embedding", {**WORDS, "mask_zero": True}), BOTH_WAYS)).refusal
    assert refusal is not None
    assert "masked steps" in refusal.message
    assert convert(model(("Embedding", {**WORDS, "mask_zero": False}), BOTH_WAYS)).refusal is None
