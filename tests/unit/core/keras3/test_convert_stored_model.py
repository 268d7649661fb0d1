"""A whole model: what is refused as a whole, what the writer's version settles, and what the result is made of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.test_rule_catalog import (
    CONV,
    DENSE,
    FLAT,
    IMAGE,
    STEPS,
    chain,
    sequential,
    subclass,
)
from unnest.core.keras3.convert_stored_model import Converted, convert
from unnest.core.model import Group, JsonObject, Stored, Tensor


def layers_of(done: Converted) -> list[Any]:
    """The entries of the layers that came out."""
    assert done.model is not None, done.refusal
    assert done.model.architecture is not None
    config: Any = done.model.architecture["config"]
    layers: list[Any] = config["layers"]
    return layers


def test_the_result_says_that_keras_3_wrote_it() -> None:
    """A group per layer, each with the handles that it had."""
    stored = chain(FLAT, ("Dense", DENSE), ("Dropout", {"rate": 0.5}), ("Dense", {**DENSE, "units": 3}),
                   shapes=((3, 3), (3,)))  # fmt: skip
    first = (Tensor("k", (4, 3), "<f4", "/first/k"), Tensor("b", (3,), "<f4", "/first/b"))
    stored = stored._replace(groups=(stored.groups[0], Group("l0", first), *stored.groups[2:]))
    done = convert(stored)
    assert [e["class_name"] for e in layers_of(done)] == ["InputLayer", "Dense", "Dropout", "Dense"]
    model = done.model
    assert model is not None
    assert model.architecture is not None
    assert (model.keras_version, model.backend, model.training, model.optimizer) == (
        "3.0.0",
        None,
        None,
        None,
    )
    assert (model.architecture["class_name"], model.architecture["build_config"]) == (
        "Functional",
        {"input_shape": None},
    )
    assert [(g.name, [t.ref for t in g.tensors]) for g in model.groups] == [
        ("x", []), ("l0", ["/first/k", "/first/b"]), ("l1", []), ("l2", ["/l2/0", "/l2/1"]),
    ]  # fmt: skip
    assert (done.refusal, done.findings) == (None, ())


def test_an_architecture_alone_has_no_groups() -> None:
    stored = chain(FLAT, ("Dense", DENSE))._replace(contents="architecture", groups=())
    done = convert(stored)
    assert done.model is not None
    assert (done.model.contents, done.model.groups) == ("architecture", ())
    assert [e["class_name"] for e in layers_of(done)] == ["InputLayer", "Dense"]


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        (None, "holds no architecture; pass --architecture MODEL.json"),
        ({"class_name": "Mine", "config": {"layers": 3}}, "its layers are kept in code"),
    ],
    ids=["weights", "code"],
)
def test_no_graph(architecture: dict[str, Any] | None, message: str) -> None:
    done = convert(Stored("weights", architecture, keras_version="2.2.4"))
    assert done.model is None
    assert done.refusal is not None
    assert (done.refusal.code, done.refusal.message) == (
        "no-architecture", f"--keras 3 needs the graph of layers: {message}",
    )  # fmt: skip


def test_one_layer_that_cannot_be_held_refuses_the_model() -> None:
    """Naming it; no half of a model comes out."""
    done = convert(chain(FLAT, ("Dense", DENSE), ("RandomFourierFeatures", {"output_dim": 3})))
    assert done.model is None
    assert done.refusal is not None
    assert done.refusal.code == "cannot-convert"
    assert done.refusal.message.startswith("'l1' (RandomFourierFeatures): ")


@pytest.mark.parametrize(
    ("first", "build", "is_refused"),
    [({}, None, True), ({"batch_input_shape": [None, 4]}, None, False), ({}, [None, 4], False)],
)
def test_weights_need_the_shape_of_a_sequential(
    first: dict[str, Any], build: list[int | None] | None, is_refused: bool
) -> None:
    """Keras 3 would build none of them, and a class of its own hides it; an architecture alone needs none."""
    stored = sequential(("Dense", {**DENSE, **first}), ("Mine", {}))
    assert convert(stored).refusal is None
    architecture: Any = stored.architecture
    config = {**architecture["config"], **({"build_input_shape": build} if build else {})}
    weights = (Tensor("k", (4, 3), "<f4", "/k"), Tensor("b", (3,), "<f4", "/b"))
    done = convert(stored._replace(
        contents="model", architecture={**architecture, "config": config}, groups=(Group("l0", weights),),
    ))  # fmt: skip
    assert (done.refusal is not None) is is_refused
    if done.refusal is not None:
        assert done.refusal.message.startswith(
            "'s' (Sequential): its input shape is not in the file"
        )


UP = {"size": [2, 2], "interpolation": "bilinear", "data_format": "channels_last"}


def with_ragged(stored: Stored, said: bool) -> Stored:
    """The same model, its input with or without the key that TensorFlow 1.15 began to write."""
    assert stored.architecture is not None
    architecture: Any = stored.architecture
    config = architecture["config"]
    first, *rest = config["layers"]
    ragged = {"ragged": False} if said else {}
    first = {**first, "config": {**first["config"], **ragged}}
    return stored._replace(
        architecture={**architecture, "config": {**config, "layers": [first, *rest]}}
    )


@pytest.mark.parametrize(
    ("version", "ragged", "outcome"),
    [
        ("2.4.0", False, "as it is"), ("2.3.0-tf", False, "as it is"), ("2.3.1", False, "matrices"),
        ("2.2.4", False, "matrices"), ("2.2.4", True, "matrices"), ("2.2.4-tf", True, "as it is"),
        ("2.2.4-tf", False, "refused"), ("2.1.6-tf", False, "matrices"), (None, False, "refused"),
    ],
)  # fmt: skip
def test_pixel_centres_follow_from_the_writer(
    version: str | None, ragged: bool, outcome: str
) -> None:
    """TensorFlow's from 1.15 on are today's, those of Keras of its own never were; `2.2.4-tf` stands for both."""
    stored = with_ragged(chain(IMAGE, ("UpSampling2D", UP))._replace(keras_version=version), ragged)
    done = convert(stored)
    if outcome == "refused":
        assert done.refusal is not None
        assert "pixel centres" in done.refusal.message
    else:
        kinds = ["UpSampling2D"] if outcome == "as it is" else ["Einsum", "Einsum"]
        assert [e["class_name"] for e in layers_of(done)[1:]] == kinds


@pytest.mark.parametrize(
    ("dtypes", "version", "outcome"),
    [
        ((None, None), "2.2.4-tf", "as it is"), (("float32", "float32"), "2.2.4-tf", "refused"),
        ((None, "float32"), "2.2.4-tf", "refused"), ((None, None), "2.2.4", "matrices"),
        ((None, None), "2.1.6-tf", "matrices"),
    ],
)  # fmt: skip
def test_initializers_tell_tensorflow_1_from_2(
    dtypes: tuple[str | None, ...], version: str, outcome: str
) -> None:
    """Those of TensorFlow 1 are stored with a dtype; a custom one may be without."""
    stored = [{"class_name": "Zeros", "config": {} if d is None else {"dtype": d}} for d in dtypes]
    norm = (
        "BatchNormalization",
        {"axis": 3, "beta_initializer": stored[0], "gamma_initializer": stored[1]},
    )
    done = convert(chain(IMAGE, norm, ("UpSampling2D", UP), version=version))
    kinds = {"as it is": ["UpSampling2D"], "matrices": ["Einsum", "Einsum"], "refused": None}[
        outcome
    ]
    written = None if done.model is None else [e["class_name"] for e in layers_of(done)[2:]]
    assert written == kinds
    assert (done.refusal is not None) is (outcome == "refused")


@pytest.mark.parametrize(
    ("said", "written", "is_told"),
    [
        (("th",), "channels_first", True),
        (("tf",), "channels_last", True),
        (("th", "tf", "th"), "channels_first", True),
        ((), "channels_last", False),
    ],
    ids=["th", "tf", "most", "nothing"],
)
def test_the_order_of_axes_that_most_layers_say(
    said: tuple[str, ...], written: str, is_told: bool
) -> None:
    """Keras 1's ZeroPadding does not say its own; where no layer does, the guess is reported."""
    pools = [
        (
            "MaxPooling2D",
            {"pool_size": [1, 1], "strides": [1, 1], "border_mode": "valid", "dim_ordering": order},
        )
        for order in said
    ]
    done = convert(chain(IMAGE, *pools, ("ZeroPadding2D", {"padding": [1, 1]}), version="1.2.2"))
    assert layers_of(done)[-1]["config"]["data_format"] == written
    assert [f.code for f in done.findings] == ([] if is_told else ["assumed-data-format"])


@pytest.mark.parametrize(
    ("stored", "codes", "objects"),
    [
        (chain(FLAT, ("Attend", {"size": 3})), ["custom-objects"], "'Attend': Attend"),
        (
            chain(FLAT, ("Dense", {**DENSE, "activation": "<lambda>"})),
            ["custom-objects"],
            "'<lambda>': _lambda_",
        ),
        (
            chain(FLAT, ("Dense", {**DENSE, "kernel_regularizer": "<lambda>"})),
            ["custom-objects"],
            "'<lambda>': _lambda_",
        ),
        (
            chain(FLAT, ("Dense", {**DENSE, "activation": "package>mine"})),
            ["custom-objects"],
            "'mine': mine",
        ),
        (chain(FLAT, ("Dense", DENSE)), [], None),
        (subclass("Mine"), ["functional-subclass"], None),
        (subclass("package>Model"), [], None),
    ],
    ids=["layer", "lambda", "lambda-rule", "package", "keras's", "subclass", "registered"],
)
def test_what_its_author_is_told(stored: Stored, codes: list[str], objects: str | None) -> None:
    done = convert(stored)
    assert done.model is not None
    assert [f.code for f in done.findings] == codes
    assert objects is None or f"custom_objects={{{objects}}}" in done.findings[0].hint


def test_groups_of_a_sequential_go_by_their_place() -> None:
    """Under the layers' names, whatever the file calls them."""
    stored = sequential(("Dense", {**DENSE, "batch_input_shape": FLAT}), ("Dense", DENSE))
    shapes = (((4, 3), (3,)), ((3, 3), (3,)))
    groups = tuple(
        Group(
            f"other_{k}",
            tuple(Tensor(f"{k}/{n}", s, "<f4", f"/{k}/{n}") for n, s in enumerate(pair)),
        )
        for k, pair in enumerate(shapes)
    )
    done = convert(stored._replace(contents="model", groups=groups))
    assert done.model is not None
    placed = {g.name: [t.ref for t in g.tensors] for g in done.model.groups if g.tensors}
    assert placed == {"l0": ["/0/0", "/0/1"], "l1": ["/1/0", "/1/1"]}


@pytest.mark.parametrize(
    ("version", "settings", "kinds"),
    [
        ("2.2.4", {}, ["InputLayer", "Masking", "LSTM", "LSTM", "Flip", "Concatenate"]),
        ("2.4.0", {}, ["InputLayer", "Masking", "Bidirectional"]),
        ("2.2.4-tf", {}, None),
        ("2.2.4", {"stateful": True}, None),
        ("2.2.4", {"return_state": True}, None),
    ],
)
def test_masked_steps_of_then(
    version: str, settings: dict[str, Any], kinds: list[str] | None
) -> None:
    """Behind a mask Keras of its own gave back its last output in both directions; today it is zeros."""
    lstm = {"class_name": "LSTM", "config": {
        "name": "f", "units": 2, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True,
        "return_sequences": True, **settings,
    }}  # fmt: skip
    both = ("Bidirectional", {"layer": lstm, "merge_mode": "concat"})
    masked = convert(chain(STEPS, ("Masking", {"mask_value": 0.0}), both, version=version))
    if kinds is None:
        assert masked.refusal is not None
        assert "at masked steps" in masked.refusal.message
    else:
        assert [layer["class_name"] for layer in layers_of(masked)] == kinds
    assert convert(chain(STEPS, both, version=version)).refusal is None


def test_a_convolution_of_then_is_one_of_now() -> None:
    """Nothing is noted where nothing had to change."""
    done = convert(
        chain(IMAGE, ("Conv2D", {**CONV, "data_format": "channels_last"}), version="2.4.0")
    )
    assert done.conversions == ()
    config = layers_of(done)[1]["config"]
    assert {k: config[k] for k in CONV} == CONV


TRAINING: JsonObject = {
    "loss": "mse",
    "optimizer_config": {"class_name": "SGD", "config": {"lr": 0.1}},
}


@pytest.mark.parametrize(
    ("version", "trainable", "training", "codes"),
    [
        ("2.2.4", False, TRAINING, ["frozen-normalization"]),
        ("2.2.4", True, TRAINING, []),
        ("2.2.4", False, None, []),
        ("2.2.4-tf", False, TRAINING, []),
        ("2.6.0", False, TRAINING, []),
    ],
)
def test_a_frozen_normalization_of_then(
    version: str, trainable: bool, training: JsonObject | None, codes: list[str]
) -> None:
    """Keras of its own normalized by the batch at hand in training, frozen or not."""
    layer = (
        "BatchNormalization",
        {"axis": -1, "trainable": trainable, "scale": True, "center": True},
    )
    stored = chain([None, 4], layer, version=version)._replace(contents="model", training=training)
    assert [f.code for f in convert(stored).findings] == codes


@pytest.mark.parametrize(
    ("class_name", "version", "has_dtypes", "codes"),
    [
        ("BatchNormalizationV1", "2.2.4-tf", True, ["frozen-normalization"]),
        ("BatchNormalization", "2.2.4-tf", True, ["frozen-normalization"]),
        ("BatchNormalization", "2.2.4-tf", False, []),
        ("BatchNormalization", "2.3.0-tf", True, []),
    ],
)
def test_a_frozen_normalization_of_tensorflow_1(
    class_name: str, version: str, has_dtypes: bool, codes: list[str]
) -> None:
    """TensorFlow 1.13, 1.15 and 2.0 call themselves 2.2.4-tf; those of 1 store a dtype with each initializer."""
    zeros = {"class_name": "Zeros", "config": {"dtype": "float32"} if has_dtypes else {}}
    config = {"axis": [1], "trainable": False, "beta_initializer": zeros, "scale": True}
    stored = chain([None, 4], (class_name, config), version=version)
    done = convert(stored._replace(contents="model", training=TRAINING))
    assert [f.code for f in done.findings] == codes


def l1_l2(l1: float, l2: float) -> dict[str, Any]:
    """A regularizer as Keras 2 stores it."""
    return {"class_name": "L1L2", "config": {"l1": l1, "l2": l2}}


@pytest.mark.parametrize(
    ("layer", "version", "codes"),
    [
        (
            ("Dense", {**DENSE, "activity_regularizer": l1_l2(0.1, 0.0)}),
            "2.1.6",
            ["summed-penalty"],
        ),
        (("Dense", {**DENSE, "activity_regularizer": l1_l2(0.0, 0.0)}), "2.1.6", []),
        (("Dense", {**DENSE, "activity_regularizer": None}), "2.1.6", []),
        (("Dense", {**DENSE, "activity_regularizer": l1_l2(0.1, 0.0)}), "2.2.4-tf", []),
        (("Dense", {**DENSE, "activity_regularizer": l1_l2(0.1, 0.0)}), "2.6.0", []),
        (("Dense", {**DENSE, "kernel_regularizer": l1_l2(0.1, 0.0)}), "2.1.6", []),
        (("ActivityRegularization", {"l1": 0.0, "l2": 0.01}), "2.3.1", ["summed-penalty"]),
        (("ActivityRegularization", {"l1": 0.0, "l2": 0.0}), "2.3.1", []),
    ],
)
def test_a_penalty_on_outputs(
    layer: tuple[str, dict[str, Any]], version: str, codes: list[str]
) -> None:
    """Standalone Keras summed it over the batch; tf.keras divided it by the rows, as Keras 3 does."""
    stored = chain([None, 4], layer, version=version)
    done = convert(stored._replace(contents="model", training=TRAINING))
    assert [f.code for f in done.findings] == codes


SUM: JsonObject = {"class_name": "MeanSquaredError", "config": {"reduction": "sum"}}


@pytest.mark.parametrize(
    ("version", "loss", "codes"),
    [
        ("2.10.0", "mse", ["masked-loss"]),
        ("2.10.0", SUM, []),
        ("2.12.0", "mse", []),
    ],
)
def test_a_masked_loss(version: str, loss: Any, codes: list[str]) -> None:
    """Divided by all steps until Keras 2.10; a sum never was."""
    stored = chain(
        [None, 6, 4],
        ("Masking", {"mask_value": 0.0}),
        ("Activation", {"activation": "tanh"}),
        version=version,
    )
    done = convert(stored._replace(contents="model", training={**TRAINING, "loss": loss}))
    assert [f.code for f in done.findings] == codes
