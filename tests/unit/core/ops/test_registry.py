"""Operations by any of their names, their arguments by any of theirs."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.unit.core.ops.test_reshaping import X
from unnest.core.model import Unknown
from unnest.core.ops.call import OpCall, plain_name
from unnest.core.ops.keras3_nodes import MODULE_BY_CLASS
from unnest.core.ops.registry import (
    BY_LAYER_CLASS,
    BY_NODE_OP,
    FUNCTIONS,
    JOINS,
    MOVES,
    OPERATIONS,
    ROW_BY_ROW,
    SLICES,
    Kind,
    Theano,
    argument,
    define,
    keras3,
    kind_of,
    parse_signature,
)


def test_every_name_is_plain() -> None:
    assert [name for name in OPERATIONS if plain_name(name) != name] == []
    assert {each.name for each in OPERATIONS.values()} <= OPERATIONS.keys()


def test_what_cuts_and_joins_can_be_carried_out() -> None:
    kinds = SLICES | MOVES | JOINS | {Kind.FILL, Kind.NUMBERS, Kind.SIZE, Kind.REPEAT}
    assert [
        each.name for each in OPERATIONS.values() if each.kind in kinds and each.compute is None
    ] == []


def test_no_kind_both_keeps_rows_and_moves_them() -> None:
    assert not ROW_BY_ROW & (SLICES | MOVES | JOINS)
    assert not SLICES & JOINS


@pytest.mark.parametrize(
    ("name", "kind"),
    [("relu", Kind.MAP), ("add", Kind.ELEMENTWISE), ("conv2d", Kind.WINDOW), ("rowwise", Kind.ROWWISE),
     ("average", Kind.REDUCTION), ("averagen", Kind.ELEMENTWISE), ("adjustbrightness", Kind.MAP),
     ("gather", Kind.TAKE), ("concat", Kind.CONCATENATE), ("softmax", Kind.ALONG), ("topk", Kind.FOLD)],
)  # fmt: skip
def test_kinds(name: str, kind: Kind) -> None:
    assert kind_of(OpCall(name, (), {})) is kind


def test_arguments_by_any_name() -> None:
    split = OPERATIONS["split"]
    for call in (
        split.bind([X, 2, 0], {}),
        split.bind([], {"value": X, "num_or_size_splits": 2, "split_dim": 0}),
    ):
        assert call == {"x": X, "parts": 2, "axis": 0}
    assert argument(OpCall("sum", [X], {"reduction_indices": 1}), "axis") == 1
    assert argument(OpCall("sum", [X, 1], {}), "axis") == 1
    assert argument(OpCall("unheard_of", [X, 1], {}), "axis") is None


def test_an_argument_that_is_not_taken() -> None:
    with pytest.raises(Unknown):
        OPERATIONS["identity"].bind([X], {"other": 1})
    with pytest.raises(Unknown):
        OPERATIONS["identity"].bind([X, X], {})
    assert OPERATIONS["identity"].bind([X], {"name": "n", "other": None}) == {"x": X}


def test_additions_alone_join_what_stands_between_zeros() -> None:
    assert {each.name for each in OPERATIONS.values() if each.adds} == {"add", "addn"}
    assert OPERATIONS["mul"].function is np.multiply


def test_nodes_are_of_known_arguments() -> None:
    """Every word of a pattern is an argument of its operation."""
    for operation, pattern in BY_NODE_OP.values():
        words = {
            word.rpartition(":")[2].strip("@*")
            for part in pattern.split()
            for word in part.split("+")
        }
        assert words <= {parameter.strip("*") for parameter in operation.parameters}, operation.name


def test_a_signature_is_read() -> None:
    """Several names of an argument, JSON defaults, and what counts by name alone behind the star."""
    signature = parse_signature('x|tensor axis=-1 mode="same" * depth=null')
    assert signature.parameters == (("x", "tensor"), ("axis",), ("mode",), ("depth",))
    assert signature.positional == 3
    assert signature.defaults == {"axis": -1, "mode": "same", "depth": None}


def test_every_entry_can_be_called_by_its_signature() -> None:
    """Defaults belong to parameters, and positional ones come first."""
    for name, function in FUNCTIONS.items():
        signature = parse_signature(function.signature)
        firsts = [names[0] for names in signature.parameters]
        assert len({*firsts}) == len(firsts), name
        assert signature.defaults.keys() <= {*firsts}, name
        assert signature.positional <= len(firsts), name
        assert function.nodes is not None or (
            function.operation is not None and function.operation.keras3
        ), name


def test_a_function_of_one_class_belongs_to_the_operation_of_its_name() -> None:
    for name, function in FUNCTIONS.items():
        assert function.operation in (None, OPERATIONS.get(plain_name(name))), name


def test_a_function_of_the_backend_alone_says_what_theano_does() -> None:
    """Others are TensorFlow's, or Keras's own."""
    for names, function in (
        (re.sub(r"\w+$", "", name), function) for name, function in FUNCTIONS.items()
    ):
        assert names in {
            "",
            "K.",
            "np.",
            "math.",
            "keras.activations.",
            "keras.layers.",
        } or names.startswith("tf.")
        assert function.theano is None or isinstance(function.theano, Theano)
    assert FUNCTIONS["K.exp"].theano is Theano.SAME
    assert FUNCTIONS["K.softmax"].theano is Theano.USUALLY_OF_ONE
    assert FUNCTIONS["K.gather"].theano is None


def test_every_class_is_one_of_keras_3() -> None:
    assert BY_LAYER_CLASS.keys() <= MODULE_BY_CLASS.keys()


def test_a_name_is_registered_once() -> None:
    with pytest.raises(AssertionError, match="exp"):
        define("exp", "*x", Kind.MAP)
    with pytest.raises(AssertionError, match=r"K\.exp"):
        keras3("K.exp", "x")(lambda call: call.tensor("x"))
