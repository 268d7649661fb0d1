"""The text report of many models: a row for each, and the summary lines that follow the last one."""

from __future__ import annotations

from collections.abc import Iterator

from unnest.report.batch_row_facts import STATES, facts
from unnest.report.escape_stored_names import plain
from unnest.report.model_contents_text import count
from unnest.report.result import Report, Result, Tally, state_of
from unnest.report.text_report import HARD_SPACE, PAINT, Look, wrap

#: Widths of the columns of a row. The paths' is smaller on a narrow terminal, and larger on a wide one; facts stand
#: below a longer path.
VERDICT, ACTION, PATH = 10, 13, 36
NARROW, NARROW_PATH = 100, 20
WIDE, WIDE_PATH = 140, 44


def row(report: Report, look: Look) -> str:
    """One model of many, in one line; on a terminal, in as many as it takes."""
    paint = PAINT if look.color else {}
    state, width = state_of(report), ACTION if isinstance(report, Result) else VERDICT
    start, end = paint.get(state, ""), paint.get("end", "")
    column = _path_column(look)
    path, parts = plain(report.path), [plain(fact) for fact in facts(report)]
    line = f"{state:{width}}  {path:{column}}  {'; '.join(parts)}".rstrip()
    if look.wraps and len(line) > look.width:
        room = look.width - width - (column if len(path) <= column else 0) - 4
        told = "; ".join(p.replace(" ", HARD_SPACE) if len(p) < room else p for p in parts)
        told = told.replace("-> ", f"->{HARD_SPACE}", 1)
        if len(path) > column:
            below = wrap(HARD_SPACE * (width + 4) + told, look, width + 4)
            line = f"{state:{width}}  {path}\n{below}".rstrip()
        else:
            head = f"{state:{width}}  {path:{column}}  ".replace(" ", HARD_SPACE)
            line = wrap(head + told, look, width + column + 4)
        line = line.replace(HARD_SPACE, " ")
    if report.error is not None:
        return f"{start}{line}{end}"
    return f"{start}{line[:width]}{end}{line[width:]}"


def _path_column(look: Look) -> int:
    """Return how wide the column of paths is."""
    if look.wraps and look.width < NARROW:
        return NARROW_PATH
    return WIDE_PATH if look.wraps and look.width >= WIDE else PATH


def summary(tally: Tally) -> str:
    """Return the number of files of each action, or without actions of each verdict, in one line."""
    verdicts = [
        f"{tally.verdicts[v]} {v}" for v in ("unreadable", "parallel", "clean") if tally.verdicts[v]
    ]
    actions = tally.actions + tally.copies
    actions["unchanged"] -= tally.copies.total()
    done = [f"{actions[action]} {action}" for action in STATES if actions[action]]
    return f"{count(tally.files, 'file')}: {', '.join([*done] or verdicts)}"


def kinds(tally: Tally) -> Iterator[str]:
    """Yield a line for every verdict, container and Keras version, with the number of files; none where all are alike.

    A line for each finding that is a warning follows.
    """
    if len(tally.kinds) > 1:
        for (verdict, what, version), number in sorted(
            tally.kinds.items(), key=lambda item: (item[0][0], -item[1], item[0])
        ):
            yield f"{number:6,}  {verdict:{VERDICT}}  {plain(what + (f', Keras {version}' if version else ''))}"
    for code, number in sorted(tally.warnings.items()):
        yield f"{number:6,}  {'warning':{VERDICT}}  {code}"
