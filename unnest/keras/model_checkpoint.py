"""`ModelCheckpoint` that writes the template, whichever model is being fitted.

When to save, under which name and what to print is all Keras's own: `_save_model` runs unchanged, with a view in place
of the model. Its `save` and `save_weights` write a copy of the template (`unnest.keras.checkpoint_saver`) through a
temporary name (`unnest.keras.atomic_save`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from unnest.keras import atomic_save, checkpoint_history
from unnest.keras.checkpoint_saver import Saver
from unnest.keras.initial_best_value import EarlierRuns
from unnest.keras.keras_api import (
    KerasApi,
    Model,
    api_of,
    check_private_names,
    is_model,
    keras_in_use,
)


@cache
def model_checkpoint(api: KerasApi) -> Any:
    """Return the callback class for one Keras. Raises ImportError for a version that it cannot build on."""
    check_private_names(api)
    stock = api.keras.callbacks.ModelCheckpoint

    class ModelCheckpoint(stock):  # type: ignore[misc, valid-type]  # of the Keras that runs
        """Keras's ModelCheckpoint that always writes the template model.

        Takes what Keras's own takes, and in addition, by keyword:

        template: the model to write, where it cannot be found in the model that is fitted; None: found. Of a parallel
        model its template is written.
        max_to_keep: so many of the newest files stay.
        best_to_keep: so many of the files with the best monitored values stay. What neither of the two keeps, goes.

        With `save_best_only` or one of these two, each file is noted, with its value, in a small hidden file beside
        the models (`unnest.keras.checkpoint_history`). A run that continues an earlier one (a later epoch than the
        first, or an optimizer that has made steps) takes up its files and, unless `initial_value_threshold` is given,
        the best value of the same monitor and mode. A new run takes up nothing, as with Keras's own; a warning says so
        where it replaces an earlier run's best file. Files that are not noted are never deleted; without a note the
        best value is read from the names of files, if `filepath` contains it. `best` changes only when the save has
        succeeded. Files appear complete or not at all; remains of killed saves are removed when training starts.

        Where the model in training is more than a parallel model (layers around it, a sub-classed trainer that
        holds it), all of it is written: a Functional or Sequential model with the template in the parallel model's
        place, a sub-classed model as it is, with a warning.

        Raises what Keras's own raises; TypeError for a model of the other Keras; ValueError where towers lie open
        among the layers of the model in training and it has weights beyond their template, or where `template` has
        none of the weights that are trained.
        """

        def __init__(
            self,
            *args: Any,
            template: Model | None = None,
            max_to_keep: int | None = None,
            best_to_keep: int | None = None,
            **kwargs: Any,
        ) -> None:
            _check_second_argument(args)
            self.best: Any = None
            super().__init__(*args, **kwargs)
            _check_numbers_of_files(max_to_keep=max_to_keep, best_to_keep=best_to_keep)
            self._keep = max_to_keep, best_to_keep
            keeps_history = self.save_best_only or self._keep != (None, None)
            self._saver = Saver(
                api,
                template,
                checkpoint_history.History(str(self.filepath)) if keeps_history else None,
            )
            takes_up_best = self.save_best_only and _threshold(api, args, kwargs) is None
            self._earlier_runs = EarlierRuns(
                self._saver, str(self.filepath), self.monitor, takes_up_best=takes_up_best
            )

        def set_model(self, model: Model) -> None:
            _check_keras(api, model)
            super().set_model(model)

        def on_train_begin(self, logs: Any = None) -> None:
            super().on_train_begin(logs)
            if is_model(self.model):
                self._saver.choose(self.model)
            atomic_save.sweep(str(self.filepath))
            # Before any worker can have written: if one saw the chief's first file and did not save, all would wait.
            self._earlier_runs.read()

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            super().on_epoch_begin(epoch, logs)
            self._earlier_runs.begin_epoch(epoch, self.model)

        def _get_file_path(self, epoch: int, batch: int | None, logs: Any) -> str:
            path: str = super()._get_file_path(epoch, batch, logs)
            return self._saver.keras_path(path)

        def _save_model(self, epoch: int, batch: int | None, logs: Any) -> None:
            if getattr(self, "monitor_op", True) is None:
                self._set_monitor_op()  # Keras 3 does so after the first epoch, too late for save_freq=int
            lower_is_better = bool(self.monitor_op(0.0, 1.0))
            self.best = self._earlier_runs.take_up(self.best, lower_is_better=lower_is_better)
            best_before = self.best
            with _saved_as_template(
                api, self, self._saver, _number((logs or {}).get(self.monitor))
            ):
                try:
                    super()._save_model(epoch=epoch, batch=batch, logs=logs)
                except BaseException:
                    self.best = best_before
                    raise
            if self._keep != (None, None):
                self._saver.prune(*self._keep, lower_is_better=lower_is_better)

    # Where pickle finds it again.
    ModelCheckpoint.__module__ = "unnest.keras" if api == keras_in_use() else "unnest.keras.legacy"
    ModelCheckpoint.__qualname__ = "ModelCheckpoint"
    return ModelCheckpoint


@contextmanager
def _saved_as_template(
    api: KerasApi, callback: Any, saver: Saver, value: float | None
) -> Iterator[None]:
    """Replace the callback's model by the saver's view in the block; `value` is the monitored one."""
    attribute = "_model" if api.name == "keras" else "model"
    running = getattr(callback, attribute)
    if not is_model(running):
        yield
        return
    setattr(callback, attribute, saver.view(running, value))
    try:
        yield
    finally:
        setattr(callback, attribute, running)


def _check_keras(api: KerasApi, model: object) -> None:
    """Raise TypeError, in one line, for a model of the other Keras."""
    if is_model(model) and api_of(model) != api:
        other = "unnest.keras.legacy" if api.name == "keras" else "unnest.keras"
        raise TypeError(
            f"this ModelCheckpoint is for {api.name}, the model in fit() is of {api_of(model).name}: "
            f"use {other}.ModelCheckpoint"
        )


def _check_second_argument(arguments: tuple[Any, ...]) -> None:
    """Raise TypeError for the argument order of alt-model-checkpoint, which has the model second."""
    if len(arguments) > 1 and is_model(arguments[1]):
        raise TypeError(
            "ModelCheckpoint(filepath, model): what comes second is the value to monitor; "
            f"pass {arguments[1].name!r} as template=, or leave it out: it is found"
        )


def _check_numbers_of_files(**numbers: Any) -> None:
    """Raise ValueError, in one line, for no file to keep, or for what is no number of files."""
    for name, number in numbers.items():
        if number is not None and (
            isinstance(number, bool) or not isinstance(number, (int, np.integer))
        ):
            raise ValueError(f"{name}={number!r}: give a whole number of checkpoints")
        if number is not None and number < 1:
            raise ValueError(f"{name}={number}: at least one checkpoint must stay")


def _number(value: Any) -> float | None:
    """Return a monitored value as a number; None if it is not a finite one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _threshold(api: KerasApi, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the argument `initial_value_threshold`, given by position or by name."""
    position = 7 if api.name == "keras" else 8
    return args[position] if len(args) > position else kwargs.get("initial_value_threshold")
