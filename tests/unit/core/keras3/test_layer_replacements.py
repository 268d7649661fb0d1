"""Replacements of a layer: new layers, chains of them, and operations filled with a call's tensors."""

from __future__ import annotations

from unnest.core.keras3.layer_replacements import (
    LayerArguments,
    LayerCall,
    NewLayer,
    chain,
    tensors_in,
    with_inputs_filled_in,
)
from unnest.core.keras3_op_node import GraphTensor, Input, OpNode, Part
from unnest.core.keras_facts.keras3_layer_output_specs import Spec

X, Y, Z = (GraphTensor(name, 0, 0) for name in "xyz")
DENSE = NewLayer("d", "Dense", {"name": "d", "units": 3})


def test_a_layer_as_keras_3_stores_it() -> None:
    assert DENSE.entry == {
        "module": "keras.layers",
        "class_name": "Dense",
        "config": {"name": "d", "units": 3},
        "registered_name": None,
    }
    model = NewLayer("m", "Functional", {"name": "m"}, module="keras.src.models.functional")
    assert model.entry["registered_name"] == "Functional"
    own = NewLayer("o", "Mine", {"name": "o"}, module=None, registered_name="package>Mine")
    assert (own.entry["module"], own.entry["registered_name"]) == (None, "package>Mine")


def test_a_name_stands_in_the_config_too() -> None:
    renamed = DENSE.renamed("e")
    assert (renamed.name, renamed.config) == ("e", {"name": "e", "units": 3})
    assert DENSE.config["name"] == "d"


def test_tensors_of_a_call_positional_ones_first() -> None:
    call = LayerArguments(
        ([X, {"state": Y}], 3, "text"),
        {"mask": Z, "training": None},
        {X: Spec((None, 4), "float32")},
    )
    assert call.tensors == [X, Y, Z]
    assert (call.spec(X), call.spec(Y), call.spec(3)) == (Spec((None, 4), "float32"), None, None)
    assert list(tensors_in("xyz")) == []


def test_a_chain_gives_arguments_to_the_first_alone() -> None:
    second = NewLayer("r", "ReLU", {"name": "r"})
    made = chain(DENSE, second)
    assert made.chain == (DENSE, second)
    (output,) = made.outputs(LayerArguments((X,), {"training": True}, {}))
    first = LayerCall(DENSE, (X,), {"training": True})
    assert output == LayerCall(second, (first,), {})


def test_operands_take_the_tensors_of_the_call() -> None:
    split = OpNode("keras.src.ops.numpy", "Split", {"indices_or_sections": 2}, (Input(0),))
    both = OpNode(
        "keras.src.ops.numpy",
        "Add",
        {},
        (Part(split, 0), Part(split, 1)),
        {"by": [Input(1), 2.5, None]},
    )
    made = with_inputs_filled_in(both, [X, Y], {})
    assert isinstance(made, OpNode)
    assert made.kwargs == {"by": [Y, 2.5, None]}
    first, second = made.args
    assert isinstance(first, Part)
    assert isinstance(second, Part)
    assert first.of is second.of, "one operation stays one"
    assert (first.index, second.index) == (0, 1)
    assert list(tensors_in(first.of.args)) == [X]  # type: ignore[arg-type] # operands that were filled are trees
    assert with_inputs_filled_in(Input(1), [X, Y], {}) is Y
