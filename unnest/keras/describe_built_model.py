"""A built model as the file side sees it: its JSON, the shapes of its weights, its optimizer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from unnest.core.architecture import is_model
from unnest.core.architecture.nested_models import LeafPath
from unnest.core.model import JsonObject
from unnest.core.weight_transfer.target_model import (
    KERAS_3,
    TargetModel,
    TargetOptimizer,
    WeightShape,
)
from unnest.keras.keras_api import KERAS, KerasApi, Model, api_of
from unnest.keras.keras_api import is_model as is_keras_model


def target_model(model: Model) -> TargetModel:
    """Describe a model that takes weights.

    Raises:
        TypeError: `model` is not a model of Keras 3 or tf_keras.
        ValueError: it is not built, or keeps its layers in code.

    """
    api = api_of(model)
    if not model.built:
        raise ValueError(
            f"model {model.name!r} is not built: give it an Input, or call model.build(input_shape)"
        )
    try:
        architecture = json.loads(model.to_json())
    except Exception as e:
        raise ValueError(
            f"model {model.name!r} has no JSON ({' '.join(str(e).split())[:200]}): a subclass needs get_config"
        ) from e
    if not is_model(architecture):
        raise ValueError(
            f"model {model.name!r} keeps its layers in code: weights go into a Functional or Sequential model"
        )
    architecture.pop("compile_config", None)
    layers = dict(_leaf_layers(model, ()))
    held = {id(v) for layer in layers.values() for v in layer.weights}
    if outside := [v for v in model.weights if id(v) not in held]:
        name = outside[0].path if api is KERAS else outside[0].name
        raise ValueError(
            f"model {model.name!r} has weights outside its layers ({name}), which no file places"
        )
    shapes = {path: shape for path, layer in layers.items() if (shape := _shapes(layer))}
    version = KERAS_3 if api is KERAS else str(api.keras.__version__)
    return TargetModel(architecture, shapes, _optimizer(model, layers, api), version)


def _leaf_layers(model: Model, path: LeafPath) -> Iterator[tuple[LeafPath, Any]]:
    """Yield the layers that are no models, nested models included."""
    for layer in model.layers:
        if is_keras_model(layer):
            yield from _leaf_layers(layer, (*path, layer.name))
        else:
            yield (*path, layer.name), layer


def _shapes(layer: Any) -> tuple[WeightShape, ...]:
    """Return the shapes of a layer's weights, in the order of `layer.weights`."""
    return tuple(tuple(int(n) for n in v.shape) for v in layer.weights)


def _optimizer(
    model: Model, layers: Mapping[LeafPath, Any], api: KerasApi
) -> TargetOptimizer | None:
    """Return the optimizer of a compiled model; a legacy one of tf_keras without variables, which no file holds."""
    optimizer: Any = getattr(model, "optimizer", None)
    if optimizer is None or not (
        getattr(model, "compiled", False) or getattr(model, "_is_compiled", False)
    ):
        return None
    if not hasattr(optimizer, "build"):
        return TargetOptimizer(f"the legacy {type(optimizer).__name__}", ())
    if api is not KERAS or not optimizer.built:
        optimizer.build(model.trainable_variables)
    place = {
        id(v): (path, k) for path, layer in layers.items() for k, v in enumerate(layer.weights)
    }
    return TargetOptimizer(
        type(optimizer).__name__,
        tuple(tuple(int(n) for n in v.shape) for v in optimizer.variables),
        tuple(place[id(v)] for v in model.trainable_variables),
        _config(optimizer, api),
    )


def _config(optimizer: Any, api: KerasApi) -> JsonObject:
    """Return the settings of an optimizer; none of a class that does not say them."""
    try:
        config: JsonObject = api.keras.optimizers.serialize(optimizer)["config"]
    except Exception:  # noqa: BLE001 - a class of the caller's, of which no state is converted
        return {}
    return config
