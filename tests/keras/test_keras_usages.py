"""Uses of a parallel model beside `fit` on arrays: they work, or one line says what to do."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unnest.keras import keras_api, multi_gpu_model, private_name_check, template_model

ROOT = Path(__file__).parents[2]


def test_a_custom_layer_without_a_name_in_its_config(
    keras: Any, checkpoint: Any, tmp_path: Path
) -> None:
    """Keras 3 stores no name then, and a Sequential's graph is read by names."""

    class Scale(keras.layers.Layer):
        def __init__(self, factor: float = 2.0) -> None:
            super().__init__()
            self.factor = factor

        def call(self, x: Any) -> Any:
            return x * self.factor

        def get_config(self) -> dict[str, Any]:
            return {"factor": self.factor}

    template = keras.Sequential([keras.Input((6,)), Scale(), keras.layers.Dense(3)])
    parallel = multi_gpu_model(template, 2)
    assert template_model(parallel) is template
    assert template_model(keras.Sequential([keras.Input((6,)), Scale(), parallel])) is template
    parallel.compile("sgd", keras.losses.MeanSquaredError())
    parallel.fit(
        np.ones((4, 6)),
        np.ones((4, 3)),
        verbose=0,
        callbacks=[checkpoint(str(tmp_path / "m.keras"))],
    )
    loaded = keras.models.load_model(tmp_path / "m.keras", custom_objects={"Scale": Scale})
    for a, b in zip(loaded.get_weights(), template.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_sparse_inputs(tf: Any, keras: Any, rows: int) -> None:
    x = keras.Input((6,), sparse=True)
    template = keras.Model(x, keras.layers.Dense(3)(x))
    parallel = multi_gpu_model(template, 3)
    dense = np.random.default_rng(1).normal(size=(rows, 6)).astype("f") * (np.arange(6) % 2)
    sparse = tf.sparse.from_dense(dense)
    np.testing.assert_allclose(parallel(sparse), dense @ template.get_weights()[0], atol=1e-5)
    before = template.get_weights()
    data = tf.data.Dataset.from_tensor_slices((sparse, np.ones((rows, 3), "f"))).batch(4)
    trained = []
    for model in (template, parallel):
        template.set_weights(before)
        model.compile(keras.optimizers.SGD(0.1), loss=keras.losses.MeanSquaredError())
        model.fit(data, verbose=0, shuffle=False)
        trained.append(template.get_weights())
    for a, b in zip(*trained, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_text_vectorization(tf: Any, keras: Any) -> None:
    """tf_keras lists its lookup table among the layer's weights."""
    layers = keras.layers
    words = layers.TextVectorization(max_tokens=20, output_sequence_length=4)
    words.adapt(["a b c d", "b c d e"])
    x = keras.Input((1,), dtype="string")
    template = keras.Model(x, layers.Dense(2)(layers.Flatten()(layers.Embedding(20, 3)(words(x)))))
    parallel = multi_gpu_model(template, 2)
    text = tf.constant([["a b"], ["c"], ["d e a"], ["b"], ["a"]])
    parallel.compile(keras.optimizers.SGD(0.1), loss=keras.losses.MeanSquaredError())
    parallel.fit(tf.data.Dataset.from_tensor_slices((text, np.ones((5, 2)))).batch(3), verbose=0)
    np.testing.assert_allclose(parallel(text), template(text), atol=1e-6)


@pytest.mark.parametrize("graph", [False, True])
def test_a_persistent_tape_over_two_losses(
    tf: Any, keras: Any, zoo: Any, rows: Any, graph: bool
) -> None:
    template = zoo["dense"]()
    parallel = multi_gpu_model(template, 2)
    batch = tf.constant(rows(template, 5))

    def gradients(model: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            y = model(batch)
            losses = [tf.reduce_mean(y**2), tf.reduce_sum(y)]
        return [tape.gradient(loss, template.trainable_variables) for loss in losses]

    call = tf.function(gradients) if graph else gradients
    for a, b in zip(
        tf.nest.flatten(gradients(template)), tf.nest.flatten(call(parallel)), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("name", ["dense", "conv"])
def test_second_derivatives(
    tf: Any, keras: Any, zoo: Any, rows: Any, name: str, graph: bool
) -> None:
    """A penalty on the gradient, as in WGAN-GP."""
    template = zoo[name]()
    batch = tf.constant(rows(template, 5))

    def gradient(model: Any) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(batch)
                y = tf.reduce_sum(model(batch) ** 2)
            penalty = tf.reduce_sum(inner.gradient(y, batch) ** 2)
        return outer.gradient(penalty, template.trainable_variables[:-1])

    models = (template, multi_gpu_model(template, 2))
    found = [(tf.function(gradient) if graph else gradient)(model) for model in models]
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_threads_that_call_a_model_with_added_losses(tf: Any, keras: Any) -> None:
    class Adds(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            self.add_loss(tf.reduce_mean(x**2))
            return x

    x = keras.Input((6,))
    parallel = multi_gpu_model(keras.Model(x, keras.layers.Dense(3)(Adds()(x))), 2)
    expected = parallel(tf.ones((8, 6)))
    wrong: list[Any] = []

    def call() -> None:
        try:
            for _ in range(20):
                np.testing.assert_allclose(
                    parallel(tf.ones((8, 6)), training=True), expected, atol=1e-6
                )
        except Exception as e:  # noqa: BLE001 - whatever it is, the test is to fail
            wrong.append(e)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("name", ["dense", "recurrent"])
@pytest.mark.parametrize("way", ["tf.saved_model.save", "export"])
def test_saved_models(
    tf: Any, keras: Any, zoo: Any, rows: Any, tmp_path: Path, way: str, name: str, trained: bool
) -> None:
    """An exported model loads without Keras, and computes the same."""
    template = zoo[name]()
    parallel = multi_gpu_model(template, 2)
    batch = rows(template, 5)
    if trained:
        parallel.compile("sgd", keras.losses.MeanSquaredError())
        parallel.fit(batch, np.asarray(template(batch)) + 1, verbose=0)
    folder = str(tmp_path / "saved")
    if way == "export":
        parallel.export(folder)
    else:
        tf.saved_model.save(parallel, folder)
    serving = tf.saved_model.load(folder).signatures["serving_default"]
    argument = next(iter(serving.structured_input_signature[1]))
    (served,) = serving(**{argument: tf.constant(batch)}).values()
    np.testing.assert_allclose(served, template(batch), atol=1e-5)


UNPICKLE = """
import pickle, sys
import numpy as np
model = pickle.load(open(sys.argv[1], "rb"))
np.save(sys.argv[2], model(np.ones((3, 6), "float32")))
"""


def test_pickle(keras: Any, zoo: Any, tmp_path: Path) -> None:
    """In this process and in a new one."""
    parallel = multi_gpu_model(zoo["dense"](), ["CPU:0", "CPU:0"])
    expected = np.asarray(parallel(np.ones((3, 6), "f")))
    path, out = tmp_path / "p.pickle", tmp_path / "out.npy"
    path.write_bytes(pickle.dumps(parallel))
    again = pickle.loads(path.read_bytes())  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again(np.ones((3, 6), "f")), expected)
    assert type(again) is type(parallel)
    subprocess.run([sys.executable, "-c", UNPICKLE, str(path), str(out)], check=True, timeout=200)
    np.testing.assert_allclose(np.load(out), expected, atol=1e-6)


def test_save_weights_of_the_parallel_model_says_once_how_to_save_the_templates(
    keras: Any, zoo: Any, tmp_path: Path
) -> None:
    parallel = multi_gpu_model(zoo["dense"](), 2)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(2):
            parallel.save_weights(str(tmp_path / "p.weights.h5"))
    told = [str(w.message) for w in seen if "template_model" in str(w.message)]
    assert len(told) == 1
    assert (
        "those of 'dense_net' are saved by unnest.keras.template_model(model).save_weights(...)"
        in told[0]
    )


def test_private_names_of_keras_are_there(keras: Any) -> None:
    assert private_name_check.missing_names(keras.__name__) == []


def test_a_keras_without_them_is_refused_in_one_line(
    keras: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = keras_api.KerasApi(keras.__name__)
    names = {
        **private_name_check.NAMES[api.name],
        f"{api.name}.Model": ("_of_another_time",),
        f"{api.name}.Gone": (),
    }
    monkeypatch.setitem(private_name_check.NAMES, api.name, names)
    missing = rf"it has no Model\._of_another_time, {api.name}\.Gone; \w+ .* are known to work$"
    with pytest.raises(ImportError, match=missing) as refusal:
        keras_api.check_private_names(api)
    assert "\n" not in str(refusal.value)


def test_a_keras_that_is_older_than_the_extra_asks_for_is_named(
    keras: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = keras_api.KerasApi(keras.__name__)
    assert keras_api.warning_if_outdated(api) is None
    major, minor = private_name_check.OLDEST[api.name]
    monkeypatch.setattr(keras, "__version__", f"{major}.{minor - 1}.9")
    line = keras_api.warning_if_outdated(api)
    assert line is not None
    assert f"this is {major}.{minor - 1}.9" in line
    assert line.endswith(f"pip install '{api.name}>={major}.{minor}'")


def test_the_oldest_versions_are_those_that_the_extra_asks_for() -> None:
    extra = re.search(r"^tensorflow = (.*)$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert extra
    asked = dict(pin.split(">=") for pin in json.loads(extra[1]))
    assert {
        name: ".".join(map(str, oldest)) for name, oldest in private_name_check.OLDEST.items()
    } == {name: asked[name] for name in private_name_check.OLDEST}
