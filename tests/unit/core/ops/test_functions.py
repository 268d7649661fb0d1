"""Signatures: the names of an argument, its default, and the functions that have them."""

from __future__ import annotations

import re

import pytest

from unnest.core.ops.call import plain_name
from unnest.core.ops.functions import Theano, parse_signature
from unnest.core.ops.keras3_modules import MODULES
from unnest.core.ops.registry import CLASSES, FUNCTIONS, OPERATIONS, Kind, define, keras3


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
        assert function.nodes is not None or (function.operation is not None and function.operation.keras3), name


def test_a_function_of_one_class_belongs_to_the_operation_of_its_name() -> None:
    for name, function in FUNCTIONS.items():
        assert function.operation in (None, OPERATIONS.get(plain_name(name))), name


def test_a_function_of_the_backend_alone_says_what_theano_does() -> None:
    """Others are TensorFlow's, or Keras's own."""
    for names, function in ((re.sub(r"\w+$", "", name), function) for name, function in FUNCTIONS.items()):
        assert names in {"", "K.", "np.", "math.", "keras.activations.", "keras.layers."} or names.startswith("tf.")
        assert function.theano is None or isinstance(function.theano, Theano)
    assert FUNCTIONS["K.exp"].theano is Theano.SAME
    assert FUNCTIONS["K.softmax"].theano is Theano.USUALLY_OF_ONE
    assert FUNCTIONS["K.gather"].theano is None


def test_every_class_is_one_of_keras_3() -> None:
    assert CLASSES.keys() <= MODULES.keys()


def test_a_name_is_registered_once() -> None:
    with pytest.raises(AssertionError, match="exp"):
        define("exp", "*x", Kind.MAP)
    with pytest.raises(AssertionError, match=r"K\.exp"):
        keras3("K.exp", "x")(lambda call: call.tensor("x"))
