"""Choose the model that a checkpoint writes, note the files it wrote, and delete old ones."""

from __future__ import annotations

import os
import tempfile
import warnings
import weakref
from typing import Any

from unnest.keras import atomic_save, checkpoint_storage, template_with_training_state
from unnest.keras.checkpoint_history import History
from unnest.keras.find_template import base_model, template_model, templates_in
from unnest.keras.keras_api import KerasApi, Model, api_of, is_model


class SavingView:
    """The running model as the callback sees it while it saves."""

    def __init__(self, saver: Saver, running: Model, target: Model, value: float | None) -> None:
        self._saver, self._running, self._target, self._value = saver, running, target, value

    def save(self, filepath: str, overwrite: bool = True, **options: Any) -> None:
        """Save the whole template: architecture, weights and compile settings."""
        self._write("save", filepath, overwrite, options)

    def save_weights(self, filepath: str, overwrite: bool = True, **options: Any) -> None:
        """Save the template's weights."""
        self._write("save_weights", filepath, overwrite, options)

    def _write(self, how: str, filepath: str, overwrite: bool, options: dict[str, Any]) -> None:
        if how == "save" and str(filepath).endswith(".h5"):
            _warn_of_short_names(self._running)
        path = self._saver.path_of(str(filepath))
        with atomic_save.new_file_for(path) as temporary:
            getattr(self._target, how)(temporary, overwrite=overwrite, **options)
            self._saver.note(path, self._value, temporary)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._running, name)


def _warn_of_short_names(running: Model) -> None:
    """Warn that Keras 3 writes `loss="mse"` into .h5 in a form that it cannot load."""
    api = api_of(running)
    settings = getattr(running, "_compile_config", None) if api.name == "keras" else None
    losses = api.keras.tree.flatten(settings.config.get("loss")) if settings is not None else []
    for loss in losses:
        spelling = (
            getattr(api.keras.losses.get(loss), "__name__", loss) if isinstance(loss, str) else loss
        )
        if spelling != loss:
            warnings.warn(
                f"Keras {api.keras.__version__} does not load an .h5 file of a model compiled with loss={loss!r}: "
                f"write loss={spelling!r}, or save as .keras",
                UserWarning,
                stacklevel=2,
            )


class Saver:
    """State of a checkpoint beyond Keras's: the model to write, and the history of its files (None: not noted)."""

    def __init__(self, api: KerasApi, template: Model | None, history: History | None) -> None:
        if template is not None and not (is_model(template) and api_of(template) == api):
            raise TypeError(
                f"template must be a model of {api.name}, this is a {type(template).__qualname__}"
            )
        self.api, self.template, self._history = api, template, history
        self._remote: dict[str, str] = {}
        self._chosen: tuple[weakref.ref[Any], frozenset[int], Model] | None = None

    def view(self, running: Model, value: float | None) -> SavingView:
        """Return the stand-in for `running` while Keras's own code saves; `value` is the monitored one."""
        template = self.choose(running)
        return SavingView(
            self,
            running,
            template if template is running else self._with_training_state(template, running),
            value,
        )

    def keras_path(self, path: str) -> str:
        """Return `path`, or a local stand-in if Keras could not look for its folder, as it does before it saves."""
        if checkpoint_storage.is_served_by_keras(path):
            return path
        local = os.path.join(tempfile.gettempdir(), path.rpartition("/")[2])
        self._remote[local] = path
        return local

    def path_of(self, filepath: str) -> str:
        """Return the path to write for the path that Keras has."""
        return self._remote.get(filepath, filepath)

    def read_history(self) -> None:
        """Read what earlier runs have noted."""
        if self._history is not None:
            self._history.read()

    def set_monitor(self, monitor: str) -> None:
        """Set what the values are from now on: the mode (`min` or `max`) and the monitor's name."""
        if self._history is not None:
            self._history.monitor = monitor

    def earlier_values(self) -> list[float]:
        """Return the values of the same monitor for files of earlier runs that still exist."""
        return [] if self._history is None else self._history.values()

    def forget_earlier_runs(self) -> None:
        """Note from now on what this run writes alone; no file goes."""
        if self._history is not None:
            self._history.entries = []

    def note(self, path: str, value: float | None, written: str) -> None:
        """Note that the local file `written` is about to become `path`."""
        if self._history is not None:
            self._history.add(path, value, written)

    def prune(self, last: int | None, best: int | None, *, lower_is_better: bool) -> None:
        """Delete what is neither among the newest nor among the best."""
        if self._history is not None:
            for entry in self._history.surplus(last, best, lower_is_better=lower_is_better):
                self._history.drop(entry)

    def choose(self, running: Model) -> Model:
        """Return the model to write: the template asked for, or the base model of `running`.

        Looked for anew when `running` has gained weights: a sub-classed model makes them in its first step.
        """
        weights = frozenset(map(id, running.variables))
        if self._chosen is None or self._chosen[0]() is not running or self._chosen[1] != weights:
            self._chosen = (weakref.ref(running), weights, self._choose(running))
        return self._chosen[2]

    def _choose(self, running: Model) -> Model:
        if self.template is None:
            return self._base_of(running, "the model in training")
        return self._as_asked(
            running, self._base_of(self.template, f"template {self.template.name!r}")
        )

    def _base_of(self, model: Model, label: str) -> Model:
        """Return `model` without towers: itself, its template, or itself with templates for parallel models in it.

        Raises ValueError.
        """
        base = base_model(model)
        if base is not None and _holds(base, model):
            return base
        if not getattr(model, "inputs", None):
            return self._all_of(model)
        raise ValueError(
            f"{label} is more than its template {templates_in(model)[0].name!r}, and what is more would be lost: "
            f"pass template= with the model to save"
        )

    def _all_of(self, running: Model) -> Model:
        """Return a sub-classed model as a whole: only its code knows its use of the parallel model in it."""
        warnings.warn(
            f"only the code of {type(running).__name__} {running.name!r} knows what it does with the parallel model "
            "that it holds: checkpoints hold all of it, the parallel model included; "
            "pass template= to save the template alone",
            UserWarning,
            stacklevel=2,
        )
        return running

    def _as_asked(self, running: Model, template: Model) -> Model:
        """Return the template that was passed in, or the clone of it that is trained instead. Raises ValueError."""
        if _holds(running, template):
            return template
        trained_template = template_model(running)
        if trained_template is running:
            raise ValueError(
                f"template {template.name!r} shares no weights with the model in training"
            )
        warnings.warn(
            f"the model in training does not train {template.name!r} but a clone of it: "
            f"the clone's weights are saved; {template.name!r} itself is untrained",
            UserWarning,
            stacklevel=2,
        )
        return trained_template

    def _with_training_state(self, template: Model, running: Model) -> Model:
        if template_with_training_state.shares_optimizer(template, running):
            return template_with_training_state.with_training_state(self.api, template, running)
        warnings.warn(
            f"the model in training trains other weights than {template.name!r}: "
            "the file has no optimizer state and no compile settings",
            UserWarning,
            stacklevel=2,
        )
        return template


def _holds(model: Model, part: Model) -> bool:
    """Return True if every variable of `part` is one of `model`'s."""
    return {id(v) for v in part.variables} <= {id(v) for v in model.variables}
