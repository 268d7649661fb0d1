"""A Keras model's JSON as `.keras` has it, and as .h5 has it.

In .h5 the entry of a layer is its class's name and its config; in `.keras` it also says in which module the class is,
and under which name it is registered. Compile settings are called and nested differently. Layers inside a config (a
wrapped layer, a cell), initializers and the like are the same in both since Keras 2.13; older ones say less, which
tf_keras takes.
(Source: files of Keras 2.15, 3.15 and tf_keras 2.21.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from unnest.core import json_tree
from unnest.core.architecture import children, is_input, is_model, replace_children
from unnest.core.keras_facts.custom_functions_in_configs import ACTIVATION_ARGUMENTS
from unnest.core.keras_facts.metric_objects_to_names import metric_by_name
from unnest.core.keras_facts.optimizer_classes import (
    LEGACY_MODULE,
    REGISTERED_PREFIX,
    is_keras_optimizer,
)
from unnest.core.keras_facts.stored_class_names import current_class_name, operation_module
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json, JsonObject, Stored
from unnest.errors import Refused

#: Keys of an entry that only `.keras` has.
ADDED = ("module", "registered_name", "build_config", "compile_config")
#: tf_keras left the name `keras` to Keras 3; new optimizers, the first that `.keras` stores; `.keras` itself.
RENAMED, OPTIMIZERS, MODULES = (2, 16), (2, 11), (2, 13)
#: The modules of Keras's optimizers, and of those of before Keras 2.11.
OWN_OPTIMIZERS = "keras.optimizers"
#: The one around another optimizer that `mixed_float16` makes: a `.keras` with it does not load without its state,
#: which is nested there (seen with Keras 2.15).
LOSS_SCALE, LOSS_SCALE_OF_OLD = "LossScaleOptimizerV3", "LossScaleOptimizer"
#: Keras 2 compile settings that .h5 leaves out.
RUNTIME = ("run_eagerly", "steps_per_execution", "jit_compile")


def h5_to_keras(stored: Stored) -> Stored:
    """Return the model as `.keras` stores it, without compile settings that have no form there. Raises Refused."""
    release = stored.release
    if release[:1] not in ((2,), (3,)) or stored.architecture is None:
        who = f"Keras {stored.keras_version}" if stored.keras_version else "an unknown Keras"
        raise Refused(
            "cannot-convert", f"is by {who}, whose JSON no software reads from a .keras; write .h5"
        )
    training = _compile_config(stored.training, release)
    optimizer = training and training["optimizer"]
    has_state = isinstance(optimizer, Mapping) and not _is_legacy(optimizer, release)
    return stored._replace(architecture=_KerasEntries(release).top(stored.architecture), training=training,
        optimizer=stored.optimizer if has_state else None, backend=None,
    )  # fmt: skip


def keras_to_h5(stored: Stored) -> Stored:
    """Return a `.keras` model as its Keras stores it in .h5."""
    assert stored.architecture is not None
    bare = _bare(stored.architecture)
    if not stored.is_keras_3:
        bare = _with_activations_by_name(bare)
    assert isinstance(bare, Mapping)
    architecture = {k: bare[k] for k in ("class_name", "config")}
    return stored._replace(
        architecture=architecture, training=_training_config(stored.training, stored.release)
    )


class _KerasEntries(NamedTuple):
    """From entries as .h5 has them to those of `.keras`."""

    release: tuple[int, ...]

    def top(self, model: JsonObject) -> JsonObject:
        """Return the top-level model, which must say in which module its class is."""
        entry = self._entry(model)
        if "module" in entry:
            return entry
        # Every Keras 2 that knows the container finds this one.
        return {
            "module": "keras",
            "class_name": "Model",
            "config": entry["config"],
            "registered_name": None,
        }

    def _entry(self, entry: JsonObject) -> JsonObject:
        """Return a layer's entry with the module and registered name that `.keras` stores. Raises Refused."""
        kind = current_class_name(str(entry.get("class_name")))
        rest = {k: v for k, v in entry.items() if k not in ("class_name", "config", *ADDED)}
        config = self._config(entry)
        if kind == "Functional" and is_model(entry):
            return {**self._functional(config), **rest}
        module: str | None = "keras" if kind == "Sequential" else "keras.layers"
        registered: str | None = None
        if self.release >= (3,) and (operation := operation_module(entry)) is not None:
            return {
                "module": operation,
                "class_name": kind,
                "config": config,
                "registered_name": kind,
                **rest,
            }
        if (
            self.release >= (3,)
            and kind != "Sequential"
            and not layer_record(kind).exported
            and _is_operation(entry, config)
        ):
            raise Refused(
                "cannot-convert",
                f"{entry.get('name')!r} is an operation ({kind}) that is not Keras's own; write .h5",
            )
        if kind != "Sequential" and not layer_record(kind).exported:
            # A custom class: registered as package>Name, or given to the loader by its name.
            package, _, kind = kind.rpartition(">")
            module, registered = None, f"{package}>{kind}" if package else kind
            if self.release < (3,) and not package:
                # Keras 2's own layers of operations and its loader's short form: found by name.
                return {"class_name": kind, "config": config, **rest}
        return {
            "module": module,
            "class_name": kind,
            "config": config,
            "registered_name": registered,
            **rest,
        }

    def _functional(self, config: Json) -> dict[str, Json]:
        """Return a functional model's entry as this release stores it in `.keras`."""
        if self.release < RENAMED:
            return {"class_name": "Functional", "config": config}
        modern = self.release >= (3,)
        module = "keras.src.models.functional" if modern else "tf_keras.src.engine.functional"
        entry = {
            "module": module,
            "class_name": "Functional",
            "config": config,
            "registered_name": "Functional",
        }
        return {
            **entry,
            **({"build_config": {"input_shape": None}, "compile_config": {}} if modern else {}),
        }

    def _config(self, entry: JsonObject) -> Json:
        """Return a model's config with its layers rewritten; another layer's is unchanged but for Keras 3 models in it.

        Keras 3 finds layers in those by their names, and operations by their modules alone.
        """
        config = entry.get("config")
        if not is_model(entry):
            if self.release >= (3,):
                held = {
                    path: {**model, "config": self._config(model)}
                    for path, model in children(entry)
                }
                return replace_children(entry, held)["config"]
            return _renamed(config) if self.release < MODULES else config
        if isinstance(config, Mapping):
            return {**config, "layers": self._entries(config["layers"])}
        return self._entries(config)

    def _entries(self, layers: Json) -> list[Json]:
        assert isinstance(layers, Sequence)
        return [self._entry(e) for e in layers if isinstance(e, Mapping)]


def _renamed(value: Json) -> Json:
    """Return the layers inside an old layer's config under today's class names, of which their paths are made."""
    return json_tree.transform(
        value,
        lambda _, e: (
            e | {"class_name": current_class_name(str(e["class_name"]))} if "class_name" in e else e
        ),
    )


def _is_operation(entry: JsonObject, config: Json) -> bool:
    """Return True for an operation among the layers of Keras 3: it has no `trainable`."""
    return isinstance(config, Mapping) and "trainable" not in config and not is_input(entry)


def _compile_config(training: JsonObject | None, release: tuple[int, ...]) -> JsonObject | None:
    """Return the compile settings of `.keras`; None if they have no form there."""
    optimizer = _optimizer((training or {}).get("optimizer_config"), release)
    if training is None or optimizer is None or release < OPTIMIZERS:
        return None
    rest = {k: _moduled(v, "keras.losses" if k == "loss" else "keras.metrics") for k, v in training.items()
            if k != "optimizer_config"}  # fmt: skip
    if release >= (3,):
        return {"optimizer": optimizer, **rest}
    for key in ("metrics", "weighted_metrics"):
        rest[key] = metric_by_name(rest.get(key))
    if ... in rest.values():
        return None
    return {"optimizer": optimizer, **rest, **dict.fromkeys(RUNTIME)}


def _optimizer(given: Json, release: tuple[int, ...]) -> JsonObject | None:
    """Return an optimizer as `.keras` names it; a custom one by the name under which a loader looks for it.

    Those of before Keras 2.11 went on as legacy ones, and their config does not say so;
    their state is not stored.
    """
    if not isinstance(given, Mapping) or not isinstance(given.get("config"), Mapping):
        return None
    name = str(given.get("class_name"))
    kind = name.removeprefix(REGISTERED_PREFIX)
    if kind == LOSS_SCALE or (kind == LOSS_SCALE_OF_OLD and release < (3,)):
        return None
    config: Any = given["config"]
    rate = _moduled(config.get("learning_rate"), "keras.optimizers.schedules")
    new = {**config, **({"learning_rate": rate} if "learning_rate" in config else {})}
    if not is_keras_optimizer(name):
        return {
            "module": None,
            "class_name": name.rpartition(">")[2],
            "config": new,
            "registered_name": name,
        }
    module = LEGACY_MODULE if _is_legacy(given, release) else OWN_OPTIMIZERS
    return {"module": module, "class_name": kind, "config": new, "registered_name": None}


def _is_legacy(optimizer: JsonObject, release: tuple[int, ...]) -> bool:
    """Return True if an optimizer is of the kind of before Keras 2.11, by its config."""
    config = optimizer["config"]
    assert isinstance(config, Mapping)
    return release < (3,) and config.get("is_legacy_optimizer") is not False


def _moduled(value: Json, module: str) -> Any:  # noqa: ANN401 - JSON is any
    """Return objects with the module of their class; metrics that wrap a function are left to `metric_by_name`."""

    def change(before: JsonObject, part: dict[str, Json]) -> Json:
        if set(before) != {"class_name", "config"} or before["class_name"] == "MeanMetricWrapper":
            return part
        kind = str(before["class_name"])
        home = {"module": None, "registered_name": kind} if ">" in kind else {"module": module}
        return {
            "class_name": kind.rpartition(">")[2],
            "config": before["config"],
            "registered_name": None,
            **home,
        }

    return json_tree.transform(value, change)


def _bare(value: Json) -> Json:
    """Return layer entries without the keys that .h5 lacks, and without ids of shared objects."""

    def change(before: JsonObject, bare: dict[str, Json]) -> Json:
        bare.pop("shared_object_id", None)
        config = bare.get("config")
        if is_model(before) and isinstance(config, Mapping):
            layers = [_entry_of_h5(e) for e in config["layers"]]  # type: ignore[union-attr]  # a model's is a list
            bare["config"] = {**config, "layers": layers}
        return bare

    return json_tree.transform(value, change)


def _with_activations_by_name(value: Json) -> Json:
    """Return entries of Keras 2 with custom activations as names: their objects it does not read from an .h5."""

    def change(_: JsonObject, parts: dict[str, Json]) -> Json:
        for key in ACTIVATION_ARGUMENTS:
            function = parts.get(key)
            if isinstance(function, Mapping) and function.get("class_name") == "function":
                parts[key] = function["config"]
        return parts

    return json_tree.transform(value, change)


def _entry_of_h5(entry: Any) -> JsonObject:  # noqa: ANN401 - JSON is any
    registered = entry.get("registered_name")
    kind = registered if isinstance(registered, str) and ">" in registered else entry["class_name"]
    return {
        "class_name": kind,
        **{k: v for k, v in entry.items() if k not in ("class_name", *ADDED)},
    }


def _training_config(compiled: JsonObject | None, release: tuple[int, ...]) -> JsonObject | None:
    """Return .h5's training_config for `.keras`'s compile_config."""
    if not compiled or not isinstance(compiled.get("optimizer"), Mapping):
        return None
    left_out = ("optimizer", *(() if release >= (3,) else RUNTIME))
    rest = {k: _short(v) for k, v in compiled.items() if k not in left_out}
    zipped: Any = compiled["optimizer"]
    optimizer: Any = _short(zipped)
    if OPTIMIZERS <= release < (3,) and zipped.get("module") == OWN_OPTIMIZERS:
        # These classes are registered so, and written to .h5.
        optimizer["class_name"] = REGISTERED_PREFIX + optimizer["class_name"]
    return {**rest, "optimizer_config": optimizer}


def _short(value: Json) -> Json:
    """Return objects as class and config alone, functions as names."""

    def change(before: JsonObject, short: dict[str, Json]) -> Json:
        if not {"module", "class_name", "config"} <= set(before):
            short.pop("shared_object_id", None)
            return short
        registered = before.get("registered_name")
        kind = (
            registered
            if isinstance(registered, str) and ">" in registered
            else before["class_name"]
        )
        return (
            short["config"]
            if kind == "function"
            else {"class_name": kind, "config": short["config"]}
        )

    return json_tree.transform(value, change)
