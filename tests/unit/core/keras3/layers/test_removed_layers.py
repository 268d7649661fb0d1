"""Layers that Keras 3 has not, as the layers and operations that stand for them; and those that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import of_keras_2_2
from unnest.core.keras3.conversion_context import CannotConvert, Context, OldLayer
from unnest.core.keras3.graph.graph_builder import Builder
from unnest.core.keras3.layer_replacements import Choice, Expansion, LayerArguments, NewLayer, Piece
from unnest.core.keras3.layers import removed_layers
from unnest.core.keras3_op_node import GraphTensor
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import Recipe, Tensor

X = GraphTensor("x", 0, 0)


def weights(*shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
    """A layer's weights."""
    return tuple(Tensor(f"w{k}", shape, "<f4", f"/w{k}") for k, shape in enumerate(shapes))


def chosen(piece: Piece, *shape: int | None) -> Piece:
    """Convert the layer for an input of that shape, or of an unknown one."""
    assert isinstance(piece, Choice)
    return piece.resolved([Spec(shape, "float32") if shape else None], ["float32"])


def entries(piece: Piece, *shape: int | None) -> list[Any]:
    """The entries of one call on an input of that shape, in the order in which they are made."""
    assert isinstance(piece, Expansion)
    builder = Builder()
    x = builder.input(
        NewLayer("x", "InputLayer", {"name": "x", "batch_shape": list(shape), "dtype": "float32"})
    )
    (tree,) = piece.outputs(LayerArguments((x,), {}, builder.specs))
    builder.place(tree, "l", "l")
    return [entry.entry for entry in list(builder.entries.values())[1:]]


def settings(entry: Any, *keys: str) -> list[Any]:
    """Values of an entry's config."""
    return [entry["config"][key] for key in keys]


LOCAL_1D: dict[str, Any] = {
    "filters": 2,
    "kernel_size": [3],
    "strides": [2],
    "activation": "relu",
    "use_bias": True,
}
LOCAL_2D: dict[str, Any] = {**LOCAL_1D, "kernel_size": [3, 2], "strides": [1, 2]}


def local(kind: str, config: dict[str, Any], *shapes: tuple[int, ...]) -> Piece:
    """A LocallyConnected layer."""
    return removed_layers.locally_connected(
        OldLayer(kind, config, "l", weights(*shapes), of_keras_2_2())
    )


def test_locally_connected_1d_is_a_row_of_patches() -> None:
    """Three patches of seven steps: every second, three long."""
    made = entries(
        chosen(local("LocallyConnected1D", LOCAL_1D, (3, 12, 2), (3, 2)), None, 7, 4), None, 7, 4
    )
    row, cut, flat, dense, last = made
    assert [e["class_name"] for e in made] == [
        "Reshape",
        "ExtractPatches",
        "Reshape",
        "EinsumDense",
        "Reshape",
    ]
    assert settings(row, "target_shape") == [[1, 7, 4]]
    assert settings(cut, "size", "strides", "padding", "data_format") == [
        [1, 3],
        [1, 2],
        "valid",
        "channels_last",
    ]
    assert settings(flat, "target_shape") == [[3, 12]]
    assert settings(dense, "equation", "output_shape", "bias_axes", "activation") == [
        "abc,bcd->abd", [3, 2], "bd", "relu",
    ]  # fmt: skip
    assert settings(last, "name", "target_shape") == ["l", [3, 2]]


def dense_weights(
    config: dict[str, Any], shape: tuple[int | None, ...], *shapes: tuple[int, ...]
) -> list[Tensor]:
    """The weights of the EinsumDense in a LocallyConnected2D."""
    piece = chosen(local("LocallyConnected2D", config, *shapes), *shape)
    assert isinstance(piece, Expansion)
    builder = Builder()
    x = builder.input(
        NewLayer("x", "InputLayer", {"name": "x", "batch_shape": list(shape), "dtype": "float32"})
    )
    (tree,) = piece.outputs(LayerArguments((x,), {}, builder.specs))
    builder.place(tree, "l")
    return list(builder.entries["l_dense"].weights)


def test_the_kernel_of_channels_last_stays() -> None:
    """Its elements are in the order of the patches' already; a bias by place becomes one by patch."""
    kernel, bias = dense_weights(LOCAL_2D, (None, 5, 4, 3), (6, 18, 2), (3, 2, 2))
    assert (kernel.ref, kernel.recipe, kernel.shape) == ("/w0", None, (6, 18, 2))
    assert (bias.shape, bias.recipe) == (
        (6, 2),
        Recipe("reshape", weights((6, 18, 2), (3, 2, 2))[1:], (6, 2)),
    )


def test_the_kernel_of_channels_first_is_put_in_order() -> None:
    """Channels behind rows and columns, in each patch; the bias was read as filters first."""
    config = {**LOCAL_2D, "data_format": "channels_first"}
    kernel, bias = dense_weights(config, (None, 3, 5, 4), (6, 18, 2), (3, 2, 2))
    steps = []
    for tensor in (kernel, bias):
        at: Tensor | None = tensor
        while at is not None and at.recipe is not None:
            steps.append((at.recipe.step, at.recipe.arguments))
            at = at.recipe.of[0]
    assert steps == [
        ("reshape", (6, 18, 2)), ("transpose", (0, 2, 3, 1, 4)), ("reshape", (6, 3, 3, 2, 2)),
        ("transpose", (1, 0)), ("reshape", (2, 6)),
    ]  # fmt: skip
    made = entries(chosen(local("LocallyConnected2D", config), None, 3, 5, 4), None, 3, 5, 4)
    assert (made[0]["class_name"], settings(made[0], "dims")) == ("Permute", [[2, 3, 1]])
    assert (made[-1]["class_name"], settings(made[-1], "name", "dims")) == (
        "Permute",
        ["l", [3, 1, 2]],
    )


@pytest.mark.parametrize(
    ("kind", "config", "shape", "why"),
    [
        ("LocallyConnected1D", {"implementation": 2}, None, "implementation 2"),
        ("LocallyConnected1D", {"padding": "same"}, None, "padding 'same'"),
        ("LocallyConnected1D", {}, (), "does not follow from the file"),
        ("LocallyConnected1D", {}, (None, 5, 4, 3), "does not follow from the file"),
        ("LocallyConnected1D", {}, (None, None, 4), "is not stored"),
        ("LocallyConnected1D", {"data_format": "channels_first"}, (None, 7, 4), "channels_first"),
        ("LocallyConnected1D", {"activation": {"class_name": "ReLU", "config": {"name": "r"}}}, (None, 7, 4),
         "an activation that is a layer"),
    ],
    ids=["implementation", "padding", "no-shape", "rank", "open", "channels-first", "activation"],
)  # fmt: skip
def test_locally_connected_that_is_refused(
    kind: str, config: dict[str, Any], shape: tuple[int | None, ...] | None, why: str
) -> None:
    with pytest.raises(CannotConvert, match=rf"'l' \({kind}\): .*{why}"):
        chosen(local(kind, {**LOCAL_1D, **config}), *(shape or ()))


def test_maxout_is_the_largest_of_dense_layers() -> None:
    config: dict[str, Any] = {
        "output_dim": 3,
        "nb_feature": 2,
        "bias": True,
        "init": "uniform",
        "W_regularizer": None,
        "input_dim": 4,
    }
    context = Context()
    old = OldLayer("MaxoutDense", config, "l", weights((2, 4, 3), (2, 3)), context)
    dense, largest = entries(removed_layers.maxout(old), None, 4)
    assert settings(dense, "name", "equation", "output_shape", "bias_axes", "kernel_regularizer") == [
        "l_features", "ab,cbd->acd", [2, 3], "cd", None,
    ]  # fmt: skip
    assert (largest["class_name"], settings(largest, "name", "axis", "keepdims")) == (
        "Max",
        ["l", 1, False],
    )
    assert [c.rule for c in context.conversions()] == ["keras-1-layer"]
    unbiased = old.with_changed_arguments({"bias": False})._replace(weights=())
    (dense, _) = entries(removed_layers.maxout(unbiased), None, 4)
    assert settings(dense, "bias_axes") == [None]


HIGHWAY: dict[str, Any] = {"activation": "relu", "bias": True, "init": "uniform", "input_dim": 4}


def test_highway_is_a_gate_between_a_layer_and_its_input() -> None:
    """Weights in turns: of the layer and of the gate."""
    held = weights((4, 4), (4, 4), (4,), (4,))
    piece = removed_layers.highway(OldLayer("Highway", HIGHWAY, "l", held, Context()))
    assert isinstance(piece, Expansion)
    builder = Builder()
    x = builder.input(
        NewLayer("x", "InputLayer", {"name": "x", "batch_shape": [None, 4], "dtype": "float32"})
    )
    (tree,) = piece.outputs(LayerArguments((x,), {}, builder.specs))
    assert builder.place(tree, "l", "l") == GraphTensor("l", 0, 0)
    assert {n: [w.ref for w in e.weights] for n, e in builder.entries.items() if e.weights} == {
        "l_transform": ["/w0", "/w2"], "l_carry": ["/w1", "/w3"],
    }  # fmt: skip
    reads = {
        name: [r.layer for r in entry.reads[0]]
        for name, entry in builder.entries.items()
        if entry.reads
    }
    assert reads == {
        "l_transform": ["x"], "l_carry": ["x"], "l_multiply": ["l_transform", "l_carry"], "l_subtract": ["l_carry"],
        "l_multiply_1": ["l_subtract", "x"], "l": ["l_multiply", "l_multiply_1"],
    }  # fmt: skip
    assert len(builder.entries["l_carry"].nodes) == 1
    activations = [
        settings(builder.entries[n].entry, "activation") for n in ("l_transform", "l_carry")
    ]
    assert activations == [["relu"], ["sigmoid"]]
    subtraction: Any = builder.entries["l_subtract"].nodes[0]
    assert subtraction["args"][0] == 1.0, "one less the gate, not the gate less one"


@pytest.mark.parametrize(
    ("config", "held", "why"),
    [
        (HIGHWAY, weights((4, 4), (4, 4)), "has 2 weights"),
        ({**HIGHWAY, "bias": False}, weights((4, 4), (4, 4), (4,), (4,)), "has 4 weights"),
        ({"activation": "relu", "bias": True}, (), "its size is not stored"),
    ],
    ids=["biases-missing", "biases-too-many", "size"],
)
def test_highway_that_is_refused(
    config: dict[str, Any], held: tuple[Tensor, ...], why: str
) -> None:
    with pytest.raises(CannotConvert, match=rf"'l' \(Highway\): {why}"):
        removed_layers.highway(OldLayer("Highway", config, "l", held, Context()))


LSTM = NewLayer("l", "LSTM", {"name": "l", "units": 2})


@pytest.mark.parametrize(
    ("sequences", "kinds"),
    [(True, ["Swapaxes", "LSTM", "Swapaxes"]), (False, ["Swapaxes", "LSTM"])],
)
def test_time_before_the_batch(sequences: bool, kinds: list[str]) -> None:
    """The last step alone has no time to turn back."""
    context = Context()
    old = OldLayer("LSTM", {"return_sequences": sequences}, "l", (), context)
    made = entries(removed_layers.with_time_and_batch_swapped(LSTM, old), 5, None, 4)
    assert [e["class_name"] for e in made] == kinds
    assert settings(made[0], "axis1", "axis2") == [0, 1]
    assert settings(made[1], "name") == ["l_batch_major"]
    assert [c.rule for c in context.conversions()] == ["time-major"]


@pytest.mark.parametrize(
    "call",
    [LayerArguments((X,), {"initial_state": [X]}, {}), LayerArguments(([X, X],), {}, {})],
    ids=["named", "listed"],
)
def test_time_before_the_batch_with_states_is_refused(call: LayerArguments) -> None:
    piece = removed_layers.with_time_and_batch_swapped(
        LSTM, OldLayer("LSTM", {"return_sequences": True}, "l", (), Context())
    )
    assert isinstance(piece, Expansion)
    with pytest.raises(CannotConvert, match="states or masks of its own"):
        piece.outputs(call)


CONV = NewLayer("l", "Conv2D", {
    "name": "l", "filters": 2, "kernel_size": [3, 3], "strides": [1, 1], "dilation_rate": [1, 1], "padding": "valid",
    "data_format": "channels_first", "dtype": "float32", "use_bias": True,
}, weights((3, 3, 3, 2), (2,)))  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "is_turned"),
    [((None, 3, 6, 5), False), ((None, 3, 6, 4), True), ((None, 3, 6, None), True), ((), True)],
    ids=["other-width", "width-of-filters", "open-width", "no-shape"],
)
def test_a_bias_of_channels_first(shape: tuple[int | None, ...], is_turned: bool) -> None:
    """The layer stays where its output is known to be not as wide as it has filters."""
    context = Context()
    made = chosen(removed_layers.with_bias_on_last_axis(CONV, context), *shape)
    assert bool(context.conversions()) is is_turned
    if not is_turned:
        assert made is CONV
        return
    assert isinstance(made, Expansion)
    assert made.chain is not None
    to_last, inner, to_first = made.chain
    assert (to_last.config["dims"], to_first.config["dims"], to_first.name) == (
        [2, 3, 1],
        [3, 1, 2],
        "l",
    )
    assert (inner.name, inner.config["data_format"], inner.weights) == (
        "l_channels_last", "channels_last", CONV.weights,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("data_format", "shape", "subscripts"),
    [
        ("channels_last", (None, 2, 1, 3), ["tr,brsc->btsc", "ts,brsc->brtc"]),
        ("channels_first", (None, 3, 2, 1), ["tr,bcrs->bcts", "ts,bcrs->bcrt"]),
    ],
)
def test_bilinear_of_then_is_two_matrices(
    data_format: str, shape: tuple[int | None, ...], subscripts: list[str]
) -> None:
    """New pixels between the old; the last is repeated, not continued."""
    up = NewLayer("l", "UpSampling2D", {"name": "l", "size": [2, 3], "data_format": data_format})
    piece = removed_layers.old_bilinear_upsampling(up, Spec(shape, "float32"))
    assert isinstance(piece, Expansion)
    builder = Builder()
    x = builder.input(
        NewLayer("x", "InputLayer", {"name": "x", "batch_shape": list(shape), "dtype": "float32"})
    )
    builder.place(piece.outputs(LayerArguments((x,), {}, builder.specs))[0], "l", "l")
    calls: list[Any] = [builder.entries[name].nodes[0] for name in ("l_einsum", "l")]
    assert [call["args"][0]["config"]["value"] for call in calls] == [
        [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.0, 1.0]], [[1.0], [1.0], [1.0]],
    ]  # fmt: skip
    assert [settings(builder.entries[name].entry, "subscripts") for name in ("l_einsum", "l")] == [
        [text] for text in subscripts
    ]


@pytest.mark.parametrize(
    "spec", [None, Spec((None, None, 4, 3), "float32"), Spec((None, 4, 3), "float32")]
)
def test_bilinear_of_an_open_size_is_refused(spec: Spec | None) -> None:
    up = NewLayer(
        "l", "UpSampling2D", {"name": "l", "size": [2, 2], "data_format": "channels_last"}
    )
    with pytest.raises(CannotConvert, match=r"'l' \(UpSampling2D\): the size of its input"):
        removed_layers.old_bilinear_upsampling(up, spec)
