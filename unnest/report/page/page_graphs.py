"""Graphs with their boxes placed, as the page's script draws them.

The places are worked out here and not in the browser. (Measured on a chain of layers with a branch every four:
`layered_layout` places 2,000 in 0.3 s; elkjs 0.12 takes 7 s and 1.6 MB of every page, and dagre 3.1 exceeds the
browser's stack.) Texts from a file are cut to what a page holds, and say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from unnest.report.diagram import svg
from unnest.report.diagram.drawing import ROWS, TEMPLATE, Box, Figure
from unnest.report.escape_stored_names import plain
from unnest.report.page.model_view import LayerPath


class BoxPlace(NamedTuple):
    """The box of a layer: the number of the figure, and of the box in it."""

    figure: int
    box: int


class Pictures:
    """Figures by number, those inside of boxes too; each that is the same object is placed once."""

    def __init__(self) -> None:
        self.figures: list[dict[str, Any] | None] = []
        #: The first place of every layer, by its path.
        self.places: dict[LayerPath, BoxPlace] = {}
        self._numbers: dict[int, tuple[int, Figure]] = {}

    def add(self, figure: Figure, facts: Mapping[LayerPath, int] = MappingProxyType({})) -> int:
        """Return the number of a figure; `facts` are numbers of layers' facts by path."""
        waiting: list[tuple[Figure, LayerPath]] = [(figure, ())]
        number = self._number_of(figure)
        for shown, path in waiting:
            at = self._number_of(shown)
            if self.figures[at] is None:
                insides = [*_insides(shown, path)]
                waiting += insides
                self.figures[at] = self._placed(at, shown, path, facts)
        return number

    def _number_of(self, figure: Figure) -> int:
        if id(figure) not in self._numbers:
            # The figure is held, so that no other gets its identity.
            self._numbers[id(figure)] = len(self.figures), figure
            self.figures.append(None)
        return self._numbers[id(figure)][0]

    def _placed(
        self, at: int, figure: Figure, path: LayerPath, facts: Mapping[LayerPath, int]
    ) -> dict[str, Any]:
        """Return a graph as the script draws it: boxes with places, arrows and frames."""
        picture = svg.place_boxes(figure)
        layout = picture.layout
        numbers = {box.key: number for number, box in enumerate(figure.nodes)}
        boxes = []
        for number, box in enumerate(figure.nodes):
            x, y = layout.middles[box.key]
            own = None if _is_folded(box) else facts.get((*path, box.name))
            if own is not None:
                self.places.setdefault((*path, box.name), BoxPlace(at, number))
            inside = -1 if box.inside is None else self._number_of(box.inside)
            boxes.append([
                svg.short(plain(box.name)), svg.short(plain(svg.caption(box))), box.role,
                round(x), round(y), round(svg.box_width(box)), inside, -1 if own is None else own, shorten(box.name),
            ])  # fmt: skip
        edges = [
            [numbers[a], numbers[b], [round(n) for point in layout.routes[a, b] for n in point]]
            for a, b in figure.edges
        ]
        title = shorten(figure.title)
        frames = [
            [*map(round, (*frame.edges, *frame.label_at)), frame.label, [numbers[key] for key in frame.members]]
            for frame in picture.frames
        ]  # fmt: skip
        return {
            "title": title,
            "extent": [*map(round, picture.extent)],
            "boxes": boxes,
            "edges": edges,
            "frames": frames,
            "layers": _layer_count(figure),
        }


def _layer_count(figure: Figure) -> int:
    """The number of layers; 0 where no graph is stored, and the boxes stand for a wrapper that was inferred."""
    return 0 if any(box.kind in (ROWS, TEMPLATE) for box in figure.nodes) else figure.layers


def _is_folded(box: Box) -> bool:
    """Return True for a box that stands for several layers of the same graph, or for towers that are not drawn."""
    return box.kind == "layers" or box.role == "more"


def _insides(figure: Figure, path: LayerPath) -> Iterator[tuple[Figure, LayerPath]]:
    for box in figure.nodes:
        if box.inside is not None:
            yield box.inside, path if _is_folded(box) else (*path, box.name)


#: Letters of a name in a graph or a table, and of any other text.
NAME_LETTERS, TEXT_LETTERS = 200, 2_000
#: Items of one list.
ITEMS = 500


def shorten(text: str, letters: int = NAME_LETTERS) -> str:
    """The text, or of a longer one its beginning and its end, and how long it is."""
    if len(text) <= letters:
        return text
    end = letters // 5
    return f"{text[: letters - end]}\u2026{text[-end:]} ({len(text):,} letters)"


def shorten_all(value: object) -> object:
    """A value of the JSON report with every text cut, and lists of ITEMS items at most."""
    if isinstance(value, str):
        return shorten(value, TEXT_LETTERS)
    if isinstance(value, Mapping):
        return {shorten(str(key), TEXT_LETTERS): shorten_all(part) for key, part in value.items()}
    if isinstance(value, Sequence):
        shown = [shorten_all(part) for part in value[:ITEMS]]
        return shown if len(value) <= ITEMS else [*shown, f"\u2026 and {len(value) - ITEMS:,} more"]
    return value
