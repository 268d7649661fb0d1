"""Many files as one page: a row a file, sorted by a click on a column's head, filtered by words and by what it is.

Of `inspect` that is the verdict, of `fix` the action.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from unnest.report import text as lines
from unnest.report.markup import page, text
from unnest.report.result import Report, Result, Tally

STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--dim:#5a6675;--line:#d5dae0;--head:#f3f5f7;--page:#fff;
--good:#1f7a3f;--found:#9a5b00;--trouble:#b3261e}
@media (prefers-color-scheme: dark){:root{--ink:#e8ecf1;--dim:#a9b4c1;--line:#39424e;--head:#222933;--page:#151a21;
--good:#63c184;--found:#e0aa4a;--trouble:#ff8a80}}
body{margin:0;padding:1.5rem;background:var(--page);color:var(--ink);
font:14px/1.45 ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif}
h1{font-size:1.25rem;margin:0 0 .25rem}
p{margin:.2rem 0 1rem;color:var(--dim)}
form{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;margin:0 0 .75rem}
input[type=search]{font:inherit;padding:.35rem .6rem;min-width:min(20rem,100%);border:1px solid var(--line);
border-radius:6px;background:var(--page);color:var(--ink)}
label{white-space:nowrap}
div.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line)}
th{position:sticky;top:0;background:var(--head);white-space:nowrap}
th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid var(--found)}
th[aria-sort=ascending] button::after{content:" ▲"}
th[aria-sort=descending] button::after{content:" ▼"}
td.path{overflow-wrap:anywhere;min-width:14rem}
td.number{text-align:right}
.state{font-weight:600}
.good .state{color:var(--good)}.found .state{color:var(--found)}
.trouble .state,.error{color:var(--trouble)}
summary{cursor:pointer;color:var(--dim);white-space:nowrap}
details[open]{min-width:min(36rem,80vw)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0 0;font:12px/1.45 ui-monospace,Menlo,Consolas,monospace}
tr[hidden]{display:none}
@media print{form{display:none}}
"""

SCRIPT = """
var body = document.querySelector('tbody'), rows = Array.prototype.slice.call(body.rows);
var words = document.getElementById('words'), shown = document.getElementById('shown');
var boxes = Array.prototype.slice.call(document.querySelectorAll('input[type=checkbox]'));
var texts = rows.map(function (row) { return row.textContent.toLowerCase(); });
function filter() {
  var wanted = words.value.toLowerCase().split(/\\s+/), count = 0, states = {};
  boxes.forEach(function (box) { states[box.value] = box.checked; });
  rows.forEach(function (row, i) {
    var show = states[row.cells[0].textContent] &&
      wanted.every(function (word) { return texts[i].indexOf(word) >= 0; });
    row.hidden = !show;
    count += show ? 1 : 0;
  });
  shown.textContent = count + ' of ' + rows.length + ' shown';
}
function value(row, column) {
  var cell = row.cells[column], told = cell.getAttribute('data-value');
  return told === null ? cell.textContent.toLowerCase() : Number(told);
}
Array.prototype.forEach.call(document.querySelectorAll('th'), function (head, column) {
  head.firstElementChild.addEventListener('click', function () {
    var up = head.getAttribute('aria-sort') !== 'ascending';
    Array.prototype.forEach.call(document.querySelectorAll('th'), function (other) {
      other.removeAttribute('aria-sort');
    });
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    var keys = new Map(rows.map(function (row) { return [row, value(row, column)]; }));
    rows.slice().sort(function (a, b) {
      var x = keys.get(a), y = keys.get(b);
      return (x < y ? -1 : x > y ? 1 : rows.indexOf(a) - rows.indexOf(b)) * (up ? 1 : -1);
    }).forEach(function (row) { body.appendChild(row); });
  });
});
words.addEventListener('input', filter);
boxes.forEach(function (box) { box.addEventListener('change', filter); });
document.querySelector('form').addEventListener('submit', function (event) { event.preventDefault(); });
filter();
"""

HEADS = ("file", "towers", "template", "written by", "container", "loads in", "more")

#: In the head of every page that lists files, and nowhere else: by it a page of ours is known.
MARK = '<meta name="generator" content="unnest: files">'
#: A page begins with its mark within so many bytes.
MARK_WITHIN = 200


def render(reports: Sequence[Report], version: str) -> str:
    """The page; the same reports give the same bytes."""
    tally = Tally()
    for report in reports:
        tally.add(report)
    count = Counter(map(_state, reports))
    boxes = "".join(
        f'<label><input type="checkbox" value="{state}" checked> {state} ({count[state]:,})</label>'
        for state in lines.STATES
        if count[state]
    )
    is_fix = any(isinstance(report, Result) for report in reports)
    heads = "".join(
        f'<th scope="col"><button type="button">{head}</button></th>'
        for head in (("action", *HEADS[:1], "output", *HEADS[1:]) if is_fix else ("verdict", *HEADS))
    )
    rows = "\n".join(map(_row, sorted(reports, key=lambda report: [*lines.KINDS].index(lines.STATES[_state(report)]))))
    body = f"""<h1>{text(lines.summary(tally))}</h1>
<p>unnest {text(version)}</p>
<form role="search">
<input type="search" id="words" placeholder="filter by words" aria-label="filter by words">{boxes}
<span id="shown"></span>
</form>
<div class="wide"><table>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>"""
    return page(f"unnest {'fix' if is_fix else 'inspect'}", body, STYLE, SCRIPT, head=MARK)


def is_page(beginning: bytes) -> bool:
    """Whether a file that begins so is a page that `render` made."""
    return MARK.encode() in beginning[:MARK_WITHIN]


def _state(report: Report) -> str:
    """What the first column says, which is filtered by."""
    return report.action if isinstance(report, Result) else report.verdict


def _row(report: Report) -> str:
    towers = [wrapper.towers for wrapper in report.wrappers if wrapper.towers is not None]
    template = report.wrappers[-1].template if report.wrappers else ""
    cells = [f'<td class="state">{_state(report)}</td>', f'<td class="path">{text(report.path)}</td>']
    if isinstance(report, Result):
        cells.append(f'<td class="path">{text("" if report.error else report.output or "")}</td>')
    cells += [
        f'<td class="number" data-value="{max(towers, default=0)}">{" x ".join(map(str, towers))}</td>',
        f"<td>{text(template)}</td>",
        f"<td>{text(lines.writer(report))}</td>",
        f"<td>{text(report.container or '')}</td>",
        f"<td>{text('; '.join(report.loads_in))}</td>",
        f"<td>{''.join(_more(report))}</td>",
    ]
    return f'<tr class="{lines.STATES[_state(report)]}">{"".join(cells)}</tr>'


def _more(report: Report) -> Iterator[str]:
    if report.error is not None:
        yield f'<span class="error">{text(report.error.message)}</span>'
    told = "\n".join(lines.render(report, lines.Look(verbose=True)).splitlines()[1:])
    if told:
        yield f"<details><summary>evidence</summary><pre>{text_lines(told)}</pre></details>"


def text_lines(words: str) -> str:
    """Several lines, each made harmless by itself."""
    return "\n".join(text(line) for line in words.splitlines())
