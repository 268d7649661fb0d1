"""One frame around the towers of a wrapper, with a label that no arrow crosses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from unnest.report.diagram.drawing import Box, Figure
from unnest.report.diagram.layered_layout import BOX, PlacedFigure, Point

#: Space around the towers, and pixels of a letter of the label.
SPACE, LETTER = 14.0, 6.5
#: The label's strip outside of the frame, from the frame's edge, and the distance to what stands beside the label.
STRIP, AWAY = (3.0, 18.0), 6.0
#: Parts of an arrow's curve, each taken as straight.
CURVE_PARTS = 24

Span: TypeAlias = tuple[float, float]


class Rectangle(NamedTuple):
    """Edges, in pixels."""

    left: float
    top: float
    right: float
    bottom: float


class TowerFrame(NamedTuple):
    """The frame, its label, the label's left end on its baseline, and the keys of the towers."""

    edges: Rectangle
    label: str
    label_at: Point
    members: Sequence[str]

    @property
    def extent(self) -> Rectangle:
        """The frame and its label."""
        left, top, right, bottom = self.edges
        x, y = self.label_at
        end = x + len(self.label) * LETTER
        return Rectangle(min(left, x), min(top, y - STRIP[1]), max(right, end), max(bottom, y + 4))


def tower_groups(figure: Figure) -> list[list[str]]:
    """The keys of the towers of each wrapper, those that are drawn as one included."""
    groups: dict[int, list[str]] = {}
    for node in figure.nodes:
        if node.wrapper is not None and node.role in ("tower", "more"):
            groups.setdefault(node.wrapper, []).append(node.key)
    return [*groups.values()]


def frames(figure: Figure, layout: PlacedFigure, widths: dict[str, float]) -> list[TowerFrame]:
    """Return the frame of each wrapper's towers; `widths` are those of the boxes, by key."""
    boxes = {
        key: Rectangle(x - widths[key] / 2, y - BOX / 2, x + widths[key] / 2, y + BOX / 2)
        for key, (x, y) in layout.middles.items()
    }
    groups = tower_groups(figure)
    around = [_around([boxes[key] for key in group]) for group in groups]
    towers = {node.key: node for node in figure.nodes}
    result: list[TowerFrame] = []
    for group, edges in zip(groups, around, strict=True):
        label = _label([towers[key] for key in group])
        others = [*boxes.values(), *(other for other in around if other != edges)]
        taken = [*others, *(frame.extent for frame in result)]
        at = _free_place(edges, len(label) * LETTER, taken, layout.routes.values())
        result.append(TowerFrame(edges, label, at, group))
    return result


def _around(boxes: Sequence[Rectangle]) -> Rectangle:
    return Rectangle(
        min(box.left for box in boxes) - SPACE,
        min(box.top for box in boxes) - SPACE,
        max(box.right for box in boxes) + SPACE,
        max(box.bottom for box in boxes) + SPACE,
    )


def _label(towers: Sequence[Box]) -> str:
    count = sum(tower.stands_for if tower.role == "more" else 1 for tower in towers)
    return f"{count:,} tower{'' if count == 1 else 's'}, one set of weights"


def _free_place(
    frame: Rectangle,
    width: float,
    boxes: Iterable[Rectangle],
    routes: Iterable[Sequence[Point]],
) -> Point:
    """Left end and baseline of a text above or below the frame, as little beyond its sides as free space allows."""
    boxes, routes = [*boxes], [*routes]
    near, far = STRIP
    best: tuple[float, Point] | None = None
    for top, bottom in (
        (frame.top - far, frame.top - near),
        (frame.bottom + near, frame.bottom + far),
    ):
        strip = (top, bottom)
        taken = [(b.left, b.right) for b in boxes if b.top < bottom and b.bottom > top]
        taken += [span for route in routes for span in _spans(route, strip)]
        for low, high in _gaps(taken):
            if high - low >= width:
                x = min(max(frame.left + 4, low), high - width)
                beyond = max(0.0, frame.left - x) + max(0.0, x + width - frame.right)
                if best is None or beyond < best[0]:
                    best = (beyond, (x, bottom - 4))
    assert best is not None  # the outermost gaps have no end
    return best[1]


def _gaps(taken: Iterable[Span]) -> Iterator[Span]:
    """Yield the free spans between those that are taken."""
    end = float("-inf")
    for low, high in sorted(taken):
        if low - AWAY > end:
            yield end, low - AWAY
        end = max(end, high + AWAY)
    yield end, float("inf")


def _spans(route: Sequence[Point], strip: Span) -> Iterator[Span]:
    """Yield what a route covers of a strip, from left to right."""
    top, bottom = strip
    for i, (start, end) in enumerate(pairwise(route)):
        if start[1] < bottom and end[1] > top:
            for (xa, ya), (xb, yb) in pairwise(curve_points(start, end, curved=i % 2 == 0)):
                if ya < bottom and yb > top:
                    yield min(xa, xb), max(xa, xb)


def curve_points(start: Point, end: Point, *, curved: bool) -> list[Point]:
    """Points of an arrow between two rows: of a curve as `svg` draws it, or of a straight line."""
    (x0, y0), (x1, y1) = start, end
    half = (y0 + y1) / 2
    if not curved:
        return [start, end]
    points = []
    for n in range(CURVE_PARTS + 1):
        t = n / CURVE_PARTS
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
        points.append(((a + b) * x0 + (c + d) * x1, a * y0 + (b + c) * half + d * y1))
    return points
