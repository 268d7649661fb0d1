"""load_weights: every weight of the caller's model from any file, or a refusal that names the layer."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.keras.load_weights_corpus import Pair, pairs
from tests.keras.load_weights_table import BEGIN, CONTAINERS, END, PAGE, cases, files_of, outcome
from unnest.keras import load_weights

keras = pytest.importorskip("keras")
tf_keras = pytest.importorskip("tf_keras")

#: Of 199 files; the others hold no weights, or classes of their own.
EQUAL = 192
#: Of the wrappers of the corpus; the others are serving graphs without layers, and classes of their own.
CORPUS_EQUAL = 310
#: What may come of a file: predictions as recorded, or a sentence that says why not.
RIGHT = ("equal", "refused: ", "no model: ")
#: Of every dialect and container: a file, and the model that its software saved directly.
SAMPLE = (
    ("k122/kuza-mlp-x2-adam/parallel.h5", "base.h5"), ("k122/kuza-nested-x2-sgd/parallel.h5", "base.h5"),
    ("k224/official-cnn-adam/parallel.h5", "base.h5"), ("k224/official-rnn-x2-adam/parallel.h5", "base.h5"),
    ("k231/official-cnn-adam/parallel.h5", "base.h5"), ("tf215/carried-nested-x3-double/parallel.h5", "base.h5"),
    ("keras_zip/keras3/keras_zip-carried-nested/parallel.keras", "base.keras"),
    ("keras_zip/tf213/keras_zip-carried-nested/parallel.keras", "base.keras"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("file", "base"), [pair for pair in SAMPLE if (FIXTURES / pair[0]).exists()]
)
def test_genuine_files(file: str, base: str, tmp_path: Path) -> None:
    """Into today's model with other numbers in its names: predictions are those that were recorded."""
    path = FIXTURES / file
    assert outcome(path, path.with_name(base), tmp_path) == "equal"


Build = Callable[[Any], Any]


def chain(library: Any, *layers: Any, shape: tuple[int, ...] = (4,)) -> Any:
    """A Sequential model with random weights, none of them as it begins."""
    model = library.Sequential([library.layers.Input(shape), *layers])
    rng = np.random.default_rng(len(model.weights))
    model.set_weights([rng.uniform(0.5, 1.5, w.shape).astype("f4") for w in model.get_weights()])
    return model


def saved(model: Any, path: Path, *, weights: bool) -> Path:
    """Save with tf_keras: a whole model, or weights alone, in an .h5."""
    file = path / "old.h5"
    (model.save_weights if weights else model.save)(file)
    return file


def same(old: Any, new: Any, shape: tuple[int, ...] = (3, 4)) -> bool:
    x = np.random.default_rng(0).normal(size=shape).astype("f4")
    return bool(np.allclose(old.predict(x, verbose=0), new.predict(x, verbose=0), atol=1e-5))


@pytest.mark.parametrize("weights", [False, True])
def test_counted_on(weights: bool, tmp_path: Path) -> None:
    """Names that overlap, shifted by one: by_name would set weights of the wrong layers."""
    dense = tf_keras.layers.Dense
    old = chain(tf_keras, *(dense(4, name=f"dense_{k}") for k in (1, 2, 3)))
    new = chain(keras, *(keras.layers.Dense(4, name=f"dense_{k}") for k in (2, 3, 4)))
    load_weights(new, saved(old, tmp_path, weights=weights))
    assert same(old, new)


def swap_groups(file: Path, one: str, other: str) -> None:
    """Exchange two names in a file, of layers and of their weights."""
    with h5py.File(file, "r+") as f:
        names = {one.encode(): other.encode(), other.encode(): one.encode()}
        order = [n if isinstance(n, bytes) else n.encode() for n in f.attrs["layer_names"]]
        f.attrs["layer_names"] = np.array([names.get(n, n) for n in order])


def test_shuffled_names(tmp_path: Path) -> None:
    """Order says one thing, names another, and shapes allow both."""
    old = chain(tf_keras, *(tf_keras.layers.Dense(4, name=n) for n in ("left", "middle", "right")))
    new = chain(keras, *(keras.layers.Dense(4, name=n) for n in ("left", "middle", "right")))
    file = saved(old, tmp_path, weights=True)
    swap_groups(file, "left", "right")
    before = new.get_weights()
    with pytest.raises(ValueError, match="'right' stands in the place of 'left'"):
        load_weights(new, file)
    assert all(np.array_equal(a, b) for a, b in zip(before, new.get_weights(), strict=True))


@pytest.mark.parametrize("weights", [False, True])
def test_one_layer_is_missing(weights: bool, tmp_path: Path) -> None:
    old = chain(tf_keras, *(tf_keras.layers.Dense(4, name=f"d{k}") for k in "ab"))
    new = chain(keras, *(keras.layers.Dense(4, name=f"d{k}") for k in "abc"))
    with pytest.raises(ValueError, match=r"(model|weights) (has|of) 2 layers"):
        load_weights(new, saved(old, tmp_path, weights=weights))


@pytest.mark.parametrize("weights", [False, True])
def test_a_layer_of_another_shape(weights: bool, tmp_path: Path) -> None:
    old = chain(tf_keras, tf_keras.layers.Dense(5, name="a"), tf_keras.layers.Dense(4, name="b"))
    new = chain(keras, keras.layers.Dense(6, name="a"), keras.layers.Dense(4, name="b"))
    with pytest.raises(ValueError, match="'a'"):
        load_weights(new, saved(old, tmp_path, weights=weights))


def twin(library: Any, order: tuple[str, str]) -> Any:
    """Two layers of equal shape side by side, their outputs joined in that order."""
    x = library.layers.Input((4,))
    sides = {
        name: library.layers.Dense(4, name=name, activation=act)(x)
        for name, act in (("one", None), ("two", "tanh"))
    }
    y = library.layers.Concatenate()([sides[name] for name in order])
    model = library.Model(x, library.layers.Dense(2, name="end")(y))
    rng = np.random.default_rng(3)
    model.set_weights([rng.normal(size=w.shape).astype("f4") for w in model.get_weights()])
    return model


def test_equal_shapes_in_another_order(tmp_path: Path) -> None:
    """The graph says which is which; where it says that the model is another one, nothing is set."""
    old = twin(tf_keras, ("one", "two"))
    file = saved(old, tmp_path, weights=False)
    new = twin(keras, ("one", "two"))
    load_weights(new, file)
    assert same(old, new)
    with pytest.raises(ValueError, match="there"):
        load_weights(twin(keras, ("two", "one")), file)


def test_equal_shapes_in_another_order_by_names(tmp_path: Path) -> None:
    """Weights alone: names and order contradict each other."""
    file = saved(twin(tf_keras, ("one", "two")), tmp_path, weights=True)
    with pytest.raises(ValueError, match="in the place of"):
        load_weights(twin(keras, ("two", "one")), file)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            lambda k: [k.layers.Dense(4, activation="relu")],
            lambda k: [k.layers.Dense(4, activation="tanh")],
        ),
        (
            lambda k: [
                k.layers.Reshape((4, 1)),
                k.layers.MaxPooling1D(2),
                k.layers.Flatten(),
                k.layers.Dense(2),
            ],
            lambda k: [
                k.layers.Reshape((4, 1)),
                k.layers.AveragePooling1D(2),
                k.layers.Flatten(),
                k.layers.Dense(2),
            ],
        ),
        (
            lambda k: [k.layers.Reshape((4, 1)), k.layers.Conv1D(2, 3, padding="same")],
            lambda k: [k.layers.Reshape((4, 1)), k.layers.Conv1D(2, 3, padding="causal")],
        ),
        (
            lambda k: [k.layers.Dense(4), k.layers.BatchNormalization(epsilon=1e-3)],
            lambda k: [k.layers.Dense(4), k.layers.BatchNormalization(epsilon=1e-5)],
        ),
    ],
)
def test_another_model_of_equal_shapes(old: Build, new: Build, tmp_path: Path) -> None:
    """The file's own architecture decides; weights alone cannot."""
    file = saved(chain(tf_keras, *old(tf_keras)), tmp_path, weights=False)
    with pytest.raises(ValueError, match="the file's model has"):
        load_weights(chain(keras, *new(keras)), file)


def test_weights_of_another_class(tmp_path: Path) -> None:
    """Weights alone whose names are those that Keras gives layers of another class."""
    file = saved(
        chain(
            tf_keras,
            tf_keras.layers.Dense(4, name="dense"),
            tf_keras.layers.LayerNormalization(name="layer_normalization"),
        ),
        tmp_path,
        weights=True,
    )
    new = chain(
        keras, keras.layers.Dense(4), keras.layers.BatchNormalization(center=True, scale=True)
    )
    with pytest.raises(ValueError, match="layer_normalization"):
        load_weights(new, file)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_frozen_and_normalized(weights: bool, frozen: bool, tmp_path: Path) -> None:
    """A nested model's list depends on what was frozen when it was written; today's model is not frozen."""

    def build(library: Any, start: int) -> Any:
        layers = library.layers
        inner = library.Sequential([
            layers.Input((4,)), layers.Dense(4, name=f"dense_{start}"),
            layers.BatchNormalization(name=f"batch_normalization_{start}"), layers.Dense(4, name=f"dense_{start + 1}"),
        ], name="inner")  # fmt: skip
        if library is tf_keras and frozen:
            inner.layers[0].trainable = False
        return chain(library, inner, layers.Dense(2, name=f"dense_{start + 2}"))

    old, new = build(tf_keras, 1), build(keras, 4)
    load_weights(new, saved(old, tmp_path, weights=weights))
    assert same(old, new)


def steps_by(library: Any, *, frozen: bool) -> Any:
    """A model of two layers of equal shapes, applied to every step, the first of them frozen or not."""
    layers = library.layers
    inner = library.Sequential(
        [layers.Input((4,)), layers.Dense(4, name="a"), layers.Dense(4, name="b")]
    )
    inner.layers[0].trainable = not frozen
    return chain(
        library,
        layers.TimeDistributed(inner, name="steps"),
        layers.Dense(2, name="end"),
        shape=(5, 4),
    )


@pytest.mark.parametrize("library", [keras, tf_keras])
@pytest.mark.parametrize(("then", "now"), [(False, True), (True, False), (True, True)])
def test_frozen_in_a_model_of_every_step(
    library: Any, then: bool, now: bool, tmp_path: Path
) -> None:
    """Weights alone list what was frozen last; names say whose they are, whatever is frozen today."""
    old, new = steps_by(tf_keras, frozen=then), steps_by(library, frozen=now)
    file = saved(old, tmp_path, weights=True)
    load_weights(new, file)
    assert same(old, new, (3, 5, 4))
    with h5py.File(file, "r+") as f:
        names = ["steps/kernel:0", "steps/bias:0", "steps/kernel:0", "steps/bias:0"]
        values = [f["steps"][n][()] for n in f["steps"].attrs["weight_names"]]
        del f["steps"]["a"], f["steps"]["b"]
        for k, value in enumerate(values):
            f["steps"][f"{names[k]}_{k}"] = value
        f["steps"].attrs["weight_names"] = np.array(
            [f"{name}_{k}".encode() for k, name in enumerate(names)]
        )
    with pytest.raises(ValueError, match="no name says which weights are those of"):
        load_weights(new, file)


@pytest.mark.parametrize("library", [keras, tf_keras])
def test_attention_in_weights_of_tf_keras(library: Any, tmp_path: Path) -> None:
    """Its parts lie under names of their own there (`_query_dense`)."""

    def build(of: Any) -> Any:
        x = of.layers.Input((5, 4))
        return of.Model(x, of.layers.MultiHeadAttention(2, 3)(x, x))

    old, new = build(tf_keras), build(library)
    old.save_weights(tmp_path / "old.weights.h5")
    load_weights(new, tmp_path / "old.weights.h5")
    assert same(old, new, (3, 5, 4))


def test_a_shared_layer(tmp_path: Path) -> None:
    """One layer called twice is one layer, and two layers are not one."""

    def build(library: Any, *, shared: bool) -> Any:
        x, z = library.layers.Input((4,)), library.layers.Input((4,))
        one = library.layers.Dense(4, name="one")
        other = one if shared else library.layers.Dense(4, name="other")
        return library.Model([x, z], library.layers.Concatenate()([one(x), other(z)]))

    old = build(tf_keras, shared=True)
    file = saved(old, tmp_path, weights=False)
    new = build(keras, shared=True)
    load_weights(new, file)
    assert all(
        np.array_equal(a, b) for a, b in zip(old.get_weights(), new.get_weights(), strict=True)
    )
    with pytest.raises(ValueError, match="several layers in your model"):
        load_weights(build(keras, shared=False), file)


def test_hard_sigmoid(tmp_path: Path) -> None:
    """Gates of a weights file are multiplied where today's model says hard_sigmoid, and named where it does not."""
    lstm = {"units": 3, "name": "lstm"}
    old = chain(
        tf_keras, tf_keras.layers.LSTM(**lstm, recurrent_activation="hard_sigmoid"), shape=(5, 4)
    )
    file = saved(old, tmp_path, weights=True)
    with h5py.File(file, "r+") as f:
        f.attrs["keras_version"] = "2.2.4"
    new = chain(keras, keras.layers.LSTM(**lstm, recurrent_activation="hard_sigmoid"), shape=(5, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_weights(new, file)
    assert same(old, new, (3, 5, 4))
    with pytest.warns(UserWarning, match="other-gates"):
        load_weights(chain(keras, keras.layers.LSTM(**lstm), shape=(5, 4)), file)


def test_the_optimizer_goes_on(tmp_path: Path) -> None:
    """State where the model is compiled with the same optimizer; a warning where it is another one."""
    old = chain(tf_keras, tf_keras.layers.Dense(3, name="a"))
    old.compile(tf_keras.optimizers.Adam(0.01), "mse")
    old.fit(np.ones((4, 4)), np.ones((4, 3)), verbose=0)
    file = saved(old, tmp_path, weights=False)
    new = chain(keras, keras.layers.Dense(3, name="b"))
    new.compile(keras.optimizers.Adam(0.01), "mse")
    load_weights(new, file)
    assert int(new.optimizer.iterations) == 1
    assert any(np.any(np.asarray(v)) for v in new.optimizer.variables[2:])
    new.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="optimizer is Adam"):
        load_weights(new, file)


def test_a_model_that_keeps_its_layers_in_code(tmp_path: Path) -> None:
    """A file whose model is a subclass is refused by name."""
    (pair,) = (pair for pair in pairs(["127-parallel-model-class"]) if pair.file.suffix == ".keras")
    assert "ParallelModel keeps its layers in code" in outcome(pair.file, pair.base, tmp_path)


def test_what_is_no_target(tmp_path: Path) -> None:
    file = saved(chain(tf_keras, tf_keras.layers.Dense(3)), tmp_path, weights=True)
    with pytest.raises(ValueError, match="is not built"):
        load_weights(keras.Sequential([keras.layers.Dense(3)]), file)
    with pytest.raises(ValueError, match="no layers with weights"):
        load_weights(chain(keras, keras.layers.ReLU()), file)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Any) -> None:
    """`--like MODULE:FN` writes the .weights.h5 of the function's model."""
    saved(chain(tf_keras, tf_keras.layers.Dense(3, name="a")), tmp_path, weights=True)
    (tmp_path / "mine.py").write_text(
        "import keras\ndef build():\n    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])\n"
    )
    done = cli("fix", "old.h5", "--like", "mine:build", "--json")
    (entry,) = json.loads(done.stdout)["files"]
    assert (done.returncode, entry["action"], entry["output"]) == (
        0,
        "converted",
        "old.unnested.weights.h5",
    )
    assert cli("fix", "old.h5", "--like", "mine:missing").returncode == 2
    assert unnest.inspect(tmp_path / "old.unnested.weights.h5").container == "weights_h5"


@pytest.mark.slow
def test_all_genuine_files(tmp_path: Path) -> None:
    """Every file into its base: equal, or refused by name, or a base with classes that only its own code has."""
    told = [
        (file, outcome(file, base, tmp_path))
        for stack in sorted({p.parents[1].name for p in FIXTURES.glob("*/*/io.npz")})
        for file, base in cases(stack)
    ]
    wrong = [(f, o) for f, o in told if not o.startswith(RIGHT)]
    assert wrong == []
    assert sum(o == "equal" for _, o in told) >= EQUAL


def test_the_table_of_the_page() -> None:
    """A row for each container, in which no file is set to something else; each has files to ask again."""
    lines = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].splitlines()
    assert [
        line.split(" | ")[0].removeprefix("| ") for line in lines[2 : 2 + len(CONTAINERS)]
    ] == list(CONTAINERS)
    assert lines[-1].startswith("None predicts something else")
    assert all(files_of(container) for container in CONTAINERS)


@pytest.mark.parametrize("pair", [*pairs([])][::16], ids=lambda pair: pair.name)
def test_a_sample_of_the_corpus(pair: Pair, tmp_path: Path) -> None:
    """Every 16th wrapper of the corpus, of every container: equal, or refused by name."""
    assert outcome(pair.file, pair.base, tmp_path).startswith(RIGHT)


@pytest.mark.slow
def test_the_whole_corpus(tmp_path: Path) -> None:
    """As `python -m tests.keras.load_weights_corpus` shows: every container, every stack, weights alone included."""
    outcomes = [(pair.name, outcome(pair.file, pair.base, tmp_path)) for pair in pairs([])]
    assert [each for each in outcomes if not each[1].startswith(RIGHT)] == []
    assert sum(what == "equal" for _, what in outcomes) >= CORPUS_EQUAL
