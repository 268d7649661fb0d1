"""Near misses of a graph without a wrapper."""

from __future__ import annotations

from typing import Any, TypeAlias

from tests.unit.core.build import functional
from unnest.core.architecture import read
from unnest.core.wrappers.layer_graph.recognise_layer_graph import recognise

Entry: TypeAlias = "dict[str, Any]"
OUTER: Entry = {"outputs": [("m", 0, 0)], "name": "outer"}


def reasons(*layers: Entry, **ends: Any) -> dict[str, str]:
    """The near misses of a graph without a wrapper: layer -> reason."""
    result = recognise(read(functional(*layers, **{**OUTER, **ends})))
    assert result.wrappers == ()
    return {miss.layer: miss.reason for miss in result.near_misses}
