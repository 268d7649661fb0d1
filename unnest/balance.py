"""`unnest balance`: measure devices with a model that the caller's function builds."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

from unnest.build_function import builder_of, function_of
from unnest.errors import UsageError
from unnest.report import balance_table


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
    os.environ.setdefault(
        "TF_CPP_MIN_LOG_LEVEL", "2"
    )  # TensorFlow's greetings would run through the table
    with contextlib.redirect_stdout(sys.stderr):
        build = function_of(target)
        try:
            from unnest.keras import balance
        except ImportError as missing:
            raise UsageError("usage", str(missing)) from None
        try:
            result = balance(
                builder_of(target, build),
                batch_size,
                _devices(gpus),
                sizes=_sizes(sizes),
                progress=lambda so_far: show(balance_table.render_table(so_far.to_json())),
            )
        except (ValueError, TypeError) as mistake:
            raise UsageError("usage", str(mistake)) from None
        finally:
            show("")
    return result.to_json()


def _devices(gpus: str | None) -> list[int | str] | None:
    return None if gpus is None else [int(g) if g.isdigit() else g for g in gpus.split(",")]


def _sizes(sizes: str | None) -> list[int] | None:
    if sizes is None:
        return None
    numbers = [int(size) if size.isdigit() else 0 for size in sizes.split(",")]
    if min(numbers) < 1:
        raise UsageError("usage", f"--sizes {sizes}: give batch sizes, as in 128,512,1024")
    return numbers
