"""The architecture that was kept beside weights: the JSON or YAML in their folder that takes every one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from unnest import open_and_plan
from unnest.budget import limited
from unnest.core.plan import Choices
from unnest.errors import UnnestError
from unnest.findings import Code
from unnest.formats.architecture_json import read_architecture
from unnest.formats.container_interface import Source
from unnest.formats.detect_container import checkpoint_prefix
from unnest.formats.translate_errors import reading
from unnest.options import FixOptions, architecture_argument, architecture_inputs
from unnest.outputs import output_file_names

ARCHITECTURE_SUFFIXES = (".json", ".yaml", ".yml")
#: Files of these suffixes that are tried in a folder, and bytes of each.
MOST_FILES, MOST_BYTES = 12, 16 << 20


def find(path: str, choices: Choices, *, trust: bool = False) -> str | None:
    """Return the one file beside `path` with an architecture that fits the weights in it by their names.

    If several fit, it is the one with the same name as the weights. None if no file fits, if several fit under other
    names, or if `path` does not hold weights alone.
    """
    candidates = [*_candidates(path)]
    if not candidates:
        return None
    try:
        with (
            limited(open_and_plan.budget_of(path, trust=trust)),
            reading(path),
            open_and_plan.open_model(path) as source,
        ):
            if source.stored.contents != "weights" or source.stored.architecture is not None:
                return None
            fitting = [candidate for candidate in candidates if _fits(source, candidate, choices)]
    except UnnestError:
        return None
    called_alike = [candidate for candidate in fitting if _stem(candidate) == _stem(path)]
    return fitting[0] if len(fitting) == 1 else called_alike[0] if len(called_alike) == 1 else None


def with_fitting_architecture(path: str, options: FixOptions) -> FixOptions:
    """Return the options for a file in a folder; weights alone get the architecture beside them that fits."""
    if options.architecture is not None or options.like is not None:
        return options
    beside = find(path, Choices(options.keep_nested, options.slice_layers), trust=options.trust)
    if beside is None:
        return options
    inputs = (*options.inputs, *architecture_inputs(beside))
    return options._replace(architecture=architecture_argument(beside), inputs=inputs)


def _candidates(path: str) -> Iterator[str]:
    """Yield the JSON and YAML files beside a path, the most similar names first."""
    folder = os.path.dirname(checkpoint_prefix(path))
    try:
        names = [
            n
            for n in os.listdir(folder or ".")
            if n.lower().endswith(ARCHITECTURE_SUFFIXES) and not output_file_names.is_ours(n)
        ]
    except OSError:
        return
    paths = [
        os.path.join(folder, name) for name in sorted(names) if not name.endswith(".weights.json")
    ]
    for candidate in sorted(paths, key=lambda p: _stem(p) != _stem(path))[:MOST_FILES]:
        if os.path.isfile(candidate) and os.path.getsize(candidate) <= MOST_BYTES:
            yield candidate


def _stem(path: str) -> str:
    return output_file_names.split_suffix(os.path.basename(path))[0]


def _fits(source: Source, candidate: str, choices: Choices) -> bool:
    """Return True if each weight has its place in this architecture by names and shapes, not by order alone."""
    try:
        plan = open_and_plan.plan_source(source, read_architecture(candidate), choices)
    except UnnestError:
        return False
    is_complete = (
        plan.refusal is None and plan.complete is not None and plan.conversion_refusal is None
    )
    return is_complete and all(finding.code != BY_ORDER for finding in plan.findings)


BY_ORDER = Code.BY_ORDER(layers="").code
