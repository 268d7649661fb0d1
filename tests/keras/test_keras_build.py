"""The builders: arguments, refusals, names, saving."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unnest.core.architecture import read
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.keras import make_parallel, multi_gpu_model, template_model
from unnest.keras.parallel_model import towers_of
from unnest.keras.tower_row_bounds import whole_ratios

# -- devices ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gpus", "devices"),
    [
        (3, ["CPU:0", "CPU:1", "CPU:2"]),
        ([2, 0], ["CPU:2", "CPU:0"]),
        (["CPU:1", "/cpu:3", "/device:CPU:0"], ["CPU:1", "CPU:3", "CPU:0"]),
        ((1, "cpu:1"), ["CPU:1", "CPU:1"]),
        (None, [f"CPU:{i}" for i in range(8)]),
        ([], [f"CPU:{i}" for i in range(8)]),
        (np.int64(2), ["CPU:0", "CPU:1"]),
        (np.array([3, 1]), ["CPU:3", "CPU:1"]),
    ],
)
def test_devices(keras: Any, zoo: Any, gpus: Any, devices: list[str]) -> None:
    """Numbers mean logical CPUs where there are no GPUs; names mean what they say."""
    parallel = multi_gpu_model(zoo["dense"](), gpus)
    assert [layer.device for layer in parallel.layers if hasattr(layer, "i")] == devices


@pytest.mark.parametrize(
    "gpus", [0, 1, [0], ["CPU:0"], 9, [0, 8], ["GPU:0", "GPU:1"], "CPU:0", ["CPU"], -1, 2.0]
)
def test_what_keras_refused_is_refused_in_one_line(keras: Any, zoo: Any, gpus: Any) -> None:
    with pytest.raises(ValueError, match=r"this machine has") as refusal:
        multi_gpu_model(zoo["dense"](), gpus)
    assert "\n" not in str(refusal.value)
    assert ", ".join(f"CPU:{i}" for i in range(8)) in str(refusal.value)


def test_one_device_is_refused_with_the_line_that_trains_on_it(keras: Any, zoo: Any) -> None:
    with pytest.raises(
        ValueError,
        match=r"train the model itself: with tf\.device\('/CPU:3'\): model\.fit\(\.\.\.\)",
    ):
        multi_gpu_model(zoo["dense"](), [3])


@pytest.mark.parametrize(
    "ratios", [[1], [1, 0], [1, -1], [1, float("nan")], [1, float("inf")], [1, 2, 3]]
)
def test_ratios_that_are_none_are_refused(keras: Any, zoo: Any, ratios: Any) -> None:
    with pytest.raises(ValueError, match="ratios"):
        multi_gpu_model(zoo["dense"](), 2, ratios)


@pytest.mark.parametrize(
    ("ratios", "parts"),
    [
        ([2, 2], (1, 1)),
        (np.array([4, 3]), (4, 3)),
        (np.array([0.5, 0.25]), (2, 1)),
        ([0.5, 0.25], (2, 1)),
        ([768, 560], (48, 35)),
        ([1e-9, 1], (1, 10**9)),
    ],
)
def test_ratios_become_the_smallest_whole_numbers(ratios: Any, parts: Any) -> None:
    assert whole_ratios(ratios, 2) == parts


def test_ratios_of_numpy(keras: Any, zoo: Any) -> None:
    assert towers_of(multi_gpu_model(zoo["dense"](), 2, np.array([4, 3])))[1] == (4, 3)


@pytest.mark.parametrize("ratios", [2, False])
def test_what_is_no_list_of_ratios_is_refused(keras: Any, zoo: Any, ratios: Any) -> None:
    """Keras's `cpu_merge` was third."""
    told = rf"^ratios={ratios}: give one number for each of 2 devices; cpu_merge and cpu_relocation go by name$"
    with pytest.raises(ValueError, match=told):
        multi_gpu_model(zoo["dense"](), 2, ratios)


# -- templates -------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["train_step", "test_step", "predict_step", "compute_loss", "make_train_function"]
)
def test_a_template_with_a_step_of_its_own_is_refused(keras: Any, name: str) -> None:
    """It would be left out without a word: the parallel model's own runs in its place."""
    x = keras.Input((3,))
    step = getattr(keras.Model, name)
    net = type("Net", (keras.Model,), {name: step})
    with pytest.raises(
        ValueError, match=rf"^Net 'net' has its own {name}, .*MirroredStrategy[^\n]*$"
    ):
        multi_gpu_model(net(x, keras.layers.Dense(2)(x), name="net"), 2)
    plain = type("Plain", (keras.Model,), {})
    assert multi_gpu_model(plain(x, keras.layers.Dense(2)(x)), 2).count_params() == 8


def test_templates_without_a_graph_are_refused(keras: Any) -> None:
    class Mine(keras.Model):
        def call(self, x: Any) -> Any:
            return x

    with pytest.raises(ValueError, match=r"sub-classed.*MirroredStrategy"):
        multi_gpu_model(Mine(), 2)
    with pytest.raises(ValueError, match="not built"):
        multi_gpu_model(keras.Sequential([keras.layers.Dense(2)]), 2)
    with pytest.raises(TypeError, match="Keras model"):
        multi_gpu_model("model", 2)
    stateful = keras.layers.LSTM(2, stateful=True)
    x = keras.Input(batch_shape=(4, 3, 2))
    with pytest.raises(
        ValueError, match=r"is stateful, [^\n]*: build it with stateful=False, or train"
    ):
        multi_gpu_model(keras.Model(x, stateful(x)), 2)


@pytest.mark.parametrize("shape", [(), (1, 3)])
@pytest.mark.parametrize("by", ["operation", "layer"])
def test_outputs_without_rows_are_refused(
    tf: Any, keras: Any, shape: tuple[int, ...], by: str
) -> None:
    """There is nothing to join along."""

    class Mean(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return tf.reduce_mean(x, axis=0, keepdims=True) if shape else tf.reduce_mean(x)

        def compute_output_shape(self, _: Any) -> Any:
            return shape

    x = keras.Input((4,))
    y = keras.layers.Dense(3)(x)
    mean = keras.ops.mean if keras.__name__ == "keras" else tf.reduce_mean
    statistic = Mean()(y) if by == "layer" else mean(y, axis=0, keepdims=True) if shape else mean(y)
    told = r"^Functional 'm': output 1 of shape \(.*\) has no rows of the batch, .*: leave it out [^\n]*$"
    with pytest.raises(ValueError, match=told):
        multi_gpu_model(keras.Model(x, [y, statistic], name="m"), 2)


def test_outputs_of_several_rows_for_each_of_the_batch(tf: Any, keras: Any) -> None:
    """Steps of series as rows: they are joined in the template's order."""

    class Steps(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return tf.reshape(x, (-1, x.shape[-1]))

        def compute_output_shape(self, shape: Any) -> Any:
            return (shape[0] and shape[0] * shape[1], shape[-1])

    for x in (keras.Input((4, 3)), keras.Input(batch_shape=(6, 4, 3))):
        template = keras.Model(x, Steps()(x))
        batch = np.random.default_rng(0).normal(size=(6, 4, 3)).astype("f")
        np.testing.assert_array_equal(multi_gpu_model(template, 2)(batch), template(batch))


def test_inputs_of_other_rows_are_refused(keras: Any, zoo: Any) -> None:
    parallel = multi_gpu_model(zoo["several"](), 2)
    with pytest.raises(
        ValueError,
        match=r"'several' in towers: inputs of 2 and 6 rows; all must have the same number",
    ):
        parallel([np.ones((6, 4), "f"), np.ones((2, 3), "f")])


def test_a_sequential_that_was_built_by_a_call(keras: Any) -> None:
    template = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(3)])
    batch = np.random.default_rng(0).normal(size=(6, 5)).astype("f")
    expected = template(batch)
    parallel = multi_gpu_model(template, 2)
    np.testing.assert_allclose(parallel(batch), expected, atol=1e-6)
    np.testing.assert_allclose(parallel(batch[:3]), expected[:3], atol=1e-6)
    assert template_model(parallel) is template


def test_relocation_and_wrapping_twice_say_what_they_do(keras: Any, zoo: Any) -> None:
    template = zoo["dense"]()
    with pytest.warns(UserWarning, match="never cloned"):
        parallel = multi_gpu_model(template, 2, cpu_relocation=True)
    with pytest.warns(UserWarning, match="parallel already"):
        again = multi_gpu_model(parallel, 3)
    assert template_model(again) is template
    assert template_model(parallel) is template


def test_other_backends_are_refused_with_a_pointer(
    tf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keras = import_module("keras")
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    for name, pointer in (
        ("jax", "keras.distribution.DataParallel"),
        ("torch", "torch.nn.DataParallel"),
    ):
        monkeypatch.setattr(keras.config, "backend", lambda name=name: name)
        with pytest.raises(ValueError, match=rf"this is Keras on {name}: .*{pointer}") as refusal:
            multi_gpu_model(model, 2)
        assert "\n" not in str(refusal.value)


def test_kuza55(keras: Any, zoo: Any, rows: Any) -> None:
    template = zoo["dense"]()
    for count in (0, -1, 9):
        with pytest.raises(ValueError, match="this machine has CPU:0, CPU:1") as refusal:
            make_parallel(template, count)
        assert "\n" not in str(refusal.value)
    for count in (1, 2):
        parallel = make_parallel(template, count)
        np.testing.assert_allclose(
            parallel(rows(template, 5)), template(rows(template, 5)), atol=1e-6
        )


@pytest.mark.parametrize("cpu_merge", [True, False])
def test_where_outputs_are_joined(keras: Any, zoo: Any, cpu_merge: bool) -> None:
    parallel = multi_gpu_model(zoo["dense"](), ["CPU:3", "CPU:1"], cpu_merge=cpu_merge)
    assert parallel.layers[-1].device == ("/CPU:0" if cpu_merge else "/CPU:3")


# -- names and looks -------------------------------------------------------------


def test_names_stay(keras: Any, zoo: Any) -> None:
    for name in ("several", "named", "conv"):
        template = zoo[name]()
        parallel = multi_gpu_model(template, 2)
        assert list(parallel.output_names) == list(template.output_names)
        assert [x.name for x in parallel.inputs] == [x.name for x in template.inputs]
    template = zoo["several"]()
    parallel = multi_gpu_model(template, 2)
    parallel.compile(
        "sgd",
        loss={"a": "mse", "b": "mae"},
        loss_weights={"a": 1.0, "b": 2.0},
        metrics={"b": ["mse"]},
    )
    x = [np.ones((4, 4), "f"), np.ones((4, 3), "f")]
    history = parallel.fit(x, [np.ones((4, 2)), np.ones((4, 1))], verbose=0)
    assert {"a_loss", "b_loss", "b_mse"} <= set(history.history)


def test_siamese_outputs_are_numbered_as_keras_did(keras: Any, zoo: Any) -> None:
    assert multi_gpu_model(zoo["siamese"](), 2).output_names == ["twin_1", "twin_2"]


def test_an_output_named_as_the_model(keras: Any) -> None:
    x = keras.Input((3,), name="x")
    template = keras.Model(x, keras.layers.Dense(2, name="same")(x), name="same")
    parallel = multi_gpu_model(template, 2)
    assert parallel.output_names == ["same"]
    parallel.compile("sgd", loss={"same": "mse"})
    parallel.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)


def test_summary_shows_towers_and_concatenation(keras: Any, zoo: Any) -> None:
    lines: list[str] = []
    multi_gpu_model(zoo["conv"](), 2).summary(
        print_fn=lambda line, *_, **__: lines.append(line), line_length=150
    )
    text = "\n".join(lines)
    for shown in ("image_tower_0", "image_tower_1", "TowerSlice", "conv_net", "TowerConcatenate"):
        assert shown in text


def test_the_template_is_where_it_always_was(keras: Any, zoo: Any) -> None:
    template = zoo["dense"]()
    parallel = multi_gpu_model(template, 2)
    assert parallel.layers[-2] is template
    assert parallel.get_layer(template.name) is template
    assert template_model(parallel) is template


def test_called_as_a_layer_it_keeps_its_towers(keras: Any, zoo: Any, rows: Any) -> None:
    template = zoo["dense"]()
    parallel = multi_gpu_model(template, 2)
    x = keras.Input((6,))
    head = keras.layers.Dense(1)
    outer = keras.Model(x, head(parallel(x)))
    batch = rows(template, 3)
    np.testing.assert_allclose(outer(batch), head(template(batch)), atol=1e-6)
    assert template_model(outer) is template


# -- files -----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
@pytest.mark.parametrize("name", ["dense", "several", "nested"])
def test_a_saved_parallel_model_loads_and_is_recognised(
    keras: Any, zoo: Any, rows: Any, tmp_path: Path, name: str, suffix: str
) -> None:
    template = zoo[name]()
    parallel = multi_gpu_model(template, 3, ratios=[1, 2, 1])
    path = str(tmp_path / f"p{suffix}")
    parallel.save(path)
    loaded = keras.models.load_model(path, compile=False)
    batch = rows(template, 7)
    for a, b in zip(_flat(parallel(batch)), _flat(loaded(batch)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert towers_of(loaded) == (("CPU:0", "CPU:1", "CPU:2"), (1, 2, 1))
    found = recognise_layer_graph.recognise(read(_architecture(path))).wrappers
    assert [(f.template, len(f.towers)) for f in found] == [(template.name, 3)]


def test_weights_go_to_and_from_the_file(keras: Any, zoo: Any, tmp_path: Path) -> None:
    template = zoo["batch_norm"]()
    parallel = multi_gpu_model(template, 2)
    path = str(tmp_path / "p.weights.h5")
    parallel.save_weights(path)
    before = template.get_weights()
    template.set_weights([w + 1 for w in before])
    parallel.load_weights(path)
    for a, b in zip(before, template.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


FEWER = """
import sys, warnings, importlib
import numpy as np
import unnest.keras
keras = importlib.import_module(sys.argv[1])
model = keras.models.load_model(sys.argv[2], compile=False)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    np.save(sys.argv[3], model(np.ones((5, 6), "float32")))
    model(np.ones((5, 6), "float32"))
print([str(w.message) for w in seen if "towers" in str(w.message)])
"""


def test_loaded_with_fewer_devices_the_towers_share_them(
    keras: Any, zoo: Any, tmp_path: Path
) -> None:
    parallel = multi_gpu_model(zoo["dense"](), ["CPU:1", "CPU:2", "CPU:0"])
    path, out = str(tmp_path / "p.keras"), str(tmp_path / "out.npy")
    parallel.save(path)
    command = [sys.executable, "-c", FEWER, keras.__name__, path, out]
    said = subprocess.run(command, check=True, timeout=200, capture_output=True, text=True).stdout
    assert said.count("they run on CPU:0, CPU:0, CPU:0") == 1
    np.testing.assert_allclose(np.load(out), parallel(np.ones((5, 6), "f")), atol=1e-6)


def _flat(outputs: Any) -> list[Any]:
    return outputs if isinstance(outputs, list) else [outputs]


def _architecture(path: str) -> Any:
    if path.endswith(".keras"):
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read("config.json"))
    import h5py

    with h5py.File(path) as file:
        return json.loads(file.attrs["model_config"])


def test_saved_model_of_a_parallel_model(
    tf: Any, keras: Any, zoo: Any, rows: Any, tmp_path: Path
) -> None:
    """As a Keras model where unnest is imported, as TensorFlow functions anywhere."""
    template = zoo["batch_norm"]()
    parallel = multi_gpu_model(template, 3)
    path, batch = str(tmp_path / "saved"), rows(template, 7)
    if keras.__name__ == "keras":
        parallel.export(path, verbose=False)
        restored = tf.saved_model.load(path)
        served = restored.serve(batch)
    else:
        parallel.save(path)
        np.testing.assert_allclose(keras.models.load_model(path)(batch), template(batch), atol=1e-6)
        served = tf.saved_model.load(path)(batch)
    np.testing.assert_allclose(served, template(batch), atol=1e-6)
