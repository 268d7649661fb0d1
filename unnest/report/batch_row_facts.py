"""Facts on one of many models, for a row of the text report or of the page: its state's kind, and what a row says.

A state is a verdict (`inspect`) or an action (`fix`). `batch_text` lays the facts out for the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator

from unnest.report.model_contents_text import count
from unnest.report.result import Report, Result, warnings
from unnest.report.text_report import towers

#: Kind of state -> the verdicts and actions of that kind, the worst first; summaries and pages list them so.
KINDS = {
    "trouble": ("failed", "refused", "unreadable"),
    "found": ("parallel", "would-fix", "would-convert"),
    "good": ("fixed", "converted", "copied", "would-copy", "unchanged", "clean"),
}


#: Verdict or action -> its kind.
STATES = {state: kind for kind, states in KINDS.items() for state in states}


def facts(report: Report) -> Iterator[str]:
    """Yield what a row says of a model: its error, or its wrappers, where it loads, and how many warnings there are."""
    if report.error is not None:
        yield report.error.message.removeprefix(f"{report.path}: ")
        return
    if isinstance(report, Result) and report.output not in (None, report.path):
        yield f"-> {report.output}"
    if report.wrappers:
        yield f"{towers(report.wrappers)} of {report.wrappers[-1].template}"
    if _writer(report):
        yield _writer(report)
    if report.loads_in:
        yield f"loads in {', '.join(_brief(software) for software in report.loads_in)}"
    if report.fix_would is not None and "refuse" in report.fix_would:
        yield "fix will refuse it"
    if found := warnings(report):
        yield count(len(found), "warning")


def _brief(software: str) -> str:
    return software.split(",", maxsplit=1)[0].removesuffix(" (Keras 2)")


def _writer(report: Report) -> str:
    """The software that wrote a file, as far as it says."""
    return f"Keras {report.writer.keras_version}" if report.writer.keras_version else ""
