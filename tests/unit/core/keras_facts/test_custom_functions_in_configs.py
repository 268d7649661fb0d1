"""Functions in a config that are Keras's own, and those that a loader must be given."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras_facts import custom_functions_in_configs


@pytest.mark.parametrize(
    ("activation", "release", "is_custom_activation"),
    [
        ("swish", (2, 2, 4), True),
        ("swish", (2, 3, 0), False),
        ("relu6", (2, 16, 0), True),
        ("relu6", (3, 0, 0), False),
        ("tanh", (1, 2, 2), False),
        ("gelu", (), False),
    ],
)
def test_an_activation_is_keras_s_from_some_release_on(
    activation: str, release: tuple[int, ...], is_custom_activation: bool
) -> None:
    """A file without a release raises no doubt."""
    assert (
        custom_functions_in_configs.is_custom_activation(activation, release)
        is is_custom_activation
    )


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({"kernel_initializer": {"class_name": "GlorotUniform", "config": {}}}, []),
        (
            {"kernel_initializer": "glorot_uniform", "bias_initializer": {"class_name": "ZerosV2"}},
            [],
        ),
        (
            {"kernel_regularizer": {"class_name": "L1L2", "config": {}}, "kernel_constraint": None},
            [],
        ),
        ({"kernel_initializer": {"class_name": "GlorotCauchy", "config": {}}}, ["GlorotCauchy"]),
        ({"kernel_regularizer": "orthogonal_loss"}, ["orthogonal_loss"]),
        ({"bias_constraint": {"class_name": "function", "config": "my_norm"}}, ["my_norm"]),
        ({"bias_constraint": {"class_name": "function", "config": "unit_norm"}}, []),
        ({"regularizer": "mine", "kernel_initializer_name": "mine"}, []),
    ],
)
def test_rules(config: dict[str, Any], found: list[str]) -> None:
    assert list(custom_functions_in_configs.custom_rules(config)) == found


@pytest.mark.parametrize(
    ("config", "release", "found"),
    [
        ({"activation": "relu", "recurrent_activation": "hard_sigmoid"}, (2, 2, 4), []),
        ({"activation": "mish"}, (2, 13, 0), []),
        ({"activation": "mish"}, (2, 12, 0), ["mish"]),
        ({"activation": "swish", "inner_activation": "relu6"}, (2, 1, 6), []),
        ({"activation": "my_relu", "recurrent_activation": "gate"}, (2, 2, 4), ["my_relu", "gate"]),
        ({"activation": {"class_name": "function", "config": "my_relu"}}, (), ["my_relu"]),
        ({"activation": {"class_name": "LeakyReLU", "config": {}}}, (2, 2, 4), []),
        ({"activity": "my_relu"}, (2, 2, 4), []),
    ],
)
def test_activations(config: dict[str, Any], release: tuple[int, ...], found: list[str]) -> None:
    """`swish` and `relu6` of an old file are one and the same function in everybody's code."""
    assert list(custom_functions_in_configs.custom_activations(config, release)) == found


@pytest.mark.parametrize(
    ("release", "is_standalone", "found"),
    [
        ((2, 2, 4), True, ["swish", "relu6"]),
        ((2, 3, 1), True, ["swish", "relu6"]),
        ((2, 2, 4), False, ["swish", "relu6"]),
        ((2, 3, 0), False, ["relu6"]),
        ((2, 4, 0), False, ["relu6"]),
        ((2, 7, 0), False, []),
        ((), False, []),
    ],
)
def test_activations_that_later_became_keras_s_own(
    release: tuple[int, ...], is_standalone: bool, found: list[str]
) -> None:
    """Seen: activations.get of Keras 2.2.4, 2.3.1, TensorFlow 2.0, 2.2, 2.3 and 2.7."""
    config = {"activation": "swish", "recurrent_activation": "relu6", "inner_activation": "relu"}
    names = custom_functions_in_configs.activations_not_found_by_name(
        config, release, is_standalone=is_standalone
    )
    assert list(names) == found


OWN_CLASS = {
    "module": "package.layers",
    "class_name": "Mine",
    "config": {},
    "registered_name": "package>Mine",
}
OWN_FUNCTION = {
    "module": "builtins",
    "class_name": "function",
    "config": "my_relu",
    "registered_name": "function",
}


@pytest.mark.parametrize(
    ("config", "found"),
    [
        (OWN_CLASS, [("package>Mine", False)]),
        (OWN_FUNCTION, [("my_relu", True)]),
        ({"layers": [{"activation": OWN_FUNCTION}, OWN_CLASS]}, [("my_relu", True), ("package>Mine", False)]),
        ({**OWN_CLASS, "module": None}, [("package>Mine", False)]),
        ({**OWN_CLASS, "module": "keras.layers"}, []),
        ({**OWN_CLASS, "module": "keras_hub.layers"}, [("package>Mine", False)]),
        ({"module": "package", "class_name": "Mine"}, []),
        ({**OWN_CLASS, "registered_name": None}, []),
        ("my_relu", []),
    ],
)  # fmt: skip
def test_objects_that_a_loader_is_given(config: Any, found: list[tuple[str, bool]]) -> None:
    assert list(custom_functions_in_configs.custom_objects_of_keras_3(config)) == found
