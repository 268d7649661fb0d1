"""A report as a notebook shows it: what the file is, a picture, and what to do next."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from unnest.report.markup import text

if TYPE_CHECKING:
    from unnest.report.result import Report


class Picture(str):
    """A drawing as text: SVG, HTML or Mermaid. A notebook shows SVG and HTML as what they are."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return str(self) if self.lstrip().startswith("<") else None


def as_html(report: Report, action: str | None, output: str | None) -> str:
    """Return a report as a fragment of HTML; everything that comes out of a file is escaped in it."""
    state = action or report.verdict
    parts = [f"<p><b>{text(report.path)}</b>: {text(state)}{text(_details(report))}</p>"]
    if report.error is not None:
        return "".join([*parts, f"<p>{text(report.error.message)}</p>"])
    with suppress(ValueError, OSError):  # the file is gone, or has no graph
        parts.append(report.diagram())
    if output is not None:
        parts.append(f"<p>output: <code>{text(output)}</code></p>")
    step = report.load if report.verdict == "clean" or output is not None else f"unnest.fix({report.path!r})"
    return "".join([*parts, *([f"<p>next: <code>{text(step)}</code></p>"] if step else [])])


def _details(report: Report) -> str:
    if not report.wrappers:
        return ""
    wrapper = report.wrappers[0]
    towers = "" if wrapper.towers is None else f" in {wrapper.towers} towers"
    return f", {wrapper.template}{towers}"
