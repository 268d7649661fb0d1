"""The command `unnest fix`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

import typer

from unnest.cli import parameters
from unnest.cli.progress import ProgressBar
from unnest.cli.report_output import (
    ReportView,
    check_report,
    output_form,
    show_entries,
    with_paths_as_given,
    write_report,
)
from unnest.cli.skip_startup_work import keep_libraries_light
from unnest.errors import UsageError
from unnest.remote.urls import without_file_scheme
from unnest.signals_and_exit_codes import DONE, FOUND, TROUBLE

if TYPE_CHECKING:
    from unnest.formats.container_interface import Target
    from unnest.options import Dialect
    from unnest.report.result import Result


def fix(
    paths: parameters.Paths,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="What to write; for several inputs, a folder.",
            callback=lambda path: path and without_file_scheme(path),
        ),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Replace the input; the old file stays as a backup.")
    ] = False,
    backup: Annotated[
        str, typer.Option(metavar="SUFFIX", help="What the backup's name ends in.")
    ] = ".bak",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Say what would be done, and write nothing.")
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(parameters.TARGETS),
            help="The container to write; default: the input's, or what -o names.",
            autocompletion=lambda: [*parameters.TARGETS],
        ),
    ] = None,
    keras: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(parameters.DIALECTS),
            help="The dialect to write; 3: what today's Keras loads, as .keras. Default: the file's own, and 3 where "
            "another container becomes .keras.",
            autocompletion=lambda: [*parameters.DIALECTS],
        ),
    ] = None,
    architecture: parameters.ArchitectureOption = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FN",
            help="Put the weights into the model that this function of yours builds in Keras 3 or tf_keras, and "
            "write its .weights.h5.",
        ),
    ] = None,
    stub: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.py",
            help="With --keras 3: a module with the functions and classes that the output still needs.",
        ),
    ] = None,
    keep_nested: Annotated[
        bool,
        typer.Option(
            "--keep-nested",
            help="Where weights cannot be placed without doubt, keep the template as a nested model.",
        ),
    ] = False,
    slice_layer: parameters.SliceLayers = None,
    trust: parameters.Trust = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Also load and run the result in its Keras, which must be installed."
        ),
    ] = False,
    report: parameters.ReportPage = None,
    as_json: parameters.AsJson = False,
    json_lines: parameters.AsLines = False,
    jobs: parameters.Jobs = 1,
    scheduler: parameters.Scheduler = None,
    quiet: parameters.Quiet = False,
    verbose: parameters.Verbose = False,
) -> int:
    """Write the single-device model beside each parallel file. With --keras 3, it is one that Keras 3 loads.

    A parallel model is "proven" if the file shows all that makes it one, and "likely" if a part rests on code that is
    not in the file, or on names alone: then check the result.

    Example: unnest fix model.h5 writes model.unnested.h5
    """
    keep_libraries_light()
    from unnest.batch.fix_many import fix_all
    from unnest.batch.walk import count_files, is_walked
    from unnest.options import PAGE, ROW, FixOptions, architecture_argument, architecture_inputs
    from unnest.user_build_function import target_model_of

    if to is not None and to not in parameters.TARGETS:
        raise UsageError("usage", f"--to {to}: choose one of {', '.join(parameters.TARGETS)}")
    if keras is not None and keras not in parameters.DIALECTS:
        raise UsageError(
            "usage", f"--keras {keras}: choose one of {', '.join(parameters.DIALECTS)}"
        )
    options = FixOptions(
        output,
        in_place,
        backup,
        force,
        dry_run,
        cast("Target | None", to),
        architecture_argument(architecture),
        keep_nested,
        frozenset(slice_layer or ()),
        architecture_inputs(architecture),
        trust=trust,
        verify=verify,
        keras=cast("Dialect | None", keras),
        like=target_model_of(like),
        stub=stub,
    )
    form = output_form(as_json=as_json, json_lines=json_lines)
    also_read = [architecture] if architecture is not None else []
    check_report(report, [*paths, *also_read], force=force)
    several = len(paths) > 1 or is_walked(paths[0])
    if report is not None:
        options = options._replace(parts=ROW if several else PAGE)
    progress = ProgressBar(quiet=quiet, count=partial(count_files, paths, options))
    results = fix_all(paths, options, engine=parameters.engine(jobs, scheduler), watch=progress)
    results = with_paths_as_given(results, architecture, None if several else output)
    kept: list[Result] | None = None if report is None else []
    tally = show_entries(
        results, ReportView(form, quiet, verbose, rows=several and not verbose), progress, kept
    )
    if not write_report(report, kept, also_read, force=force, quiet=quiet) or tally.troubled:
        return TROUBLE
    return FOUND if tally.actions["would-fix"] or tally.actions["would-convert"] else DONE
