"""The command line: parse, call, render. Everything heavy is loaded inside the commands.

Reports go to stdout, messages and progress to stderr. Exit codes are in EXITS.
"""

from __future__ import annotations

import gc
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Literal, TextIO, TypeVar, cast

import typer
from typer.core import TyperGroup

from unnest.__main__ import INTERRUPTED, received
from unnest.errors import Failed, Refused, UsageError
from unnest.report.escape import plain

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from unnest.batch import Engine
    from unnest.formats.base import Target
    from unnest.options import Dialect
    from unnest.report.result import Report, Tally
    from unnest.report.text import Look

DONE, FOUND, TROUBLE = 0, 1, 2
EXITS = {
    DONE: "inspect: every file is clean. fix: every file is clean now",
    FOUND: "inspect: at least one parallel model. fix --dry-run: something would change",
    TROUBLE: "a file could not be read or fixed, or the command line is wrong",
    INTERRUPTED: "interrupted (other signals: 128 and their number); nothing half-written is left",
}

DIALECTS = ("original", "3")
TARGETS = ("h5", "keras", "weights", "saved_model", "json")

R = TypeVar("R", bound="Report")


class _Commands(TyperGroup):
    """The commands, which know a path where a command is due."""

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - as the parser has it
        """The command that the first argument names."""
        if args[0] not in self.commands and os.path.lexists(args[0]):
            path = shlex.quote(args[0])
            raise UsageError("usage", f"{args[0]}: say what to do with it: unnest inspect {path} or unnest fix {path}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="unnest",
    help="Take the template model out of saved Keras multi-GPU graphs (multi_gpu_model and its relatives).",
    epilog="Exit codes: 0 clean; 1 parallel models found, or (--dry-run) something to fix; 2 trouble; 130 interrupted "
    "(128 + number of the signal).",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Paths = Annotated[
    list[str], typer.Argument(metavar="PATH", help="Model files, or folders to walk.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout instead of text.")]
Architecture = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL.json", help="The architecture of a weights-only file: the parallel model's, or its template's."
    ),
]
SliceLayers = Annotated[
    list[str] | None,
    typer.Option(
        "--slice-layer",
        metavar="CLASS",
        help="You vouch that layers of this class cut the batch in order, where the file does not tell; repeatable.",
    ),
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Larger limits of work and memory, for files whose origin you know.")
]
Jobs = Annotated[int, typer.Option(min=1, metavar="N", help="Processes that work side by side.")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Work over the Dask cluster of this scheduler, as in tcp://127.0.0.1:8786."),
]
AsLines = Annotated[bool, typer.Option("--json-lines", help="One JSON object a file on stdout, as they come.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No report; only errors, and the exit code.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Name everything that went, however much it is.")]


@app.command()
def inspect(  # noqa: PLR0917 - one parameter per option
    paths: Paths,
    as_json: AsJson = False,
    json_lines: AsLines = False,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    architecture: Architecture = None,
    slice_layer: SliceLayers = None,
    trust: Trust = False,
    diagram: Annotated[
        str | None,
        typer.Option(metavar="FILE.svg|.html|.mmd", help="Draw the layer graph of one model, the wrapper marked."),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Write a page of the scan: sorted and filtered in a browser."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing diagram or page.")] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Tell what is in these files, and whether any of it is a parallel model.

    Example: unnest inspect model.h5 checkpoints/
    """
    from unnest import written_pages
    from unnest.batch import inspect_all, is_walked
    from unnest.options import given_architecture

    form = _form(as_json=as_json, json_lines=json_lines)
    one = len(paths) == 1 and not is_walked(paths[0])
    if diagram is not None:
        written_pages.check_suffix("--diagram", diagram, (".svg", ".html", ".mmd"))
        if not one:
            raise UsageError("usage", "--diagram draws one model: give one model file, and no folder to walk")
    if report is not None:
        written_pages.check_suffix("--report", report, (".html",))
    draw = diagram is not None or (one and form == "text" and not quiet)
    known = given_architecture(architecture)
    progress = _Progress(quiet=quiet)
    reports = inspect_all(
        paths, known, slice_layer or (), trust=trust, draw=draw, engine=_engine(jobs, scheduler), watch=progress
    )
    kept: list[Report] | None = None if diagram is None and report is None else []
    tally = _show(reports, form, progress, quiet=quiet, verbose=verbose, rows=not one and not verbose, kept=kept)
    written = True
    if diagram is not None and kept and not kept[0].error:
        written = _written(lambda: written_pages.write_diagram(diagram, kept[0], force=force))
    if report is not None and kept is not None:
        written = _written(lambda: written_pages.write_scan(report, kept, force=force)) and written
    if not written or tally.troubled:
        return TROUBLE
    return FOUND if tally.verdicts["parallel"] else DONE


@app.command()
def fix(  # noqa: PLR0917 - one parameter per option
    paths: Paths,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="PATH", help="What to write; for several inputs, a folder.")
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Replace the input; the old file stays as a backup.")
    ] = False,
    backup: Annotated[str, typer.Option(metavar="SUFFIX", help="What the backup's name ends in.")] = ".bak",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Say what would be done, and write nothing.")
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(TARGETS),
            help="The container to write; default: the input's, or what -o names.",
            autocompletion=lambda: [*TARGETS],
        ),
    ] = None,
    keras: Annotated[
        str,
        typer.Option(
            metavar="|".join(DIALECTS),
            help="The dialect to write; 3: what today's Keras loads, as .keras.",
            autocompletion=lambda: [*DIALECTS],
        ),
    ] = "original",
    architecture: Architecture = None,
    keep_nested: Annotated[
        bool,
        typer.Option(
            "--keep-nested", help="Where weights cannot be placed without doubt, keep the template as a nested model."
        ),
    ] = False,
    slice_layer: SliceLayers = None,
    trust: Trust = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also load and run the result (needs the tensorflow extra).")
    ] = False,
    as_json: AsJson = False,
    json_lines: AsLines = False,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Write the clean single-device file beside each damaged one.

    Example: unnest fix model.h5 writes model.unnested.h5
    """
    from unnest.batch import fix_all
    from unnest.options import FixOptions, architecture_inputs, given_architecture

    if to is not None and to not in TARGETS:
        raise UsageError("usage", f"--to {to}: choose one of {', '.join(TARGETS)}")
    if keras not in DIALECTS:
        raise UsageError("usage", f"--keras {keras}: choose one of {', '.join(DIALECTS)}")
    options = FixOptions(
        output,
        in_place,
        backup,
        force,
        dry_run,
        cast("Target | None", to),
        given_architecture(architecture),
        keep_nested,
        frozenset(slice_layer or ()),
        architecture_inputs(architecture),
        trust,
        verify=verify,
        keras=cast("Dialect", keras),
    )
    form = _form(as_json=as_json, json_lines=json_lines)
    progress = _Progress(quiet=quiet)
    results = fix_all(paths, options, engine=_engine(jobs, scheduler), watch=progress)
    tally = _show(results, form, progress, quiet=quiet, verbose=verbose)
    if tally.troubled:
        return TROUBLE
    return FOUND if tally.actions["would-fix"] or tally.actions["would-convert"] else DONE


@app.command()
def balance(  # noqa: PLR0917 - one parameter per option
    target: Annotated[
        str, typer.Argument(metavar="MODULE:FN", help="A function without arguments that returns the built model.")
    ],
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Rows of the whole batch in training.")],
    gpus: Annotated[
        str | None, typer.Option(metavar="LIST", help="Devices, as in 0,1 or CPU:0,CPU:1; default: all GPUs.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Batch sizes to try on each device alone; default: down to an eighth."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.svg|.png", help="Draw throughput against batch size.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Measure each device with a model of yours, and propose the ratios to train it with.

    Runs FN of MODULE, which is looked for in the current folder too.
    Example: unnest balance train:build_model --batch-size 1024
    """
    from unnest.measure_devices import measure

    _loaded()
    result = measure(target, batch_size, gpus, sizes, _live(quiet=quiet or as_json))
    from unnest.report import balance_table

    if as_json:
        import json

        _say(json.dumps(result, indent=2, sort_keys=True))
    elif not quiet:
        _say(balance_table.render(result))
    if plot is not None:
        balance_table.plot(result, plot)
    return DONE if result["finished"] else INTERRUPTED


def _live(*, quiet: bool) -> Callable[[str], None]:
    """Shows a table that grows, for people only."""
    if quiet or not sys.stderr.isatty():
        return lambda _: None
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    live = Live(console=Console(stderr=True), transient=True)
    live.start()
    return lambda table: live.update(Text(table)) if table else live.stop()


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="With --version: all that a bug report needs.")
    ] = False,
) -> None:
    """Take the template model out of saved Keras multi-GPU graphs (multi_gpu_model and its relatives)."""
    if version:
        from unnest import __version__

        if verbose:
            from unnest.about import versions

            _say("\n".join(versions()))
        else:
            _say(f"unnest {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise UsageError(
            "usage", "say what to do: unnest inspect PATH... or unnest fix PATH... (unnest --help tells more)"
        )


def run() -> int:
    """The exit code of this command line. Nothing but KeyboardInterrupt gets out."""
    for stream in (sys.stdout, sys.stderr):
        # Names that the terminal's encoding lacks are shown escaped; they are no reason to fail.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # What h5py meets while it lets go of a damaged file's objects has been told, or does not matter any more.
    sys.unraisablehook = lambda _: None
    try:
        code = app(standalone_mode=False)
        _flush(sys.stdout)  # what the parser printed
    except UsageError as e:
        _complain(e.message)
        return TROUBLE
    except typer.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:  # whoever closed the pipe has read enough of the help
        _silence(sys.stdout)
        return DONE
    except StdoutError as e:
        _silence(sys.stdout)
        _complain(f"the report cannot be written to stdout ({e}); what was done is done")
        return TROUBLE
    except OSError as e:  # the parser's help; whatever has to do with a file is in its report
        _silence(sys.stdout)
        _complain(f"cannot write to stdout ({e.strerror})")
        return TROUBLE
    except Exception as e:  # noqa: BLE001 - a traceback is a defect, and no help to whoever meets it
        from unnest.files import interrupts

        if interrupts.is_behind(e):
            raise KeyboardInterrupt from None
        if hasattr(e, "show"):  # the parser's own, whichever library it comes from
            _showing(e.show)
        else:
            from unnest.repair import internal

            _complain(internal(e))
            _tell_what_to_paste()
        return TROUBLE
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else DONE


def _engine(jobs: int, scheduler: str | None) -> Engine:
    """Where the work is done."""
    from unnest.batch import Engine

    if scheduler is not None and jobs > 1:
        raise UsageError("usage", "--jobs and --scheduler contradict each other: processes here, or a cluster's")
    return Engine(jobs, scheduler)


def _tell_what_to_paste() -> None:
    """What an issue on an internal error needs beside its message."""
    from unnest.about import versions

    _tell("\n".join(["Please paste the line above and these into the issue:", *(f"    {line}" for line in versions())]))


def _written(write: Callable[[], None]) -> bool:
    """Whether a diagram or a page was written; if not, one line says why."""
    try:
        write()
    except (Refused, Failed) as e:
        _complain(e.message)
        return False
    return True


Form = Literal["text", "json", "lines"]


def _form(*, as_json: bool, json_lines: bool) -> Form:
    """What stdout gets."""
    if as_json and json_lines:
        raise UsageError("usage", "--json and --json-lines contradict each other: one document, or one a file")
    return "json" if as_json else "lines" if json_lines else "text"


def _loaded() -> None:
    """Look for garbage from now on, but not among the modules; `unnest.__main__` had them loaded without."""
    gc.freeze()
    gc.enable()


def _show(
    entries: Generator[R, None, None],
    form: Form,
    progress: _Progress,
    *,
    quiet: bool,
    verbose: bool,
    rows: bool = False,
    kept: list[R] | None = None,
) -> Tally:
    """Show entry by entry, and keep none that `kept` does not ask for; a JSON document has to wait for the last.

    With `rows`, each is one line, its error too.

    Raises StdoutError when all entries are worked through, where their report could not be written.
    """
    from unnest.report import json
    from unnest.report.result import Tally

    _loaded()
    tally = Tally()
    kept = [] if kept is None and form == "json" else kept
    look = _look(verbose=verbose)
    lost: StdoutError | None = None
    with closing(progress), closing(entries):
        for entry in entries:
            if received:  # and swallowed by a library
                raise KeyboardInterrupt
            tally.add(entry)
            progress.hide()
            if kept is not None:
                kept.append(entry)
            if form == "json":
                continue
            in_row = rows and not quiet and sys.stdout.isatty() and sys.stderr.isatty()
            if entry.error is not None and form == "text" and not in_row:
                _complain(entry.error.message)
            shown = _shown(entry, form, look, quiet=quiet, rows=rows)
            if lost is None and shown is not None:
                try:
                    _say(shown)
                except StdoutError as e:
                    lost = e
    if lost is not None:
        raise lost
    if any(code == "internal" for _, code, _ in tally.kinds) and form == "text":
        _tell_what_to_paste()
    if form == "json":
        _say(json.render(kept or []))
    elif tally.files > 1 and not quiet:
        from unnest.report import text

        _tell("\n".join([text.summary(tally), *(text.kinds(tally) if rows else ())]))
    return tally


def _shown(entry: Report, form: Form, look: Look, *, quiet: bool, rows: bool) -> str | None:
    """What stdout gets of one entry."""
    if form == "lines":
        from unnest.report import json

        return json.line(entry)
    if quiet or (entry.error is not None and not entry.wrappers and not rows):
        return None
    from unnest.report import text

    return text.row(entry, look) if rows else text.render(entry, look)


def _look(*, verbose: bool) -> Look:
    """What stdout can show."""
    from unnest.report.text import Look

    color = _colors(sys.stdout)
    letters = (sys.stdout.encoding or "").lower().replace("-", "")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    return Look(verbose, color, width, ascii_only=not letters.startswith("utf"))


#: Columns where stdout is no terminal.
WIDTH = 80


class StdoutError(Exception):
    """The report cannot be written; the message says why."""


def _say(line: str) -> None:
    """Something for stdout. Whoever closed the pipe has read enough, and that is no error. Raises StdoutError."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as e:
        raise StdoutError(e.strerror) from e


def _tell(line: str) -> None:
    """Something for stderr; nobody listening is no reason to stop."""
    _showing(lambda: print(line, file=sys.stderr, flush=True))


def _showing(show: Callable[[], object]) -> None:
    try:
        show()
    except OSError:
        _silence(sys.stderr)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as e:
        raise StdoutError(e.strerror) from e


def _silence(stream: TextIO) -> None:
    """Python flushes once more on its way out, and must find somewhere to flush to."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _complain(message: str) -> None:
    if "://" in message:
        from unnest.remote import redacted

        message = redacted(message)
    _tell(f"unnest: {plain(message)}")


def _colors(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


#: Copies shorter than this are over before anybody wonders.
LONG = 256 << 20
#: Seconds between two looks of a progress bar, and files between two looks of a count.
OFTEN, FILES = 0.2, 20


class _Progress:
    """Progress of long work, for people only: bytes of large files, and files where stdout does not show them.

    Drawn from the thread that works, so that there is no other to be interrupted.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._counts = self._shown and not sys.stdout.isatty()
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._last = 0.0
        self._files = 0

    def meter(self, path: str) -> Callable[[int, int], None] | None:
        """A bar with rate and time left; None where nobody looks."""
        if not self._shown:
            return None

        def step(done: int, total: int) -> None:
            now = time.monotonic()
            if total > LONG and (now - self._last > OFTEN or done == total):
                self._last = now
                _showing(lambda: self._move(plain(os.path.basename(path)), done, total))

        return step

    def looked_at(self, path: str) -> None:  # noqa: ARG002 - their number is enough
        """Counts files, where they are not listed on the same terminal."""
        self._files += 1
        if self._counts and self._files % FILES == 0:
            _showing(lambda: print(f"\r{self._files:,} files\x1b[K", end="", file=sys.stderr, flush=True))

    def hide(self) -> None:
        """Take the bars away: something is going to be printed."""
        if self._bars is not None:
            _showing(self._bars.stop)
            self._bars, self._tasks = None, {}

    def close(self) -> None:
        """Leave nothing of it on the terminal."""
        self.hide()
        if self._counts and self._files >= FILES:
            _showing(lambda: print("\r\x1b[K", end="", file=sys.stderr, flush=True))

    def _move(self, name: str, done: int, total: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        if self._bars is None:
            columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
            label = TextColumn("{task.description}", markup=False)
            self._bars = Progress(label, *columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self._bars.start()
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total)
        self._bars.update(self._tasks[name], completed=done)
        self._bars.refresh()
        if done >= total:
            self._bars.remove_task(self._tasks.pop(name))
