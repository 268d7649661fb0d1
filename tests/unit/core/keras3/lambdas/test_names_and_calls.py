"""Names and calls in code: under which name, with which arguments, and their results."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, UNSHAPED, X, called, path
from unnest.core.keras3.lambdas import names_and_calls
from unnest.core.keras3_op_node import OpNode
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    CallArguments,
    Const,
    Libraries,
    LibraryName,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)

NUMPY = "keras.src.ops.numpy"


@pytest.mark.parametrize(
    ("text", "known_as"),
    [
        ("K.mean", "K.mean"),
        ("keras.backend.mean", "K.mean"),
        ("tf.keras.backend.mean", "K.mean"),
        ("tf.reduce_mean", "tf.reduce_mean"),
        ("np.array", "np.array"),
        ("len", "len"),
    ],
)
def test_one_function_has_one_name_here(text: str, known_as: str) -> None:
    assert path(text, Libraries()) == LibraryName(known_as, text)


def test_what_a_bare_name_was_taken_for_is_noted() -> None:
    dialect = Libraries()
    path("K.mean", dialect)
    path("abs", dialect)
    assert dialect.taken == {"K": "keras.backend", "abs": "the builtin"}


@pytest.mark.parametrize("name", ["foo", "backend", "KK", "sys", "K.mean", "open", "eval"])
def test_another_global_is_not_stored(name: str) -> None:
    with pytest.raises(Unknown, match=f"^`{re.escape(name)}`, a name whose value is not stored$"):
        names_and_calls.global_value(name, Libraries())


@pytest.mark.parametrize(
    "text",
    ["K.random_normal", "tf.random.normal", "tf.random_normal", "tf.truncated_normal", "np.random.normal",
     "keras.backend.random_uniform", "tf.keras.backend.random_normal"],
)  # fmt: skip
def test_random_numbers_have_no_place_in_predictions(text: str) -> None:
    with pytest.raises(
        Unknown, match=f"^`{re.escape(text)}`: no layer .* random numbers at inference$"
    ):
        called(text)


@pytest.mark.parametrize(("text", "value"), [("np.pi", 3.141592653589793), ("tf.newaxis", None)])
def test_constants_of_modules(text: str, value: float | None) -> None:
    assert path(text, Libraries()) == Const(value, text)


def test_attributes_of_tensors() -> None:
    assert names_and_calls.attribute(X, "shape").text == "x.shape"
    shape = names_and_calls.call(
        names_and_calls.attribute(X, "get_shape"), CallArguments((), {}), Libraries()
    )
    assert shape.text == "x.get_shape()"
    with pytest.raises(Unknown, match=r"^`.dtype` of a tensor$"):
        names_and_calls.attribute(X, "dtype")
    with pytest.raises(Unknown, match=r"^a shape that is not known$"):
        names_and_calls.attribute(UNSHAPED, "shape")
    with pytest.raises(Unknown, match=r"^arguments of `x.get_shape`$"):
        names_and_calls.call(
            names_and_calls.attribute(X, "get_shape"), CallArguments((X,), {}), Libraries()
        )


@pytest.mark.parametrize(
    ("value", "class_name", "config", "text"),
    [
        (called("K.exp", X), "Exp", {}, "K.exp(x)"),
        (called("tf.exp", x=X), "Exp", {}, "tf.exp(x=x)"),
        (called("tf.exp", X, name=constant("e")), "Exp", {}, "tf.exp(x, name='e')"),
        (called("K.round", X), "Round", {"decimals": 0}, "K.round(x)"),
        (
            called("K.mean", X, axis=constant(1)),
            "Mean",
            {"axis": 1, "keepdims": False},
            "K.mean(x, axis=1)",
        ),
        (
            called("K.mean", X, constant(1), constant(value=True)),
            "Mean",
            {"axis": 1, "keepdims": True},
            "K.mean(x, 1, True)",
        ),
        (
            called("tf.concat", items("list", [X, X]), constant(-1)),
            "Concatenate",
            {"axis": -1},
            "tf.concat([x, x], -1)",
        ),
        (called("abs", X), "Absolute", {}, "abs(x)"),
    ],
)
def test_a_call_is_an_operation(
    value: SymbolicValue, class_name: str, config: dict[str, object], text: str
) -> None:
    assert isinstance(value, SymbolicTensor)
    assert isinstance(value.operand, OpNode)
    assert (value.operand.module, value.operand.class_name) == (NUMPY, class_name)
    assert (value.operand.config, value.text) == (config, text)


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (called("len", items("list", [X, X])), 2),
        (called("max", constant(1), constant(2.5)), 2.5),
        (called("min", constant(1), constant(2.5)), 1),
        (called("sum", items("list", [constant(1), constant(2)])), 3),
        (called("abs", constant(-3)), 3),
        (called("K.ndim", X), 3),
    ],
)
def test_a_call_on_constants_is_a_constant(value: SymbolicValue, result: float) -> None:
    assert isinstance(value, Const)
    assert value.value == result


REFUSED = [
    ("K.unknown", (X,), {}, "a call of `K.unknown`"),
    ("K", (X,), {}, "a call of `K`"),
    ("K.exp", (X, X), {}, "the arguments of `K.exp`"),
    ("K.exp", (), {}, "the arguments of `K.exp`"),
    ("K.exp", (X,), {"x": X}, "`x=` of `K.exp`"),
    ("K.mean", (X,), {"axs": constant(1)}, "`axs=` of `K.mean`"),
    ("K.mean", (X,), {"name": constant("m")}, "`name=` of `K.mean`"),
    ("K.mean", (X,), {"axis": constant(1.5)}, "a number in an integer's place"),
    ("K.mean", (X,), {"axis": X}, "a tensor in a number's place"),
    ("K.mean", (X,), {"keepdims": constant(1)}, "an integer in the place of a truth value"),
    ("K.exp", (constant(1),), {}, "an integer in a tensor's place"),
    ("K.exp", (INTEGERS,), {}, "arithmetic on int32"),
    ("tf.concat", (X, constant(1)), {}, "a tensor in the place of a list of tensors"),
    (
        "tf.concat",
        (items("list", [X, INTEGERS]), constant(1)),
        {},
        "a list that holds more than tensors of one kind",
    ),
    ("len", (X,), {}, "the length of a tensor"),
    ("sum", (items("list", []),), {}, "the sum of a list"),
]


@pytest.mark.parametrize(
    ("text", "positional", "keywords", "reason"), REFUSED, ids=[r for *_, r in REFUSED]
)
def test_other_arguments_are_not_understood(
    text: str, positional: tuple[SymbolicValue, ...], keywords: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Unknown, match=f"^{re.escape(reason)}$"):
        called(text, *positional, **keywords)


def test_what_both_backends_of_keras_1_compute_is_an_assumption() -> None:
    """Its files do not tell the backend."""
    dialect = Libraries(None, release=(1, 2, 2))
    assert isinstance(called("K.relu", X, dialect=dialect), SymbolicTensor)
    assert dialect.taken["K.relu"] == "what Theano and TensorFlow both compute"
    for other in (Libraries(None, release=(2, 0, 9)), Libraries("theano", release=(1, 2, 2))):
        with pytest.raises(Unknown, match="which depends on the backend"):
            called("K.relu", X, dialect=other)
    with pytest.raises(Unknown, match="which depends on the backend"):
        called("K.softmax", X, constant(1), dialect=dialect)


@pytest.mark.parametrize(
    ("text", "dialect", "reason"),
    [
        ("K.l2_normalize", Libraries("theano"), "`K.l2_normalize`, which depends on the backend"),
        ("K.l2_normalize", Libraries(None), "`K.l2_normalize`, which depends on the backend"),
        ("K.l2_normalize", Libraries("tensorflow", keras_3=True), "`K.l2_normalize` of Keras 3"),
    ],
)
def test_what_backends_compute_differently(text: str, dialect: Libraries, reason: str) -> None:
    with pytest.raises(Unknown, match=f"^{re.escape(reason)}$"):
        called(text, X, constant(1), dialect=dialect)
    assert isinstance(called(text, X, constant(1)), SymbolicTensor)
    assert isinstance(called("K.exp", X, dialect=dialect), SymbolicTensor)
