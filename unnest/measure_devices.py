"""`unnest balance`: a function of the caller's, measured."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

from unnest.errors import UsageError
from unnest.report import balance_table


def measure(
    target: str, batch_size: int, gpus: str | None, sizes: str | None, show: Callable[[str], None]
) -> dict[str, Any]:
    """What `unnest.keras.balance` measured with the model that MODULE:FN returns, as JSON's types.

    `gpus` is a list with commas of numbers or names; None is all there are. `sizes` is a list with commas of batch
    sizes to try on each device alone; None is the library's choice. `show` is given the table so far after
    every measurement, and an empty text at the end. What the caller's code prints goes to stderr: stdout is the
    report's. Raises UsageError, in one line, for whatever is the caller's to mend: a module or function that is not
    there, devices that do not exist, a model that cannot be made parallel.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # TensorFlow's greetings would run through the table
    with contextlib.redirect_stdout(sys.stderr):
        build = _function(target)
        try:
            from unnest.keras import balance
        except ImportError as missing:
            raise UsageError("usage", str(missing)) from None
        try:
            result = balance(
                _builder(target, build),
                batch_size,
                _devices(gpus),
                sizes=_sizes(sizes),
                progress=lambda so_far: show(balance_table.render(so_far.to_json())),
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


def _function(target: str) -> Callable[[], Any]:
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise UsageError("usage", f"{target}: give MODULE:FN, as in train:build_model")
    sys.path.insert(0, os.getcwd())
    try:
        function = getattr(importlib.import_module(module_name), name, None)
    except ModuleNotFoundError as missing:
        raise UsageError("usage", f"{target}: {missing}; run it where {module_name} can be imported") from None
    except (Exception, SystemExit) as raised:  # noqa: BLE001 - so is the module
        raise UsageError("usage", f"{module_name} raised {_said(raised)}") from None
    if not callable(function):
        raise UsageError("usage", f"{target}: {module_name} has no function {name}")
    builder: Callable[[], Any] = function
    return builder


def _builder(target: str, build: Callable[[], Any]) -> Callable[[], Any]:
    """The caller's function; a UsageError says what it raised, or that it returned no model."""
    from unnest.keras.keras_api import is_model

    def build_model() -> object:
        try:
            model = build()
        except (Exception, SystemExit) as raised:  # noqa: BLE001 - the function is anyone's code
            raise UsageError("usage", f"{target} raised {_said(raised)}") from None
        if not is_model(model):
            raise UsageError("usage", f"{target} returned {type(model).__name__}: it must return a built Keras model")
        return model

    return build_model


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
