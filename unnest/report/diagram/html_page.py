"""A drawing as a page: before and after side by side, and boxes that stand for many layers open on a click."""

from __future__ import annotations

from collections.abc import Iterator

from unnest.report.diagram import svg
from unnest.report.diagram.drawing import Box, Drawing, Figure
from unnest.report.html_markup import html_text, self_contained_page

STYLE = (
    svg.STYLE
    + """
:root{color-scheme:light dark}
body{margin:0;padding:1.5rem;font:15px/1.5 ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif;
background:#fff;color:#1c2430}
h1{font-size:1.2rem;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1rem;margin:0 0 .75rem;overflow-wrap:anywhere}
main{display:flex;flex-wrap:wrap;gap:1.25rem;align-items:flex-start}
figure,details{margin:0;padding:1rem;border:1px solid #d5dae0;border-radius:10px;max-width:100%;box-sizing:border-box}
figure>div,details>div{overflow:auto;max-width:100%;max-height:90vh}
details{margin-top:1rem}
summary{cursor:pointer;font-weight:600;overflow-wrap:anywhere}
details>div{margin-top:.75rem}
ul{list-style:none;display:flex;flex-wrap:wrap;gap:.4rem 1.2rem;padding:0;margin:.5rem 0 1.25rem}
li svg{vertical-align:-2px;margin-right:.4rem}
p{margin:.25rem 0 1rem;color:#5a6675}
@media (prefers-color-scheme: dark){body{background:#151a21;color:#e8ecf1}p{color:#a9b4c1}
figure,details{border-color:#39424e}}
"""
)

#: A box leads to its layers below; they open, and so do those around them.
SCRIPT = """
function show(){
  var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  for (var e = target; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  if (target) target.scrollIntoView();
}
document.addEventListener('click', function (event) {
  var link = event.target.closest && event.target.closest('a');
  if (link && link.getAttribute('href') === location.hash) { event.preventDefault(); show(); }
});
window.addEventListener('hashchange', show);
show();
"""


def render(drawing: Drawing, title: str) -> str:
    """Return the whole page as HTML text."""
    opened: dict[int, tuple[str, Box]] = {}

    def link(node: Box) -> str | None:
        if node.inside is None:
            return None
        return opened.setdefault(id(node.inside), (f"layers-{len(opened) + 1}", node))[0]

    figures = [
        _figure(f, link) for f in (*drawing.before, *([drawing.after] if drawing.after else []))
    ]
    told = f"<p>{html_text(drawing.refusal)}</p>" if drawing.refusal else ""
    hint = "<p>Boxes with layers inside open on a click.</p>" if opened else ""
    sections = [*_details(opened, link)]
    body = "\n".join(
        [
            f"<h1>{html_text(title)}</h1>",
            told,
            hint,
            _legend(drawing),
            "<main>",
            *figures,
            "</main>",
            *sections,
        ]
    )
    return self_contained_page(title, body, STYLE, SCRIPT)


def _figure(figure: Figure, link: svg.Link) -> str:
    return f"<figure><h2>{html_text(figure.title)}</h2><div>{svg.fragment(figure, link)}</div></figure>"


def _details(opened: dict[int, tuple[str, Box]], link: svg.Link) -> Iterator[str]:
    """Yield a part of the page for every box that opens, nested ones further down."""
    done: set[int] = set()
    while waiting := [key for key in opened if key not in done]:
        for key in waiting:
            done.add(key)
            name, node = opened[key]
            assert node.inside is not None
            yield (
                f'<details id="{name}"><summary>{html_text(node.name)}: {node.inside.layers:,} layers</summary>'
                f"<div>{svg.fragment(node.inside, link)}</div></details>"
            )


def _legend(drawing: Drawing) -> str:
    items = "".join(
        f'<li><svg width="18" height="14"><g class="n {role}"><rect x="1" y="1" width="16" height="12" rx="3"/></g>'
        f"</svg>{html_text(meaning)}</li>"
        for role, meaning in svg.legend(drawing).items()
    )
    return f"<ul>{items}</ul>"
