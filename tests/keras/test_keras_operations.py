"""Operations of Keras 3: the table of their modules is Keras's own, and an .h5 that holds some becomes a `.keras`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import unnest
from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS


@pytest.fixture
def keras(tf: Any) -> Any:
    """Keras 3 alone."""
    return import_module("keras")


@pytest.mark.parametrize("module", sorted(set(MODULE_BY_CLASS.values())))
def test_the_table_is_that_of_keras(keras: Any, module: str) -> None:
    """Every class is where the table says; what a newer Keras adds, it does not know yet."""
    operation = keras.Operation
    classes = {name for name, it in vars(import_module(module)).items() if isinstance(it, type)}
    ours = {name for name, home in MODULE_BY_CLASS.items() if home == module}
    assert ours <= classes
    assert all(issubclass(getattr(import_module(module), name), operation) for name in ours)


def masked(keras: Any, inputs: Any) -> Any:
    """Every masked Embedding compares its input."""
    return keras.layers.LSTM(3)(keras.layers.Embedding(7, 4, mask_zero=True)(inputs))


def arithmetic(keras: Any, inputs: Any) -> Any:
    """Operations that bear the names of layers, beside one of these, and some that do not."""
    floats = keras.ops.cast(inputs, "float32")
    scaled = floats / 3.0 + 1.0
    joined = keras.ops.concatenate([scaled * 2.0, keras.layers.Add()([scaled, floats])], axis=-1)
    return keras.ops.softmax(keras.ops.mean(joined[:, :4], axis=-1, keepdims=True) - joined)


def in_a_held_model(keras: Any, inputs: Any) -> Any:
    """A model with operations, for each of some steps."""
    step = keras.Input((2,), dtype="int32")
    held = keras.Model(step, keras.layers.Dense(2)(keras.ops.cast(step, "float32") / 2.0))
    return keras.layers.TimeDistributed(held)(keras.layers.Reshape((3, 2))(inputs))


@pytest.mark.parametrize(
    "body", [masked, arithmetic, in_a_held_model], ids=lambda body: body.__name__
)
def test_an_h5_with_operations_loads_as_a_keras(keras: Any, body: Any, tmp_path: Path) -> None:
    """Keras 3 itself does not load the .h5 that it wrote."""
    inputs = keras.Input((6,), dtype="int32")
    model = keras.Model(inputs, body(keras, inputs))
    model.save(tmp_path / "m.h5")
    assert "Keras 3" in unnest.inspect(tmp_path / "m.h5").does_not_load_in
    with pytest.raises((ValueError, TypeError)):
        keras.models.load_model(tmp_path / "m.h5", compile=False)
    done = unnest.fix(tmp_path / "m.h5", to="keras", keras="original")
    assert (done.error, done.action) == (None, "converted")
    batch = np.random.default_rng(0).integers(0, 7, (5, 6))
    loaded = keras.models.load_model(tmp_path / "m.unnested.keras")
    np.testing.assert_array_equal(loaded.predict(batch, verbose=0), model.predict(batch, verbose=0))


def boxes(t: Any) -> Any:
    """A function that a script defined, where `tf` was imported."""
    return tf.reshape(t, [tf.shape(t)[0], -1, 2])  # type: ignore[name-defined]  # noqa: F821 - given where it is called


def test_rows_of_an_open_size_are_reshaped_as_then(tf: Any, keras: Any, tmp_path: Path) -> None:
    """The idiom of detectors on images of any size: rows stay, and one size of them follows from the others."""
    tf_keras = import_module("tf_keras")
    inputs = tf_keras.Input((None, None, 4))
    reshaped = tf_keras.layers.Lambda(FunctionType(boxes.__code__, {"tf": tf}))(inputs)
    model = tf_keras.Model(inputs, tf_keras.layers.Dense(3)(reshaped))
    model.save(tmp_path / "m.h5")
    done = unnest.fix(tmp_path / "m.h5", keras="3", to="keras")
    assert (done.error, done.action, done.needs.stored_code) == (None, "converted", False)
    loaded = keras.models.load_model(tmp_path / "m.unnested.keras")
    for shape in ((3, 5, 7, 4), (1, 2, 2, 4)):
        batch = np.random.default_rng(0).normal(size=shape).astype("float32")
        np.testing.assert_array_equal(
            loaded.predict(batch, verbose=0), model.predict(batch, verbose=0)
        )
