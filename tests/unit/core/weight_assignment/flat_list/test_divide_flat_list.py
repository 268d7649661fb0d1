"""A nested model's flat list of weights, given back to its layers: names, promises and order."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, NORM, functional, layer, nested, source, tensors
from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.model import Tensor
from unnest.core.weight_assignment.flat_list.divide_flat_list import (
    divide_flat_list,
    layers_placed_by_order,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights


def chain(*layers: dict[str, Any]) -> Graph:
    """A functional model of layers that read one another in a row."""
    return read(functional(source(), *layers, outputs=[(layers[-1]["name"], 0, 0)]))


def dense(name: str, before: str, **config: Any) -> dict[str, Any]:
    return layer(name, [before], **{**DENSE, **config})


def norm(name: str, before: str, **config: Any) -> dict[str, Any]:
    return layer(name, [before], kind="BatchNormalization", **{**NORM, **config})


CONV_NORM = chain(dense("a", "x"), norm("n", "a"), dense("y", "n"))
"""What the recipe in circulation scrambles: statistics stand behind the weights of all layers."""

STORED = ["a/kernel:0", "a/bias:0", "n/gamma:0", "n/beta:0", "y/kernel:0", "y/bias:0", "n/moving_mean:0",
          "n/moving_variance:0"]  # fmt: skip


def placed(names: list[str], graph: Graph) -> dict[str, tuple[list[str], list[str]]]:
    """By layer, the names of what is trained and of the rest, layers without weights left out."""
    shares = divide_flat_list(tensors(*names), graph)
    return {
        n: ([t.name for t in s.trained], [t.name for t in s.rest])
        for n, s in shares.items()
        if s.tensors
    }


EXPECTED = {
    "a": (["a/kernel:0", "a/bias:0"], []),
    "n": (["n/gamma:0", "n/beta:0"], ["n/moving_mean:0", "n/moving_variance:0"]),
    "y": (["y/kernel:0", "y/bias:0"], []),
}


def test_statistics_go_back_to_their_layer() -> None:
    assert placed(STORED, CONV_NORM) == EXPECTED


def test_names_of_another_graph_leave_it_to_order_and_promises() -> None:
    foreign = [f"v{i}" for i in range(8)]
    assert placed(foreign, CONV_NORM) == {
        "a": (["v0", "v1"], []),
        "n": (["v2", "v3"], ["v6", "v7"]),
        "y": (["v4", "v5"], []),
    }


TWINS = chain(dense("a", "x"), dense("b", "a"))
"""Two layers of one shape."""


@pytest.mark.parametrize(
    "names",
    [
        [
            "b/kernel:0",
            "b/bias:0",
            "a/kernel:0",
            "a/bias:0",
        ],  # as if a were frozen, which its config would say
        ["a/kernel:0", "b/bias:0", "b/kernel:0", "a/bias:0"],
        ["a/kernel:0", "b/kernel:0", "a/bias:0", "b/bias:0"],
        ["b/bias:0", "a/bias:0", "a/kernel:0", "b/kernel:0"],
    ],
)
def test_names_choose_between_orders_that_keras_writes_and_make_none(names: list[str]) -> None:
    assert placed(names, TWINS) == {"a": (names[:2], []), "b": (names[2:], [])}


def test_a_layer_of_keras_has_as_many_trained_weights_as_its_config_says_whatever_names_say() -> (
    None
):
    """Here a weight that is not trained and one that is have changed places, with their names."""
    graph = chain(layer("p", ["x"], kind="Affine"), norm("n", "p"), dense("y", "n"))
    names = ["p/w:0", "p/b:0", "n/gamma:0", "n/beta:0", "y/kernel:0", "y/bias:0", "p/shift:0", "n/moving_mean:0",
             "n/moving_variance:0"]  # fmt: skip
    assert placed(names, graph)["n"] == (names[2:4], names[7:])
    names[2], names[6] = names[6], names[2]
    with pytest.raises(Ambiguous):
        placed(names, graph)


def test_the_name_of_a_dtype_is_no_layers() -> None:
    """Keras 3 stores a policy with a name in every config: that holds no layer that may be frozen."""
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}}
    graph = chain(norm("n", "x", dtype=policy), dense("y", "n", dtype=policy))
    names = ["y/kernel", "y/bias", "n/gamma", "n/beta", "n/moving_mean", "n/moving_variance"]
    assert placed(names, graph) == {"n": (names[:2], names[4:]), "y": (names[2:4], [])}


def test_names_tell_that_a_nested_model_was_frozen() -> None:
    """No config says so; of the two orders that Keras may have written they fit one."""
    inner = functional(
        source("ix"), dense("i", "ix"), inputs=[("ix", 0, 0)], outputs=[("i", 0, 0)], name="inner"
    )
    graph = chain(nested(inner, [("x", 0, 0)]), dense("y", "inner"))
    frozen = ["y/kernel:0", "y/bias:0", "i/kernel:0", "i/bias:0"]
    assert placed(frozen, graph) == {"inner": ([], frozen[2:]), "y": (frozen[:2], [])}
    trained = [*frozen[2:], *frozen[:2]]
    assert placed(trained, graph) == {"inner": (trained[:2], []), "y": (trained[2:], [])}


def test_a_frozen_model_behind_statistics_is_not_given_them() -> None:
    """As many weights as the configs promise are trained, if `last` is not looked at."""
    first = functional(
        source("ix"), norm("n", "ix"), inputs=[("ix", 0, 0)], outputs=[("n", 0, 0)], name="first"
    )
    inner = functional(source("ix"), dense("i", "ix", use_bias=False), inputs=[("ix", 0, 0)], outputs=[("i", 0, 0)],
                       name="last")  # fmt: skip
    graph = chain(nested(first, ["x"]), nested(inner, ["first"]))
    names = ["n/gamma:0", "n/beta:0", "n/moving_mean:0", "n/moving_variance:0", "i/kernel:0"]
    assert placed(names, graph) == {"first": (names[:2], names[2:4]), "last": ([], names[4:])}


class TestNamesThatTwoModelsShare:
    """Of two models each with a layer `n`, one may be frozen: names and order leave both, the numbered scope one."""

    FIRST, LAST = (
        functional(
            source("ix"), norm("n", "ix"), inputs=[("ix", 0, 0)], outputs=[("n", 0, 0)], name=name
        )
        for name in ("first", "last")
    )
    GRAPH = chain(nested(FIRST, ["x"]), dense("y", "first"), nested(LAST, ["y"]))
    TRAINED: tuple[str, ...] = ("n/gamma:0", "n/beta:0", "y/kernel:0", "y/bias:0")
    REST: tuple[str, ...] = ("n/moving_mean:0", "n/moving_variance:0")
    OTHERS: tuple[str, ...] = (
        "n_1/gamma:0",
        "n_1/beta:0",
        "n_1/moving_mean:0",
        "n_1/moving_variance:0",
    )

    def test_the_last_was_frozen(self) -> None:
        assert placed([*self.TRAINED, *self.REST, *self.OTHERS], self.GRAPH) == {
            "first": ([*self.TRAINED[:2]], [*self.REST]),
            "y": ([*self.TRAINED[2:]], []),
            "last": ([], [*self.OTHERS]),
        }

    def test_none_was_frozen(self) -> None:
        assert placed(
            [*self.TRAINED, *self.OTHERS[:2], *self.REST, *self.OTHERS[2:]], self.GRAPH
        ) == {
            "first": ([*self.TRAINED[:2]], [*self.REST]),
            "y": ([*self.TRAINED[2:]], []),
            "last": ([*self.OTHERS[:2]], [*self.OTHERS[2:]]),
        }

    def test_without_scopes_it_is_doubt(self) -> None:
        names = [
            name.replace("/", "_")
            for name in (*self.TRAINED, *self.OTHERS[:2], *self.REST, *self.OTHERS[2:])
        ]
        with pytest.raises(Ambiguous, match="more than one reading"):
            divide_flat_list(tensors(*names), self.GRAPH)


class TestPlacedByOrder:
    """Of an architecture that was stored apart: what names say of the placing."""

    @staticmethod
    def told(names: list[str], graph: Graph) -> tuple[str, ...]:
        return layers_placed_by_order(divide_flat_list(tensors(*names), graph), graph)

    def test_names_that_fit_say_it_all(self) -> None:
        assert self.told(["a/kernel:0", "a/bias:0", "b/kernel:0", "b/bias:0"], TWINS) == ()

    def test_names_that_fit_none_leave_it_to_order(self) -> None:
        assert self.told(["c/kernel:0", "c/bias:0", "d/kernel:0", "d/bias:0"], TWINS) == ("a", "b")

    def test_names_and_order_that_say_two_things_are_doubt(self) -> None:
        with pytest.raises(Ambiguous, match="the weights called a"):
            self.told(["z/kernel:0", "z/bias:0", "a/kernel:0", "a/bias:0"], TWINS)


def test_names_that_a_wrapper_numbered_are_still_their_layers() -> None:
    numbered = [name.replace("/", "_1/", 1) for name in STORED]
    assert {k: len(a) + len(b) for k, (a, b) in placed(numbered, CONV_NORM).items()} == {
        "a": 2,
        "n": 4,
        "y": 2,
    }


def test_a_frozen_layers_weights_stand_with_the_rest() -> None:
    graph = chain(dense("a", "x", trainable=False), dense("y", "a"))
    assert placed(["y/kernel:0", "y/bias:0", "a/kernel:0", "a/bias:0"], graph) == {
        "a": ([], ["a/kernel:0", "a/bias:0"]),
        "y": (["y/kernel:0", "y/bias:0"], []),
    }


def test_a_frozen_layers_weights_stand_with_the_rest_whatever_they_are_called() -> None:
    graph = chain(dense("a", "x", trainable=False), dense("y", "a"))
    assert placed(["v0", "v1", "v2", "v3"], graph) == {
        "a": ([], ["v2", "v3"]),
        "y": (["v0", "v1"], []),
    }


def test_a_nested_models_weights_are_one_run_in_either_part() -> None:
    inner = functional(source(), dense("a", "x"), norm("y", "a"), name="inner")
    graph = chain(nested(inner, ["x"]), dense("z", "inner"))
    names = ["a/k", "a/b", "y/gamma", "y/beta", "z/k", "z/b", "y/mean", "y/var"]
    assert placed(names, graph) == {
        "inner": (["a/k", "a/b", "y/gamma", "y/beta"], ["y/mean", "y/var"]),
        "z": (["z/k", "z/b"], []),
    }


def test_a_layer_whose_sizes_do_not_fit_is_not_given_the_weights() -> None:
    """units=3 against tensors of 5: the names are honest, and yet nothing fits."""
    with pytest.raises(Ambiguous, match="do not fit the layers of net"):
        divide_flat_list(tensors("y/kernel:0", "y/bias:0", shape=(5,)), chain(dense("y", "x")))


def test_weights_that_two_layers_may_own_are_refused() -> None:
    """Two custom layers, which promise nothing, and names of neither."""
    with pytest.raises(Ambiguous, match="more than one reading"):
        divide_flat_list(
            tensors("p", "q", "r"),
            chain(layer("a", ["x"], kind="Mine"), layer("y", ["a"], kind="Mine")),
        )


class TestANameInANestedModelToo:
    """A weight may be named after a layer inside a nested model, or after the layer of that name beside it."""

    INNER = functional(
        source(), layer("same", ["x"], kind="Gated"), name="inner", outputs=[("same", 0, 0)]
    )
    NAMES = ("same/gate:0", "d/kernel:0", "d/bias:0", "same_1/gate:0")

    @pytest.mark.parametrize("kind", ["Gated", "BatchNormalization", "RNN"])
    def test_of_a_layer_that_may_have_weights_is_doubt(self, kind: str) -> None:
        """A custom layer, or a Keras layer whose config is silent."""
        graph = chain(
            nested(self.INNER, ["x"]), dense("d", "inner"), layer("same", ["d"], kind=kind)
        )
        with pytest.raises(Ambiguous, match="more than one reading"):
            divide_flat_list(tensors(*self.NAMES), graph)

    def test_of_a_layer_beside_others_that_tell_is_doubt(self) -> None:
        """The weights that the inner model's Dense promises are not all that the model may have."""
        gate = layer("same", ["e"], kind="Gated")
        inner = functional(source(), dense("e", "x"), gate, name="inner", outputs=[("same", 0, 0)])
        graph = chain(nested(inner, ["x"]), layer("same", ["inner"], kind="Gated"))
        with pytest.raises(Ambiguous, match="more than one reading"):
            divide_flat_list(
                tensors("e/kernel:0", "e/bias:0", "same/gate:0", "same_1/gate:0"), graph
            )

    @pytest.mark.parametrize("kind", ["Concatenate", "Merge", "Lambda"])
    def test_of_a_layer_that_has_no_weights_is_the_nested_models(self, kind: str) -> None:
        graph = chain(
            nested(self.INNER, ["x"]), dense("d", "inner"), layer("same", ["d"], kind=kind)
        )
        trained = {"inner": [self.NAMES[0]], "d": [*self.NAMES[1:3]]}
        assert {
            name: told for name, (told, _) in placed([*self.NAMES[:3]], graph).items()
        } == trained


def test_what_the_container_tells_is_taken() -> None:
    told = [
        Tensor("0", (3,), "<f4", "/1", owner=("y", "inner")),
        Tensor("1", (3,), "<f4", "/2", owner=("y",), trained=False),
    ]
    shares = divide_flat_list(told, chain(dense("a", "x"), dense("y", "a")))
    assert [t.owner for t in shares["y"].tensors] == [("inner",), ()]
    assert (len(shares["y"].trained), len(shares["y"].rest), shares["a"]) == (1, 1, LayerWeights())
    with pytest.raises(Ambiguous, match="layers that net has not"):
        divide_flat_list(told, chain(dense("a", "x")))


def test_an_architecture_alone_has_no_weights() -> None:
    assert divide_flat_list((), CONV_NORM) == dict.fromkeys(["x", "a", "n", "y"], LayerWeights())


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("LayerNormalization", {"center": True, "scale": True, "eps": 1e-6}),
        ("MultiHeadAttention", {"head_num": 2}),
        ("Rescaling", {}),
        ("GroupQueryAttention", {"heads": 2}),
    ],
)
def test_a_custom_class_with_a_name_that_keras_took_later(
    kind: str, config: dict[str, Any]
) -> None:
    """Its weights are its own, however many: its config lacks what Keras's class always stores."""
    graph = chain(dense("a", "x"), layer("n", ["a"], kind=kind, **config), dense("y", "n"))
    names = ["a/kernel:0", "a/bias:0", "n/gamma:0", "n/beta:0", "y/kernel:0", "y/bias:0"]
    assert placed(names, graph) == {
        "a": (["a/kernel:0", "a/bias:0"], []),
        "n": (["n/gamma:0", "n/beta:0"], []),
        "y": (["y/kernel:0", "y/bias:0"], []),
    }
