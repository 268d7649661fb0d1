"""Pictures of a model and of the wrapper in it: as SVG, as a page, as Mermaid, and as a tree for the terminal.

`drawing` makes a small value of the architecture and of what was recognised in it; one module a suffix renders that.
"""

from __future__ import annotations

from unnest.report.diagram import mermaid, page, svg
from unnest.report.diagram.drawing import Drawing, Figure, Node, draw

#: Suffix of --diagram -> its renderer.
RENDERERS = {".svg": svg.render, ".html": page.render, ".mmd": mermaid.render}

__all__ = ["RENDERERS", "Drawing", "Figure", "Node", "draw"]
