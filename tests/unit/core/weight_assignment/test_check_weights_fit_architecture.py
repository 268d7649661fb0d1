"""Weights and an architecture of another state of the code: what shows that they do not belong together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import (
    DENSE,
    NORM,
    functional,
    layer,
    nested,
    sequential,
    source,
    tensors,
)
from unnest.core.model import Group
from unnest.core.weight_assignment.check_weights_fit_architecture import (
    check_architecture,
    check_list_order,
    misshapen_layer,
)
from unnest.core.weight_assignment.layer_groups.match_layer_groups import layer_name_by_group
from unnest.core.weight_assignment.layer_weights_record import Ambiguous


def dense(name: str, *before: str, units: int = 3) -> dict[str, Any]:
    return layer(name, [*before], **{**DENSE, "units": units})


def norm(name: str, *before: str, **config: Any) -> dict[str, Any]:
    return layer(name, [*before], kind="BatchNormalization", **{**NORM, **config})


def weights(**names: str) -> list[Group]:
    """Groups in order: `a="kernel bias"`; kernels are (3, 3), all else vectors of 3."""
    return [
        Group(group, tensors(*(f"{group}/{name}:0" for name in listed.split())))
        for group, listed in names.items()
    ]


KERNEL, STATISTICS = "kernel bias", "gamma beta moving_mean moving_variance"
CHAIN = functional(
    source(), dense("a", "x"), norm("n", "a"), dense("b", "n"), outputs=[("b", 0, 0)]
)
ROOMS = functional(
    source(),
    dense("l", "x"),
    dense("r", "x"),
    layer("sum", ["l", "r"], kind="Add"),
    outputs=[("sum", 0, 0)],
)


def test_weights_of_the_model_that_was_saved() -> None:
    check_architecture(weights(a=KERNEL, n=STATISTICS, b=KERNEL), CHAIN)


def test_the_layer_whose_weights_have_other_shapes() -> None:
    """In a nested model, too; of a flat list that no reading divides, no layer."""
    units = {"a": 3, "b": 4}
    inner = functional(
        source(), dense("a", "x"), dense("b", "a", units=4), outputs=[("b", 0, 0)], name="inner"
    )
    outer = functional(
        source("y"), nested(inner, ["y"]), inputs=[("y", 0, 0)], outputs=[("inner", 0, 0)]
    )
    listed = tensors("a/kernel:0", "a/bias:0", "b/kernel:0", "b/bias:0")
    owned = tuple(t._replace(owner=(t.name[0],)) for t in listed)
    fitting = tuple(t._replace(shape=(*t.shape[:-1], units[t.name[0]])) for t in owned)
    assert misshapen_layer(outer, {"inner": fitting}) is None
    assert misshapen_layer(outer, {"inner": listed}) is None
    found = misshapen_layer(outer, {"inner": owned})
    assert found is not None
    assert found[0] == "b"


def test_layers_side_by_side_may_stand_in_either_order() -> None:
    """Where the order alone would not fit."""
    rooms = functional(
        source(),
        dense("l", "x"),
        norm("r", "x"),
        layer("join", ["l", "r"], kind="Concatenate"),
        outputs=[("join", 0, 0)],
    )
    check_architecture(weights(l=KERNEL, r=STATISTICS), rooms)
    check_architecture(weights(r=STATISTICS, l=KERNEL), rooms)


def test_equal_layers_that_exchanged_their_names() -> None:
    """Keras loads by the order, and would give each the other's weights."""
    check_architecture(weights(l=KERNEL, r=KERNEL), ROOMS)
    with pytest.raises(Ambiguous, match="by their order the weights of r are those of l, which"):
        check_architecture(weights(r=KERNEL, l=KERNEL), ROOMS)


def test_exchanged_names_in_a_sequential() -> None:
    """A group is the layer's that has its name, wherever it stands."""
    model = sequential(norm("b"), dense("d"), norm("a"))
    groups = weights(a=STATISTICS, d=KERNEL, b=STATISTICS)
    assert layer_name_by_group(model, groups) == {"a": "a", "d": "d", "b": "b"}
    with pytest.raises(Ambiguous, match="lists the weights of a before those of b"):
        check_architecture(groups, model)


@pytest.mark.parametrize(
    ("model", "groups", "reason"),
    [
        (CHAIN, weights(n=STATISTICS, a=KERNEL, b=KERNEL),
         "the file lists the weights of n before those of a, the architecture behind"),
        (CHAIN, weights(b=KERNEL, n=STATISTICS, a=KERNEL),
         "the file lists the weights of b before those of a, the architecture behind"),
        (CHAIN, weights(a=KERNEL, b=KERNEL), "n has 0 weights in the file, and 4 by the architecture"),
        (CHAIN, weights(a="kernel", n=STATISTICS, b=KERNEL), "a has 1 weights in the file, and 2 by the architecture"),
        (functional(source(), dense("a", "x", units=5), outputs=[("a", 0, 0)]), weights(a=KERNEL),
         r"a: its weights have the shapes \(3, 3\), \(3,\), its config promises \(\?, 5\), \(5,\)"),
        (functional(source(), norm("n", "x", center=False), outputs=[("n", 0, 0)]),
         weights(n="beta moving_mean moving_variance"),
         "n: the file has its weight 'beta', which its config switches off"),
        (sequential(dense("a"), dense("b")), weights(b=KERNEL, a=KERNEL),
         "the file lists the weights of b before those of a, the architecture behind"),
    ],
)  # fmt: skip
def test_another_state_of_the_code(model: dict[str, Any], groups: list[Group], reason: str) -> None:
    with pytest.raises(Ambiguous, match=f"^{reason}$"):
        check_architecture(groups, model)


INNER = functional(
    source(), dense("a", "x"), norm("n", "a"), dense("b", "n"), outputs=[("b", 0, 0)], name="inner"
)
OUTER = functional(source(), nested(INNER, ["x"]), outputs=[("inner", 0, 0)])
A, N, B = ("a/kernel:0", "a/bias:0"), ("n/gamma:0", "n/beta:0"), ("b/kernel:0", "b/bias:0")
MOVING = ("n/moving_mean:0", "n/moving_variance:0")


def inner(*names: str) -> list[Group]:
    return [Group("inner", tensors(*names))]


def test_weights_of_a_nested_model() -> None:
    check_architecture(inner(*A, *N, *B, *MOVING), OUTER)


def test_names_of_another_process_count_on() -> None:
    shifted = [name.replace("b/", "c/").replace("a/", "b/") for name in (*A, *N, *B, *MOVING)]
    check_architecture(inner(*shifted), OUTER)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ((*B, *N, *A, *MOVING), "by its order 'b/kernel:0' is a weight of a, by its name of b"),
        ((*N, *A, *B, *MOVING), "a: its weights have the shapes"),
    ],
)
def test_a_nested_model_of_another_state(names: tuple[str, ...], reason: str) -> None:
    with pytest.raises(Ambiguous, match=f"^{reason}"):
        check_architecture(inner(*names), OUTER)


TWO = functional(source(), dense("a", "x"), dense("b", "a"), outputs=[("b", 0, 0)])
FROZEN = functional(
    source(), {**dense("a", "x"), "config": {**dense("a", "x")["config"], "trainable": False}},
    dense("b", "a"), outputs=[("b", 0, 0)],
)  # fmt: skip


def test_a_list_in_another_order() -> None:
    """Two layers of one shape stand in it as if they had exchanged their names, or one of them had been frozen."""
    groups = weights(a=KERNEL, b=KERNEL)
    ahead, behind = ([Group("net", (*x.tensors, *y.tensors))] for x, y in (groups, groups[::-1]))
    check_list_order(ahead, groups, TWO)
    check_list_order(behind, groups, FROZEN)
    for listed, model in ((behind, TWO), (ahead, FROZEN)):
        with pytest.raises(Ambiguous, match="by their order the weights of"):
            check_list_order(listed, groups, model)


def test_a_list_in_another_order_that_shapes_explain() -> None:
    """A model that was frozen stands behind, whatever its config says, where its weights fit nowhere else."""
    model = functional(source(), dense("a", "x"), dense("b", "a", units=5), outputs=[("b", 0, 0)])
    wide = Group("b", tensors("b/kernel:0", "b/bias:0", shape=(5,)))
    groups = [*weights(a=KERNEL), wide]
    check_list_order([Group("net", (*wide.tensors, *groups[0].tensors))], groups, model)
