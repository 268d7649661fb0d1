"""`ModelCheckpoint` that writes the template, whatever model is being fitted.

Everything about when to save, under which name and what to print is Keras's own: `_save_model` runs
unchanged, with a view in place of the model whose `save` and `save_weights` write the template's twin
(`unnest.keras.compiled_copy`) through a temporary name (`unnest.keras.atomic_save`).
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import tensorflow as tf

from unnest.keras import atomic_save, compiled_copy, resume_best
from unnest.keras.keras_api import Kit, Model, is_model, kit_of, require, running
from unnest.keras.template import base_model, template_model, templates_in


class _View:
    """The running model as the callback sees it while it saves."""

    def __init__(self, running: Model, target: Model, written: list[str]) -> None:
        self._running, self._target, self._written = running, target, written

    def save(self, filepath: str, overwrite: bool = True, **options: Any) -> None:
        """Save the whole template."""
        self._write("save", filepath, overwrite, options)

    def save_weights(self, filepath: str, overwrite: bool = True, **options: Any) -> None:
        """Save the template's weights."""
        self._write("save_weights", filepath, overwrite, options)

    def _write(self, how: str, filepath: str, overwrite: bool, options: dict[str, Any]) -> None:
        if how == "save" and str(filepath).endswith(".h5"):
            _warn_of_short_names(self._running)
        with atomic_save.replacing(str(filepath)) as temporary:
            getattr(self._target, how)(temporary, overwrite=overwrite, **options)
        self._written.append(str(filepath))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._running, name)


def _warn_of_short_names(running: Model) -> None:
    """Keras 3 writes `loss="mse"` into an .h5 file in a form that it does not load again."""
    kit = kit_of(running)
    settings = getattr(running, "_compile_config", None) if kit.name == "keras" else None
    losses = tf.nest.flatten(settings.config.get("loss")) if settings is not None else []
    for loss in losses:
        spelling = getattr(kit.keras.losses.get(loss), "__name__", loss) if isinstance(loss, str) else loss
        if spelling != loss:
            warnings.warn(
                f"Keras {kit.keras.__version__} does not load an .h5 file of a model compiled with loss={loss!r}: "
                f"write loss={spelling!r}, or save as .keras",
                UserWarning,
                stacklevel=2,
            )


class Saver:
    """What a checkpoint needs to know beyond Keras's own: which model to write, and what it wrote."""

    def __init__(self, kit: Kit, template: Model | None, max_to_keep: int | None) -> None:
        if template is not None and not (is_model(template) and kit_of(template) == kit):
            raise TypeError(f"template must be a model of {kit.name}, this is a {type(template).__qualname__}")
        if max_to_keep is not None and max_to_keep < 1:
            raise ValueError(f"max_to_keep={max_to_keep}: at least one checkpoint must stay")
        self.kit, self.template, self.max_to_keep = kit, template, max_to_keep
        self.written: list[str] = []
        self.took_up = False
        self._chosen: tuple[weakref.ref[Any], frozenset[int], Model] | None = None

    def view(self, running: Model) -> _View:
        """The stand-in for `running` while Keras's own code saves."""
        template = self.choose(running)
        return _View(running, template if template is running else self._dressed(template, running), self.written)

    def choose(self, running: Model) -> Model:
        """The model to write: the template asked for, or the base model of `running`.

        Looked for anew when `running` has gained weights: a sub-classed model makes them in its first step.
        """
        weights = frozenset(map(id, running.variables))
        if self._chosen is None or self._chosen[0]() is not running or self._chosen[1] != weights:
            self._chosen = (weakref.ref(running), weights, self._choose(running))
        return self._chosen[2]

    def _choose(self, running: Model) -> Model:
        if self.template is not None:
            return self._as_asked(running, self.template)
        templates = templates_in(running)
        if not templates:
            return running
        if len(templates) == 1 and _holds(templates[0], running):
            return templates[0]
        if not getattr(running, "inputs", None):
            return self._all_of(running)
        base = base_model(running)
        if base is None or not _holds(base, running):
            raise ValueError(
                f"the model in training has weights beyond its template {templates[0].name!r}, which would be lost: "
                f"pass template= with the model to save"
            )
        return base

    def _all_of(self, running: Model) -> Model:
        """A sub-classed model that is more than the parallel model in it: nobody but its code can take that out."""
        warnings.warn(
            f"{type(running).__name__} {running.name!r} has weights beyond the parallel model that it holds: "
            "checkpoints hold all of it, the parallel model included; pass template= to save the template alone",
            UserWarning,
            stacklevel=2,
        )
        return running

    def _as_asked(self, running: Model, template: Model) -> Model:
        """The template that was passed in, or the clone of it that is being trained instead."""
        if _holds(running, template):
            return template
        found = template_model(running)
        if found is running:
            raise ValueError(f"template {template.name!r} shares no weights with the model in training")
        warnings.warn(
            f"the model in training does not train {template.name!r} but a clone of it: "
            f"the clone's weights are saved; {template.name!r} itself is untrained",
            UserWarning,
            stacklevel=2,
        )
        return found

    def _dressed(self, template: Model, running: Model) -> Model:
        if compiled_copy.shares_optimizer(template, running):
            return compiled_copy.trained(self.kit, template, running)
        warnings.warn(
            f"the model in training trains other weights than {template.name!r}: "
            "the file has no optimizer state and no compile settings",
            UserWarning,
            stacklevel=2,
        )
        return template

    def prune(self) -> None:
        """Delete the oldest of this run's files until `max_to_keep` are left."""
        self.written = list(dict.fromkeys(reversed(self.written)))[::-1]
        while self.max_to_keep is not None and len(self.written) > self.max_to_keep:
            atomic_save.remove(self.written.pop(0))


def _holds(whole: Model, part: Model) -> bool:
    """Whether every variable of `part` is one of `whole`'s."""
    return {id(v) for v in part.variables} <= {id(v) for v in whole.variables}


@cache
def model_checkpoint(kit: Kit) -> Any:
    """The class for one Keras. Raises ImportError for a version of it that has not got what it is built on."""
    require(kit)
    stock = kit.keras.callbacks.ModelCheckpoint

    class ModelCheckpoint(stock):  # type: ignore[misc, valid-type]
        """Keras's ModelCheckpoint that always writes the template model.

        Takes what Keras's own takes, and in addition, by keyword:

        template: the model to write, where it cannot be found in the model that is fitted; None: found.
        max_to_keep: how many of this run's files stay; None: all.

        With `save_best_only`, the best value so far is taken up from the names of existing files where
        `filepath` holds the monitored value and `initial_value_threshold` is not given. `best` changes only
        when the save has succeeded. Files appear complete or not at all.

        Where the model in training is more than a parallel model (layers around it, a sub-classed trainer that
        holds it), all of it is written: a Functional or Sequential model with the template in the parallel model's
        place, a sub-classed model as it is, with a warning.

        Raises what Keras's own raises; TypeError for a model of the other Keras; ValueError where towers lie open
        among the layers of the model in training and it has weights beyond their template, or where `template` has
        none of the weights that are trained.
        """

        def __init__(
            self, *args: Any, template: Model | None = None, max_to_keep: int | None = None, **kwargs: Any
        ) -> None:
            _refuse_model_by_position(args)
            self.best: Any = None
            super().__init__(*args, **kwargs)
            self._saver = Saver(kit, template, max_to_keep)
            threshold = kwargs.get(
                "initial_value_threshold", args[_threshold(kit)] if len(args) > _threshold(kit) else None
            )
            self._takes_up_best = self.save_best_only and threshold is None
            self._told: list[float] | None = None

        def set_model(self, model: Model) -> None:
            _refuse_stranger(kit, model)
            super().set_model(model)

        def on_train_begin(self, logs: Any = None) -> None:
            super().on_train_begin(logs)
            if is_model(self.model):
                self._saver.choose(self.model)
            # Before any worker can have written: if one saw the chief's first file and did not save, all would wait.
            self._told = self._read_names() if self._takes_up_best else None

        def _read_names(self) -> list[float]:
            return list(resume_best.values(str(self.filepath), self.monitor))

        def _save_model(self, epoch: int, batch: int | None, logs: Any) -> None:
            if getattr(self, "monitor_op", True) is None:
                self._set_monitor_op()  # Keras 3 does so after the first epoch, too late for save_freq=int
            if self._takes_up_best:
                self._takes_up_best = False
                self.best = _best_of(self, self._read_names() if self._told is None else self._told)
            before = self.best
            with self._stand_in():
                try:
                    super()._save_model(epoch=epoch, batch=batch, logs=logs)
                except BaseException:
                    self.best = before
                    raise
            self._saver.prune()

        @contextmanager
        def _stand_in(self) -> Iterator[None]:
            attribute = "_model" if kit.name == "keras" else "model"
            running = getattr(self, attribute)
            if not is_model(running):
                yield
                return
            setattr(self, attribute, self._saver.view(running))
            try:
                yield
            finally:
                setattr(self, attribute, running)

    # Where pickle finds it again.
    ModelCheckpoint.__module__ = "unnest.keras" if kit == running() else "unnest.keras.legacy"
    ModelCheckpoint.__qualname__ = "ModelCheckpoint"
    return ModelCheckpoint


def _refuse_stranger(kit: Kit, model: object) -> None:
    """One line for a model of the other Keras."""
    if is_model(model) and kit_of(model) != kit:
        other = "unnest.keras.legacy" if kit.name == "keras" else "unnest.keras"
        raise TypeError(
            f"this ModelCheckpoint is for {kit.name}, the model in fit() is of {kit_of(model).name}: "
            f"use {other}.ModelCheckpoint"
        )


def _refuse_model_by_position(arguments: tuple[Any, ...]) -> None:
    """One line for whoever comes from alt-model-checkpoint, whose second argument is the model."""
    if len(arguments) > 1 and is_model(arguments[1]):
        raise TypeError(
            "ModelCheckpoint(filepath, model): what comes second is the value to monitor; "
            f"pass {arguments[1].name!r} as template=, or leave it out: it is found"
        )


def _best_of(callback: Any, told: list[float]) -> Any:
    """The callback's best value, or a better one that the names of existing files told."""
    found = callback.best
    for value in told:
        if found is None or bool(callback.monitor_op(value, found)):
            found = value
    return found


def _threshold(kit: Kit) -> int:
    """The position of `initial_value_threshold` among Keras's own arguments."""
    return 7 if kit.name == "keras" else 8
