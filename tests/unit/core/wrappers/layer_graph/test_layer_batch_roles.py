"""A single layer's role for the batch: slices it, keeps it, joins it, passes it on, or unknown."""
# ruff: noqa: PLW0108 - the code of these lambdas is what is stored

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, source
from tests.unit.core.wrappers.one_layer import (
    called,
    code_lambda,
    op_function,
    op_keras_3,
    op_node,
)
from unnest.core.architecture.graph import Call, Layer
from unnest.core.model import Json
from unnest.core.wrappers.layer_graph import layer_batch_roles

K: Any = None
tf: Any = None
np: Any = None
OneLayer = tuple[Layer, Call]


@pytest.mark.parametrize(
    ("one", "answer"),
    [
        (called("Concatenate", axis=0), True),
        (called("Concatenate", axis=1), False),
        (called("Concatenate", axis=-1), False),
        (called("Concatenate"), False),
        (called("Concatenate", axis=None), False),
        (called("Concatenate", axis="0"), False),
        (called("Concatenate", axis=False), False),
        (called("Concatenate", axis=0.0), False),
        (called("Mine"), None),
        (called("Mine", axis=[0]), True),
        (called("Mine", axis=True), None),
        (called("Merge", mode="concat", concat_axis=0), True),
        (called("Merge", mode="concat", concat_axis=1), False),
        (called("Merge", mode="sum", concat_axis=0), False),
        (op_function("concat", axis=0), True),
        (op_function("concat", axis=1), False),
        (op_function("concat"), None),
        (op_function("stack", axis=0), False),
        (op_function("vstack"), True),
        (op_function("add_n"), False),
        (op_node("ConcatV2", {"1": 0}), True),
        (op_keras_3("Concatenate", axis=0), True),
        (code_lambda(lambda x: K.concatenate(x, axis=0)), True),
        (code_lambda(lambda x: K.concatenate(x, axis=1)), False),
        (code_lambda(lambda x: K.sum(x, axis=0)), None),
        (called("Lambda", function="merge", arguments={"axis": 0}), True),
        (called("Lambda", function="merge", arguments={}), None),
    ],
)
def test_what_joins_on_the_batch_axis(one: OneLayer, answer: bool | None) -> None:
    assert layer_batch_roles.joins_on_batch_axis(*one) is answer


@pytest.mark.parametrize(
    ("one", "answer"),
    [
        (called("Average"), True),
        (called("Concatenate"), False),
        (called("Mean"), False),
        (
            (Layer("l", "Average", {}, {"class_name": "Average", "module": "mine"}, ()), Call(())),
            False,
        ),
        (code_lambda(lambda x: K.mean(x, axis=0)), True),
        (code_lambda(lambda x: tf.add_n(x)), True),
        (code_lambda(lambda x: K.stack(x)), True),
        (code_lambda(lambda x: K.reshape(K.stack(x), 1)), False),
        (code_lambda(lambda x: K.concatenate(x, axis=0)), False),
        (code_lambda(lambda x: K.meaningful(x)), False),
        (code_lambda(lambda x: sum(x)), True),
        (code_lambda(lambda x: tf.dynamic_stitch(tf.range(sum(map(len, x))), x)), False),
        (code_lambda(lambda x: K.sum(tf.dynamic_stitch(tf.range(sum(map(len, x))), x))), True),
        (code_lambda(lambda x: tf.reduce_mean(tf.dynamic_stitch(tf.range(4), x))), True),
    ],
)
def test_what_combines_the_towers_otherwise(one: OneLayer, answer: bool) -> None:
    """A name counts as a word, not as a part of one; a class only where it is Keras's."""
    assert layer_batch_roles.combines(one[0]) is answer


@pytest.mark.parametrize(
    ("one", "answer"),
    [
        (called("Activation", activation="linear"), True),
        (called("Activation", activation="linear", dtype="float32"), True),
        (called("Activation", activation="linear", dtype="int32"), False),
        (
            called("Activation", activation="linear", dtype={"config": {"name": "mixed_float16"}}),
            False,
        ),
        (called("Activation", activation="relu"), False),
        (called("Dense", activation="linear", units=3), False),
        (
            called("Dense", activation="linear", output_dim=3, init="glorot_uniform"),
            False,
        ),  # Keras 1
        (called("Activation", activation="linear", reads=("x", "y")), False),
        (op_function("identity"), True),
        (op_function("cast", dtype="float16"), False),
        (code_lambda(lambda x: tf.cast(x, "float32")), False),
        (op_function("reverse", axis=[1]), False),
        (code_lambda(lambda x: x), True),
        (code_lambda(lambda x: tf.identity(x)), True),
        (code_lambda(lambda x: tf.exp(x)), False),
        (code_lambda(lambda x: x[1:]), False),
        (code_lambda(lambda x: x, closure=[1]), False),
        (code_lambda(lambda x: x, scale=2), False),
        (called("Lambda", function="identity", arguments={}), False),
        (called("Rows"), False),
    ],
)
def test_what_passes_its_input_on(one: OneLayer, answer: bool) -> None:
    assert layer_batch_roles.passes_on(*one) is answer


IN_TRAINING: Json = [["x", 0, 0, {"training": True}]]


@pytest.mark.parametrize(
    ("stored", "is_in_training"),
    [
        (IN_TRAINING, True),
        ([["x", 0, 0, {"training": 1}]], True),
        ([["x", 0, 0, {"training": False}]], False),
        ([["x", 0, 0, {"mask": True}]], False),
        ({"args": [], "kwargs": {"training": True}}, True),
        ({"args": [], "kwargs": {"training": None}}, False),
    ],
)
def test_calls_in_training(stored: Json, is_in_training: bool) -> None:
    assert layer_batch_roles.is_in_training(Call((), stored)) is is_in_training


@pytest.mark.parametrize(
    ("one", "by_batch"),
    [
        (called("BatchNormalization", IN_TRAINING), True),
        (called("BatchNormalizationV1", IN_TRAINING), True),
        (called("BatchNormalization"), False),
        (called("BatchNormalization", IN_TRAINING, trainable=False), None),
        (called("BatchNormalization", mode=2), True),
        (called("BatchNormalization", IN_TRAINING, mode=0), True),
        (called("BatchNormalization", mode=1), False),
        (called("Dropout", IN_TRAINING), False),
        (called("TimeDistributed", IN_TRAINING, layer=layer("n", kind="BatchNormalization")), True),
    ],
)
def test_normalization_by_the_rows_at_hand(one: OneLayer, by_batch: bool | None) -> None:
    assert layer_batch_roles.normalizes_by_batch(*one) is by_batch


SELF_MADE: Json = {
    "module": "builtins",
    "class_name": "function",
    "config": "mine",
    "registered_name": "mine",
}


@pytest.mark.parametrize(
    ("one", "others"),
    [
        (called("Dense", activation="relu"), False),
        (called("Dense", activation="mine"), True),
        (called("Activation", activation="<lambda>"), True),
        (called("LSTM", activation="tanh", recurrent_activation="mine"), True),
        (called("Dense", activation=SELF_MADE), True),
        (
            called(
                "Dense",
                activation=None,
                kernel_initializer={"class_name": "Mine", "config": {"name": "m"}},
            ),
            False,
        ),
        (called("TimeDistributed", layer=layer("held", kind="Lambda")), True),
        (called("TimeDistributed", layer=layer("held", kind="Mine")), True),
        (called("TimeDistributed", layer=layer("held", activation="relu")), False),
        (called("TimeDistributed", layer=layer("held", activation="mine")), True),
        (called("TimeDistributed", layer=functional(source(), layer("y", kind="Lambda"))), True),
        (called("RNN", cell=layer("cell", kind="LSTMCell", activation="tanh")), False),
        (called("RNN", cell=layer("cell", kind="MyCell")), True),
    ],
)
def test_layers_of_keras_that_run_code_of_others(one: OneLayer, others: bool) -> None:
    """Functions, the work of which the file does not show."""
    assert layer_batch_roles.runs_others_code(one[0]) is others


def test_an_activation_of_keras_3_is_a_text() -> None:
    """Functions of other modules it writes as objects."""
    for activation, others in (("log_sigmoid", False), (SELF_MADE, True)):
        settings: dict[str, Json] = {"name": "l", "activation": activation}
        entry: dict[str, Json] = {
            "module": "keras.layers",
            "class_name": "Dense",
            "config": settings,
        }
        assert (
            layer_batch_roles.runs_others_code(Layer("l", "Dense", settings, entry, ())) is others
        )


@pytest.mark.parametrize(
    ("one", "answer"),
    [
        (op_function("reshape", shape=[4, 3]), True),
        (op_function("reshape", shape=[-1, 3]), False),
        (op_function("squeeze", axis=[0]), True),
        (op_function("squeeze", axis=["0", "2"]), True),
        (op_function("squeeze", axis=0), True),
        (op_function("squeeze", axis=[1]), False),
        (op_function("squeeze"), False),
        (op_function("identity"), False),
    ],
)
def test_what_has_a_number_of_rows_of_its_own(one: OneLayer, answer: bool) -> None:
    assert layer_batch_roles.fixes_rows(*one) is answer


@pytest.mark.parametrize(
    ("stored", "reads"),
    [
        ([["x", 0, 0, {"mask": ["m", 0, 0]}]], True),
        ([["x", 0, 0, {"mask": [None, ["m", 0, 0]]}]], True),
        ({"args": [], "kwargs": {"mask": {"class_name": "__keras_tensor__"}}}, True),
        ([["x", 0, 0, {"mask": None}]], False),
        ([["x", 0, 0, {"mask": [None, None], "training": False}]], False),
        ([["mask", 0, 0, {}]], False),
        (None, False),
    ],
)
def test_calls_with_a_mask(stored: Json, reads: bool) -> None:
    assert layer_batch_roles.reads_mask(Call((), stored)) is reads
