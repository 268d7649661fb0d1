"""load_weights sets the optimizer's state from weights alone: the next step of training is the old run's."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.keras.training_runs import (
    Save,
    assert_same_next_step,
    checkpoint,
    model,
    trained,
    weights_h5,
)
from unnest.keras import load_weights

keras = pytest.importorskip("keras")
tf_keras = pytest.importorskip("tf_keras")


@pytest.mark.parametrize("kind", ["Adam", "SGD", "RMSprop", "Nadam", "Ftrl", "Adadelta"])
@pytest.mark.parametrize(
    ("library", "save"),
    [(keras, weights_h5), (tf_keras, weights_h5), (tf_keras, checkpoint)],
    ids=["keras", "tf_keras", "checkpoint"],
)
def test_the_next_step(library: Any, save: Save, kind: str, tmp_path: Path) -> None:
    """One step later the weights equal those of the old run; Keras 2 does not store Nadam's product of momenta."""
    settings = {"learning_rate": 0.05, **({"momentum": 0.9} if kind == "SGD" else {})}
    old = trained(library, getattr(library.optimizers, kind)(**settings))
    new = model(keras, getattr(keras.optimizers, kind)(**settings))
    path = save(old, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if (library, save) == (tf_keras, weights_h5) else "error")
        if library is tf_keras and kind == "Nadam":
            with pytest.warns(UserWarning, match="other-schedule"):
                load_weights(new, path)
            return
        load_weights(new, path)
    assert int(new.optimizer.iterations) == 3
    assert_same_next_step(old, new)


@pytest.mark.parametrize("kind", ["Adam", "SGD"])
def test_a_legacy_optimizer_in_a_checkpoint(kind: str, tmp_path: Path) -> None:
    """Its slots hang on it, each with its weight."""
    settings = {"learning_rate": 0.05, **({"momentum": 0.9} if kind == "SGD" else {})}
    old = trained(tf_keras, getattr(tf_keras.optimizers.legacy, kind)(**settings))
    new = model(keras, getattr(keras.optimizers, kind)(**settings))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_weights(new, checkpoint(old, tmp_path))
    assert_same_next_step(old, new)


@pytest.mark.parametrize(
    ("library", "save"), [(keras, weights_h5), (tf_keras, checkpoint)], ids=["keras", "checkpoint"]
)
def test_another_optimizer(library: Any, save: Save, tmp_path: Path) -> None:
    """Of the same number and shapes, and of another name: named, not set. Weights are set all the same."""
    old = trained(library, library.optimizers.Adam(0.05))
    new = model(keras, keras.optimizers.Adamax(0.05))
    with pytest.warns(
        UserWarning, match="the file's optimizer is Adam, your model is compiled with Adamax"
    ):
        load_weights(new, save(old, tmp_path))
    assert int(new.optimizer.iterations) == 0
    assert all(
        np.array_equal(a, b) for a, b in zip(old.get_weights(), new.get_weights(), strict=True)
    )


def test_what_does_not_say_its_class(tmp_path: Path) -> None:
    """tf_keras stores no name: the state goes where its shapes fit, with a warning."""
    path = weights_h5(trained(tf_keras, tf_keras.optimizers.Adam(0.05)), tmp_path)
    with pytest.warns(UserWarning, match="does not name its optimizer"):
        load_weights(model(keras, keras.optimizers.Adam(0.05)), path)
    with pytest.warns(UserWarning, match="SGD has 0 slots|does not follow|other variables"):
        load_weights(model(keras, keras.optimizers.Lion(0.05)), path)


def test_a_model_that_is_not_compiled(tmp_path: Path) -> None:
    path = weights_h5(trained(keras, keras.optimizers.Adam(0.05)), tmp_path)
    new = keras.Sequential.from_config(model(keras, "adam").get_config())
    with pytest.warns(UserWarning, match="your model is not compiled"):
        load_weights(new, path)


def test_with_the_architecture(tmp_path: Path) -> None:
    """The JSON of a model that was compiled says its optimizer, that of tf_keras says none."""
    for library in (keras, tf_keras):
        old = trained(library, library.optimizers.Adam(0.05))
        path = weights_h5(old, tmp_path)
        new = model(keras, keras.optimizers.Adam(0.05))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load_weights(new, path, architecture=json.loads(old.to_json()))
        assert int(new.optimizer.iterations) == 3
