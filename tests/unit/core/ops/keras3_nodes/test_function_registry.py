"""Functions by full name: their signatures, and which operation or nodes compute them."""

from __future__ import annotations

import re

from unnest.core.ops.call import plain_name
from unnest.core.ops.keras3_nodes.function_registry import known_functions, parse_signature
from unnest.core.ops.operation_entry import Theano
from unnest.core.ops.registry import (
    BY_NODE_OP,
    OPERATIONS,
)


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
    assert parse_signature("* x y").positional == 0


def test_every_entry_can_be_called_by_its_signature() -> None:
    """Defaults belong to parameters, and positional ones come first."""
    for name, function in known_functions().items():
        signature = parse_signature(function.signature)
        firsts = [names[0] for names in signature.parameters]
        assert len({*firsts}) == len(firsts), name
        assert signature.defaults.keys() <= {*firsts}, name
        assert signature.positional <= len(firsts), name
        assert function.nodes is not None or (
            function.operation is not None and function.operation.keras3_class
        ), name


def test_a_function_of_one_class_belongs_to_the_operation_of_its_name() -> None:
    for name, function in known_functions().items():
        assert function.operation in (None, OPERATIONS.get(plain_name(name))), name


def test_a_function_of_the_backend_alone_says_what_theano_does() -> None:
    """Others are TensorFlow's, or Keras's own."""
    for names, function in (
        (re.sub(r"\w+$", "", name), function) for name, function in known_functions().items()
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
    assert known_functions()["K.exp"].theano is Theano.SAME
    assert known_functions()["K.softmax"].theano is Theano.USUALLY_OF_ONE
    assert known_functions()["K.gather"].theano is None
