"""The first steps of `inspect` and `fix`: the budget of a path, the opened source, the plan for it."""

from __future__ import annotations

from unnest.budget import Budget, check
from unnest.core.make_plan import NotAGraph
from unnest.core.model import JsonObject
from unnest.core.plan import Choices, Plan
from unnest.errors import Unreadable
from unnest.formats.container_interface import Source
from unnest.formats.detect_container import stored_size
from unnest.formats.open_container import open_container, open_for_inspection
from unnest.formats.translate_errors import not_a_graph, reading


def budget_of(path: str, *, trust: bool) -> Budget:
    """Return the budget of work and memory for the model at `path`, by the size of all its files; `trust` raises it."""
    return Budget.of(path, stored_size(path), trust=trust)


def open_model(path: str) -> Source:
    """Open the model at `path`.

    Raises:
        Unreadable: the file is missing, damaged, or not a model of Keras.
        Failed: the machine cannot read it.

    """
    with reading(path):
        return open_container(path).open(path)


def open_to_inspect(path: str) -> Source:
    """Open the model at `path` without what only a copy of it needs.

    Raises:
        Unreadable: the file is missing, damaged, or not a model of Keras.
        Failed: the machine cannot read it.

    """
    with reading(path):
        return open_for_inspection(path)


def plan_source(source: Source, architecture: JsonObject | None, choices: Choices) -> Plan:
    """Return the plan for a source; `architecture` is that of --architecture, for weights alone.

    Raises:
        Unreadable: the architecture is not a model.

    """
    try:
        plan = source.plan(architecture, choices=choices)
        check()
    except NotAGraph as e:
        raise not_a_graph(source.path, e) from e
    except RecursionError as e:
        raise Unreadable(
            "json-too-deep", f"{source.path}: the architecture nests too deep to be a model"
        ) from e
    return plan
