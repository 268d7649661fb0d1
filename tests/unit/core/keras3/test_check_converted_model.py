"""The converted model in Keras 3's terms: what passes, and the nearest model that is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.test_rule_catalog import (
    CONV,
    DENSE,
    FLAT,
    IMAGE,
    RNN,
    STEPS,
    chain,
    weights,
)
from unnest.core.keras3.check_converted_model import check_output
from unnest.core.keras3.conversion_context import CannotConvert
from unnest.core.keras3.convert_stored_model import convert
from unnest.core.model import Stored

KERNEL, BIAS = (4, 3), (3,)
CLIP: dict[str, Any] = {"class_name": "Clip", "config": {"low": 0.0}}


def converted(stored: Stored) -> str | None:
    """Return why the model is refused; None if it is written."""
    done = convert(stored)
    return done.refusal.message if done.refusal is not None else None


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        (chain(FLAT, ("Dense", DENSE), shapes=(KERNEL, BIAS)), None),
        (chain(FLAT, ("Dense", {**DENSE, "dtype": "float"}), shapes=(KERNEL, BIAS)), None),
        (chain(FLAT, ("Dense", {**DENSE, "dtype": "int32"}), shapes=(KERNEL, BIAS)),
         "'l0' (Dense): its dtype is 'int32', and Keras 3 has floating-point numbers here"),
        (chain(FLAT, ("Dense", {**DENSE, "dtype": "floating"}), shapes=(KERNEL, BIAS)),
         "'l0' (Dense): its dtype is 'floating', and Keras 3 has no such dtype here"),
        (chain([None, 4], ("Embedding", {"input_dim": 9, "output_dim": 3, "dtype": "int32"}), version="2.0.9"),
         "'l0' (Embedding): its dtype is 'int32', and Keras 3 has floating-point numbers here"),
        (chain(FLAT, ("Flatten", {"dtype": "int32"})), None),
        (chain(FLAT, ("LeakyReLU", {"alpha": {"type": "ndarray", "value": 0.5}})), None),
        (chain([None, None], ("Dense", DENSE), shapes=(KERNEL, BIAS)),
         ("'l0' (Dense): reads the shape (?, ?), and Keras 3 needs the size of axis 1: build the model in code with "
         "that size")),
        (chain([None, None, 4], ("LSTM", RNN), shapes=((4, 8), (2, 8), (8,))), None),
        (chain([None, 4, None], ("LSTM", RNN), shapes=((4, 8), (2, 8), (8,))),
         ("'l0' (LSTM): reads the shape (?, 4, ?), and Keras 3 needs the size of axis 2: build the model in code with "
         "that size")),
        (chain(STEPS, ("LSTM", RNN), shapes=((5, 8), (2, 8), (8,))),
         "'l0' (LSTM): its first weight is for 5 features, and its input has 4"),
        (chain([None, None, None, 3], ("Conv2D", CONV), shapes=((3, 3, 3, 2), (2,))), None),
        (chain([None, 6, 6, None], ("Conv2D", CONV), shapes=((3, 3, 3, 2), (2,))),
         ("'l0' (Conv2D): reads the shape (?, 6, 6, ?), and Keras 3 needs the size of axis 3: build the model in code "
         "with that size")),
        (chain([None, 6, 6, 4], ("Conv2D", CONV), shapes=((3, 3, 3, 2), (2,))),
         "'l0' (Conv2D): its first weight is for 3 features, and its input has 4"),
        (chain([None, 6, 6, 6], ("Conv2D", {**CONV, "groups": 2}), shapes=((3, 3, 3, 2), (2,)), version="2.4.0"), None),
        (chain(IMAGE, ("BatchNormalization", {"axis": -1}), shapes=((4,),) * 4),
         "'l0' (BatchNormalization): its first weight is for 4 features, and its input has 3"),
        (chain(IMAGE, ("BatchNormalization", {"axis": -1}), shapes=((3,),) * 4), None),
        (chain(IMAGE, ("BatchNormalization", {"axis": 1}), shapes=((6,),) * 3),
         "'l0' (BatchNormalization): has 3 weights in place of 4"),
        (chain([None, 3], ("StringLookup", {"vocabulary": ["a"]}), version="2.7.0"), None),
        (chain([None, 3], ("StringLookup", {"vocabulary": None}), version="2.7.0"),
         ("'l0' (StringLookup): keeps what adapt() found outside of its config, and a .keras holds it as 'vocabulary' "
         "alone: give 'vocabulary' to the layer in code, or use fix without --keras 3")),
    ],
)  # fmt: skip
def test_converted(stored: Stored, why: str | None) -> None:
    assert converted(stored) == why


def test_a_layer_without_its_weights_beside_one_with() -> None:
    """As the file of an earlier state of the code has it."""
    stored = chain(
        FLAT, ("Dense", {**DENSE, "name": "a"}), ("BatchNormalization", {"axis": -1, "name": "b"})
    )
    some = (stored.groups[0], weights("a", KERNEL, BIAS), stored.groups[2])
    assert converted(stored._replace(groups=some)) == (
        "'b' (BatchNormalization): has 0 weights in the file, and Keras 3 makes 4"
    )
    assert converted(stored._replace(groups=(*some[:2], weights("b", *[(3,)] * 4)))) is None


def test_weights_of_other_shapes() -> None:
    """As a `.weights.h5` beside the JSON of a later state of the code has them."""
    stored = chain(FLAT, ("Dense", {**DENSE, "name": "a", "units": 4}))
    wider = stored._replace(groups=(stored.groups[0], weights("a", (4, 3), (3,))))
    assert converted(wider) == (
        "'a' (Dense): its weights have the shapes (4, 3), (3,), its config promises (?, 4), (4,)"
    )
    fitting = stored._replace(groups=(stored.groups[0], weights("a", (4, 4), (4,))))
    assert converted(fitting) is None


def test_what_a_custom_layer_names_is_in_the_load_line() -> None:
    """Anywhere in its config; Keras's own are not."""
    own = {
        "kernel_constraint": CLIP,
        "inner": {"class_name": "Dense", "config": DENSE},
        "activation": "squash",
    }
    done = convert(chain(FLAT, ("Scale", {**own, "bias_initializer": "zeros"}), shapes=((4,),)))
    assert done.refusal is None
    [finding] = [f for f in done.findings if f.code == "custom-objects"]
    assert finding.message.endswith("Scale (layer 'l0'), Clip (in the config of 'l0')")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"module": "keras.layers", "class_name": "Highway", "config": {"name": "l"}}, "names 'Highway'"),
        ({"module": "keras.layers", "class_name": "Dense", "config": {"name": "l", "units": 2, "groups": 1}},
         "its argument 'groups' is not known in Keras 3"),
        ({"module": "keras.src.ops.numpy", "class_name": "Gelu", "config": {"name": "l"}}, "names 'Gelu'"),
        ({"module": "keras.layers", "class_name": "Activation", "config": {"name": "l", "activation": {
            "module": "keras.activations", "class_name": "function", "config": "relu"}}}, None),
        ({"module": "keras.layers", "class_name": "Dense", "config": {"name": "l", "units": 2, "kernel_constraint": {
            "module": "keras.constraints", "class_name": "RadialConstraint", "config": {}}}},
         "names 'RadialConstraint'"),
        ({"module": "keras.layers", "class_name": "LeakyReLU", "config": {
            "name": "l", "negative_slope": {"type": "ndarray", "value": 0.5}}}, "stored as an array of Keras 2"),
    ],
)  # fmt: skip
def test_what_keras_3_does_not_have(entry: dict[str, Any], why: str | None) -> None:
    """Whatever rule wrote it."""
    first = {
        "module": "keras.layers",
        "class_name": "InputLayer",
        "config": {"name": "x", "batch_shape": [None, 4]},
    }
    model: dict[str, Any] = {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "s", "layers": [first, entry]},
    }
    stored = Stored("architecture", model, keras_version="3.0.0")
    if why is None:
        check_output(stored)
    else:
        with pytest.raises(CannotConvert, match=why):
            check_output(stored)


@pytest.mark.parametrize(
    ("read", "why"),
    [(("x", 0), None), (("d", 0), None), (("d", 1), "'d'"), (("gone", 0), "'gone'")],
)
def test_calls_read_what_the_model_has(read: tuple[str, int], why: str | None) -> None:
    tensor = {
        "class_name": "__keras_tensor__",
        "config": {"shape": [None, 4], "keras_history": [*read, 0]},
    }
    x = {
        "class_name": "__keras_tensor__",
        "config": {"shape": [None, 4], "keras_history": ["x", 0, 0]},
    }
    layers: list[dict[str, Any]] = [
        {
            "class_name": "InputLayer",
            "config": {"name": "x", "batch_shape": [None, 4]},
            "inbound_nodes": [],
        },
        {
            "class_name": "Flatten",
            "config": {"name": "d"},
            "inbound_nodes": [{"args": [x], "kwargs": {}}],
        },
        {
            "class_name": "Flatten",
            "config": {"name": "e"},
            "inbound_nodes": [{"args": [tensor], "kwargs": {}}],
        },
    ]
    for entry in layers:
        entry |= {
            "module": "keras.layers",
            "registered_name": None,
            "name": entry["config"]["name"],
        }
    config: Any = {
        "name": "m",
        "layers": layers,
        "input_layers": [["x", 0, 0]],
        "output_layers": [["e", 0, 0]],
    }
    model: Any = {
        "module": "keras.src.models.functional",
        "class_name": "Functional",
        "config": config,
    }
    if why is None:
        check_output(Stored("architecture", model, keras_version="3.15.1"))
        return
    with pytest.raises(
        CannotConvert, match=rf"'e' \(Flatten\): reads {why}, which is not in the model"
    ):
        check_output(Stored("architecture", model, keras_version="3.15.1"))
