"""Weights in one list for the whole model: a run per layer, or all that is trained first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, NORM, functional, layer, nested, source, tensors
from unnest.core.weight_assignment.layer_groups.divide_by_architecture import (
    groups_of_flat_list,
    groups_of_runs,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous


def dense(name: str, before: str) -> dict[str, Any]:
    return layer(name, [before], **DENSE)


def norm(name: str, before: str) -> dict[str, Any]:
    return layer(name, [before], kind="BatchNormalization", **NORM)


def chain(*layers: dict[str, Any]) -> dict[str, Any]:
    return functional(source(), *layers, outputs=[(layers[-1]["name"], 0, 0)])


MODEL = chain(dense("z", "x"), norm("n", "z"), dense("a", "n"))
Z, A = ("z/kernel:0", "z/bias:0"), ("a/kernel:0", "a/bias:0")
N = ("n/gamma:0", "n/beta:0", "n/moving_mean:0", "n/moving_variance:0")


def by_runs(*names: str, is_sorted: bool) -> dict[str, list[str]]:
    groups, by_order = groups_of_runs(tensors(*names), MODEL, is_sorted=is_sorted)
    assert by_order == ()
    return {g.name: [t.name for t in g.tensors] for g in groups}


def test_runs_in_the_order_of_names_or_of_the_model() -> None:
    expected = {"x": [], "z": [*Z], "n": [*N], "a": [*A]}
    assert by_runs(*A, *N, *Z, is_sorted=True) == expected
    assert by_runs(*Z, *N, *A, is_sorted=False) == expected


def test_a_flat_list() -> None:
    groups, by_order = groups_of_flat_list(tensors(*Z, *N[:2], *A, *N[2:]), MODEL)
    assert ({g.name: [t.name for t in g.tensors] for g in groups}, by_order) == (
        {"x": [], "z": [*Z], "n": [*N], "a": [*A]},
        (),
    )


@pytest.mark.parametrize(
    "names",
    [
        (*Z, *N, *A),  # the model's order
        (*A, *N[:2], *Z, *N[2:]),  # what is trained first
        (*A, *N, *Z[:1]),  # one less
        (*A, N[1], N[0], *N[2:], *Z),  # beta before gamma
        (*A, *N, *Z, "more/kernel:0"),
    ],
)
def test_another_order_is_refused(names: tuple[str, ...]) -> None:
    """If names and places disagree, the list is refused."""
    with pytest.raises(Ambiguous):
        by_runs(*names, is_sorted=True)


def test_names_of_another_program_are_no_witnesses() -> None:
    """Then places alone decide, and a finding names the layers."""
    model = chain(dense("dense_3", "x"), dense("dense_1", "dense_3"))
    groups, by_order = groups_of_runs(
        tensors("q/kernel:0", "q/bias:0", "r/kernel:0", "r/bias:0"), model, is_sorted=True
    )
    assert {g.name: [t.name for t in g.tensors] for g in groups} == {
        "x": [], "dense_3": ["r/kernel:0", "r/bias:0"], "dense_1": ["q/kernel:0", "q/bias:0"],
    }  # fmt: skip
    assert set(by_order) == {"dense_1", "dense_3"}


def test_a_nested_model_has_one_run() -> None:
    """Trained weights of a nested model come first."""
    inner = chain(dense("b", "x"), norm("m", "b"))
    model = functional(source(), nested(inner, ["x"]), dense("a", "net"), outputs=[("a", 0, 0)])
    run = (
        "b/kernel:0",
        "b/bias:0",
        "m/gamma:0",
        "m/beta:0",
        "m/moving_mean:0",
        "m/moving_variance:0",
    )
    groups, _ = groups_of_runs(tensors(*A, *run), model, is_sorted=True)
    assert {g.name: [t.name for t in g.tensors] for g in groups} == {
        "x": [],
        "net": [*run],
        "a": [*A],
    }
