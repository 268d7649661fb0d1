"""Frames around towers in a drawing: where their labels stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from unnest.core.plan import Choices
from unnest.inspection import inspect_anywhere
from unnest.options import PAGE
from unnest.report.diagram import svg
from unnest.report.diagram.drawing import Figure
from unnest.report.diagram.svg import place_boxes
from unnest.report.diagram.tower_frames import LETTER, Rectangle

NUMBER = r"-?\d+(?:\.\d+)?"


def figures(path: Path) -> list[Figure]:
    """The graphs of a file, before it is fixed."""
    report = inspect_anywhere(
        str(path), None, Choices(), trust=False, parts=PAGE._replace(drawing=True)
    )
    assert report.drawing is not None
    return [*report.drawing.before]


def drawn_points(path: str) -> Iterator[tuple[float, float]]:
    """Points of a path as SVG defines it, pixel by pixel: lines, and curves by de Casteljau."""
    here = (0.0, 0.0)
    for letter, text in re.findall(r"([MLC])([^MLC]*)", path):
        numbers = [float(n) for n in re.findall(NUMBER, text)]
        ends = [*zip(numbers[::2], numbers[1::2], strict=True)]
        for n in range(201 if letter != "M" else 0):
            points, t = [here, *ends], n / 200
            while len(points) > 1:
                points = [
                    (a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t)
                    for a, b in pairwise(points)
                ]
            yield points[0]
        here = ends[-1]


def labels(figure: Figure) -> list[Rectangle]:
    """Return the areas that the labels' letters cover: from the baseline up, as wide as they are drawn."""
    return [
        Rectangle(x, y - 10, x + len(frame.label) * LETTER, y + 3)
        for frame in place_boxes(figure).frames
        for x, y in [frame.label_at]
    ]


def holds(rectangle: Rectangle, x: float, y: float) -> bool:
    return rectangle.left < x < rectangle.right and rectangle.top < y < rectangle.bottom


def check(figure: Figure, frames: int) -> None:
    """No arrow and no box reaches a label, and all of it is in the picture."""
    found = labels(figure)
    assert len(found) == frames
    picture = svg.fragment(figure, lambda _: None)
    points = [
        point
        for path in re.findall(r'class="e" d="([^"]+)"', picture)
        for point in drawn_points(path)
    ]
    assert not [(label, p) for label in found for p in points if holds(label, *p)]
    left, top, width, height = map(float, re.findall(r'viewBox="([^"]+)"', picture)[0].split())
    placed = place_boxes(figure)
    for label in found:
        assert left <= label.left
        assert label.right <= left + width
        assert top <= label.top
        assert label.bottom <= top + height
        for box in figure.nodes:
            x, y = placed.layout.middles[box.key]
            half = svg.box_width(box) / 2
            assert label.right <= x - half or x + half <= label.left or abs(y - label.top) > 24


@pytest.mark.parametrize("towers", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("name", ["t", "tmpl", "a_template_with_a_long_name"])
def test_no_arrow_crosses_a_label(name: str, towers: int, tmp_path: Path) -> None:
    """Beside the towers where there is no space between the arrows."""
    template = makeh5.template(name)
    weights = {
        "x": [],
        **{f"lambda_{i + 1}": [] for i in range(towers)},
        name: makeh5.dense(),
        "d1": [],
    }
    path = makeh5.write(tmp_path / "m.h5", makeh5.parallel(template, towers), weights)
    (figure,) = figures(path)
    check(figure, 1)


@pytest.mark.parametrize(
    ("name", "frames"),
    [
        ("k224/official-cnn-adam/parallel.h5", 1),
        ("k224/official-multiio-tjson/weights.h5", 1),
        ("saved_model/tf23/plain-official-named/parallel", 1),
        ("k224/lookalike-ensemble-sgd/lookalike.h5", 0),
    ],
)
def test_genuine_graphs(name: str, frames: int) -> None:
    """Several inputs and outputs, wrappers whose graph is not stored, and towers that share nothing."""
    for figure in figures(FIXTURES / name):
        check(figure, frames)
