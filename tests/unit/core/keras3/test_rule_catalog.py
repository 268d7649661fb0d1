"""Every named rule: the smallest model that it changes, and the nearest one that it must leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.convert_stored_model import Converted, convert
from unnest.core.keras3.rule_catalog import RULES
from unnest.core.model import Group, JsonObject, Stored, Tensor

IMAGE, STEPS, FLAT = [None, 6, 5, 3], [None, 6, 4], [None, 4]
RNN = {"units": 2, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}
OLD_RNN = {
    "output_dim": 2, "activation": "tanh", "inner_activation": "sigmoid", "init": "uniform", "inner_init": "one",
    "consume_less": "cpu", "return_sequences": False,
}  # fmt: skip
CONV = {
    "filters": 2, "kernel_size": [3, 3], "strides": [1, 1], "dilation_rate": [1, 1], "padding": "valid",
    "activation": "linear", "use_bias": True,
}  # fmt: skip
LINE = {**CONV, "kernel_size": [3], "strides": [1], "dilation_rate": [1]}
OLD_CONV = {
    "nb_filter": 2,
    "filter_length": 3,
    "border_mode": "valid",
    "init": "uniform",
    "bias": True,
}
OLD_DENSE = {"output_dim": 3, "init": "uniform", "activation": "linear", "bias": True}
MASKING = ("Masking", {"mask_value": 0.0})
STEPWISE: dict[str, Any] = {
    "class_name": "LSTM",
    "config": {"name": "r", **RNN, "return_sequences": True},
}
BOTH_WAYS = ("Bidirectional", {"layer": STEPWISE, "merge_mode": "concat"})
TEXT = {"split": "whitespace", "vocabulary": ["a", "b"]}
DENSE = {"units": 3, "activation": "linear", "use_bias": True}
#: `lambda x: x / 5.0`, as Keras 2.2.4 stored it.
DIVIDED = [
    ("YwEAAAAAAAAAAQAAAAIAAABDAAAA8wgAAAB8AGQBGwBTACkCTucAAAAAAAAUQKkAKQHaAXhyAgAA\n"
    "AHICAAAA2gg8c3RyaW5nPtoIPGxhbWJkYT4DAAAA8wAAAAA=\n"),
    None, None,
]  # fmt: skip
CODE = {"function": DIVIDED, "function_type": "lambda"}


def weights(name: str, *shapes: tuple[int, ...]) -> Group:
    """A layer's weights."""
    return Group(
        name, tuple(Tensor(f"{name}/{k}", s, "<f4", f"/{name}/{k}") for k, s in enumerate(shapes))
    )


def chain(
    shape: list[int | None], *layers: tuple[str, dict[str, Any]], version: str = "2.2.4", backend: str = "tensorflow",
    shapes: tuple[tuple[int, ...], ...] = (), training: JsonObject | None = None,
) -> Stored:  # fmt: skip
    """A functional model: layers one after the other, called l0, l1...; `shapes` are of the last one's weights."""
    entries: list[Any] = [{
        "class_name": "InputLayer", "name": "x", "inbound_nodes": [],
        "config": {"batch_input_shape": shape, "dtype": "float32", "sparse": False, "name": "x"},
    }]  # fmt: skip
    before = "x"
    for k, (kind, config) in enumerate(layers):
        name = config.get("name", f"l{k}")
        entries.append({
            "class_name": kind, "name": name, "config": {"trainable": True, **config, "name": name},
            "inbound_nodes": [[[before, 0, 0, {}]]],
        })  # fmt: skip
        before = name
    graph: JsonObject = {"class_name": "Model", "config": {
        "name": "m", "layers": entries, "input_layers": [["x", 0, 0]], "output_layers": [[before, 0, 0]],
    }}  # fmt: skip
    groups = (
        Group("x", ()),
        *(weights(e["name"], *(shapes if e["name"] == before else ())) for e in entries[1:]),
    )
    state = None
    if training is not None:
        state = tuple(
            Tensor(f"o{k}", s, "<f4", f"/o{k}") for k, s in enumerate([(), *shapes, *shapes])
        )
    return Stored("model", graph, training, groups, state, version, backend)


def sequential(*layers: tuple[str, dict[str, Any]], version: str = "2.2.4") -> Stored:
    """A Sequential without an input layer."""
    entries: list[Any] = [
        {"class_name": kind, "config": {"name": f"l{k}", "trainable": True, **config}}
        for k, (kind, config) in enumerate(layers)
    ]
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "s", "layers": entries},
    }
    return Stored("architecture", architecture, keras_version=version, backend="tensorflow")


def two(
    kind: str, config: dict[str, Any], version: str, *, masked: bool, states: bool = False
) -> Stored:
    """Two inputs, masked or not, joined by a layer or called as a list, and an LSTM behind."""
    entries: list[Any] = [
        {"class_name": "InputLayer", "name": n, "inbound_nodes": [],
         "config": {"batch_input_shape": s, "dtype": "float32", "sparse": False, "name": n}}
        for n, s in (("x", STEPS), ("y", [None, 2] if states else STEPS), ("z", [None, 2] if states else STEPS))
    ]  # fmt: skip
    first = ["x", "y", "z"]
    if masked:
        entries += [
            {"class_name": "Masking", "name": f"m_{n}", "inbound_nodes": [[[n, 0, 0, {}]]],
             "config": {"name": f"m_{n}", "mask_value": 0.0}} for n in first
        ]  # fmt: skip
        first = [f"m_{n}" for n in first]
    last = "joined"
    entries.append({
        "class_name": kind, "name": last, "config": {**config, "name": last},
        "inbound_nodes": [[[n, 0, 0, {}] for n in first]],
    })  # fmt: skip
    if not states:
        last = "lstm"
        entries.append({
            "class_name": "LSTM", "name": last, "config": {**RNN, "name": last},
            "inbound_nodes": [[["joined", 0, 0, {}]]],
        })  # fmt: skip
    graph: JsonObject = {"class_name": "Model", "config": {
        "name": "m", "layers": entries, "input_layers": [[n, 0, 0] for n in "xyz"], "output_layers": [[last, 0, 0]],
    }}  # fmt: skip
    return Stored("architecture", graph, keras_version=version, backend="tensorflow")


def trained(kind: str, config: dict[str, Any], loss: str = "mse") -> Stored:
    """A Dense with the state of an optimizer of two slots."""
    training: JsonObject = {
        "optimizer_config": {"class_name": kind, "config": config},
        "loss": loss,
        "metrics": [],
    }
    return chain(FLAT, ("Dense", DENSE), shapes=((4, 3), (3,)), training=training)


RMSPROP = {"learning_rate": 0.1, "rho": 0.9, "epsilon": 1e-7}
ADAM = {"learning_rate": 0.1, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7}


def subclass(kind: str) -> Stored:
    """A model of that class over a Dense."""
    stored = chain(FLAT, ("Dense", DENSE))
    assert stored.architecture is not None
    return Stored(
        "architecture", {**stored.architecture, "class_name": kind}, keras_version="2.4.0"
    )


def shapeless(*layers: tuple[str, dict[str, Any]], kernel: tuple[int, ...]) -> Stored:
    """A Sequential that says nothing of its input's shape, with the weights of its first layer."""
    stored = sequential(*layers)
    return stored._replace(contents="model", groups=(weights("l0", kernel, kernel[-1:]),))


#: Rule -> (a model that it changes, one that it does not).
CASES: dict[str, tuple[Stored, Stored]] = {
    "arguments": (
        chain(IMAGE, ("Conv2DTranspose", {**CONV, "groups": 1}), version="2.4.0"),
        chain(IMAGE, ("Conv2D", {**CONV, "groups": 1}), version="2.4.0"),
    ),
    "counted-words": (
        chain([None, 1], ("TextVectorization", {**TEXT, "output_mode": "count"}), version="2.15.0"),
        chain([None, 1], ("TextVectorization", {**TEXT, "output_mode": "int"}), version="2.15.0"),
    ),
    "discretization-dtype": (
        chain(FLAT, ("Discretization", {"bin_boundaries": [0.5], "dtype": "int64"}), version="2.15.0"),
        chain(FLAT, ("Discretization", {"bin_boundaries": [0.5], "dtype": "float32"}), version="2.15.0"),
    ),
    "embedding-dtype": (
        chain([None, 4], ("Embedding", {"input_dim": 5, "output_dim": 2, "dtype": "int32"}), version="2.0.4"),
        chain([None, 4], ("Embedding", {"input_dim": 5, "output_dim": 2, "dtype": "float32"}), version="2.0.5"),
    ),
    "known-size": (
        chain([None, None], ("Normalization", {"axis": -1}), version="2.7.0", shapes=((3,), (3,), ())),
        chain([None, 3], ("Normalization", {"axis": -1}), version="2.7.0", shapes=((3,), (3,), ())),
    ),
    "shape-of-weights": (
        shapeless(("Dense", DENSE), kernel=(4, 3)),
        shapeless(("Dense", {**DENSE, "batch_input_shape": [None, 4]}), kernel=(4, 3)),
    ),
    "keras-1-arguments": (
        chain(FLAT, ("Dense", OLD_DENSE), version="1.2.2"),
        chain(FLAT, ("Dense", DENSE)),
    ),
    "class-name": (
        chain(IMAGE, ("BatchNormalizationV1", {"axis": [3]}), version="2.2.4-tf"),
        chain(IMAGE, ("BatchNormalization", {"axis": 3}), version="2.2.4-tf"),
    ),
    "defaults-of-then": (chain(STEPS, ("GRU", RNN)), chain(STEPS, ("GRU", {**RNN, "reset_after": False}))),
    "input-layer": (
        sequential(("Dense", {**DENSE, "batch_input_shape": FLAT})),
        chain(FLAT, ("Dense", DENSE)),
    ),
    "sequential-graph": (
        sequential(("Lambda", {**CODE, "batch_input_shape": FLAT}), ("Flatten", {})),
        sequential(("Flatten", {"batch_input_shape": FLAT}), ("Dense", DENSE)),
    ),
    "functional-subclass": (subclass("Net"), subclass("Functional")),
    "initializer": (
        chain(FLAT, ("Dense", {**DENSE, "kernel_initializer": {"class_name": "Mine", "config": {}}})),
        chain(FLAT, ("Dense", {**DENSE, "kernel_initializer": {"class_name": "HeNormal", "config": {}}})),
    ),
    "dtype-policy": (
        chain(FLAT, ("Dense", {**DENSE, "dtype": {"class_name": "Policy", "config": {"name": "mixed_float16"}}})),
        chain(FLAT, ("Dense", {**DENSE, "dtype": "float16"})),
    ),
    "hard-sigmoid": (
        chain(FLAT, ("Dense", {**DENSE, "activation": "hard_sigmoid"}), shapes=((4, 3), (3,))),
        chain(FLAT, ("Dense", {**DENSE, "activation": "sigmoid"}), shapes=((4, 3), (3,))),
    ),
    "cudnn-rnn": (chain(STEPS, ("CuDNNLSTM", {"units": 2})), chain(STEPS, ("LSTM", RNN))),
    "keras-1-gates": (
        chain(STEPS, ("LSTM", OLD_RNN), version="1.2.2", shapes=((4, 2), (2, 2), (2,)) * 4),
        chain(STEPS, ("LSTM", RNN), shapes=((4, 8), (2, 8), (8,))),
    ),
    "keras-1-kernel": (
        chain(STEPS, ("Convolution1D", OLD_CONV), version="1.2.2", shapes=((3, 1, 4, 2), (2,))),
        chain(STEPS, ("Conv1D", LINE), shapes=((3, 4, 2), (2,))),
    ),
    "theano-kernel": (
        chain(IMAGE, ("Conv2D", CONV), backend="theano", shapes=((3, 3, 3, 2), (2,))),
        chain(IMAGE, ("Conv2D", CONV), backend="cntk", shapes=((3, 3, 3, 2), (2,))),
    ),
    "thresholded-relu": (chain(FLAT, ("ThresholdedReLU", {"theta": 0.5})), chain(FLAT, ("ReLU", {"threshold": 0.5}))),
    "locally-connected": (
        chain(STEPS, ("LocallyConnected1D", LINE)),
        chain(STEPS, ("Conv1D", LINE)),
    ),
    "known-function": (
        chain(FLAT, ("Activation", {"activation": "swish"}), version="2.1.6"),
        chain(FLAT, ("Activation", {"activation": "swish"}), version="2.4.0"),
    ),
    "activation-layer": (
        chain(FLAT, ("Dense", {**DENSE, "activation": {"class_name": "LeakyReLU", "config": {"alpha": 0.1}}})),
        chain(FLAT, ("Dense", {**DENSE, "activation": {"class_name": "Activation", "config": {"activation": "relu"}}})),
    ),
    "tf-operation": (
        chain(FLAT, ("TFOpLambda", {"function": "math.exp"}), version="2.5.0"),
        chain(FLAT, ("Activation", {"activation": "exponential"}), version="2.5.0"),
    ),
    "lambda": (
        chain(FLAT, ("Lambda", CODE)),
        chain(FLAT, ("Lambda", {"function": "divided", "function_type": "function"})),
    ),
    "merge": (
        two("Merge", {"mode": "sum"}, "1.2.2", masked=False), two("Add", {}, "2.0.9", masked=False),
    ),
    "keras-1-layer": (
        chain(FLAT, ("MaxoutDense", {"output_dim": 2, "nb_feature": 3, "bias": True}), version="1.2.2"),
        chain(FLAT, ("Dense", DENSE), version="1.2.2"),
    ),
    "mask": (
        two("Add", {}, "2.4.0", masked=True), two("Add", {}, "2.4.0", masked=False),
    ),
    "no-mask": (
        chain(STEPS, MASKING, ("ReLU", {"max_value": None}), ("LSTM", RNN), version="2.3.0-tf"),
        chain(STEPS, MASKING, ("ReLU", {"max_value": None}), ("LSTM", RNN), version="2.5.0"),
    ),
    "initial-state-mask": (
        two("LSTM", RNN, "2.7.0", masked=True, states=True), two("LSTM", RNN, "2.7.0", masked=False, states=True),
    ),
    "masked-first-steps": (
        two("LSTM", RNN, "2.2.4", masked=True, states=True), two("LSTM", RNN, "2.3.1", masked=True, states=True),
    ),
    "masked-steps": (
        chain(STEPS, MASKING, BOTH_WAYS, version="2.2.4"), chain(STEPS, MASKING, BOTH_WAYS, version="2.3.0-tf"),
    ),
    "carried-mask": (
        chain(STEPS, MASKING, BOTH_WAYS, ("Attend", {}), version="2.2.4"),
        chain(STEPS, MASKING, BOTH_WAYS, ("Dense", DENSE), version="2.2.4"),
    ),
    "large-noise": (chain(FLAT, ("GaussianNoise", {"stddev": 1.5})), chain(FLAT, ("GaussianNoise", {"stddev": 1.0}))),
    "causal": (
        chain(STEPS, ("SeparableConv1D", {**LINE, "padding": "causal"})),
        chain(STEPS, ("Conv1D", {**LINE, "padding": "causal"})),
    ),
    "causal-attention": (
        two("Attention", {"use_scale": False, "causal": True}, "2.4.0", masked=False),
        two("Attention", {"use_scale": False, "causal": False}, "2.4.0", masked=False),
    ),
    "time-major": (
        chain(STEPS, ("LSTM", {**RNN, "time_major": True}), version="2.4.0"),
        chain(STEPS, ("LSTM", {**RNN, "time_major": False}), version="2.4.0"),
    ),
    "channels-first-bias": (
        chain([None, 3, 6, 4], ("Conv2D", {**CONV, "data_format": "channels_first"})),
        chain([None, 3, 6, 5], ("Conv2D", {**CONV, "data_format": "channels_first"})),
    ),
    "initial-state": (
        two("LSTM", RNN, "2.2.4", masked=False, states=True), chain(STEPS, ("LSTM", RNN)),
    ),
    "bilinear": (
        chain(IMAGE, ("UpSampling2D", {"size": [2, 2], "interpolation": "bilinear"})),
        chain(IMAGE, ("UpSampling2D", {"size": [2, 2], "interpolation": "bilinear"}), version="2.4.0"),
    ),
    "layer-name": (
        chain(FLAT, ("Dense", {**DENSE, "name": "tower/dense"})), chain(FLAT, ("Dense", {**DENSE, "name": "dense"})),
    ),
    "optimizer-arguments": (trained("Adam", {"lr": 0.1}), trained("Adam", ADAM)),
    "optimizer-decay": (trained("Adam", {**ADAM, "decay": 0.1}), trained("Adam", {**ADAM, "decay": 0.0})),
    "optimizer-epsilon": (
        trained("RMSprop", RMSPROP),
        trained("RMSprop", {**RMSPROP, "momentum": 0.5}),
    ),
    "optimizer-state": (
        chain(FLAT, ("Dense", DENSE), shapes=((4, 3), (3,)),
              training={"optimizer_config": {"class_name": "Adam", "config": ADAM}, "loss": "mse"}),
        chain(FLAT, ("Dense", DENSE), shapes=((4, 3), (3,))),
    ),
    "loss-or-metric-name": (trained("Adam", ADAM, "logcosh"), trained("Adam", ADAM)),
}  # fmt: skip


def done(stored: Stored) -> Converted:
    """The conversion, which succeeds."""
    result = convert(stored)
    assert result.refusal is None, result.refusal
    assert result.model is not None
    assert result.model.keras_version == "3.0.0"
    return result


#: Rules for state beside the weights, which only containers read: `tests/genuine/test_vocabularies.py` has their cases.
OF_CONTAINERS = {"vocabulary", "word-state", "bin-boundaries"}


def test_no_rule_is_without_a_case() -> None:
    """A rule that nothing here shows is not written."""
    assert set(CASES) | OF_CONTAINERS == set(RULES)


@pytest.mark.parametrize("rule", CASES)
def test_rule(rule: str) -> None:
    """Named where it changed something, with its sentence and what it touched; not named next to it."""
    changed, alone = CASES[rule]
    notes = [c for c in done(changed).conversions if c.rule == rule]
    assert notes
    assert all(c.layers and c.what.startswith(RULES[rule].what) for c in notes)
    assert rule not in {c.rule for c in done(alone).conversions}


@pytest.mark.parametrize(
    ("loss", "weights", "written"),
    [
        ("mse", None, "mse"),
        ("mse", [1.0, 0.5], ["mse", "mse"]),
        ("mse", {"p": 1.0, "q": 0.5}, {"p": "mse", "q": "mse"}),
        ({"p": "mse"}, None, {"p": "mse", "q": None}),
        (["mse", "mae"], [1.0, 0.5], ["mse", "mae"]),
    ],
)
def test_losses_of_several_outputs(loss: Any, weights: Any, written: Any) -> None:
    """In the only forms that Keras 3 trains with."""
    layers: list[Any] = [{
        "class_name": "InputLayer", "name": "x", "inbound_nodes": [],
        "config": {"batch_input_shape": FLAT, "dtype": "float32", "sparse": False, "name": "x"},
    }]  # fmt: skip
    layers += [
        {
            "class_name": "Dense",
            "name": n,
            "config": {**DENSE, "name": n},
            "inbound_nodes": [[["x", 0, 0, {}]]],
        }
        for n in "pq"
    ]
    config: JsonObject = {
        "name": "m", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [["p", 0, 0], ["q", 0, 0]],
    }  # fmt: skip
    training = {
        "optimizer_config": {"class_name": "Adam", "config": ADAM},
        "loss": loss,
        "loss_weights": weights,
    }
    stored = Stored(
        "model", {"class_name": "Model", "config": config}, training, keras_version="2.2.4"
    )
    model = done(stored).model
    assert model is not None
    assert model.training is not None
    assert (model.training["loss"], model.training.get("loss_weights")) == (written, weights)


@pytest.mark.parametrize(("epsilon", "codes"), [(1e-7, []), (0.1, ["other-epsilon"])])
def test_a_large_epsilon_is_told(epsilon: float, codes: list[str]) -> None:
    """Squared it is not the same inside the root."""
    found = done(trained("RMSprop", {**RMSPROP, "epsilon": epsilon})).findings
    assert [f.code for f in found] == codes


@pytest.mark.parametrize(
    ("loss", "version", "is_kept"),
    [
        ("hinge", "2.2.4", False), ("squared_hinge", "2.0.9", False), ("hinge", "2.3.1", True),
        ("hinge", "2.2.4-tf", True), ("cosine_similarity", "2.2.4-tf", False), ("cosine_similarity", "2.4.0", True),
        ("cosine_proximity", "2.2.4", True),
    ],
)  # fmt: skip
def test_losses_that_were_others(loss: str, version: str, is_kept: bool) -> None:
    """A loss of today's that computes something else is not written: the compile settings stay out, with a finding."""
    result = done(trained("Adam", ADAM, loss)._replace(keras_version=version))
    assert result.model is not None
    assert (result.model.training is not None) is is_kept
    assert ("compile-dropped" in {f.code for f in result.findings}) is not is_kept


def test_a_shrinkage_that_was_another() -> None:
    """Ftrl's, before Keras 2.11."""
    result = done(
        trained("Ftrl", {"learning_rate": 0.1, "l2_shrinkage_regularization_strength": 0.03})
    )
    assert [f.code for f in result.findings] == ["compile-dropped"]
