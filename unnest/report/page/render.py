"""The page as text: the data, the styles and the scripts in one file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files

from unnest.report.batch_row_facts import KINDS, STATES, facts
from unnest.report.batch_text import summary
from unnest.report.html_markup import html_text, self_contained_page
from unnest.report.page.page_data import document
from unnest.report.page.page_graphs import shorten
from unnest.report.result import Report, Result, Tally, state_of

#: In the head of every page that `--report` writes, and nowhere else: by it a page of ours is known.
MARK = '<meta name="generator" content="unnest: files">'
#: A page begins with its mark within so many bytes.
MARK_WITHIN = 200

#: Scripts in the order in which each uses those before it.
SCRIPTS = ("elements.js", "table.js", "graph.js", "details.js", "model.js", "rows.js", "start.js")
#: The table library, and the file with its licence.
LIBRARY, LICENSE = "table-core.js", "table-core.LICENSE"


def render(reports: Sequence[Report], paths: Sequence[str] = ()) -> str:
    """Return the page; the same reports give the same bytes. `paths` as in `page_data`."""
    tally = Tally.of(reports)
    is_fix = any(isinstance(report, Result) for report in reports)
    title = shorten(reports[0].path) if len(reports) == 1 else summary(tally)
    body = f"""<header><h1>{html_text(title)}</h1></header>
<main id="page"></main>
<noscript>
<p>Without scripts this page is a table of the files.</p>
<table><tbody>
{chr(10).join(_plain_rows(reports))}
</tbody></table>
</noscript>
<script type="application/json" id="data">{_json_for_script(document(reports, paths))}</script>"""
    command = "fix" if is_fix else "inspect"
    return self_contained_page(
        f"{title} - unnest {command}", body, _asset("page.css"), _library(), _script(), head=MARK
    )


def is_page(beginning: bytes) -> bool:
    """Return True if a file with this beginning is a page that `render` made."""
    return MARK.encode() in beginning[:MARK_WITHIN]


def _json_for_script(data: object) -> str:
    """Data as JSON in which nothing can end or begin an element, ASCII only."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain_rows(reports: Sequence[Report]) -> Iterator[str]:
    """Yield a row a model for browsers without scripts, trouble first."""
    for report in sorted(reports, key=lambda report: [*KINDS].index(STATES[state_of(report)])):
        state = state_of(report)
        cells = [
            f'<td class="state">{state}</td>',
            f'<td class="path">{html_text(shorten(report.path))}</td>',
        ]
        if isinstance(report, Result):
            cells.append(
                f'<td class="path">{html_text(shorten(report.output or "") if not report.error else "")}</td>'
            )
        cells.append(f"<td>{html_text(shorten('; '.join(facts(report)), 500))}</td>")
        yield f'<tr class="{STATES[state]}">{"".join(cells)}</tr>'


def _library() -> str:
    """The table library under its licence, without the line that makes a browser look for its source map."""
    code = [
        line
        for line in _asset(f"vendor/{LIBRARY}").splitlines()
        if not line.startswith("//# sourceMappingURL")
    ]
    return f"/*\nTanStack Table 8.21.3\n\n{_asset(f'vendor/{LICENSE}').strip()}\n*/\n" + "\n".join(
        code
    )


def _script() -> str:
    parts = "\n".join(_asset(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


def _asset(name: str) -> str:
    return files("unnest.report.page").joinpath(name).read_text(encoding="utf-8")
