"""`unnest balance`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from unnest.__main__ import INTERRUPTED
from unnest.cli.exit_codes import DONE
from unnest.cli.parameters import AsJson, Quiet
from unnest.cli.reports import collect_garbage
from unnest.cli.streams import say


def balance(
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

    collect_garbage()
    result = measure(target, batch_size, gpus, sizes, _live(quiet=quiet or as_json))
    from unnest.report import balance_table

    if as_json:
        import json

        say(json.dumps(result, indent=2, sort_keys=True))
    elif not quiet:
        say(balance_table.render(result))
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
