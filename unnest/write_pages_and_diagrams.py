"""Write files beside a report (diagrams, pages, plots): complete or absent, and never in an input's place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from unnest.errors import Failed, Refused, UsageError
from unnest.files import overwrite_checks, write_output_atomically
from unnest.files.copy_and_compare import bytes_writer
from unnest.report.balance_text import Measured
from unnest.report.result import Report

if TYPE_CHECKING:
    from unnest.report.diagram import Form


def write_diagram(
    place: str, report: Report, also_read: Sequence[str] = (), *, force: bool
) -> None:
    """Draw the model of a report. `also_read` are inputs besides its own. Raises Refused or Failed, in one line."""
    if report.drawing is None:
        raise Refused(
            "nothing-to-draw",
            f"{report.path}: no graph of layers is stored, and no wrapper was found to draw; try --architecture",
        )
    form = cast("Form", os.path.splitext(place)[1].lower().removeprefix("."))
    write(place, report.diagram(form), [report.path, *also_read], force=force)


def check_report_page(place: str, input_paths: Iterable[str] = (), *, force: bool) -> None:
    """Raise UsageError where `write_report_page` could not write: something else than an earlier page is there."""
    folder = os.path.dirname(place) or "."
    if not os.path.isdir(folder):
        raise UsageError("usage", f"--report {place}: there is no folder {folder}")
    try:
        overwrite_checks.check_not_of_the_system(place)
        overwrite_checks.check_not_an_input(place, overwrite_checks.Inputs.of(input_paths))
        overwrite_checks.check_same_kind(place, folder=False)
    except Refused as e:
        raise UsageError("usage", f"--report {e.message.replace('-o', 'another name')}") from e
    if os.path.lexists(place) and not force and not _is_own(place):
        what = "exists, and is not a report of unnest"
        raise UsageError(
            "usage", f"--report {place}: {what}; choose another name, or replace it with --force"
        )


def write_report_page(
    place: str,
    reports: Sequence[Report],
    also_read: Sequence[str] = (),
    paths: Sequence[str] = (),
    *,
    force: bool,
) -> None:
    """Write the page of one model or many over an earlier page. `also_read`: inputs besides the reports'.

    `paths`: what was given to an `inspect` of many.

    Raises: Refused or Failed, in one line.
    """
    from unnest.report.page.render import render

    read = [report.path for report in reports]
    written = [
        output for report in reports if (output := getattr(report, "output", None)) is not None
    ]
    write(
        place, render(reports, paths), [*read, *written, *also_read], force=force or _is_own(place)
    )


def _is_own(place: str) -> bool:
    """Return True if the file is a page that `--report` wrote."""
    from unnest.report.page.render import MARK_WITHIN, is_page

    try:
        with open(place, "rb") as file:
            return is_page(file.read(MARK_WITHIN))
    except OSError:
        return False


def write_plot(place: str, measured: Measured) -> None:
    """Draw `balance`'s measurements as PNG or SVG by the suffix; an earlier file is replaced.

    Raises:
        Refused: nothing was measured.
        Failed: the file cannot be written.

    """
    from unnest.report import balance_plot

    drawn = balance_plot.plot(measured, os.path.splitext(place)[1][1:].lower())
    if drawn is None:
        raise Refused(
            "nothing-to-draw", f"--plot {place}: nothing was measured, so nothing is drawn"
        )
    _write(place, drawn, (), force=True)


def write(place: str, text: str, input_paths: Iterable[str], *, force: bool) -> None:
    """Write UTF-8 text under its name, complete or not at all. Raises Refused or Failed."""
    _write(place, text.encode("utf-8", "backslashreplace"), input_paths, force=force)


def _write(place: str, data: bytes, input_paths: Iterable[str], *, force: bool) -> None:
    fill, check = bytes_writer(data)
    try:
        overwrite_checks.check_not_of_the_system(place)
        overwrite_checks.check_not_an_input(place, overwrite_checks.Inputs.of(input_paths))
        write_output_atomically.publish_file(
            place, fill, check, force=force, modes=lambda _: READABLE
        )
    except (Refused, Failed) as e:  # what advises -o is said to users of `fix`
        raise type(e)(
            e.code, e.message.replace("-o", "another name").replace("with another", "under another")
        ) from e


#: Permission bits of a page, less the umask.
READABLE = 0o666
