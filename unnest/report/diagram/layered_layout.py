"""A layered layout: boxes in rows by how far they are from the inputs, crossings few, arrows around the boxes.

Our own, since what there is in Python wants Graphviz on the machine, or does not place long arrows; the method is
Sugiyama's with barycentres. Boxes are as wide as their text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

ROW, BOX, GAP, LANE = 84.0, 48.0, 22.0, 12.0
SWEEPS = 14
#: Points of arrows beyond which long ones are drawn straight.
MOST_POINTS = 20_000

Point = tuple[float, float]


class PlacedFigure(NamedTuple):
    """Middles of the boxes by key, and the points that each arrow runs through, box to box; all in pixels."""

    middles: Mapping[str, Point]
    routes: Mapping[tuple[str, str], Sequence[Point]]
    width: float
    height: float


def place(
    widths: Mapping[str, float],
    edges: Iterable[tuple[str, str]],
    groups: Iterable[Sequence[str]] = (),
) -> PlacedFigure:
    """Lay out boxes of these widths, given in an order in which each follows those that it reads.

    The boxes of a group, none of which reads another, stand side by side in one row.
    """
    edges, groups = [*edges], [*groups]
    rows_of = _rows_of([*widths], edges, groups)
    chains = _with_points(rows_of, edges)
    rows: list[list[str]] = [[] for _ in range(max(rows_of.values(), default=0) + 1)]
    for key, row in rows_of.items():
        rows[row].append(key)
    beside = _neighbours(chains)
    _untangle(rows, beside, {key: group for group in groups for key in group})
    middles = _columns(rows, beside, {**dict.fromkeys(rows_of, LANE), **widths})
    left = min((x - widths.get(k, LANE) / 2 for k, x in middles.items()), default=0.0)
    width = max((x + widths.get(k, LANE) / 2 for k, x in middles.items()), default=0.0) - left
    at = {key: (middles[key] - left, rows_of[key] * ROW + BOX / 2) for key in middles}
    routes = {
        edge: _route([at[key] for key in chain]) for edge, chain in zip(edges, chains, strict=True)
    }
    return PlacedFigure(
        {key: at[key] for key in widths}, routes, width, (len(rows) - 1) * ROW + BOX
    )


def _rows_of(
    keys: Sequence[str], edges: Iterable[tuple[str, str]], groups: Sequence[Sequence[str]]
) -> dict[str, int]:
    """Key -> row: one below the lowest that it reads; a group's is below all that the group reads.

    An input sits right above the box that it feeds, unless it belongs to a group.
    """
    reads: dict[str, list[str]] = {key: [] for key in keys}
    feeds: dict[str, list[str]] = {key: [] for key in keys}
    for start, end in edges:
        reads[end].append(start)
        feeds[start].append(end)
    rows: dict[str, int] = {}
    for key in keys:
        rows[key] = max((rows[r] + 1 for r in reads[key]), default=0)
    for group in groups:
        rows.update(dict.fromkeys(group, max(rows[key] for key in group)))
        for key in keys:
            rows[key] = max([rows[key], *(rows[r] + 1 for r in reads[key])])
    grouped = {key for group in groups for key in group}
    for key in keys:
        if not reads[key] and feeds[key] and key not in grouped:
            rows[key] = min(rows[f] for f in feeds[key]) - 1
    return rows


def _with_points(rows: dict[str, int], edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Return each edge as a chain over neighbouring rows; the points in between are added to `rows`."""
    points = sum(rows[end] - rows[start] - 1 for start, end in edges)
    chains = []
    for number, (start, end) in enumerate(edges):
        between = range(rows[start] + 1, rows[end]) if points <= MOST_POINTS else range(0)
        names = [f"\0{number} {row}" for row in between]
        rows.update(zip(names, between, strict=True))
        chains.append([start, *names, end])
    return chains


def _neighbours(
    chains: Iterable[Sequence[str]],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Key -> neighbours above, and key -> neighbours below."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for chain in chains:
        for start, end in pairwise(chain):
            above.setdefault(end, []).append(start)
            below.setdefault(start, []).append(end)
    return above, below


def _untangle(
    rows: list[list[str]],
    beside: tuple[dict[str, list[str]], dict[str, list[str]]],
    group_of: Mapping[str, Sequence[str]],
) -> None:
    """Order each row by the mean place of the neighbours, down and up in turn; a group by the mean of its boxes."""
    place_of: dict[str, float] = {}

    def remember(row: Sequence[str]) -> None:
        place_of.update({key: (i + 0.5) / len(row) for i, key in enumerate(row)})

    def mean(key: str) -> float:
        around = [place_of[n] for n in neighbours.get(key, ())] or [place_of[key]]
        return sum(around) / len(around)

    def by_group(key: str) -> tuple[float, str, float]:
        group = group_of.get(key, (key,))
        return sum(map(mean, group)) / len(group), group[0], mean(key)

    for row in rows:
        remember(row)
    for sweep in range(SWEEPS):
        neighbours = beside[sweep % 2]
        for row in rows if sweep % 2 == 0 else reversed(rows):
            row.sort(key=by_group if group_of.keys() & set(row) else mean)
            remember(row)


def _columns(
    rows: Sequence[Sequence[str]],
    beside: tuple[Mapping[str, list[str]], Mapping[str, list[str]]],
    widths: Mapping[str, float],
) -> dict[str, float]:
    """Return the middle of each box, by its key: as near to the mean of its neighbours as the others of its row allow.

    `beside` are the neighbours above and those below, which count in turn.
    """
    middles: dict[str, float] = {}
    for row in rows:
        x = 0.0
        for key in row:
            middles[key] = x + widths[key] / 2
            x += widths[key] + GAP
        for key in row:
            middles[key] -= x / 2
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            means = []
            for key in row:
                around = [middles[n] for n in beside[sweep % 2].get(key, ())] or [middles[key]]
                means.append(sum(around) / len(around))
            middles.update(zip(row, _apart(means, [widths[k] for k in row]), strict=True))
    return middles


def _apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return the places nearest to those wanted (least squares) that keep order and gaps."""
    offsets, total = [], 0.0
    for i, width in enumerate(widths):
        total += (widths[i - 1] + width) / 2 + GAP if i else 0.0
        offsets.append(total)
    blocks: list[list[float]] = []
    for value in (w - o for w, o in zip(wanted, offsets, strict=True)):
        blocks.append([value, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, count = blocks.pop()
            blocks[-1] = [
                (blocks[-1][0] * blocks[-1][1] + mean * count) / (blocks[-1][1] + count),
                blocks[-1][1] + count,
            ]
    flat = [mean for mean, count in blocks for _ in range(int(count))]
    return [f + o for f, o in zip(flat, offsets, strict=True)]


def _route(chain: Sequence[Point]) -> list[Point]:
    """Return an arrow's points: from the first box's lower edge to the last one's upper, straight past rows between."""
    (x0, y0), *between, (x1, y1) = chain
    points = [(x0, y0 + BOX / 2)]
    for x, y in between:
        points += [(x, y - BOX / 2), (x, y + BOX / 2)]
    return [*points, (x1, y1 - BOX / 2)]
