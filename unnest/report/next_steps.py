"""The commands that a report proposes: take the wrapper out, and write a file that Keras 3 loads."""

from __future__ import annotations

import shlex

from unnest.report.result import AsKeras3, Report


def fix_command(report: Report) -> str | None:
    """The command that takes the wrapper out, or None, or `fix` would refuse the file."""
    if report.fix_would is None or "refuse" in report.fix_would:
        return None
    given = [] if report.contents != "weights" else ["--architecture", report.architecture_beside or "MODEL.json"]
    return shlex.join(["unnest", "fix", report.path, *given])


def keras_3_command(report: Report) -> str | None:
    """The command that writes what Keras 3 loads; None where it loads the file already, or --keras 3 refuses it."""
    asked = report.as_keras_3 or AsKeras3()
    is_keras_3 = (report.writer.keras_version or "").startswith("3.")
    is_opened = asked.opens and not asked.altered
    if "Keras 3" not in report.does_not_load_in or is_keras_3 or is_opened or asked.refusal is not None:
        return None
    given = [*asked.options]
    if report.contents == "weights" and "--architecture" not in given:
        given += ["--architecture", "MODEL.json"]
    return shlex.join(["unnest", "fix", report.path, *given, "--keras", "3"])


def whole_model_command(report: Report) -> str | None:
    """The command that makes a model of weights alone with the architecture beside them; None without one."""
    if report.architecture_beside is None:
        return None
    command = ["unnest", "fix", report.path, "--architecture", report.architecture_beside, "--keras", "3"]
    return shlex.join(command)
