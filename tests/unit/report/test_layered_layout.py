"""The layout: rows follow the arrows, boxes never touch."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from unnest.report.diagram.layered_layout import BOX, GAP, place


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """Boxes of some width, each of which reads some of those before it."""
    count = draw(st.integers(1, 12))
    widths = {str(n): draw(st.floats(10, 300)) for n in range(count)}
    edges = [(str(a), str(b)) for b in range(count) for a in range(b) if draw(st.booleans())]
    return widths, edges


@given(graphs())
def test_arrows_lead_down_and_boxes_are_apart(
    graph: tuple[dict[str, float], list[tuple[str, str]]],
) -> None:
    """Every box lies in the picture, below all that it reads; no two of a row overlap."""
    widths, edges = graph
    layout = place(widths, edges)
    at = layout.middles
    assert all(at[end][1] - at[start][1] >= BOX for start, end in edges)
    rows: dict[float, list[str]] = {}
    for key, (x, y) in at.items():
        rows.setdefault(y, []).append(key)
        assert x - widths[key] / 2 >= -1e-6
        assert x + widths[key] / 2 <= layout.width + 1e-6
        assert y + BOX / 2 <= layout.height
    for row in rows.values():
        for left, right in pairwise(sorted(row, key=lambda key: at[key][0])):
            assert at[right][0] - at[left][0] >= (widths[left] + widths[right]) / 2 + GAP - 1e-6
    for edge in edges:
        assert layout.routes[edge][0] == (at[edge[0]][0], at[edge[0]][1] + BOX / 2)
        assert layout.routes[edge][-1] == (at[edge[1]][0], at[edge[1]][1] - BOX / 2)


@given(graphs(), st.data())
def test_a_group_stands_side_by_side(
    graph: tuple[dict[str, float], list[tuple[str, str]]], data: st.DataObject
) -> None:
    """Its boxes are in one row, with nothing between; arrows still lead down."""
    widths, edges = graph
    keys = [*widths]
    start = data.draw(st.integers(0, len(keys) - 1))
    group = keys[start : start + data.draw(st.integers(1, 4))]
    edges = [edge for edge in edges if not set(edge) <= set(group)]
    layout = place(widths, edges, [group])
    at = layout.middles
    assert all(at[end][1] - at[begin][1] >= BOX for begin, end in edges)
    assert len({at[key][1] for key in group}) == 1
    row = sorted((key for key in keys if at[key][1] == at[group[0]][1]), key=lambda key: at[key][0])
    places = sorted(row.index(key) for key in group)
    assert places == [*range(places[0], places[0] + len(group))]
