"""A graph of layers as the engine asks of it: shapes as far as the file shows them, calls compared."""

from __future__ import annotations

from tests.unit.core.wrappers.claims.test_check_slice_claims_by_code import K, tf
from tests.unit.core.wrappers.inline import UNITS, Writer, X
from tests.unit.core.wrappers.one_layer import code_lambda
from unnest.core.interpreters.row_dependence_arithmetic import RowsMade
from unnest.core.model import CallId, Ref
from unnest.core.ops.call import OpCall
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors, rows_made


def test_shapes() -> None:
    """Of inputs, of Keras's own layers, of sums of equals; not of what is not known."""
    writer = Writer()
    one, other = writer.dense(X, X)
    (added,) = writer.layer("Add", "added", {}, [[one, other]])
    (mixed,) = writer.layer("Add", "mixed", {}, [[one, X]])
    unknown = writer.call("nn.something", X, name=None)
    tensors = LayerTensors(writer.graph(added, mixed, unknown))
    shapes = [tensors.shape(Ref(*tensor)) for tensor in (X, one, added, mixed, unknown)]
    assert shapes == [(None, 4), (None, UNITS), (None, UNITS), None, None]
    assert tensors.shape(Ref(*one), {Ref(*X): (8, 9)}) == (8, UNITS)


def test_keras_s_own_layers_that_join_are_operations() -> None:
    """As the function that they stand for."""
    writer = Writer()
    parts = writer.dense(X, X)
    (added,) = writer.layer("Add", "added", {}, [parts])
    joined = writer.join(parts)
    tensors = LayerTensors(writer.graph(added, joined))
    refs = [Ref(*part) for part in parts]
    assert tensors.of(Ref(*joined).call) == OpCall("concat", [refs, 0], {})
    assert tensors.of(Ref(*added).call) == OpCall("addn", [refs], {})


def test_calls_that_map_rows() -> None:
    """Keras's own layers on one tensor: neither an operation nor a sum, which may broadcast rows against each other."""
    writer = Writer()
    one, other = writer.dense(X, X)
    (added,) = writer.layer("Add", "added", {}, [[one, other]])
    part = writer.rows(writer.bound(1, 2))
    (over_steps,) = writer.layer("Flatten", "flat", {}, [one])
    (over_time,) = writer.layer("LSTM", "rnn", {"units": 2, "time_major": True}, [one])
    calls = {one[0]: True, "flat": True, "rnn": False, "added": False, part[0]: False}
    tensors = LayerTensors(writer.graph(added, part, over_steps, over_time))
    assert {name: tensors.maps_rows(CallId(name, 0)) for name in calls} == calls


def test_tensors_in_arguments_are_refs() -> None:
    """Those of a slice's bounds too."""
    writer = Writer()
    half = writer.bound(1, 2)
    part = writer.rows(half)
    what = LayerTensors(writer.graph(part)).of(Ref(*part).call)
    assert (what.args, what.kwargs["slice_spec"]) == ([Ref(*X)], slice(Ref(*half), None, None))


def test_what_an_operation_is_called_on_may_not_be_stored() -> None:
    """Keras up to 2.15 stores its first argument alone, where that is no tensor: the equation of an einsum."""
    w = Writer()
    one, other = (w.call("einsum", "ij,jk->ik") for _ in range(2))
    tensors = LayerTensors(w.graph(one, other))
    assert tensors.unread((Ref(*one), Ref(*other))) == (
        "the file does not tell which tensors op_1, op_2 are called on"
    )
    assert tensors.unread((Ref(*X), Ref(*other))) == "the towers read different tensors: x, op_2"


def test_numbers_have_no_rows() -> None:
    """Means over the batch, unless they keep its axis."""
    writer = Writer()
    (rows,) = writer.dense(X)
    loss = writer.call("math.reduce_mean", rows, axis=None)
    kept = writer.call("math.reduce_mean", rows, axis=0, keepdims=True)
    features = writer.call("math.reduce_mean", rows, axis=1)
    tensors = LayerTensors(writer.graph(loss, kept, features))
    assert [tensors.is_number(Ref(*tensor)) for tensor in (loss, kept, features, rows)] == [
        True,
        False,
        False,
        False,
    ]


def test_a_number_may_be_given_a_row_of_its_own() -> None:
    """Keras asks for an axis of the batch, which a loss has not; a result of all rows is no row all the same."""
    writer = Writer()
    (rows,) = writer.dense(X)
    loss = writer.call("math.reduce_mean", rows, axis=None)
    single = writer.call("reshape", loss, shape=[1, 1])
    several = writer.call("reshape", loss, shape=[-1, 1])
    one_row = writer.call("reshape", rows, shape=[1, 1])
    tensors = LayerTensors(writer.graph(single, several, one_row))
    assert [tensors.is_number(Ref(*tensor)) for tensor in (single, several, one_row)] == [
        True,
        False,
        False,
    ]


def test_what_a_function_of_custom_function_does_to_rows() -> None:
    """Keras's own activations keep them apart; others are unknown."""
    writer = Writer()
    activations = ["relu", "mine"]
    for name in activations:
        writer.layer("Activation", name, {"activation": name}, [X])
    tensors = LayerTensors(writer.graph(*([name, 0, 0] for name in activations)))
    assert [tensors.computed(CallId(name, 0)).name for name in activations] == ["rowwise", ""]


def test_the_shape_of_tensors_put_together() -> None:
    """Along the axis named, from the end and of the batch too; not of tensors that do not fit."""
    writer = Writer()
    one, other = writer.dense(X, X)
    joined = [
        writer.layer("Concatenate", f"joined_{n}", {"axis": axis}, [parts])[0]
        for n, (axis, parts) in enumerate(
            [(-1, [one, other, X]), (1, [one, X]), (0, [one, other]), (0, [one, X])]
        )
    ]
    tensors = LayerTensors(writer.graph(*joined))
    beside, behind = [(None, 2 * UNITS + 4), (None, UNITS + 4)], (None, UNITS)
    assert [tensors.shape(Ref(*each)) for each in joined] == [*beside, behind, None]


def test_why_calls_differ() -> None:
    """Weights, arguments, settings."""
    writer = Writer()
    one, again = writer.dense(X, X)
    (other,) = writer.dense(X, name="other")
    relu, tanh = (writer.call(f"nn.{name}", X, name=None) for name in ("relu", "tanh"))
    tensors = LayerTensors(writer.graph(one, again, other, relu, tanh))
    assert tensors.differ((Ref(*one), Ref(*again))) is None
    assert tensors.differ((Ref(*one), Ref(*other))) == "dense and other are different layers"
    assert (
        tensors.differ((Ref(*relu), Ref(*tanh)))
        == f"{relu[0]} and {tanh[0]} are different computations"
    )
    # Of three towers the one that differs is named.
    like = writer.call("nn.relu", X, name=None)
    three = LayerTensors(writer.graph(relu, like, tanh))
    assert (
        three.differ((Ref(*relu), Ref(*like), Ref(*tanh)))
        == f"{relu[0]} and {tanh[0]} are different computations"
    )


def test_code_within_a_tower_is_told_where_it_is_followed() -> None:
    followed, _ = code_lambda(lambda x: x * 2.0 - K.mean(x, axis=1, keepdims=True))
    together, _ = code_lambda(lambda v: v[0] + v[1])
    turned, _ = code_lambda(lambda x: tf.expand_dims(x, 0))
    assert rows_made(followed, [(None, 6)]) is RowsMade.KEPT
    assert rows_made(together, [None, None]) is RowsMade.KEPT
    assert rows_made(turned, [(None, 6)]) is RowsMade.UNKNOWN
