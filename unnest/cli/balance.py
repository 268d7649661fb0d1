"""The command `unnest balance`: measure devices with a model that the caller's function builds."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unnest.cli import parameters
from unnest.cli.parameters import AsJson, Quiet
from unnest.cli.report_output import collect_garbage
from unnest.cli.streams import complain, print_stdout
from unnest.errors import Failed, Refused, UsageError
from unnest.signals_and_exit_codes import DONE, INTERRUPTED, TROUBLE

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text


def balance(
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FN", help="A function without arguments that returns the built model."
        ),
    ],
    batch_size: Annotated[
        int,
        typer.Option(
            "--batch-size",
            metavar="N",
            help="Rows of the whole batch in training.",
            callback=parameters.at_least_one,
        ),
    ],
    gpus: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Devices, as in 0,1 or CPU:0,CPU:1; default: all GPUs."),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Batch sizes to try on each device alone; default: the whole batch and its halves down to an eighth.",
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE.svg|.png", help="Draw throughput against batch size."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Measure devices with your model, and propose ratios.

    Runs FN of MODULE, which is looked for in the current folder too.
    Example: unnest balance train:build_model --batch-size 1024
    """
    if plot is not None:
        _check_plot(plot)
    collect_garbage()
    result = measure(target, batch_size, gpus, sizes, _live(quiet=quiet or as_json))
    from unnest.report import balance_text

    if as_json:
        import json

        print_stdout(json.dumps(result, indent=2, sort_keys=True))
    elif not quiet:
        print_stdout(balance_text.render(result))
    if plot is not None:
        from unnest.write_pages_and_diagrams import write_plot

        try:
            write_plot(plot, result)
        except (Refused, Failed) as e:
            complain(e.message)
            return TROUBLE if result["finished"] else INTERRUPTED
    return DONE if result["finished"] else INTERRUPTED


def measure(
    target: str, batch_size: int, gpus: str | None, sizes: str | None, show: Callable[[str], None]
) -> dict[str, Any]:
    """Measure devices with the model that MODULE:FN returns; return `unnest.keras.balance`'s result as JSON's types.

    `gpus`: a list with commas of numbers or names; None: all there are. `sizes`: a list with commas of batch sizes to
    try on each device alone; None: the library's choice. `show` receives the table so far after every measurement, and
    an empty text at the end. Output of the caller's code goes to stderr: stdout is the report's.

    Raises:
        UsageError: a module or function is missing, a device does not exist, or the model cannot be made parallel.

    """
    from unnest.report import balance_text
    from unnest.user_build_function import builder_of, function_of

    # TensorFlow's greetings would run through the table.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    with contextlib.redirect_stdout(sys.stderr):
        build = function_of(target)
        try:
            from unnest.keras import balance as measure_devices
        except ImportError as missing:
            raise UsageError("usage", str(missing)) from None
        try:
            result = measure_devices(
                builder_of(target, build),
                batch_size,
                _devices(gpus),
                sizes=_sizes(sizes),
                progress=lambda so_far: show(balance_text.render_table(so_far.to_json())),
            )
        except (ValueError, TypeError) as mistake:
            raise UsageError("usage", str(mistake)) from None
        finally:
            show("")
    return result.to_json()


def _devices(gpus: str | None) -> list[int | str] | None:
    """Return the numbers and names of --gpus; None for all devices."""
    return None if gpus is None else [int(g) if g.isdigit() else g for g in gpus.split(",")]


def _sizes(sizes: str | None) -> list[int] | None:
    """Return the batch sizes of --sizes; None for the library's choice. Raises UsageError."""
    if sizes is None:
        return None
    numbers = [int(size) if size.isdigit() else 0 for size in sizes.split(",")]
    if min(numbers) < 1:
        raise UsageError("usage", f"--sizes {sizes}: give batch sizes, as in 128,512,1024")
    return numbers


def _check_plot(place: str) -> None:
    """Raise UsageError, before anything is measured, where no plot could be written afterwards."""
    parameters.check_suffix("--plot", place, (".svg", ".png"))
    if not os.path.isdir(os.path.dirname(place) or "."):
        raise UsageError("usage", f"--plot {place}: there is no folder {os.path.dirname(place)}")
    if find_spec("matplotlib") is None:
        raise UsageError("usage", "--plot needs Matplotlib: pip install matplotlib")


def _live(*, quiet: bool) -> Callable[[str], None]:
    """Return a function that shows a growing table on a terminal; an empty text removes it."""
    if quiet or not sys.stderr.isatty():
        return lambda _: None
    live: Live | None = None

    def show(table: str) -> None:
        nonlocal live
        if table:
            live = live or _started()
            live.update(_text(table))
        elif live is not None:
            live.stop()

    return show


def _started() -> Live:
    from rich.console import Console
    from rich.live import Live

    live = Live(console=Console(stderr=True), transient=True)
    live.start()
    return live


def _text(table: str) -> Text:
    from rich.text import Text

    return Text(table)  # brackets are no markup
