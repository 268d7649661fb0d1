"""Any serving graph that is wrapped unwraps to itself; any that is not wrapped stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.opgraphs import Case, cases, plain, wrapped
from unnest.core.wrappers.serving_graph.recognise_serving_graph import find, follow
from unnest.core.wrappers.serving_graph.serving_op_graph import OpGraph

#: What makes a graph no wrapper.
SPOILS = ("order", "twice", "variables", "operation", "constant", "missing", "axis", "inside")


def written(graph: OpGraph, tensor: str, replace: dict[str, str], known: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return the expression of a tensor as a nested tuple without names."""
    tensor = follow(tensor, replace)
    if tensor not in known:
        name, _, output = tensor.partition(":")
        op = graph.ops[name]
        if op.kind == "Identity":
            return written(graph, op.inputs[0], replace, known)
        reads = tuple(written(graph, t, replace, known) for t in op.inputs)
        value = None if op.value is None else (str(op.value.dtype), op.value.tobytes())
        order = list(graph.ops).index(name) if op.kind == "Placeholder" else 0
        known[tensor] = (
            op.kind,
            output,
            order,
            value,
            tuple(sorted(op.attrs.items(), key=str)),
            reads,
        )
    return known[tensor]


def results(graph: OpGraph, replace: dict[str, str]) -> list[Any]:
    """All that a graph returns."""
    known: dict[str, Any] = {}
    return [written(graph, t, replace, known) for t in graph.rets]


@given(cases())
def test_wrapped_unwraps_to_itself(case: Case) -> None:
    """Read as `replace` says, the wrapped graph is the template's."""
    graph = wrapped(case)
    found = find([graph], {}).wrapper
    assert found is not None
    assert (found.towers, len(found.sources), len(found.merges)) == (
        case.towers,
        case.inputs,
        1 + bool(case.mean),
    )
    assert results(graph, found.replace) == results(plain(case), {})
    assert found.reach is None


@given(cases())
def test_plain_stays(case: Case) -> None:
    """A template has no towers."""
    assert find([plain(case)], {}).wrapper is None


@pytest.mark.parametrize("spoil", SPOILS)
@given(case=cases(mean=False))
def test_what_is_no_wrapper(spoil: str, case: Case) -> None:
    """One difference between the towers, or in their rows, is enough."""
    if spoil == "missing" and case.cut == "counted":
        return  # bounds that are numbers look the same for a batch of that size: see below
    if spoil == "axis" and case.cut in ("alternating", "dealt"):
        return  # not joined along an axis
    assert find([wrapped(case, spoil)], {}).wrapper is None


@given(cases(mean=False).map(lambda c: replace(c, cut="counted", towers=max(c.towers, 3))))
def test_bounds_that_are_numbers(case: Case) -> None:
    """They may be those of the one batch size that was served; a sentence says how far they reach."""
    found = find([wrapped(case, "missing")], {}).wrapper
    assert found is not None
    assert (found.towers, found.reach) == (case.towers - 1, 4 * (case.towers - 1))


@given(cases(mean=True))
def test_a_sum_is_no_mean(case: Case) -> None:
    """A total over the towers depends on their number: the wrapper cannot be cut."""
    assert find([wrapped(case, "sum")], {}).wrapper is None


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_operations_says_nothing(case: Case, random: Any) -> None:  # noqa: ANN401 - random.Random or its kin
    """A graph lists its operations as it likes."""
    graph = wrapped(case)
    names = list(graph.ops)
    random.shuffle(names)
    shuffled = OpGraph("", {n: graph.ops[n] for n in names}, (), graph.rets)
    found, again = find([graph], {}).wrapper, find([shuffled], {}).wrapper
    assert found is not None
    assert again is not None
    assert found.replace == again.replace
