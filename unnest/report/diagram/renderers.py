"""The function that renders a drawing, by the suffix of the file: SVG, HTML page, Mermaid."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from unnest.report.diagram import html_page, svg
from unnest.report.diagram.drawing import Drawing
from unnest.report.diagram.mermaid import render_mermaid

RENDERERS: Mapping[str, Callable[[Drawing, str], str]] = {
    ".svg": svg.render,
    ".html": html_page.render,
    ".mmd": render_mermaid,
}
"""Suffix of --diagram -> the text of the file, from a drawing and its title."""
