"""Names of weights that lie, and weights that are not there: position is the oracle, and nothing is guessed."""

from __future__ import annotations

import functools

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.genuine.test_metamorphic import PARALLEL, planned, read
from unnest.core.architecture import is_model
from unnest.core.architecture import read as graph_of
from unnest.core.make_plan import plan
from unnest.core.model import Group, Stored
from unnest.core.plan import Plan


def with_names(stored: Stored, group: str, names: list[str]) -> Stored:
    """The same tensors in the same places, under other names."""
    renamed = {
        g.name: Group(
            g.name, tuple(t._replace(name=n) for t, n in zip(g.tensors, names, strict=True))
        )
        for g in stored.groups
        if g.name == group
    }
    return stored._replace(groups=tuple(renamed.get(g.name, g) for g in stored.groups))


def placed(made: Plan) -> dict[str, list[str]]:
    """Layer -> where its weights lie in the input."""
    assert made.result is not None
    return {g.name: [t.ref for t in g.tensors] for g in made.result.groups}


def template_of(stored: Stored) -> Group:
    """The group with the longest list."""
    return max(stored.groups, key=lambda group: len(group.tensors))


def is_told(name: str) -> bool:
    """Return True if positions suffice; names alone show that a nested model in the template was frozen."""
    stored = read(name)
    architecture = stored.architecture
    if architecture is None or max((len(g.tensors) for g in stored.groups), default=0) < 2:
        return False
    template = graph_of(architecture).layers.get(template_of(stored).name)
    if template is None or not is_model(template.stored) or planned(name).result is None:
        return False
    return not any(is_model(layer.stored) for layer in graph_of(template.stored).layers.values())


@functools.cache
def lists() -> list[str]:
    """Files whose template keeps its weights in one list, so that names could tell whose they are."""
    return [name for name in PARALLEL if is_told(name)]


def test_there_are_lists() -> None:
    """A glob that finds nothing passes nothing."""
    assert len(lists()) > 100


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_shuffled_names_give_what_the_positions_give_or_a_refusal(data: st.DataObject) -> None:
    """Whatever names a file gives its weights, a layer gets those that Keras put in its place."""
    name = data.draw(st.sampled_from(lists()))
    stored, wanted = read(name), planned(name)
    template = template_of(stored)
    names = data.draw(st.permutations([t.name for t in template.tensors]))
    made = plan(with_names(stored, template.name, names))
    assert made.verdict == "parallel"
    if made.refusal is None:
        assert placed(made) == placed(wanted)
