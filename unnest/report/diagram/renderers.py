"""The module that renders a drawing, for each kind of file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from unnest.report.diagram import mermaid, page, svg
from unnest.report.diagram.drawing import Drawing

RENDERERS: Mapping[str, Callable[[Drawing, str], str]] = {
    ".svg": svg.render,
    ".html": page.render,
    ".mmd": mermaid.render,
}
"""Suffix of --diagram -> the text of the file, from a drawing and its title."""
