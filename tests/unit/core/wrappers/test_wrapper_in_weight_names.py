"""Weights alone: which order of layers, and which names, tell of a wrapper; and the nearest that do not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pytest

from tests.unit.core.build import tensors
from unnest.core.model import Group, Tensor
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.wrappers import wrapper_in_weight_names

WEIGHTS = tensors("a/kernel:0", "a/bias:0", "b/kernel:0", "b/bias:0")
HEAD = Group("h", tensors("h/kernel:0"))


def groups(before: str, after: str, *head: Group, weights: object = WEIGHTS) -> list[Group]:
    """Layers without weights, the template, and layers without weights again."""
    assert isinstance(weights, tuple)
    named = (
        [Group(name, ()) for name in before.split()],
        [Group(name, ()) for name in after.split()],
    )
    return [*named[0], Group("model_1", weights), *named[1], *head]


@pytest.mark.parametrize(
    ("before", "after", "inputs", "towers", "merge"),
    [
        ("input_1 lambda_1 lambda_2", "b", 1, 2, ("b",)),
        ("input_1 lambda_1 lambda_2", "concatenate_1", 1, 2, ("concatenate_1",)),
        ("u v lambda_1 lambda_2 lambda_3 lambda_4", "a b", 2, 2, ("a", "b")),
        ("x In0_Dev0 In0_Dev1 In0_Dev2", "b", 1, 3, ("b",)),
        ("x tf.split tf.strided_slice", "b", 1, None, ("b",)),
        ("x tf.compat.v1.shape tf.__operators__.getitem", "tf.concat", 1, None, ("tf.concat",)),
        ("x s_1 s_2", "b", 1, 2, ("b",)),
    ],
    ids=[
        "like the template's layer",
        "like a merge",
        "two inputs",
        "numbers inside",
        "operations",
        "operations on a size",
        "any stem",
    ],
)
def test_inputs_slices_template_merges(
    before: str, after: str, inputs: int, towers: int | None, merge: tuple[str, ...]
) -> None:
    found = wrapper_in_weight_names.find(groups(before, after))
    assert found is not None
    assert (found.template, found.inputs, found.towers, found.merge) == (
        "model_1",
        inputs,
        towers,
        merge,
    )
    assert found.tensors == WEIGHTS
    assert found.head == ()


@pytest.mark.parametrize(
    ("before", "after", "head", "weights"),
    [
        ("", "concatenate_1", (), WEIGHTS),
        ("input_1 lambda_1", "concatenate_1", (), WEIGHTS),
        ("u v lambda_1 lambda_2 lambda_3", "concatenate_1", (), WEIGHTS),
        ("lambda_1 lambda_2", "concatenate_1", (), WEIGHTS),
        ("input_1 lambda_1 lambda_2", "", (), WEIGHTS),
        ("input_1 lambda_1 lambda_2", "", (HEAD,), WEIGHTS),
        ("input_1 lambda_1 lambda_2", "dot_1", (), WEIGHTS),
        ("input_1 lambda_1 lambda_2", "average_1", (), WEIGHTS),
        ("input_1 lambda_1 lambda_2", "lambda_3", (), WEIGHTS),
        ("input_1 crop_1 crop_2", "activation_1", (), WEIGHTS[:2]),
        ("input_1 crop_1 crop_2", "concatenate_1", (HEAD,), WEIGHTS),
        ("input_1 lambda_1 lambda_2", "concatenate_1", (), ()),
        ("x tf.__operators__.getitem tf.__operators__.getitem_1", "tf.concat", (), WEIGHTS),
        ("u v tf.strided_slice tf.strided_slice_1", "tf.concat tf.concat_1", (HEAD,), WEIGHTS),
    ],
    ids=["a model", "one slice", "no equal share", "no input", "no merge", "a head alone", "a pair", "an ensemble",
         "a comparison", "one witness", "a head, two witnesses", "no weights", "crops or frames",
         "frames of two videos under a head"],
)  # fmt: skip
def test_the_nearest_that_are_none(
    before: str, after: str, head: tuple[Group, ...], weights: object
) -> None:
    assert wrapper_in_weight_names.find(groups(before, after, *head, weights=weights)) is None


def test_under_a_head_all_names_must_tell() -> None:
    found = wrapper_in_weight_names.find(groups("input_1 lambda_1 lambda_2", "concatenate_1", HEAD))
    assert found is not None
    assert found.head == (HEAD,)
    assert [
        group.name for group in wrapper_in_weight_names.groups_of(found, is_standalone=True)
    ] == [
        "a",
        "b",
        "h",
    ]


@pytest.mark.parametrize(
    ("merge", "is_own"),
    [("concatenate_1", True), ("merge_2", True), ("frames", True), ("my_concat", True),
     ("b", False), ("b_1", False), ("a b", False)],
)  # fmt: skip
def test_a_merge_called_after_no_layer_of_the_template_needs_the_architecture(
    merge: str, is_own: bool
) -> None:
    found = wrapper_in_weight_names.find(groups("input_1 lambda_1 lambda_2", merge))
    assert found is not None
    assert found.has_own_merge_names is is_own


def test_weights_go_to_the_layers_in_their_names() -> None:
    found = wrapper_in_weight_names.find(groups("input_1 lambda_1 lambda_2", "b"))
    assert found is not None
    assert wrapper_in_weight_names.groups_of(found, is_standalone=True) == (
        Group("a", WEIGHTS[:2]),
        Group("b", WEIGHTS[2:]),
    )


def test_the_number_of_a_clone_goes_where_a_merge_shows_the_name() -> None:
    cloned = tensors("a_1/kernel:0", "b_1/kernel:0")
    named = {
        merge: [
            group.name for group in wrapper_in_weight_names.groups_of(found, is_standalone=True)
        ]
        for merge in ("b", "concatenate_3")
        if (
            found := wrapper_in_weight_names.find(
                groups("input_1 lambda_1 lambda_2", merge, weights=cloned)
            )
        )
    }
    assert named == {"b": ["a", "b"], "concatenate_3": ["a_1", "b_1"]}


def bidirectional(inner: str, *, shape: Sequence[int] = (3,)) -> tuple[Tensor, ...]:
    """The weights of Keras 1's `Bidirectional(GRU(...))`, cut down to one of each layer."""
    return (*tensors(f"forward_{inner}_W_z"), *tensors(f"backward_{inner}_W_z", shape=shape))


class TestBidirectionalOfKeras1:
    """Its weights bear the names of the two layers in it, and no other name."""

    @staticmethod
    def names(*weights: tuple[Tensor, ...]) -> list[tuple[str, int]]:
        found = wrapper_in_weight_names.find(
            groups("x s_1 s_2", "merge_1", weights=tuple(chain(*weights, tensors("dense_1_W"))))
        )
        assert found is not None
        return [
            (group.name, len(group.tensors))
            for group in wrapper_in_weight_names.groups_of(found, is_standalone=True)
        ]

    def test_one_layer_each_in_its_place(self) -> None:
        assert self.names(
            tensors("embedding_1_W"), bidirectional("gru_1"), bidirectional("lstm_7")
        ) == [
            ("embedding_1", 1),
            ("bidirectional_1", 2),
            ("bidirectional_2", 2),
            ("dense_1", 1),
        ]

    def test_other_shapes_are_two_layers(self) -> None:
        names = [name for name, _ in self.names(bidirectional("gru_1", shape=(4,)))]
        assert names == ["forward_gru_1", "backward_gru_1", "dense_1"]

    def test_scopes_are_layers(self) -> None:
        names = [
            name
            for name, _ in self.names(tensors("forward_gru_1/kernel:0", "backward_gru_1/kernel:0"))
        ]
        assert names == ["forward_gru_1", "backward_gru_1", "dense_1"]

    def test_layers_that_somebody_named_may_be_two(self) -> None:
        with pytest.raises(
            Ambiguous, match="forward_words and backward_words are two layers, or one Bidirectional"
        ):
            self.names(bidirectional("words"))

    def test_the_name_is_in_no_weight(self) -> None:
        stored = [Group("bidirectional_1", bidirectional("gru_1")), Group("a", WEIGHTS[:2])]
        assert wrapper_in_weight_names.unstored_names(stored) == ["bidirectional_1"]


@pytest.mark.parametrize(
    ("weights", "head"),
    [
        (tensors("a/kernel:0", "a/kernel:0", "b/bias:0"), ()),
        (tensors("h/kernel:0", "b/bias:0"), (HEAD,)),
    ],
    ids=["two weights of one name", "two layers of one name"],
)
def test_names_that_are_not_those_of_a_flat_model(weights: object, head: tuple[Group, ...]) -> None:
    found = wrapper_in_weight_names.find(
        groups("input_1 lambda_1 lambda_2", "concatenate_1", *head, weights=weights)
    )
    assert found is not None
    with pytest.raises(
        Ambiguous, match=r"^the weight names of model_1 are not those of a flat model$"
    ):
        wrapper_in_weight_names.groups_of(found, is_standalone=True)


@pytest.mark.parametrize("name", ["mean:0", "Variable:0", "count"])
def test_a_weight_that_names_no_layer(name: str) -> None:
    """tf.keras's Normalization stores such; a layer of that name would be an invention, which Keras passes by."""
    stored = groups(
        "input_1 lambda_1 lambda_2",
        "concatenate_1",
        weights=tensors("a/kernel:0", "b/bias:0", name),
    )
    found = wrapper_in_weight_names.find(stored)
    assert found is not None
    with pytest.raises(
        Ambiguous, match=rf"^'{name}' of model_1 does not say which layer's weight it is$"
    ):
        wrapper_in_weight_names.groups_of(found, is_standalone=True)


@pytest.mark.parametrize(
    ("stored", "answer"),
    [
        ([Group("x", ()), Group("t", WEIGHTS)], True),
        ([Group("x", ()), Group("a", WEIGHTS[:2])], False),
        ([Group("t", WEIGHTS), HEAD], False),
        ([], False),
    ],
)
def test_one_layer_with_the_weights_of_several_is_doubtful(
    stored: list[Group], answer: bool
) -> None:
    assert wrapper_in_weight_names.is_doubtful(stored) is answer


@pytest.mark.parametrize(
    ("before", "after", "name", "weights", "answer"),
    [
        ("input_1 lambda_1 lambda_2", "pool_1", "model_1", "conv_1/kernel:0 conv_1/bias:0", True),
        ("input_1 lambda_1 lambda_2", "join_0", "model_1", "dense_1_W:0 dense_1_b:0", True),
        ("x tf_op_layer_split", "tf_op_layer_concat", "model", "dense/kernel:0 dense/bias:0", True),
        ("x lambda lambda_1", "join_0", "sequential", "sequential/dense/kernel:0 sequential/dense/bias:0", True),
        ("input_1 coord_1", "pool_1", "conv_1", "conv_1/kernel:0 conv_1/bias:0", False),
        ("input_1 lambda_1 lambda_2", "join_0", "dense_1", "dense_1_W:0 dense_1_b:0", False),
        ("input_1 pad", "act", "block/conv", "block/conv/kernel:0 block/conv/bias:0", False),
        ("input_1", "act", "model_1", "conv_1/kernel:0 conv_1/bias:0", False),
        ("input_1 pad", "", "model_1", "conv_1/kernel:0 conv_1/bias:0", False),
    ],
    ids=["a model's one layer", "the same in Keras 1", "as operations", "a scope around it", "a layer's own",
         "its own in Keras 1", "a name with a slash", "no slice before it", "no merge after it"],
)  # fmt: skip
def test_one_layer_with_the_weights_of_another_is_doubtful(
    before: str, after: str, name: str, weights: str, answer: bool
) -> None:
    """Slices before a model, and a merge after it, leave only the template weights; these bear its layer's name."""
    around = [[Group(each, ()) for each in names.split()] for names in (before, after)]
    stored = [*around[0], Group(name, tensors(*weights.split())), *around[1]]
    assert wrapper_in_weight_names.is_doubtful(stored) is answer
