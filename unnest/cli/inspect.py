"""The command `unnest inspect`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from unnest.cli import parameters
from unnest.cli.progress import ProgressBar
from unnest.cli.report_output import (
    ReportView,
    check_report,
    output_form,
    show_entries,
    with_paths_as_given,
    write_or_complain,
    write_report,
)
from unnest.cli.skip_startup_work import keep_libraries_light
from unnest.cli.streams import print_stderr
from unnest.errors import UsageError
from unnest.signals_and_exit_codes import DONE, FOUND, TROUBLE

if TYPE_CHECKING:
    from unnest.report.result import Report


def inspect(
    paths: parameters.Paths,
    as_json: parameters.AsJson = False,
    json_lines: parameters.AsLines = False,
    jobs: parameters.Jobs = 1,
    scheduler: parameters.Scheduler = None,
    architecture: parameters.ArchitectureOption = None,
    slice_layer: parameters.SliceLayers = None,
    trust: parameters.Trust = False,
    diagram: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.svg|.html|.mmd",
            help="Draw the layer graph of one model, the wrapper marked.",
        ),
    ] = None,
    report: parameters.ReportPage = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Replace an existing diagram, or another file in the place of the page."
        ),
    ] = False,
    quiet: parameters.Quiet = False,
    verbose: parameters.Verbose = False,
) -> int:
    """Tell what is in files, and whether it is a parallel model.

    A parallel model is "proven" if the file shows all that makes it one, and "likely" if a part rests on code that is
    not in the file, or on names alone: then check the result.

    Example: unnest inspect model.h5 checkpoints/
    """
    keep_libraries_light()
    from unnest.batch.inspect_many import inspect_all
    from unnest.batch.walk import count_files, is_walked
    from unnest.options import FACTS, PAGE, ROW, FixOptions, architecture_argument
    from unnest.report.proposed_commands import run_steps

    form = output_form(as_json=as_json, json_lines=json_lines)
    one = len(paths) == 1 and not is_walked(paths[0])
    if diagram is not None:
        parameters.check_suffix("--diagram", diagram, (".svg", ".html", ".mmd"))
        if not one:
            raise UsageError(
                "usage", "--diagram draws one model: give one model file, and no folder to walk"
            )
    also_read = [architecture] if architecture is not None else []
    check_report(report, [*paths, *also_read], force=force)
    parts = PAGE if report is not None and one else ROW if report is not None else FACTS
    if diagram is not None or (one and form == "text" and not quiet):
        parts = parts._replace(drawing=parts.drawing or verbose or diagram is not None, advice=True)
    progress = ProgressBar(quiet=quiet, count=partial(count_files, paths, FixOptions()))
    reports = inspect_all(
        paths,
        architecture_argument(architecture),
        slice_layer or (),
        trust=trust,
        parts=parts,
        engine=parameters.engine(jobs, scheduler),
        watch=progress,
    )
    reports = with_paths_as_given(reports, architecture)
    kept: list[Report] | None = None if diagram is None and report is None else []
    tally = show_entries(
        reports, ReportView(form, quiet, verbose, rows=not one and not verbose), progress, kept
    )
    if not one and form == "text" and not quiet:
        options = FixOptions(slice_layers=frozenset(slice_layer or ()), trust=trust).to_repeat
        if architecture is not None:
            options = (*options, "--architecture", architecture)
        for what, command in run_steps(tally, paths, options):
            print_stderr(f"next: {command}  # {what[0].lower()}{what[1:]}")
    written = True
    if diagram is not None and kept and not kept[0].error:
        from unnest.write_pages_and_diagrams import write_diagram

        written = write_or_complain(
            diagram,
            lambda: write_diagram(diagram, kept[0], also_read, force=force),
            quiet=quiet,
        )
    given = [] if one else paths
    if (
        not write_report(report, kept, also_read, given, force=force, quiet=quiet)
        or not written
        or tally.troubled
    ):
        return TROUBLE
    return FOUND if tally.verdicts["parallel"] else DONE
