"""The page of all Keras layers: a table a family, made from the records in `unnest/core/layers`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unnest.core.layers.catalog import FAMILIES
from unnest.core.layers.record import ANY_VALUE, KerasLayer, MaskUse, Parts, Rows, Weight

INTRODUCTION = """# Keras layers

What is known of each layer class of Keras 1, 2 and 3: recognition, weights, shapes, masks and `--keras 3` rest on it.
Made from the records in `unnest/core/layers` by `scripts/make_pages.py`. The modules there, one a family, name sources.
[Contributing](contributing.md) says how to add a layer.

| column | meaning |
|---|---|
| Keras | generations that have a class of this name; "since": the first release, inside TensorFlow |
| today | name or successor in Keras 3, or the reason why nothing computes it |
| weights | in the order in which they are made; *italic*: not trained; in brackets: the switch that leaves one out |
| shape | rule for the shape of the output, and the number of axes of the input where it is fixed |
| mask | what becomes of the mask of its input |
| batch | what it does to the rows of a batch; "apart": each by itself |
| arguments | those of Keras 3's constructor, beside `name`, `dtype` and `trainable` |
| before | an argument's older name, or its value where a config lacks it |
| dropped | arguments that change nothing, with the values for which that holds |
"""

FACTS = ("class", "Keras", "today", "weights", "shape", "mask", "batch")
ARGUMENTS = ("class", "arguments", "before", "dropped")

MASKS = {
    MaskUse.UNKNOWN: "?", MaskUse.STOPS: "stops", MaskUse.PASSES: "passes", MaskUse.MAKES: "makes",
    MaskUse.MERGES: "merges", MaskUse.HEEDS: "reads, passes with sequences", MaskUse.HEEDS_AND_PASSES: "reads, passes",
}  # fmt: skip
ROWS = {Rows.APART: "apart", Rows.OVER_STEPS: "over axis 1", Rows.ALONG_AXIS: "along `axis`"}


def layer_page() -> str:
    """Return the page in Markdown."""
    lines = [INTRODUCTION]
    for family, layers in FAMILIES.items():
        lines += [f"## {family}", "", *_table(FACTS, map(_facts, layers))]
        with_arguments = [layer for layer in layers if layer.arguments]
        if with_arguments:
            lines += ["", *_table(ARGUMENTS, map(_arguments, with_arguments))]
        lines.append("")
    return "\n".join(lines)


def _table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


def _facts(layer: KerasLayer) -> Iterator[str]:
    yield f"`{layer.name}`"
    since = (
        f", since {'.'.join(map(str, layer.in_tensorflow_since))}"
        if layer.in_tensorflow_since
        else ""
    )
    yield ", ".join(map(str, layer.keras)) + since
    yield layer.gone or ", ".join(
        f"`{name}`" for name in (layer.renamed_to, layer.successor) if name
    )
    yield _weights(layer)
    axes = f" of {layer.input_axes} axes" if layer.input_axes else ""
    yield (
        "?"
        if layer.output_shape is None
        else f"{layer.output_shape.__name__.strip('_').replace('_', ' ')}{axes}"
    )
    yield MASKS[layer.mask]
    yield f"`{layer.merges}`" if layer.merges else ROWS[layer.rows]


def _weights(layer: KerasLayer) -> str:
    held = f"those of `{'`, `'.join(layer.holds)}`" if layer.holds else ""
    if layer.weights is None:
        return held or "?"
    own = ", ".join(map(_weight, layer.weights))
    where = " in its cell" if layer.parts is Parts.CELL else ""
    return "; ".join(part for part in (held, own + where) if part) or "none"


def _weight(weight: Weight) -> str:
    switch = f" ({weight.switch})" if weight.switch else ""
    return f"{weight.name}{switch}" if weight.trained else f"*{weight.name}*"


def _arguments(layer: KerasLayer) -> Iterator[str]:
    yield f"`{layer.name}`"
    yield ", ".join(layer.arguments or ())
    older = {**layer.renamed_arguments} | {
        old: new for old, new in layer.keras_1_arguments.items() if new in (layer.arguments or ())
    }
    defaults = (f"{argument} = {value}" for argument, value in layer.defaults_of_then.items())
    yield ", ".join((*(f"{old} → {new}" for old, new in older.items()), *defaults))
    yield ", ".join(
        argument if values == ANY_VALUE else f"{argument} ({', '.join(map(str, values))})"
        for argument, values in layer.idle.items()
    )
