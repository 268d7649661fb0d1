"""Draw a model and the wrapper in it: as SVG, as a page, as Mermaid, and as a tree for the terminal.

Start at `drawing`, which makes a small value of the architecture and of what was recognised in it; one module a form
renders that. A terminal needs none of the three of a file, so they are not loaded with the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from unnest.report.diagram.drawing import Drawing

#: What a file of a diagram is written as: its suffix without the dot.
Form: TypeAlias = Literal["svg", "html", "mmd"]


def render(drawing: Drawing, title: str, form: Form) -> str:
    """Return the text of the file of a drawing: SVG, a self-contained page, or a Mermaid flowchart."""
    from unnest.report.diagram import html_page, mermaid, svg

    renderers = {"svg": svg.render, "html": html_page.render, "mmd": mermaid.render}
    return renderers[form](drawing, title)
