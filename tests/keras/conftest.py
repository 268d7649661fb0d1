"""Everything here needs TensorFlow; devices are eight logical CPUs, so no GPU is needed to have towers."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
DEVICES = 8


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = find_spec("tensorflow") is None
    for item in items:
        if HERE not in item.path.parents:
            continue
        item.add_marker(pytest.mark.tensorflow)
        # Both Kerases warn of themselves on every other call; tests that mean ours ask for it by name.
        item.add_marker(pytest.mark.filterwarnings("default"), append=False)
        if missing:
            item.add_marker(
                pytest.mark.skip(reason="tensorflow is not installed (extra: tensorflow)")
            )


@pytest.fixture(scope="session")
def tf() -> Any:
    """TensorFlow with eight logical CPUs."""
    tensorflow = import_module("tensorflow")
    cpu = tensorflow.config.list_physical_devices("CPU")[0]
    logical = [tensorflow.config.LogicalDeviceConfiguration() for _ in range(DEVICES)]
    tensorflow.config.set_logical_device_configuration(cpu, logical)
    return tensorflow


@pytest.fixture(scope="session")
def two_replicas(tf: Any) -> Any:
    """The one MirroredStrategy of the process, over two logical CPUs.

    TensorFlow counts the collectives of each strategy from the same number, and keeps the shapes of the first: a second
    strategy over the same devices may end in "Shape mismatch in the collective instance".
    """
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


@pytest.fixture(params=["keras", "tf_keras"])
def keras(tf: Any, request: pytest.FixtureRequest) -> Any:
    """Each of the two Kerases, with fixed seeds and names counted from the start."""
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    module = import_module(request.param)
    # Keras 3 collects garbage unless told not to, which takes longer than most tests.
    module.backend.clear_session(**({"free_memory": False} if request.param == "keras" else {}))
    module.utils.set_random_seed(20)
    return module


@pytest.fixture
def summed_regularizers(keras: Any) -> bool:
    """True if an activity regularizer sums over the batch (source: Keras 3.13 and 3.14, layer.py)."""
    return keras.__name__ == "keras" and tuple(map(int, keras.__version__.split(".")[:2])) < (3, 14)


@pytest.fixture
def checkpoint(keras: Any) -> Any:
    """Our ModelCheckpoint for the Keras under test."""
    name = "unnest.keras" if keras.__name__ == "keras" else "unnest.keras.legacy"
    return import_module(name).ModelCheckpoint


@pytest.fixture
def zoo(keras: Any) -> dict[str, Callable[[], Any]]:
    """Template models by name: what people make parallel."""
    layers = keras.layers

    def dense() -> Any:
        return keras.Sequential(
            [keras.Input((6,)), layers.Dense(5, activation="tanh"), layers.Dense(3)],
            name="dense_net",
        )

    def conv() -> Any:
        image = keras.Input((8, 8, 2), name="image")
        x = layers.Conv2D(3, 3, activation="relu")(image)
        x = layers.GlobalAveragePooling2D()(layers.MaxPooling2D()(x))
        return keras.Model(image, layers.Dense(2, name="label")(x), name="conv_net")

    def batch_norm() -> Any:
        image = keras.Input((6, 6, 2), name="image")
        x = layers.BatchNormalization()(layers.Conv2D(3, 3)(image))
        return keras.Model(image, layers.Dense(2)(layers.Flatten()(x)), name="norm_net")

    def several() -> Any:
        left, right = keras.Input((4,), name="left"), keras.Input((3,), name="right")
        both = layers.Concatenate()([layers.Dense(4)(left), right])
        return keras.Model(
            [left, right],
            [layers.Dense(2, name="a")(both), layers.Dense(1, name="b")(both)],
            name="several",
        )

    def named() -> Any:
        left, right = keras.Input((4,), name="left"), keras.Input((3,), name="right")
        both = layers.Concatenate()([layers.Dense(4)(left), right])
        outputs = {
            "second": layers.Dense(2, name="second")(both),
            "first": layers.Dense(1, name="first")(both),
        }
        return keras.Model({"left": left, "right": right}, outputs, name="named")

    def nested() -> Any:
        inner = keras.Sequential(
            [keras.Input((4,)), layers.Dense(4), layers.BatchNormalization()], name="inner"
        )
        x = keras.Input((4,), name="x")
        return keras.Model(x, layers.Dense(2)(inner(inner(x))), name="nested")

    def siamese() -> Any:
        twin = layers.Dense(3, name="twin")
        left, right = keras.Input((4,), name="left"), keras.Input((4,), name="right")
        return keras.Model([left, right], [twin(left), twin(right)], name="siamese")

    def masked() -> Any:
        words = keras.Input((5,), dtype="int32", name="words")
        x = layers.Embedding(7, 4, mask_zero=True)(words)
        return keras.Model(
            words, layers.SimpleRNN(3, return_sequences=True, name="tags")(x), name="masked"
        )

    def recurrent() -> Any:
        series = keras.Input((None, 3), name="series")
        x = layers.Bidirectional(layers.GRU(3, return_sequences=True))(series)
        return keras.Model(series, layers.Dense(2)(layers.LSTM(4)(x)), name="recurrent")

    def regular() -> Any:
        x = keras.Input((6,), name="x")
        y = layers.Dense(4, activity_regularizer="l2", kernel_regularizer="l2")(x)
        return keras.Model(x, layers.Dense(2)(y), name="regular")

    def mixed() -> Any:
        x = keras.Input((6,), name="x")
        y = layers.Dense(4, dtype="mixed_float16")(x)
        return keras.Model(x, layers.Dense(2, dtype="float32")(y), name="mixed")

    models = [
        dense,
        conv,
        batch_norm,
        several,
        named,
        nested,
        siamese,
        masked,
        recurrent,
        regular,
        mixed,
    ]
    return {make.__name__: make for make in models}


@pytest.fixture
def rows() -> Callable[..., Any]:
    """`rows(model, n)`: n rows of input for a model, in the structure that it takes."""

    def make(model: Any, n: int, seed: int = 1) -> Any:
        rng = np.random.default_rng(seed)
        flat = [_one(rng, x, n) for x in model.inputs]
        names = [x._keras_history[0].name for x in model.inputs]
        if model.name.endswith("named"):
            return dict(zip(names, flat, strict=True))
        return flat[0] if len(flat) == 1 else flat

    return make


def _one(rng: np.random.Generator, tensor: Any, n: int) -> Any:
    shape = (n, *(d or 4 for d in tuple(tensor.shape)[1:]))
    dtype = getattr(tensor.dtype, "name", tensor.dtype)
    if dtype == "int32":
        return rng.integers(0, 7, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)
