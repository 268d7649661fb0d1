"""The end of a report on many files: how many there are of each state, kind and warning."""

from __future__ import annotations

from collections.abc import Iterator

from unnest.report.escape import plain
from unnest.report.model_contents import count
from unnest.report.result import Tally
from unnest.report.text import STATES, VERDICT


def summary(tally: Tally) -> str:
    """Many files in one line."""
    told = [
        f"{tally.verdicts[v]} {v}" for v in ("unreadable", "parallel", "clean") if tally.verdicts[v]
    ]
    actions = tally.actions + tally.copies
    actions["unchanged"] -= tally.copies.total()
    done = [f"{actions[action]} {action}" for action in STATES if actions[action]]
    return f"{count(tally.files, 'file')}: {', '.join([*done] or told)}"


def kinds(tally: Tally) -> Iterator[str]:
    """Many files by kind, a line each: what they are, in which container, by whom; nothing where all are of one.

    A line for each finding that is a warning follows.
    """
    if len(tally.kinds) > 1:
        for (verdict, what, version), number in sorted(
            tally.kinds.items(), key=lambda item: (item[0][0], -item[1], item[0])
        ):
            yield f"{number:6,}  {verdict:{VERDICT}}  {plain(what + (f', Keras {version}' if version else ''))}"
    for code, number in sorted(tally.warnings.items()):
        yield f"{number:6,}  {'warning':{VERDICT}}  {code}"
