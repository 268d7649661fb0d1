"""The calls of a graph, each after those that it reads."""

from __future__ import annotations

from collections.abc import Iterator

from unnest.core.architecture.graph import Call, Graph
from unnest.core.model import CallId


def in_order(graph: Graph) -> Iterator[tuple[CallId, Call]]:
    """Every call after those that it reads; among these in stored order."""
    calls = dict(graph.calls())
    missing = {at: {r.call for r in call.reads} for at, call in calls.items()}
    ready = [at for at, reads in missing.items() if not reads]
    while ready:
        following: list[CallId] = []
        for at in ready:
            yield at, calls[at]
            for user, _ in graph.readers.get(at, ()):
                if at in missing[user]:
                    missing[user].discard(at)
                    if not missing[user]:
                        following.append(user)
        ready = following
