"""Taking up the best value so far: as earlier runs noted it, or as the names of their checkpoints have it."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from string import Formatter

from unnest.keras.checkpoint_saver import Saver
from unnest.keras.keras_api import Model, as_number

NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


class EarlierRuns:
    """Results of earlier runs of a checkpoint; a run continues them, or starts anew and ignores them.

    It continues if it begins at a later epoch than the first, or with an optimizer that has made steps.
    """

    def __init__(self, saver: Saver, filepath: str, monitor: str, *, takes_up_best: bool) -> None:
        self._saver, self._filepath, self._monitor, self._takes_up_best = (
            saver,
            filepath,
            monitor,
            takes_up_best,
        )
        self._values_in_names: list[float] | None = None
        self._is_first_epoch = self._starts_anew = False

    def read(self) -> None:
        """Read what is there when training begins."""
        self._saver.read_history()
        self._values_in_names = list(values_in_names(self._filepath, self._monitor))
        self._is_first_epoch = True

    def begin_epoch(self, epoch: int, model: Model) -> None:
        """At the first epoch, note whether training starts anew: only now has BackupAndRestore restored the epoch."""
        if self._is_first_epoch:
            self._is_first_epoch = False
            self._starts_anew = epoch == 0 and not _steps_made(model)

    def take_up(self, best: float | None, *, lower_is_better: bool) -> float | None:
        """Return the best value so far, to be called before each save; `best` is this run's own, None before any.

        At the first save of a run that continues, values of earlier runs count; a run that starts anew forgets them,
        with a warning. At later saves `best` holds them already.
        """
        self._saver.set_monitor(f"{'min' if lower_is_better else 'max'} {self._monitor}")
        if self._values_in_names is None:
            self.read()
        earlier = self._saver.earlier_values() or self._values_in_names or []
        starts_anew, takes_up_best = self._starts_anew, self._takes_up_best
        self._starts_anew = self._takes_up_best = False
        if starts_anew:
            self._saver.forget_earlier_runs()
        if not takes_up_best or not earlier:
            return best
        better = min if lower_is_better else max
        if starts_anew:
            _warn_of_another_run(self._filepath, self._monitor, better(earlier))
            return best
        return better(earlier if best is None else [best, *earlier])


def _steps_made(model: Model) -> int:
    """Return how many steps the model's optimizer has made; 0 if unknown."""
    iterations = getattr(getattr(model, "optimizer", None), "iterations", None)
    return 0 if iterations is None else int(as_number(iterations))


def _warn_of_another_run(path: str, monitor: str, best: float) -> None:
    """Warn if a run that starts anew is about to replace an earlier run's best file."""
    if "{" not in path:
        warnings.warn(
            f"{path} is an earlier run's, with {monitor}={best!r}; this run starts anew and replaces it: "
            f"pass initial_value_threshold={best!r} to keep what is better",
            UserWarning,
            stacklevel=2,
        )


def values_in_names(pattern: str, monitor: str) -> Iterator[float]:
    """Yield the values of `monitor` in the names of existing files that `pattern` could have named.

    `pattern` is a checkpoint's path with placeholders in its last part. Names without the monitored value, or with
    values such as `nan`, are skipped.
    """
    folder, name = os.path.split(pattern)
    expression = _expression(name, monitor)
    if expression is None or "{" in folder or "://" in folder or not os.path.isdir(folder or "."):
        return
    for entry in sorted(os.listdir(folder or ".")):
        match = expression.fullmatch(entry.removesuffix(".index"))
        if match:
            yield float(match["best"])


def _expression(name: str, monitor: str) -> re.Pattern[str] | None:
    """Return the expression for file names of a pattern, with the group `best`; None if it has no field `monitor`."""
    parts, has_value = [], False
    for literal, field, _, _ in Formatter().parse(name):
        parts.append(re.escape(literal))
        if field == monitor and not has_value:
            parts.append(f"(?P<best>{NUMBER_PATTERN})")
            has_value = True
        elif field is not None:
            parts.append(".+?")
    return re.compile("".join(parts)) if has_value else None
