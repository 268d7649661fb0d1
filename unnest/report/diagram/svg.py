"""A drawing as SVG: what there is on the left, what `fix` leaves on the right; light or dark as the reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from unnest.report.diagram.drawing import Box, Drawing, Figure, Role
from unnest.report.diagram.layered_layout import BOX, PlacedFigure, Point, place
from unnest.report.diagram.tower_frames import Rectangle, TowerFrame, frames, tower_groups
from unnest.report.html_markup import html_text

#: Letters of a name that are shown; the rest is in the tooltip.
LETTERS = 30
MARGIN, HEAD, BETWEEN = 24.0, 44.0, 56.0
LETTER, SMALL_LETTER, PADDING = 7.6, 6.2, 26.0

#: What the colours mean, in the order of the legend.
LEGEND: tuple[tuple[Role, str], ...] = (
    ("slice", "slice (removed)"),
    ("tower", "tower: one call of the template"),
    ("merge", "merge (removed)"),
    ("kept", "template (kept)"),
    ("layer", "other layer"),
)

STYLE = """
.n rect{fill:#fff;stroke:#8a94a0;stroke-width:1.2}
.n text,.t,.l text{font:13px ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1c2430}
.n text{text-anchor:middle}
.n .k{font-size:11px;fill:#5a6675}
.t{font-size:15px;font-weight:600}
.l text{font-size:12px}
.e{fill:none;stroke:#8a94a0;stroke-width:1.3}
.a{fill:#8a94a0}
.b{fill:#fff}
.input rect{fill:#eef1f4;stroke:#8a94a0}
.slice rect{fill:#fdeccb;stroke:#b7791f}
.tower rect{fill:#dbe9fb;stroke:#2f6fc1}
.merge rect{fill:#f3e0f5;stroke:#96419f}
.more rect{fill:#dbe9fb;stroke:#2f6fc1;stroke-dasharray:5 4}
.group rect{fill:#f6f7f9;stroke:#8a94a0;stroke-dasharray:5 4}
.kept rect{fill:#dcf3e2;stroke:#2c8049}
.f rect{fill:none;stroke:#2f6fc1;stroke-width:1.6;stroke-dasharray:7 5}
.f text{font:12px ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#2f6fc1}
a:focus rect,a:hover rect{stroke-width:2.4}
@media (prefers-color-scheme: dark){
.n rect{fill:#222933;stroke:#7d8896}
.n text,.t,.l text{fill:#e8ecf1}
.n .k{fill:#a9b4c1}
.e{stroke:#7d8896}
.a{fill:#7d8896}
.b{fill:#151a21}
.input rect{fill:#2a313b}
.slice rect{fill:#4a3a17;stroke:#d9a441}
.tower rect,.more rect{fill:#1e3a5f;stroke:#6ea8ee}
.merge rect{fill:#43264a;stroke:#cb86d4}
.group rect{fill:#1d232c;stroke:#7d8896}
.kept rect{fill:#1d4129;stroke:#63c184}
.f rect{stroke:#6ea8ee}
.f text{fill:#6ea8ee}
}
"""

#: Where a click on a box leads, if anywhere.
Link = Callable[[Box], "str | None"]


class PlacedPicture(NamedTuple):
    """A figure with its boxes placed, the frames of its towers, and what all of it covers."""

    figure: Figure
    layout: PlacedFigure
    frames: Sequence[TowerFrame]
    extent: Rectangle

    @property
    def width(self) -> float:
        """Pixels from left to right."""
        return self.extent.right - self.extent.left

    @property
    def height(self) -> float:
        """Pixels from top to bottom."""
        return self.extent.bottom - self.extent.top

    @property
    def title_width(self) -> float:
        """Pixels of the figure, or of its title where that is wider."""
        return max(self.width, len(short(self.figure.title)) * 8.5)


def place_boxes(figure: Figure) -> PlacedPicture:
    """Lay out a figure; towers of one wrapper stand side by side, in one frame."""
    widths = {node.key: box_width(node) for node in figure.nodes}
    layout = place(widths, figure.edges, tower_groups(figure))
    framed = frames(figure, layout, widths)
    parts = [Rectangle(0.0, 0.0, layout.width, layout.height), *(frame.extent for frame in framed)]
    lefts, tops, rights, bottoms = zip(*parts, strict=True)
    return PlacedPicture(
        figure, layout, framed, Rectangle(min(lefts), min(tops), max(rights), max(bottoms))
    )


def render(drawing: Drawing, title: str) -> str:
    """Return the whole drawing as one SVG file."""
    figures = [*drawing.before, *([drawing.after] if drawing.after else [])]
    pictures = [place_boxes(figure) for figure in figures]
    legend = [*_legend(figures)]
    width = max(sum(picture.title_width for picture in pictures), 360.0)
    width += BETWEEN * (len(figures) - 1) + 2 * MARGIN
    keys, deep = _keys(legend, width - 2 * MARGIN)
    height = HEAD + max(picture.height for picture in pictures) + 2 * MARGIN + deep
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {_size(width, height)} role="img">',
        f"<title>{html_text(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="b" width="{width:.0f}" height="{height:.0f}"/>',
    ]
    x = MARGIN
    for picture in pictures:
        parts.append(
            f'<text class="t" x="{x:.0f}" y="{MARGIN + 6:.0f}">{html_text(short(picture.figure.title))}</text>'
        )
        left = x + (picture.title_width - picture.width) / 2 - picture.extent.left
        parts.append(f'<g transform="translate({left:.1f} {HEAD - picture.extent.top:.0f})">')
        parts += [*_drawn(picture, lambda _: None), "</g>"]
        x += picture.title_width + BETWEEN
    parts.append(
        f'<g transform="translate({MARGIN:.0f} {height - MARGIN - deep + 8:.0f})">{keys}</g>'
    )
    return "\n".join([*parts, "</svg>", ""])


def _size(width: float, height: float) -> str:
    return f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'


def fragment(figure: Figure, link: Link) -> str:
    """Return one figure for a page that has STYLE, sized by its proportions alone."""
    picture = place_boxes(figure)
    left, top = picture.extent.left - 4, picture.extent.top - 4
    width, height = picture.width + 8, picture.height + 8
    body = "\n".join(_drawn(picture, link))
    return (
        f'<svg viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'role="img" aria-label="{html_text(figure.title)}">\n{body}\n</svg>'
    )


def box_width(node: Box) -> float:
    """Return the width of a box in pixels, by its text."""
    return max(len(short(node.name)) * LETTER, len(short(caption(node))) * SMALL_LETTER) + PADDING


def caption(node: Box) -> str:
    """Return the second line of a box: its class, and what it stands for."""
    if node.role == "more":
        return "each as the others, not drawn"
    if node.kind == "layers":
        return f"{node.stands_for:,} layers"
    part = {"slice": "slice", "tower": "tower", "merge": "merge", "kept": "", "input": ""}.get(
        node.role, ""
    )
    inside = f"{node.inside.layers:,} layers" if node.inside is not None else ""
    return " · ".join(dict.fromkeys(fact for fact in (node.kind, part, inside) if fact))


def short(name: str) -> str:
    """Return the name as a box shows it: beginning and end of a long one."""
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 11]}…{name[-10:]}"


def _drawn(picture: PlacedPicture, link: Link) -> Iterator[str]:
    """Yield the SVG elements of a figure: frames, arrows, boxes."""
    figure, layout = picture.figure, picture.layout
    for frame in picture.frames:
        left, top, right, bottom = frame.edges
        x, y = frame.label_at
        yield (
            f'<g class="f"><rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
            f'rx="12"/><text x="{x:.1f}" y="{y:.1f}">{html_text(frame.label)}</text></g>'
        )
    for edge in figure.edges:
        points = layout.routes[edge]
        yield f'<path class="e" d="{_curve(points)}"/>'
        x, y = points[-1]
        yield f'<path class="a" d="M{x:.1f} {y:.1f}l-4.5 -8h9z"/>'
    for node in figure.nodes:
        yield _box(node, layout.middles[node.key], link(node))


def _box(node: Box, middle: tuple[float, float], target: str | None) -> str:
    x, y = middle
    width = box_width(node)
    whole = f"{node.name} ({caption(node)})"
    box = (
        f'<g class="n {node.role}"><title>{html_text(whole)}</title>'
        f'<rect x="{x - width / 2:.1f}" y="{y - BOX / 2:.1f}" width="{width:.1f}" height="{BOX:.0f}" rx="7"/>'
        f'<text x="{x:.1f}" y="{y - 4:.1f}">{html_text(short(node.name))}</text>'
        f'<text class="k" x="{x:.1f}" y="{y + 13:.1f}">{html_text(short(caption(node)))}</text></g>'
    )
    return box if target is None else f'<a href="#{target}">{box}</a>'


def _curve(points: Sequence[Point]) -> str:
    """Return the path of an arrow: straight past rows between, curved from row to row."""
    x, y = points[0]
    path = [f"M{x:.1f} {y:.1f}"]
    for i, (x1, y1) in enumerate(points[1:], 1):
        tip = 7.0 if i == len(points) - 1 else 0.0
        if i % 2 == 0:
            path.append(f"L{x1:.1f} {y1:.1f}")
        else:
            half = (y + y1) / 2
            path.append(f"C{x:.1f} {half:.1f} {x1:.1f} {half:.1f} {x1:.1f} {y1 - tip:.1f}")
        x, y = x1, y1
    return " ".join(path)


def _legend(figures: list[Figure]) -> Iterator[tuple[Role, str]]:
    shown = {node.role for figure in figures for node in figure.nodes}
    yield from ((role, meaning) for role, meaning in LEGEND if role in shown)


def _keys(legend: list[tuple[Role, str]], width: float) -> tuple[str, float]:
    """Return the legend in rows, and its height."""
    x, y, parts = 0.0, 0.0, []
    for role, meaning in legend:
        need = len(meaning) * 6.4 + 44
        if x and x + need > width:
            x, y = 0.0, y + 22
        parts.append(
            f'<g class="n l {role}"><rect x="{x:.0f}" y="{y - 11:.0f}" width="18" height="14" rx="3"/></g>'
            f'<g class="l"><text x="{x + 25:.0f}" y="{y:.0f}">{html_text(meaning)}</text></g>'
        )
        x += need
    return "".join(parts), y + 22


def legend(drawing: Drawing) -> Mapping[Role, str]:
    """Role -> meaning, of those that the drawing shows."""
    return dict(_legend([*drawing.before, *([drawing.after] if drawing.after else [])]))
