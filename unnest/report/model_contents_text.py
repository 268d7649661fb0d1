"""The content of a model in numbers, and what its stored code uses, for a verbose report."""

from __future__ import annotations

from collections.abc import Iterator

from unnest.report.result import Inside, Report


def count(number: int, noun: str) -> str:
    """Return a number with its noun, as in `2 layers`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def inside_text(inside: Inside) -> str:
    """Return the numbers of layers and parameters, and the shapes of inputs and outputs."""
    numbers = count(inside.parameters, "number" if inside.has_other_numbers else "parameter")
    others = ", an optimizer's among them if it was saved" if inside.has_other_numbers else ""
    facts = [
        *([count(inside.layers, "layer")] if inside.layers else ()),
        *([numbers + others] if inside.parameters else ()),
    ]
    ends = [("input", inside.inputs), ("output", inside.outputs)]
    return "; ".join(
        [", ".join(facts), *(f"{end} {', '.join(names)}" for end, names in ends if names)]
    )


def safety(report: Report) -> Iterator[str]:
    """Yield the names that stored code uses, or that there is no code."""
    if report.inside is None:
        return
    layers_by_names: dict[tuple[str, ...] | None, list[str]] = {}
    for layer, names in report.inside.code:
        layers_by_names.setdefault(names, []).append(repr(layer))
    for names, layers in layers_by_names.items():
        uses = (
            "cannot be read"
            if names is None
            else f"uses the names {', '.join(names)}"
            if names
            else "uses no names"
        )
        yield f"the code of {', '.join(layers)} {uses}"
    needs = report.needs
    is_free = not (
        layers_by_names or needs.stored_code or needs.classes or needs.functions or needs.files
    )
    is_model_of_keras = report.contents == "model" and report.container != "saved_model"
    if (
        is_free
        and is_model_of_keras
        and all(finding.code != "stored-code" for finding in report.findings)
    ):
        yield "no stored code, and no custom code is needed to load it"
