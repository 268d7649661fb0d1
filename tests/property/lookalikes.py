"""Graphs that look like a wrapper and are not: one thing is changed, and they compute something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from tests.property.models import Layer, Model, Sym, input_layer
from tests.property.strategies import TELLING, Kitchen
from tests.property.wrapping import Case, Wrap, merge_layer, slice_layer

Flaw: TypeAlias = Literal[
    "axis", "average", "unsliced", "other template", "used before the merge", "other source", "channels",
    "every tower its own", "one tower left out",
]  # fmt: skip
FLAWS: tuple[Flaw, ...] = get_args(Flaw)


def lookalike(case: Case, flaw: Flaw) -> Model:
    """The model; with `towers` of at least two."""
    how = (
        replace(case.wraps[0], slices="arguments")
        if case.wraps[0].slices.startswith("split")
        else case.wraps[0]
    )
    kitchen = case.kitchen(TELLING)
    template = kitchen.build(case.recipe)
    inputs = list(template.inputs)
    if flaw == "channels":
        inputs = [
            input_layer(f"wide{i}", (*s.shape[:-1], s.shape[-1] * how.towers))
            for i, s in enumerate(inputs)
        ]
    parts = _parts(case, how, flaw, template, inputs)
    others = _others(case, kitchen, flaw, template, how.towers)
    called = [other.on(*part) for other, part in zip(others, parts, strict=True)]
    extra = (
        [Layer("early", "Activation", {"activation": "tanh"})(called[0][0])]
        if flaw == "used before the merge"
        else []
    )
    merged = called[:-1] if flaw == "one tower left out" else called
    rest = list(called[-1]) if flaw == "one tower left out" else []
    outputs = [
        _merge(how, flaw, f"{how.name}_merge{i}").call([c[i] for c in merged], called[0][i].shape)[
            0
        ]
        for i in range(len(called[0]))
    ]
    return Model(
        how.name, "", inputs=tuple(_inputs(inputs, parts)), outputs=(*outputs, *extra, *rest)
    )


def _parts(
    case: Case, how: Wrap, flaw: Flaw, template: Model, inputs: Sequence[Sym]
) -> list[list[Sym]]:
    """Return the tensors that each tower reads."""
    if flaw == "unsliced":
        return [list(inputs) for _ in range(how.towers)]
    parts = []
    for part in range(how.towers):
        sources = list(inputs)
        if flaw == "other source" and part == how.towers - 1:
            sources[0] = input_layer("elsewhere", sources[0].shape)
        layers = [
            slice_layer(how, case.writer, f"slice{i}_{part}", part, s)
            for i, s in enumerate(template.inputs)
        ]
        parts.append(
            [
                x.call((s,), t.shape)[0]
                for x, s, t in zip(layers, sources, template.inputs, strict=True)
            ]
        )
    return parts


def _others(case: Case, kitchen: Kitchen, flaw: Flaw, template: Model, towers: int) -> list[Model]:
    """The template of each tower: the same one, unless that is the flaw."""
    if flaw == "other template":
        return [template] * (towers - 1) + [
            kitchen.build(replace(case.recipe, name="someone_else"))
        ]
    if flaw == "every tower its own":
        return [
            template,
            *(kitchen.build(replace(case.recipe, name=f"clone_{i}")) for i in range(1, towers)),
        ]
    return [template] * towers


def _merge(how: Wrap, flaw: Flaw, name: str) -> Layer:
    layer = merge_layer(how, name)
    if flaw == "axis":
        layer.config["concat_axis" if how.merge == "Merge" else "axis"] = -1
    if flaw == "average":
        layer.class_name, layer.config = (
            ("Merge", {"mode": "ave"}) if how.merge == "Merge" else ("Average", {})
        )
    return layer


def _inputs(inputs: Sequence[Sym], parts: Sequence[Sequence[Sym]]) -> list[Sym]:
    """The model's inputs, with whatever else the slices read."""
    read = [r for part in parts for s in part for r in s.layer.calls[s.call]]
    return list(dict.fromkeys([*inputs, *(r for r in read if r.layer.class_name == "InputLayer")]))
