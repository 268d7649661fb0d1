"""ModelCheckpoint is Keras's in every detail, except for what it writes and how safely."""

from __future__ import annotations

import errno
import inspect
import io
import json
import os
import pickle
import subprocess
import sys
import warnings
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from unnest.files import portable_file_operations, staging_folder
from unnest.keras import atomic_save, initial_best_value, multi_gpu_model
from unnest.keras.keras_api import KERAS, TF_KERAS


@pytest.fixture
def training(keras: Any, zoo: Any, rows: Any) -> Any:
    """A compiled parallel model, its template, and a function that fits it with callbacks."""
    template = zoo["dense"]()
    parallel = multi_gpu_model(template, 2)
    parallel.compile(keras.optimizers.Adam(0.01), loss=keras.losses.MeanSquaredError())
    x = rows(template, 12)

    def fit(*callbacks: Any, epochs: int = 1, model: Any = parallel, **options: Any) -> Any:
        return model.fit(
            x,
            x[:, :3],
            batch_size=4,
            epochs=epochs,
            verbose=0,
            callbacks=list(callbacks),
            **options,
        )

    return template, parallel, fit


def test_the_signature_is_keras_own(keras: Any, checkpoint: Any) -> None:
    """Positional too: what follows `self` is handed on; what is ours goes by keyword."""
    stock = keras.callbacks.ModelCheckpoint
    assert issubclass(checkpoint, stock)
    assert checkpoint.__name__ == "ModelCheckpoint"
    own = [
        p
        for p in inspect.signature(checkpoint.__init__).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    ]
    assert [p.name for p in own] == ["template", "max_to_keep", "best_to_keep"]
    made = checkpoint(*("x.keras", "loss", 1, True, False, "max", 7))
    assert (made.monitor, made.verbose, made.save_best_only, made.save_freq) == ("loss", 1, True, 7)
    with pytest.raises(ValueError, match="save_freq"):
        checkpoint("x.keras", save_freq="never")
    for name in ("max_to_keep", "best_to_keep"):
        with pytest.raises(ValueError, match=rf"^{name}=0: at least one checkpoint must stay$"):
            checkpoint("x.keras", **{name: 0})
        for number in ("2", 1.5, True):
            with pytest.raises(
                ValueError, match=rf"^{name}={number!r}: give a whole number of checkpoints$"
            ):
                checkpoint("x.keras", **{name: number})
    with pytest.raises(TypeError, match="template"):
        checkpoint("x.keras", template="model")


def test_both_addresses(tf: Any) -> None:
    """`unnest.keras` has the running Keras's, `unnest.keras.legacy` always tf_keras's."""
    here, legacy = (
        import_module(name).ModelCheckpoint for name in ("unnest.keras", "unnest.keras.legacy")
    )
    assert issubclass(here, tf.keras.callbacks.ModelCheckpoint)
    assert issubclass(legacy, import_module("tf_keras").callbacks.ModelCheckpoint)
    for made in (here, legacy):
        assert pickle.loads(pickle.dumps(made)) is made  # noqa: S301 - our own bytes


def test_used_in_the_others_fit_one_line_says_so(keras: Any, training: Any, tmp_path: Path) -> None:
    _template, _parallel, fit = training
    other = import_module(
        "unnest.keras.legacy" if keras.__name__ == "keras" else "unnest.keras"
    ).ModelCheckpoint
    with pytest.raises(
        TypeError, match=r"use unnest\.keras(\.legacy)?\.ModelCheckpoint"
    ) as refusal:
        fit(other(str(tmp_path / "m.keras")))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("container", ["m.keras", "m.h5", "m.weights.h5"])
def test_files_do_not_mention_us(
    training: Any, checkpoint: Any, tmp_path: Path, container: str
) -> None:
    path = tmp_path / container
    training[2](checkpoint(str(path), save_weights_only="weights" in container))
    contents = path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            contents = b"".join(archive.read(name) for name in archive.namelist())
    assert b"unnest" not in contents
    assert b"Tower" not in contents
    assert b"ower_" not in contents


def test_a_file_is_what_the_compiled_template_would_save(
    keras: Any, zoo: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    """The same configuration, class included, as if the template had been compiled and saved."""
    template, parallel, fit = training
    fit(checkpoint(str(tmp_path / "m.keras")))
    loaded = keras.models.load_model(str(tmp_path / "m.keras"))
    assert type(loaded) is type(template)
    assert loaded.name == template.name
    assert isinstance(loaded.optimizer, type(parallel.optimizer))
    for a, b in zip(loaded.optimizer.variables, parallel.optimizer.variables, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    template.compile(parallel.optimizer, loss=keras.losses.MeanSquaredError())
    template.save(str(tmp_path / "direct.keras"))
    ours, direct = (_parts(tmp_path / name) for name in ("m.keras", "direct.keras"))
    # Off for towers, resolved for this machine in a direct compile: the next Keras shall choose.
    assert ours[0]["compile_config"].pop("jit_compile") == (
        "auto" if keras.__name__ == "keras" else None
    )
    direct[0]["compile_config"].pop("jit_compile")
    assert ours == direct


def _parts(path: Path) -> tuple[Any, list[str]]:
    """The configuration in a `.keras` file, compile settings included, and the names of its tensors."""
    with zipfile.ZipFile(path) as archive:
        config = json.loads(archive.read("config.json"))
        names: list[str] = []
        with h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file:
            file.visit(names.append)
    # tf_keras keeps the loss's mean, which only a model that has run has.
    return config, [name for name in names if not name.startswith("metrics")]


def test_a_failed_save_changes_nothing(
    training: Any, checkpoint: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    template, parallel, fit = training
    path = tmp_path / "m.keras"
    callback = checkpoint(str(path), save_best_only=True, monitor="loss", mode="min")
    fit(callback)
    good, best_so_far = path.read_bytes(), callback.best

    def torn(self: Any, filepath: Any, *_: Any, **__: Any) -> None:
        Path(filepath).write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(type(template), "save", torn)
    before = dict(template.__dict__), dict(parallel.__dict__)
    callback.best = 1e9
    with pytest.raises(OSError, match="no space"):
        callback.on_epoch_end(1, {"loss": 0.0})
    assert callback.best == 1e9
    assert callback.model is parallel
    assert (dict(template.__dict__), dict(parallel.__dict__)) == before
    assert path.read_bytes() == good
    assert sorted(os.listdir(tmp_path)) == [".m.keras.checkpoints", "m.keras"]
    monkeypatch.undo()
    callback.on_epoch_end(1, {"loss": 0.0})
    assert callback.best == 0.0
    assert best_so_far > 0.0


def test_the_model_by_position_as_alt_model_checkpoint_takes_it(
    training: Any, checkpoint: Any
) -> None:
    """There the model came second; here it is what Keras's own takes second."""
    with pytest.raises(TypeError, match=r"^[^\n]*pass 'dense_net' as template=[^\n]*$"):
        checkpoint("m-{epoch}.keras", training[0])


@pytest.mark.parametrize(
    ("loss", "spelling"),
    [
        ("mse", "mean_squared_error"),
        ("kld", "kl_divergence"),
        (["mae"], "mean_absolute_error"),
        ("huber", None),
    ],
)
def test_an_h5_file_that_keras_3_does_not_load_is_told_with_the_spelling_that_loads(
    keras: Any, training: Any, checkpoint: Any, tmp_path: Path, loss: Any, spelling: str | None
) -> None:
    _template, parallel, fit = training
    spelling = spelling if keras.__name__ == "keras" else None
    for attempt in (loss, spelling or loss):
        parallel.compile("sgd", loss=attempt)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            fit(checkpoint(str(tmp_path / "m.h5")))
        told = [str(w.message) for w in seen if "does not load" in str(w.message)]
        assert [f"write loss={spelling!r}" in line for line in told] == (
            [True] if attempt == loss and spelling else []
        )
        if not told:
            keras.models.load_model(tmp_path / "m.h5")
        else:
            with pytest.raises(ValueError, match="Could not deserialize"):
                keras.models.load_model(tmp_path / "m.h5")


@pytest.mark.parametrize("container", [".keras", ".h5", ".weights.h5"])
def test_names_as_long_as_the_file_system_takes(
    training: Any, checkpoint: Any, tmp_path: Path, container: str
) -> None:
    for length in (246, 255):
        name = "m" * (length - len(container)) + container
        training[2](checkpoint(str(tmp_path / name), save_weights_only="weights" in container))
        assert os.listdir(tmp_path) == [name]
        (tmp_path / name).unlink()


def test_max_to_keep(training: Any, checkpoint: Any, tmp_path: Path) -> None:
    (tmp_path / "mine-01.keras").write_text("not this run's")
    training[2](checkpoint(str(tmp_path / "m-{epoch:02d}.keras"), max_to_keep=2), epochs=4)
    assert sorted(p.name for p in tmp_path.glob("*.keras")) == [
        "m-03.keras",
        "m-04.keras",
        "mine-01.keras",
    ]
    training[2](checkpoint(str(tmp_path / "same.keras"), max_to_keep=1), epochs=3)
    assert (tmp_path / "same.keras").exists()


def test_best_is_taken_up_from_the_files(training: Any, checkpoint: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "m-{epoch:02d}-{loss:.4f}.keras")
    for name in ("m-03-0.0000.keras", "m-07-0.5000.keras"):
        (tmp_path / name).touch()
    training[2]()  # a run that goes on
    callback = checkpoint(path, save_best_only=True, monitor="loss", mode="min")
    training[2](callback)
    assert callback.best == 0.0
    assert len(os.listdir(tmp_path)) == 2
    callback = checkpoint(
        path, save_best_only=True, monitor="loss", mode="min", initial_value_threshold=1e9
    )
    training[2](callback)
    assert 0 < callback.best < 1e9
    assert len(list(tmp_path.glob("m-*.keras"))) == 3


def test_a_file_that_another_worker_writes_meanwhile_is_not_taken_up(
    training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    """If one worker took up the chief's first file it would not save, and those that save together would wait."""
    _template, parallel, _fit = training
    (tmp_path / "m-0.75.keras").touch()
    callback = checkpoint(
        str(tmp_path / "m-{acc:.2f}.keras"), save_best_only=True, monitor="acc", mode="max"
    )
    callback.set_model(parallel)
    callback.on_train_begin()
    (tmp_path / "m-0.90.keras").touch()
    callback.on_epoch_end(0, {"acc": 0.7})
    assert callback.best == 0.75
    callback.on_epoch_end(1, {"acc": 0.8})
    assert callback.best == 0.8
    assert (tmp_path / "m-0.80.keras").stat().st_size > 0


@pytest.mark.parametrize(
    ("pattern", "monitor", "expected"),
    [
        ("m-{epoch:02d}-{val_loss:.2f}.h5", "val_loss", [0.25, 3.0]),
        ("m-{epoch:02d}-{val_loss:.2f}.h5", "loss", []),
        ("w.{loss}", "loss", [1e-05]),
        ("no-{x", "x", []),
    ],
)
def test_best_in_names(tmp_path: Path, pattern: str, monitor: str, expected: list[float]) -> None:
    for name in (
        "m-01-3.00.h5",
        "m-02-0.25.h5",
        "m-03-nan.h5",
        "other-1-2.h5",
        "w.1e-05.index",
        "w.x",
    ):
        (tmp_path / name).touch()
    if "{x" in pattern:
        with pytest.raises(ValueError, match="expected '}'"):
            list(initial_best_value.values_in_names(str(tmp_path / pattern), monitor))
        return
    assert sorted(initial_best_value.values_in_names(str(tmp_path / pattern), monitor)) == expected


def test_auto_mode_and_steps(training: Any, checkpoint: Any, tmp_path: Path) -> None:
    """Stock Keras 3 fails on save_freq=int with save_best_only."""
    training[2](
        checkpoint(str(tmp_path / "m.keras"), save_best_only=True, monitor="loss", save_freq=2)
    )
    assert (tmp_path / "m.keras").exists()


def test_a_plain_model_is_checkpointed_as_ever(
    keras: Any, zoo: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    plain = zoo["dense"]()
    plain.compile("adam", keras.losses.MeanSquaredError())
    training[2](checkpoint(str(tmp_path / "m.keras")), model=plain)
    loaded = keras.models.load_model(str(tmp_path / "m.keras"))
    for a, b in zip(loaded.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_clone_that_is_trained_is_saved_and_said(
    keras: Any, zoo: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    """Old cpu_relocation: the model in the user's hand is not the one that learns."""
    template, _parallel, fit = training
    mine = keras.models.clone_model(template)
    with pytest.warns(UserWarning, match="the clone's weights are saved"):
        fit(checkpoint(str(tmp_path / "m.weights.h5"), save_weights_only=True, template=mine))
    mine.load_weights(str(tmp_path / "m.weights.h5"))
    for a, b in zip(mine.get_weights(), template.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_weights_beyond_the_template_are_not_lost_silently(
    keras: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    template, parallel, fit = training
    outer = keras.Model(parallel.inputs, keras.layers.Dense(3)(parallel.outputs[0]))
    outer.compile("sgd", "mse")
    with pytest.raises(ValueError, match="would be lost: pass template="):
        fit(checkpoint(str(tmp_path / "m.keras")), model=outer)
    with pytest.warns(UserWarning, match="no optimizer state"):
        fit(checkpoint(str(tmp_path / "m.keras"), template=template), model=outer)
    assert type(keras.models.load_model(str(tmp_path / "m.keras"))) is type(template)


@pytest.mark.parametrize("shape", ["functional", "sequential", "gan"])
def test_layers_around_a_parallel_model_are_saved_with_its_template(
    keras: Any, training: Any, checkpoint: Any, tmp_path: Path, shape: str
) -> None:
    """`head(parallel(x))` needs no template=: the file is what saving `head(template(x))` gives."""
    _template, parallel, fit = training
    layers = keras.layers
    x = keras.Input((6,), name="x")
    if shape == "functional":
        outer = keras.Model(x, layers.Dense(3, name="head")(parallel(x)), name="outer")
    elif shape == "sequential":
        outer = keras.Sequential(
            [keras.Input((6,)), parallel, layers.Dense(3, name="head")], name="outer"
        )
    else:
        critic = keras.Sequential([keras.Input((3,)), layers.Dense(3, name="score")], name="critic")
        outer = keras.Model(x, multi_gpu_model(critic, 2)(parallel(x)), name="outer")
    outer.compile(keras.optimizers.Adam(0.01), loss=keras.losses.MeanSquaredError())
    fit(checkpoint(str(tmp_path / "m.keras")), model=outer)
    with zipfile.ZipFile(tmp_path / "m.keras") as archive:
        config = archive.read("config.json").decode()
    assert "Tower" not in config
    assert "parallel" not in config.lower()
    loaded = keras.models.load_model(str(tmp_path / "m.keras"))
    assert loaded.name == "outer"
    for a, b in zip(loaded.get_weights(), outer.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    stored = (
        loaded.optimizer.variables()
        if callable(loaded.optimizer.variables)
        else loaded.optimizer.variables
    )
    live = (
        outer.optimizer.variables()
        if callable(outer.optimizer.variables)
        else outer.optimizer.variables
    )
    for a, b in zip(stored, live, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


AROUND: dict[str, Any] = {
    "behind": lambda layers, x, p: layers.Softmax()(p(x)),
    "before": lambda layers, x, p: p(layers.Rescaling(1 / 255)(x)),
    "twice": lambda layers, x, p: layers.Subtract()([p(x), p(layers.Rescaling(2.0)(x))]),
    "joined": lambda layers, x, p: layers.Concatenate()([p(x), x]),
    "nested": lambda layers, x, p: layers.Dense(3)(
        functional(layers, x.shape[1:], lambda y: layers.Softmax()(p(y)))(x)
    ),
}


def functional(layers: Any, shape: Any, build: Any) -> Any:
    """The model of one input that `build` computes from it."""
    models = import_module(
        "keras.models" if layers.__name__.startswith("keras") else "tf_keras.models"
    )
    inputs = layers.Input(shape)
    return models.Model(inputs, build(inputs))


@pytest.mark.parametrize("around", AROUND)
def test_layers_without_weights_around_a_parallel_model_are_saved(
    keras: Any, zoo: Any, checkpoint: Any, rows: Any, tmp_path: Path, around: str
) -> None:
    """A file that holds the same weights is not the same model."""
    template = zoo["dense"]()
    parallel = multi_gpu_model(template, 2)
    outer = functional(
        keras.layers, template.input_shape[1:], lambda x: AROUND[around](keras.layers, x, parallel)
    )
    x = rows(template, 12)
    expected = outer.predict(x, verbose=0)
    outer.compile(keras.optimizers.SGD(0.0), loss=keras.losses.MeanSquaredError())
    outer.fit(x, expected, verbose=0, callbacks=[checkpoint(str(tmp_path / "m.keras"))])
    loaded = keras.models.load_model(str(tmp_path / "m.keras"))
    np.testing.assert_allclose(loaded.predict(x, verbose=0), expected, rtol=1e-5, atol=1e-6)


def test_a_model_that_does_no_more_than_call_a_parallel_model(
    keras: Any, zoo: Any, checkpoint: Any, rows: Any, tmp_path: Path
) -> None:
    """It is the template."""
    template = zoo["dense"]()
    outer = functional(keras.layers, template.input_shape[1:], multi_gpu_model(template, 2))
    x = rows(template, 12)
    outer.compile(keras.optimizers.SGD(0.0), loss=keras.losses.MeanSquaredError())
    outer.fit(x, x[:, :3], verbose=0, callbacks=[checkpoint(str(tmp_path / "m.keras"))])
    loaded = keras.models.load_model(str(tmp_path / "m.keras"))
    assert [type(layer) for layer in loaded.layers] == [type(layer) for layer in template.layers]


def test_what_a_sub_classed_model_does_is_known_to_its_code(
    keras: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    """All of it is saved, and said."""
    template, parallel, fit = training

    class Scaled(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.parallel = parallel

        def call(self, x: Any) -> Any:
            return 100 * self.parallel(x)

    outer = Scaled()
    outer.compile(keras.optimizers.SGD(0.0), loss=keras.losses.MeanSquaredError())
    with pytest.warns(UserWarning, match="only the code of Scaled"):
        fit(checkpoint(str(tmp_path / "m.weights.h5"), save_weights_only=True), model=outer)
    weights = [w.numpy() for w in template.weights]
    fresh = Scaled()
    fresh(np.zeros((4, 6), "float32"))
    for w in template.weights:
        w.assign(w * 0)
    fresh.load_weights(str(tmp_path / "m.weights.h5"))
    for a, b in zip(fresh.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("around", [False, True])
def test_a_parallel_model_that_is_passed_as_the_template_is_unwrapped(
    keras: Any, training: Any, checkpoint: Any, tmp_path: Path, around: bool
) -> None:
    """With the optimizer's state, and without a word: there is nothing to be told."""
    template, parallel, fit = training
    model = parallel
    if around:
        model = keras.Sequential(
            [keras.Input((6,)), parallel, keras.layers.Dense(3, name="head")], name="outer"
        )
        model.compile(keras.optimizers.Adam(0.01), loss=keras.losses.MeanSquaredError())
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        fit(checkpoint(str(tmp_path / "m.keras"), template=model), model=model)
    with zipfile.ZipFile(tmp_path / "m.keras") as archive:
        assert "Tower" not in archive.read("config.json").decode()
    loaded = keras.models.load_model(str(tmp_path / "m.keras"))
    assert loaded.name == ("outer" if around else template.name)
    assert int(loaded.optimizer.iterations) == 3
    for a, b in zip(loaded.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_trainer_that_is_more_than_its_parallel_model_is_saved_whole(
    keras: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    """Its head is made in the first step, after the callback has first looked for the template."""
    _template, parallel, fit = training

    class Trainer(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.head = parallel, keras.layers.Dense(3, name="head")

        def call(self, x: Any) -> Any:
            return self.head(self.inner(x))

    trainer = Trainer()
    trainer.compile("sgd", loss=keras.losses.MeanSquaredError())
    with pytest.warns(UserWarning, match=r"hold all of it.*pass template="):
        fit(
            checkpoint(str(tmp_path / "m.weights.h5"), save_weights_only=True),
            model=trainer,
            epochs=2,
        )
    again = Trainer()
    again(np.zeros((2, 6), "float32"))
    weights = trainer.head.get_weights()
    again.load_weights(str(tmp_path / "m.weights.h5"))
    for a, b in zip(again.head.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_trainer_that_only_holds_a_parallel_model_is_saved_as_its_template(
    keras: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    template, parallel, fit = training

    class Trainer(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.inner = parallel

        def call(self, x: Any) -> Any:
            return self.inner(x)

    trainer = Trainer()
    trainer.compile("sgd", loss=keras.losses.MeanSquaredError())
    fit(checkpoint(str(tmp_path / "m.keras")), model=trainer)
    loaded = keras.models.load_model(str(tmp_path / "m.keras"))
    assert type(loaded) is type(template)
    for a, b in zip(loaded.get_weights(), template.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_trainer_with_a_step_of_its_own_alone(
    keras: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    """It computes nothing that its parallel model does not."""
    template, parallel, fit = training

    class Trainer(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.inner = parallel

        def train_step(self, data: Any) -> Any:
            return {"loss": keras.losses.MeanSquaredError()(data[1], self.inner(data[0]))}

    trainer = Trainer()
    trainer.compile("sgd", loss=keras.losses.MeanSquaredError())
    fit(checkpoint(str(tmp_path / "m.keras")), model=trainer)
    assert type(keras.models.load_model(str(tmp_path / "m.keras"))) is type(template)


def test_mirrored_strategy(
    two_replicas: Any, keras: Any, zoo: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    with two_replicas.scope():
        model = zoo["dense"]()
        model.compile(keras.optimizers.Adam(0.01), keras.losses.MeanSquaredError())
    training[2](checkpoint(str(tmp_path / "m.keras")), model=model)
    loaded = keras.models.load_model(str(tmp_path / "m.keras"))
    for a, b in zip(loaded.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_period_and_options_of_tf_keras(
    tf: Any, keras: Any, training: Any, checkpoint: Any, tmp_path: Path
) -> None:
    if keras.__name__ == "keras":
        with pytest.raises(TypeError, match="period"):
            checkpoint("x.keras", period=2)
        return
    options = tf.train.CheckpointOptions()
    callback = checkpoint(
        str(tmp_path / "c-{epoch}"), save_weights_only=True, options=options, period=2
    )
    training[2](callback, epochs=4)
    assert sorted(os.listdir(tmp_path)) == sorted(
        [
            "checkpoint",
            *(f"c-{e}.{end}" for e in (2, 4) for end in ("index", "data-00000-of-00001")),
        ]
    )
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "c-4")


def interrupted_while_writing(path: str) -> None:
    Path(path).write_text("half")
    raise KeyboardInterrupt


def test_folders_and_prefixes_are_replaced_and_removed(tmp_path: Path) -> None:
    for text in ("old", "new"):
        with atomic_save.new_file_for(str(tmp_path / "saved")) as path:
            Path(path).mkdir()
            (Path(path) / "saved_model.pb").write_text(text)
        with atomic_save.new_file_for(str(tmp_path / "ckpt")) as path:
            for end in (".data-00000-of-00001", ".index"):
                Path(path + end).write_text(text)
    assert (tmp_path / "saved" / "saved_model.pb").read_text() == "new"
    assert (tmp_path / "ckpt.index").read_text() == "new"
    with (
        pytest.raises(OSError, match=r"directory|folder|saved"),
        atomic_save.new_file_for(str(tmp_path / "saved")) as path,
    ):
        Path(path).write_text("a file in a folder's place")
    assert sorted(os.listdir(tmp_path)) == ["ckpt.data-00000-of-00001", "ckpt.index", "saved"]
    with pytest.raises(KeyboardInterrupt), atomic_save.new_file_for(str(tmp_path / "ckpt")) as path:
        interrupted_while_writing(path + ".index")
    assert (tmp_path / "ckpt.index").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["ckpt.data-00000-of-00001", "ckpt.index", "saved"]


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "Input/output error"), SystemExit()], ids=["fails", "killed"]
)
def test_a_checkpoint_is_never_half_new(
    error: BaseException, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename that fails brings the old files back; a killed process's move is completed before the next save."""

    def save(text: str) -> None:
        with atomic_save.new_file_for(str(tmp_path / "ckpt")) as path:
            for end in (".data-00000-of-00001", ".index"):
                Path(path + end).write_text(text)

    def state() -> list[str]:
        return [p.read_text() for p in sorted(tmp_path.iterdir()) if p.is_file()]

    save("old")
    calls, rename = iter(range(100)), portable_file_operations.rename_new

    def stopped(source: str, target: str) -> None:
        if next(calls) == step:
            raise error
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(portable_file_operations, "rename_new", stopped)
        if isinstance(error, SystemExit):
            patched.setattr(staging_folder, "_remove", lambda _: None)
        with pytest.raises(type(error)):
            save("new")
    if isinstance(error, OSError):
        assert state() == ["old", "old"]
        assert len(os.listdir(tmp_path)) == 2
    else:
        staging_folder.sweep(str(tmp_path / "ckpt"))
        assert state() == ["new", "new"]
    save("newest")
    assert state() == ["newest", "newest"]
    assert len(os.listdir(tmp_path)) == 2


def test_kits_tell_models_apart(tf: Any) -> None:
    ours, theirs = (import_module(name).Sequential() for name in ("keras", "tf_keras"))
    assert [KERAS.owns(ours), KERAS.owns(theirs)] == [True, False]
    assert [TF_KERAS.owns(ours), TF_KERAS.owns(theirs)] == [False, True]


LEGACY = """
import tensorflow as tf
from unnest.keras import ModelCheckpoint
from unnest.keras.legacy import ModelCheckpoint as legacy
assert ModelCheckpoint is legacy
assert issubclass(ModelCheckpoint, tf.keras.callbacks.ModelCheckpoint)
"""


@pytest.mark.parametrize("line", ["", "from unnest.keras.legacy import ModelCheckpoint"])
def test_where_tf_keras_stands_in_for_tf_dot_keras(tf: Any, line: str) -> None:
    pytest.importorskip("tf_keras")
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}
    subprocess.run([sys.executable, "-c", line + LEGACY], check=True, timeout=200, env=environment)
