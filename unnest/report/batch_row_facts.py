"""Facts on one of many models, for a row of the text report: its state's kind, and what a row says.

A state is a verdict (`inspect`) or an action (`fix`). `batch_text` lays the facts out for the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator

from unnest.report.model_contents_text import count
from unnest.report.result import Report, Result, warnings
from unnest.report.text_report import may_be_parallel, towers

#: Codes of warnings that a row names; of more it has the number.
CODES_NAMED = 3

#: Kind of state -> the verdicts and actions of that kind, the worst first; summaries and pages list them so.
KINDS = {
    "trouble": ("failed", "refused", "unreadable"),
    "found": ("parallel", "would-fix", "would-convert"),
    "good": ("fixed", "converted", "copied", "would-copy", "unchanged", "clean"),
}


#: Verdict or action -> its kind.
STATES = {state: kind for kind, states in KINDS.items() for state in states}


def facts(report: Report) -> Iterator[str]:
    """Yield what a row says of a model: its error, or wrappers, the newest software that loads it, and warnings."""
    if report.error is not None:
        yield report.error.message.removeprefix(f"{report.path}: ")
        return
    if isinstance(report, Result) and report.output not in (None, report.path):
        yield f"-> {report.output}"
    if report.wrappers:
        yield f"{towers(report.wrappers)} of {report.wrappers[-1].template}"
    if report.contents == "weights":
        yield "weights only"
    if may_be_parallel(report):
        yield "may be parallel: pass --architecture MODEL.json to be sure"
    if report.writer.keras_version:
        yield f"Keras {report.writer.keras_version}"
    if report.loads_in:
        yield f"loads in {_brief(report.loads_in[0])}"
    if report.fix_would is not None and "refuse" in report.fix_would:
        yield "fix will refuse it"
    codes = [*dict.fromkeys(finding.code for finding in warnings(report))]
    if len(codes) > CODES_NAMED:
        yield count(len(codes), "warning")
    elif codes:
        yield f"warning: {', '.join(codes)}"


def _brief(software: str) -> str:
    """Return software and what it needs, without what the row says elsewhere."""
    return software.replace(" (Keras 2)", "").replace(", which wrote it", "")
