"""The commands that a report proposes, with the options that they need."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from unnest.report.result import AsKeras3, Report, Tally
from unnest.report.where_it_loads import UNPROMISED


def fix_command(report: Report) -> str | None:
    """Return the command that takes the wrapper out; None without a wrapper, or where `fix` would refuse the file."""
    if report.fix_would is None or "refuse" in report.fix_would:
        return None
    return _command(report)


def _command(report: Report, *more_options: str) -> str:
    """Return `unnest fix` with the options of this run; for weights alone, also with their architecture."""
    options = [*report.options]
    if report.contents == "weights" and "--architecture" not in options:
        options += ["--architecture", report.architecture_beside or "MODEL.json"]
    return shlex.join(["unnest", "fix", report.path, *options, *more_options])


#: Paths that a command for all of them names.
PATHS_NAMED = 8


def run_steps(tally: Tally, paths: Sequence[str], options: Sequence[str]) -> list[tuple[str, str]]:
    """Return the next steps for all that `inspect` found below the paths: (what it does, command)."""
    if not 0 < len(paths) <= PATHS_NAMED:
        return []
    command = shlex.join(["unnest", "fix", *paths, *options, "-o", "FOLDER"])
    steps = [("Take every wrapper out", command)] if tally.verdicts["parallel"] else []
    if tally.not_in_keras_3:
        steps.append(("Write files that Keras 3 loads", f"{command} --keras 3"))
    return steps


def keras_3_answer(report: Report) -> str | None:
    """Return whether Keras 3 loads an older file as it is ("yes", "yes, but wrong: ...", "no: ..."); None if it does.

    It says nothing of the command that makes a file for Keras 3.
    """
    why = report.does_not_load_in.get("Keras 3")
    if why is None:
        return None
    answer = "not safely. " if why == UNPROMISED else "no: "
    if (report.writer.keras_version or "").startswith("3."):
        return f"no: {why}"
    asked = report.as_keras_3 or AsKeras3()
    if asked.refusal is not None:
        return f"{answer}{why}; --keras 3 refuses it: {asked.refusal}"
    if asked.opens and not asked.altered:
        return f"yes{', with compile=False' if asked.compile_false else ''}"
    return f"yes, but wrong: {', '.join(asked.altered)}" if asked.opens else f"{answer}{why}"


def keras_3_command(report: Report) -> str | None:
    """Return the command that writes what Keras 3 loads; None where it loads the file already, or would be refused."""
    asked = report.as_keras_3 or AsKeras3()
    is_keras_3 = (report.writer.keras_version or "").startswith("3.")
    is_opened = asked.opens and not asked.altered
    if (
        "Keras 3" not in report.does_not_load_in
        or is_keras_3
        or is_opened
        or asked.refusal is not None
    ):
        return None
    return _command(report, "--keras", "3")


def whole_model_command(report: Report) -> str | None:
    """Return the command that joins weights alone with the architecture beside them; None without one."""
    if report.architecture_beside is None:
        return None
    return _command(report, "--keras", "3")
