"""One layer with its weights: which rule serves it, what becomes of its weights, and what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.builder import Builder
from unnest.core.keras3.context import CannotConvert, Context
from unnest.core.keras3.layers import piece
from unnest.core.keras3.layers.activations import activation
from unnest.core.keras3.pieces import Arguments, Expansion, NewLayer, Piece
from unnest.core.model import JsonObject, Tensor

KERAS_2 = (2, 4, 0)
RULES: dict[str, Any] = {
    f"kernel_{rule}": "glorot_uniform" if rule == "initializer" else None
    for rule in ("initializer", "regularizer", "constraint")
}
BIAS = {key.replace("kernel", "bias"): value for key, value in RULES.items()}
DENSE: dict[str, Any] = {"units": 3, "activation": "linear", "use_bias": True, **RULES, **BIAS}
RNN = {"units": 2, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}


def weights(*shapes: tuple[int, ...], dtype: str = "<f4") -> tuple[Tensor, ...]:
    """A layer's weights."""
    return tuple(Tensor(f"w{k}", shape, dtype, f"/w{k}") for k, shape in enumerate(shapes))


def made(
    kind: str, config: dict[str, Any], *shapes: tuple[int, ...], release: tuple[int, ...] = KERAS_2, **more: Any
) -> Piece:
    """What the layer `l` of that class becomes; `more` is of the context."""
    context = Context(release=release, **more)
    return piece({"class_name": kind, "config": {"name": "l", **config}}, "l", weights(*shapes), context)


def one(piece_made: Piece) -> NewLayer:
    """The layer that it became."""
    assert isinstance(piece_made, NewLayer)
    return piece_made


def links(piece_made: Piece) -> tuple[NewLayer, ...]:
    """The chain of layers that it became."""
    assert isinstance(piece_made, Expansion)
    assert piece_made.chain is not None
    return piece_made.chain


def steps(tensor: Tensor) -> list[tuple[str, tuple[float, ...]]]:
    """How a weight is computed from the first of what it is made of, the last step first."""
    recipe = tensor.recipe
    return [] if recipe is None else [(recipe.step, recipe.arguments), *(steps(recipe.of[0]) if recipe.of else [])]


@pytest.mark.parametrize(
    ("kind", "config", "new_kind", "new"),
    [
        ("Dense", {"units": 3, "activation": "relu"}, "Dense", {"units": 3, "activation": "relu", "dtype": "float32"}),
        ("AvgPool2D", {"pool_size": [2, 2], "strides": [2, 2], "padding": "valid", "data_format": "channels_last"},
         "AveragePooling2D", {"pool_size": [2, 2], "padding": "valid"}),
        ("BatchNormalizationV1", {"axis": [3], "momentum": 0.9}, "BatchNormalization", {"axis": 3, "momentum": 0.9}),
        ("ThresholdedReLU", {"theta": 0.5}, "ReLU", {"threshold": 0.5, "max_value": None, "negative_slope": 0.0}),
        ("LeakyReLU", {"alpha": 0.25}, "LeakyReLU", {"negative_slope": 0.25}),
        ("Merge", {"mode": "concat", "concat_axis": 1}, "Concatenate", {"axis": 1}),
        ("InputLayer", {"batch_input_shape": [None, 4], "dtype": None}, "InputLayer",
         {"batch_shape": [None, 4], "dtype": "float32"}),
        ("Softmax", {"axis": -1}, "Softmax", {"axis": -1}),
    ],
    ids=["same", "alias", "version", "threshold", "argument", "merge", "input", "softmax"],
)  # fmt: skip
def test_class_and_config(kind: str, config: dict[str, Any], new_kind: str, new: dict[str, Any]) -> None:
    layer = one(made(kind, config))
    assert (layer.name, layer.class_name) == ("l", new_kind)
    assert {key: layer.config[key] for key in ("name", *new)} == {"name": "l", **new}
    assert not {"theta", "alpha", "mode", "concat_axis", "batch_input_shape"} & set(layer.config)


@pytest.mark.parametrize(
    ("kind", "config", "why"),
    [
        ("SReLU", {}, "Keras 3 has no layer for it"),
        ("DenseFeatures", {}, "feature columns"),
        ("Merge", {"mode": "cos"}, "mode 'cos'"),
        ("BatchNormalization", {"mode": 2}, "mode 2"),
        ("BatchNormalization", {"axis": [1, 2]}, "along one axis"),
        ("InputLayer", {}, "its shape is not stored"),
        ("InputLayer", {"batch_input_shape": [None, 4], "ragged": True}, "no ragged input"),
        ("Dense", {"units": 3, "surprise": 1}, "'surprise' = 1 is not known"),
        ("LSTM", {**RNN, "activation": "hard_sigmoid"}, "acts on the cell state"),
        ("LSTM", {"name": "l"}, "its arguments are not in the file"),
        ("UpSampling2D", {"size": [2, 2], "interpolation": "gaussian"}, "no interpolation 'gaussian'"),
        ("RNN", {"cell": None}, "holds no layer"),
    ],
)  # fmt: skip
def test_refused(kind: str, config: dict[str, Any], why: str) -> None:
    """By the layer's name and class."""
    with pytest.raises(CannotConvert, match=rf"'l' \({kind}\): .*{why}"):
        made(kind, config)


@pytest.mark.parametrize(("shapes", "use_bias"), [(((4, 3),), True), (((4, 3), (3,)), False)])
def test_other_weights_than_promised_are_refused(shapes: tuple[tuple[int, ...], ...], use_bias: bool) -> None:
    config = {**DENSE, "use_bias": use_bias}
    with pytest.raises(CannotConvert, match=rf"has {len(shapes)} weights, and its config promises {1 + use_bias}"):
        made("Dense", config, *shapes)
    right = ((4, 3), (3,))[: 1 + use_bias]
    assert [w.ref for w in one(made("Dense", config, *right)).weights] == ["/w0", "/w1"][: 1 + use_bias]


@pytest.mark.parametrize(
    ("kind", "config", "shapes", "trained"),
    [
        ("Dense", DENSE, ((4, 3), (3,)), [True, True]),
        ("Dense", {**DENSE, "trainable": False}, ((4, 3), (3,)), [False, False]),
        ("BatchNormalization", {"axis": 1}, ((3,),) * 4, [True, True, False, False]),
        ("BatchNormalization", {"axis": 1, "scale": False, "gamma_initializer": "ones"}, ((3,),) * 3,
         [True, False, False]),
    ],
    ids=["trained", "frozen", "statistics", "without-scale"],
)  # fmt: skip
def test_weights_are_told_whether_they_are_trained(
    kind: str, config: dict[str, Any], shapes: tuple[tuple[int, ...], ...], trained: list[bool]
) -> None:
    assert [w.trained for w in one(made(kind, config, *shapes)).weights] == trained


def test_a_layer_of_double_numbers_computes_in_them() -> None:
    """Where its config does not say in what."""
    for config, dtype in (({}, "float64"), ({"dtype": "float32"}, "float32")):
        entry: JsonObject = {"class_name": "Dense", "config": {"name": "l", **DENSE, **config}}
        layer = one(piece(entry, "l", weights((4, 3), (3,), dtype="<f8"), Context(release=KERAS_2)))
        assert layer.config["dtype"] == dtype


def test_somebodys_own_layer_stays_as_it_is() -> None:
    """But for what its model's input layer tells."""
    context = Context(release=KERAS_2)
    entry: JsonObject = {
        "class_name": "package>Attend",
        "config": {"name": "l", "p": 0.5, "batch_input_shape": [None, 4]},
    }
    layer = one(piece(entry, "l", weights((4, 3)), context))
    assert (layer.class_name, layer.registered_name, layer.module) == ("Attend", "package>Attend", None)
    assert layer.config == {"name": "l", "p": 0.5}
    assert [w.ref for w in layer.weights] == ["/w0"]
    assert context.custom == {"Attend": "layer 'l'"}


@pytest.mark.parametrize(
    ("value", "release", "written", "custom"),
    [
        (None, (2, 2, 4), "linear", None),
        ("relu", (2, 2, 4), "relu", None),
        ("hard_sigmoid_v1", (2, 2, 4), "hard_sigmoid", None),
        ("gelu", (2, 2, 4), {"module": None, "class_name": "function", "config": "gelu", "registered_name": "gelu"},
         "gelu"),
        ("gelu", (2, 5, 0), "gelu", None),
        ("swish", (2, 2, 4), "swish", None),
        ({"class_name": "ReLU", "config": {"name": "r"}}, (2, 4, 0), {"class_name": "ReLU", "config": {"name": "r"}},
         None),
        ({"class_name": "Activation", "config": {"activation": "tanh"}}, (2, 4, 0), "tanh", None),
    ],
    ids=["none", "name", "v1", "own-of-then", "keras's-since", "well-known", "layer", "wrapped"],
)  # fmt: skip
def test_an_activation(value: Any, release: tuple[int, ...], written: Any, custom: str | None) -> None:
    """A name of today's means somebody's own function in a file of before Keras had it."""
    context = Context(release=release)
    assert activation(value, "l", "Dense", context) == written
    assert list(context.custom) == ([] if custom is None else [custom])


def test_a_hard_sigmoid_of_then() -> None:
    """Its argument times 1.2: in the weights where there are some, before the layer where there are none."""
    layer = one(made("Dense", {**DENSE, "activation": "hard_sigmoid"}, (4, 3), (3,)))
    assert [steps(w) for w in layer.weights] == [[("scale", (1.2,))]] * 2
    rescaled, same = links(made("Activation", {"activation": "hard_sigmoid"}))
    assert (rescaled.class_name, rescaled.config["scale"], same.name) == ("Rescaling", 1.2, "l")


@pytest.mark.parametrize(
    ("kind", "config", "shapes", "factors"),
    [
        ("LSTM", {**RNN, "recurrent_activation": "hard_sigmoid"}, ((4, 8), (2, 8), (8,)), (1.2, 1.2, 1.0, 1.2)),
        ("GRU", {**RNN, "recurrent_activation": "hard_sigmoid"}, ((4, 6), (2, 6), (6,)), (1.2, 1.2, 1.0)),
        ("LSTM", RNN, ((4, 8), (2, 8), (8,)), None),
    ],
    ids=["lstm", "gru", "sigmoid"],
)
def test_gates_alone_are_scaled(
    kind: str, config: dict[str, Any], shapes: tuple[tuple[int, ...], ...], factors: tuple[float, ...] | None
) -> None:
    """What is inside tanh is not."""
    layer = one(made(kind, config, *shapes))
    assert [steps(w) for w in layer.weights] == [[] if factors is None else [("scale", factors)]] * 3


def test_a_gru_of_cudnn() -> None:
    """Each gate's kernels transposed, its two biases one above the other; with reset_after."""
    layer = one(made("CuDNNGRU", {"units": 2}, (4, 6), (2, 6), (12,)))
    assert (layer.class_name, layer.config["reset_after"], layer.config["recurrent_activation"]) == (
        "GRU", True, "sigmoid",
    )  # fmt: skip
    assert [w.shape for w in layer.weights] == [(4, 6), (2, 6), (2, 6)]
    assert [steps(w) for w in layer.weights] == [
        [("concatenate", (1,)), ("transpose", (1, 0)), ("reshape", (2, 4)), ("part", (1, 0, 2))],
        [("concatenate", (1,)), ("transpose", (1, 0)), ("part", (1, 0, 2))],
        [("reshape", (2, 6))],
    ]  # fmt: skip
    with pytest.raises(CannotConvert, match="has 2 weights in place of 3"):
        made("CuDNNGRU", {"units": 2}, (4, 6), (2, 6))


CONV = {"filters": 2, "kernel_size": [3, 3], "strides": [1, 1], "padding": "valid", "use_bias": True,
        "data_format": "channels_last", "dilation_rate": [1, 1], "activation": "linear"}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "backend", "expected"),
    [
        ("Conv2D", "theano", [[("flip", (0, 1))], []]),
        ("Conv2D", "tensorflow", [[], []]),
        ("Dense", "theano", [[], []]),
    ],
)
def test_kernels_of_theano_are_turned(kind: str, backend: str, expected: list[Any]) -> None:
    """Of convolutions alone, and not their bias."""
    config, shape = (CONV, (3, 3, 3, 2)) if kind == "Conv2D" else (DENSE, (4, 2))
    layer = one(made(kind, config, shape, (2,), release=(2, 2, 4), backend=backend))
    assert [steps(w) for w in layer.weights] == expected


def test_gates_of_keras_1_are_joined_in_the_order_of_today() -> None:
    """Keras 1 stored input, cell, forget, output, three arrays each."""
    old = {"output_dim": 2, "activation": "tanh", "inner_activation": "sigmoid", "forget_bias_init": "one"}
    layer = one(made("LSTM", old, *(((4, 2), (2, 2), (2,)) * 4), release=(1, 2, 2)))
    joined = [w.recipe for w in layer.weights]
    assert [[t.ref for t in recipe.of] for recipe in joined if recipe is not None] == [
        ["/w0", "/w6", "/w3", "/w9"], ["/w1", "/w7", "/w4", "/w10"], ["/w2", "/w8", "/w5", "/w11"],
    ]  # fmt: skip
    assert [w.shape for w in layer.weights] == [(4, 8), (2, 8), (8,)]


@pytest.mark.parametrize(
    ("backward", "layers"),
    [(None, {"forward": False}), ("own", {"forward": False, "backward": True})],
    ids=["one", "two"],
)
def test_both_directions_have_half_of_the_weights(backward: str | None, layers: dict[str, bool]) -> None:
    inner = {"class_name": "LSTM", "config": {"name": "forward", **RNN, "go_backwards": False}}
    other = {"class_name": "LSTM", "config": {"name": "backward", **RNN, "go_backwards": True}}
    config = {"layer": inner, "merge_mode": "concat", **({} if backward is None else {"backward_layer": other})}
    layer = one(made("Bidirectional", config, *(((4, 8), (2, 8), (8,)) * 2)))
    held: list[Any] = [layer.config[key] for key in ("layer", "backward_layer") if key in layer.config]
    assert {e["config"]["name"]: e["config"]["go_backwards"] for e in held} == layers
    assert [w.ref for w in layer.weights] == [f"/w{k}" for k in range(6)]


def test_what_a_wrapper_holds_may_be_a_chain_over_steps_alone() -> None:
    """Each link is called step by step; in a Bidirectional there is no place for one."""
    inner = {"class_name": "Dense", "config": {"name": "d", **DENSE, "activation": {
        "class_name": "LeakyReLU", "config": {"name": "r", "alpha": 0.5},
    }}}  # fmt: skip
    first, last = links(made("TimeDistributed", {"layer": inner}, (4, 3), (3,)))
    held: list[Any] = [first.config["layer"], last.config["layer"]]
    assert [(e["class_name"], e["config"]["name"]) for e in held] == [("Dense", "d_linear"), ("LeakyReLU", "d")]
    assert (first.name, last.name) == ("l_d_linear", "l")
    assert ([w.ref for w in first.weights], last.weights) == (["/w0", "/w1"], ())
    with pytest.raises(CannotConvert, match=r"'l' \(Bidirectional\): the Dense in it is several layers"):
        made("Bidirectional", {"layer": inner}, *(((4, 3), (3,)) * 2))


@pytest.mark.parametrize(("deviation", "scales"), [(0.5, None), (1.0, None), (3.0, [0.25, 4.0]), (4, [0.25, 4.0])])
def test_noise_of_more_than_one(deviation: float, scales: list[float] | None) -> None:
    """As the noise of a smaller tensor, by a power of two."""
    noise = made("GaussianNoise", {"stddev": deviation})
    if scales is None:
        assert one(noise).config["stddev"] == deviation
    else:
        smaller, inner, larger = links(noise)
        assert [smaller.config["scale"], larger.config["scale"]] == scales
        assert (inner.config["stddev"], larger.name) == (deviation / 4, "l")


@pytest.mark.parametrize(("padding", "before"), [("causal", [4, 0]), ("valid", None)])
def test_a_causal_separable_convolution(padding: str, before: list[int] | None) -> None:
    config = {
        "filters": 2, "kernel_size": [3], "strides": [1], "dilation_rate": [2], "padding": padding,
        "data_format": "channels_last", "depth_multiplier": 1, "use_bias": True, "activation": "linear",
    }  # fmt: skip
    layer = made("SeparableConv1D", config)
    if before is None:
        assert one(layer).config["padding"] == padding
    else:
        zeros, inner = links(layer)
        assert (zeros.config["padding"], inner.config["padding"], inner.name) == (before, "valid", "l")


@pytest.mark.parametrize(("masks", "kinds"), [(True, ["Multiply", "Add"]), (False, ["Rescaling"])])
def test_a_rescaling_passes_no_mask_on(masks: bool, kinds: list[str]) -> None:
    """Where a mask could come, it is two operations."""
    rescaling = made("Rescaling", {"scale": 0.5, "offset": 1.0}, masks=masks)
    if isinstance(rescaling, NewLayer):
        assert [rescaling.class_name] == kinds
        return
    assert isinstance(rescaling, Expansion)
    builder = Builder()
    x = builder.input(NewLayer("x", "InputLayer", {"name": "x", "batch_shape": [None, 4], "dtype": "float32"}))
    builder.place(rescaling.outputs(Arguments((x,), {}, builder.specs))[0], "l", "l")
    calls: list[Any] = [entry for entry in builder.entries.values() if entry.nodes]
    assert [call.entry["class_name"] for call in calls] == kinds
    assert [call.nodes[0]["args"][1] for call in calls] == [0.5, 1.0]
