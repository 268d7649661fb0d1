"""A model's JSON as `.keras` has it and as .h5 has it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, source
from unnest.core.model import Stored, Tensor
from unnest.errors import Refused
from unnest.formats.change_container.h5_keras_config_conversion import h5_to_keras, keras_to_h5

NET = functional(
    {**source(), "config": {"name": "x", "batch_shape": [None, 4]}},
    layer("y", ["x"], units=3, trainable=True),
)


def stored(**changes: Any) -> Stored:
    return Stored("model", architecture=NET, keras_version="3.5.0")._replace(**changes)


def test_entries_gain_their_module_and_lose_it_again() -> None:
    zipped = h5_to_keras(stored()).architecture
    assert zipped is not None
    entries: Any = zipped["config"]
    assert [(e["module"], e["registered_name"]) for e in entries["layers"]] == [
        ("keras.layers", None)
    ] * 2
    assert (zipped["module"], zipped["class_name"]) == ("keras.src.models.functional", "Functional")
    assert keras_to_h5(stored(architecture=zipped)).architecture == NET


@pytest.mark.parametrize("version", ["2.15.0", "3.5.0"])
def test_an_activation_of_one_s_own_is_called_by_its_name_in_an_h5(version: str) -> None:
    """Keras 2 reads the object in its place from a .keras alone, Keras 3 from both, and there no such name."""
    function = {"module": "builtins", "class_name": "function", "config": "mine"}
    net = functional(source("x"), layer("y", ["x"], activation=function, units=2))
    written: Any = keras_to_h5(stored(architecture=net, keras_version=version)).architecture
    activation = written["config"]["layers"][1]["config"]["activation"]
    assert activation == ("mine" if version == "2.15.0" else function)


def test_custom_function_class_is_registered_not_found_by_module() -> None:
    own = functional(NET["config"]["layers"][0], layer("y", ["x"], kind="pkg>Mine", trainable=True))
    zipped: Any = h5_to_keras(stored(architecture=own)).architecture
    entry = zipped["config"]["layers"][1]
    assert (entry["module"], entry["class_name"], entry["registered_name"]) == (
        None,
        "Mine",
        "pkg>Mine",
    )


@pytest.mark.parametrize(
    ("kind", "config", "module"),
    [
        ("Add", {}, "keras.src.ops.numpy"),  # the layer of that name says whether it is trained
        ("Add", {"trainable": True}, "keras.layers"),
        ("NotEqual", {}, "keras.src.ops.numpy"),
        ("Normalize", {"axis": -1, "order": 2}, "keras.src.ops.nn"),
        ("SpatialDropout1D", {"rate": 0.5, "dtype": "float32"}, "keras.layers"),
        ("Discretization", {"dtype": "float32"}, "keras.layers"),
        ("Softmax", {"axis": -1}, "keras.src.ops.nn"),
        ("Softmax", {"axis": -1, "dtype": "float32", "trainable": False}, "keras.layers"),
    ],
)
def test_operations_are_known_by_their_classes(
    kind: str, config: dict[str, Any], module: str
) -> None:
    """An .h5 does not say in which module a class is."""
    model = functional(NET["config"]["layers"][0], layer("y", ["x", "x"], kind=kind, **config))
    zipped: Any = h5_to_keras(stored(architecture=model)).architecture
    entry = zipped["config"]["layers"][1]
    registered = kind if module.startswith("keras.src.ops") else None
    assert (entry["module"], entry["class_name"], entry["registered_name"]) == (
        module,
        kind,
        registered,
    )


def test_operations_of_a_model_that_a_layer_holds() -> None:
    """As those of the model itself; what holds it, and what its entry says beside its layers, stays."""
    inner = {
        **functional(NET["config"]["layers"][0], layer("y", ["x", "x"], kind="NotEqual")),
        "module": "m.of.models",
    }
    outer = functional(
        NET["config"]["layers"][0], layer("each", ["x"], kind="TimeDistributed", layer=inner)
    )
    zipped: Any = h5_to_keras(stored(architecture=outer)).architecture
    held = zipped["config"]["layers"][1]["config"]["layer"]
    assert (held["module"], held["config"]["layers"][1]["module"]) == (
        "m.of.models",
        "keras.src.ops.numpy",
    )


def test_an_operation_of_custom_function_is_refused() -> None:
    """Its module is nowhere."""
    own = functional(NET["config"]["layers"][0], layer("y", ["x", "x"], kind="Mine"))
    with pytest.raises(Refused, match=r"'y' is an operation \(Mine\) that is not Keras's own"):
        h5_to_keras(stored(architecture=own))


@pytest.mark.parametrize("version", ["1.2.2", None])
def test_what_no_software_reads_from_a_zip_is_refused(version: str | None) -> None:
    with pytest.raises(Refused, match=r"write \.h5"):
        h5_to_keras(stored(keras_version=version))


def test_compile_settings_are_called_differently() -> None:
    adam = {
        "class_name": "Adam",
        "config": {"name": "Adam", "learning_rate": 0.5, "is_legacy_optimizer": False},
    }
    training = {"loss": "mse", "metrics": None, "optimizer_config": adam}
    zipped = h5_to_keras(stored(training=training)).training
    assert zipped is not None
    optimizer: Any = zipped["optimizer"]
    assert (optimizer["module"], optimizer["class_name"], zipped["loss"]) == (
        "keras.optimizers",
        "Adam",
        "mse",
    )
    assert keras_to_h5(stored(training=zipped)).training == training


@pytest.mark.parametrize(
    ("version", "module", "name"),
    [
        ("2.15.0", "keras.optimizers", "Custom>Adafactor"),
        ("2.15.0", "keras.optimizers.legacy", "Adafactor"),
        ("3.5.0", "keras.optimizers", "Adafactor"),
    ],
)
def test_optimizers_of_keras_2_are_registered_in_an_h5_since_2_11(
    version: str, module: str, name: str
) -> None:
    optimizer: Any = {
        "module": module,
        "class_name": "Adafactor",
        "config": {},
        "registered_name": None,
    }
    settings = keras_to_h5(
        stored(training={"loss": "mse", "optimizer": optimizer}, keras_version=version)
    ).training
    assert settings == {"loss": "mse", "optimizer_config": {"class_name": name, "config": {}}}


@pytest.mark.parametrize(
    ("name", "class_name"),
    [("MyLamb", "MyLamb"), ("Custom>MyLamb", "MyLamb"), ("Addons>LAMB", "LAMB")],
)
def test_optimizer_of_somebody_s_own_is_of_no_module_of_keras(name: str, class_name: str) -> None:
    """Else no Keras finds it, given in custom_objects or not."""
    lamb = {"class_name": name, "config": {"name": "lamb", "is_legacy_optimizer": False}}
    state = (Tensor("m", (), "<f4", "/m"),)
    settings = {"loss": "mse", "optimizer_config": lamb}
    given = stored(training=settings, optimizer=state, keras_version="2.15.0")
    zipped = h5_to_keras(given)
    optimizer: Any = (zipped.training or {})["optimizer"]
    assert (optimizer["module"], optimizer["class_name"], optimizer["registered_name"]) == (
        None,
        class_name,
        name,
    )
    assert zipped.optimizer == state
    assert keras_to_h5(zipped._replace(architecture=given.architecture)).training == {
        **dict.fromkeys(("metrics", "weighted_metrics")),
        **settings,
    }


def test_a_zip_holds_no_state_of_an_older_optimizer_of_somebody_s_own() -> None:
    lamb = {"class_name": "MyLamb", "config": {"name": "lamb"}}
    given = stored(
        training={"optimizer_config": lamb},
        optimizer=(Tensor("m", (), "<f4", "/m"),),
        keras_version="2.15.0",
    )
    assert h5_to_keras(given).optimizer is None


@pytest.mark.parametrize(
    "kind", ["LossScaleOptimizerV3", "LossScaleOptimizer"]
)  # over one of today's, of old
def test_a_loss_scale_s_state_is_nested_in_a_zip(kind: str) -> None:
    """And a `.keras` that has the settings without it does not load: both stay out."""
    scaled = {"class_name": kind, "config": {"inner_optimizer": {}, "dynamic": True}}
    state = (Tensor("s", (), "<i8", "/s"),)
    given = stored(
        training={"loss": "mse", "optimizer_config": scaled},
        optimizer=state,
        keras_version="2.15.0",
    )
    zipped = h5_to_keras(given)
    assert (zipped.training, zipped.optimizer) == (None, None)
