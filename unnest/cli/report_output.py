"""Reports as they come: as text, as rows, as JSON."""

from __future__ import annotations

import gc
import shutil
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from unnest.cli.progress import ProgressBar
from unnest.cli.streams import StdoutError, complain, has_colors, print_stderr, print_stdout
from unnest.errors import UsageError
from unnest.signals_and_exit_codes import received

if TYPE_CHECKING:
    from unnest.report.result import Report, Tally
    from unnest.report.text_report import Look

R = TypeVar("R", bound="Report")

Form = Literal["text", "json", "lines"]

#: Columns where stdout is no terminal.
WIDTH = 80


class ReportView(NamedTuple):
    """The form in which stdout shows each entry."""

    form: Form
    quiet: bool
    verbose: bool
    #: A line an entry, its error too.
    rows: bool = False


def with_paths_as_given(
    entries: Generator[R, None, None], architecture: str | None, output: str | None = None
) -> Generator[R, None, None]:
    """Yield each report, the commands that it proposes with the paths of `--architecture` and `-o` of this run.

    The output of a proposed command is a .keras, or in the same folder.
    """
    from dataclasses import replace

    from unnest.outputs.output_file_names import split_suffix

    place: tuple[str, ...] = ()
    if output is not None:
        stem, suffix = split_suffix(output)
        # A .keras is what this run has just written: the proposed command takes its default.
        if suffix != ".keras":
            place = ("-o", f"{stem}.keras" if suffix else output)
    graph = () if architecture is None else ("--architecture", architecture)
    with closing(entries):
        for entry in entries:
            options = entry.options + (graph if entry.contents == "weights" else ())
            yield replace(entry, options=options + place)


def output_form(*, as_json: bool, json_lines: bool) -> Form:
    """Return the form of stdout.

    Raises:
        UsageError: the options name two forms.

    """
    if as_json and json_lines:
        raise UsageError(
            "usage", "--json and --json-lines contradict each other: one document, or one a file"
        )
    return "json" if as_json else "lines" if json_lines else "text"


def collect_garbage() -> None:
    """Look for garbage from now on, but not among the modules; `unnest.__main__` had them loaded without."""
    gc.freeze()
    gc.enable()


def show_entries(
    entries: Generator[R, None, None],
    view: ReportView,
    progress: ProgressBar,
    kept: list[R] | None = None,
) -> Tally:
    """Show entry by entry, and add each to `kept` where that is given; a JSON document has to wait for the last.

    Raises StdoutError when all entries are worked through, where their report could not be written.
    """
    from unnest.report.result import Tally

    collect_garbage()
    tally = Tally()
    document: list[R] = [] if kept is None else kept
    look = _terminal_look(verbose=view.verbose)
    lost: StdoutError | None = None
    with closing(progress), closing(entries):
        for entry in entries:
            if received:  # and swallowed by a library
                raise KeyboardInterrupt
            tally.add(entry)
            progress.hide()
            if kept is not None or view.form == "json":
                document.append(entry)
            if view.form == "json":
                continue
            _complain_of(entry, view)
            shown = _render(entry, view, look)
            if lost is None and shown is not None:
                try:
                    print_stdout(shown)
                except StdoutError as e:
                    lost = e
    if lost is not None:
        raise lost
    if view.form == "json":
        from unnest.report import json_report

        print_stdout(json_report.render(document))
    else:
        _conclude(tally, view)
    return tally


def _complain_of(report: Report, view: ReportView) -> None:
    """Print a report's error to stderr, unless its row on the same terminal says it."""
    in_row = view.rows and not view.quiet and sys.stdout.isatty() and sys.stderr.isatty()
    if report.error is not None and view.form == "text" and not in_row:
        complain(report.error.message)


def _render(report: Report, view: ReportView, look: Look) -> str | None:
    """Return the text of one entry for stdout; None for nothing."""
    if view.form == "lines":
        from unnest.report import json_report

        return json_report.line(report)
    if view.quiet or (report.error is not None and not report.wrappers and not view.rows):
        return None
    if view.rows:
        from unnest.report import batch_text

        return batch_text.row(report, look)
    from unnest.report import text_report

    return text_report.render(report, look)


def _conclude(tally: Tally, view: ReportView) -> None:
    """Print the summary that follows the last entry to stderr."""
    if view.form == "text" and tally.errors["internal"]:
        from unnest.cli.bug_report import tell_what_to_paste

        tell_what_to_paste()
    if tally.files > 1 and not view.quiet:
        from unnest.report.batch_text import kinds, summary

        print_stderr("\n".join([summary(tally), *(kinds(tally) if view.rows else ())]))


def check_report(place: str | None, read: Sequence[str], *, force: bool) -> None:
    """Raise UsageError, before any file is read, where the page that --report names could not be written."""
    if place is None:
        return
    from unnest.cli.parameters import check_suffix
    from unnest.remote.urls import is_remote
    from unnest.write_pages_and_diagrams import check_report_page

    check_suffix("--report", place, (".html",))
    check_report_page(place, [path for path in read if not is_remote(path)], force=force)


def write_report(
    place: str | None,
    entries: Sequence[Report] | None,
    also_read: Sequence[str],
    paths: Sequence[str] = (),
    *,
    force: bool,
    quiet: bool,
) -> bool:
    """Write the page that --report names, if one; False where that failed, which one line says.

    `paths`: what was given to an `inspect` of many.
    """
    if place is None or entries is None:
        return True
    from unnest.write_pages_and_diagrams import write_report_page

    return write_or_complain(
        place,
        lambda: write_report_page(place, entries, also_read, paths, force=force),
        quiet=quiet,
    )


def write_or_complain(place: str, write: Callable[[], None], *, quiet: bool) -> bool:
    """Write a diagram or a page, and say so on stderr; print one line and return False if that fails."""
    from unnest.errors import Failed, Refused

    try:
        write()
    except (Refused, Failed) as e:
        complain(e.message)
        return False
    if not quiet:
        from unnest.report.escape_stored_names import plain

        print_stderr(f"written: {plain(place)}")
    return True


def _terminal_look(*, verbose: bool) -> Look:
    """Return what stdout can show: colours, width, characters."""
    from unnest.report.text_report import Look

    color = has_colors(sys.stdout)
    letters = (sys.stdout.encoding or "").lower().replace("-", "")
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else WIDTH
    return Look(verbose, color, width, ascii_only=not letters.startswith("utf"), wraps=terminal)
