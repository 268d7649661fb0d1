"""load_weights into models of tf_keras: every variable from any file, or a refusal that names the layer."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.corpus.unpacked import FIXTURES
from tests.keras.load_weights_table import cases, outcome
from tests.keras.test_keras_load_weights import RIGHT, chain, saved
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

#: Of a stack of each era, Keras 1 and Keras 3 with another stack's model; all of them: `test_all_genuine_files`.
STACKS = ("k122", "k216", "tfk18", "tf20", "tfkeras", "keras3")
#: Of 199 files; the others hold no weights, code of another Python, or layers that tf_keras has not.
EQUAL = 175


@pytest.mark.parametrize(("file", "base"), [cases(stack, "tf_keras")[0] for stack in STACKS])
def test_a_genuine_file(file: Path, base: Path, tmp_path: Path) -> None:
    assert outcome(file, base, tmp_path, "tf_keras") == "equal"


@pytest.mark.slow
def test_all_genuine_files(tmp_path: Path) -> None:
    outcomes = [
        (file, outcome(file, base, tmp_path, "tf_keras"))
        for stack in sorted({p.parents[1].name for p in FIXTURES.glob("*/*/io.npz")})
        for file, base in cases(stack, "tf_keras")
    ]
    assert [(f, o) for f, o in outcomes if not o.startswith(RIGHT)] == []
    assert sum(o == "equal" for _, o in outcomes) >= EQUAL


def whole_h5(built: Any, folder: Path) -> Path:
    built.save(folder / "run.h5")
    return folder / "run.h5"


def keras_zip(built: Any, folder: Path) -> Path:
    built.save(folder / "run.keras")
    return folder / "run.keras"


@pytest.mark.parametrize("kind", ["Adam", "SGD", "RMSprop", "Adadelta"])
@pytest.mark.parametrize(
    ("library", "save"),
    [
        (keras, keras_zip),
        (keras, weights_h5),
        (tf_keras, whole_h5),
        (tf_keras, keras_zip),
        (tf_keras, checkpoint),
    ],
    ids=["keras", "keras-weights", "h5", "tf_keras", "checkpoint"],
)
def test_the_next_step(library: Any, save: Save, kind: str, tmp_path: Path) -> None:
    """The optimizer's state is the file's: one step later the two runs are still the same."""
    settings = {"learning_rate": 0.05, **({"momentum": 0.9} if kind == "SGD" else {})}
    old = trained(library, getattr(library.optimizers, kind)(**settings))
    new = model(tf_keras, getattr(tf_keras.optimizers, kind)(**settings))
    path = save(old, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        load_weights(new, path)
    assert int(new.optimizer.iterations) == 3
    assert_same_next_step(old, new)


def test_a_legacy_optimizer(tmp_path: Path) -> None:
    """No file holds the variables of one: named, the weights are set."""
    old = trained(tf_keras, tf_keras.optimizers.Adam(0.05))
    new = model(tf_keras, tf_keras.optimizers.legacy.Adam(0.05))
    with pytest.warns(UserWarning, match="compiled with the legacy Adam"):
        load_weights(new, whole_h5(old, tmp_path))
    assert all(
        np.array_equal(a, b) for a, b in zip(old.get_weights(), new.get_weights(), strict=True)
    )


Layers = Callable[[], list[Any]]


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    ("layers", "shape"),
    [
        (lambda: [tf_keras.layers.LSTM(3, recurrent_activation="hard_sigmoid")], (5, 4)),
        (lambda: [tf_keras.layers.SeparableConv1D(3, 2, activation="hard_sigmoid")], (5, 4)),
        (lambda: [tf_keras.layers.Bidirectional(tf_keras.layers.GRU(3))], (5, 4)),
        (lambda: [tf_keras.layers.LocallyConnected1D(2, 2), tf_keras.layers.Flatten()], (5, 4)),
        (
            lambda: [
                tf_keras.layers.Dense(3),
                tf_keras.layers.ThresholdedReLU(),
                tf_keras.layers.Dense(2),
            ],
            (4,),
        ),
    ],
)
def test_layers_of_keras_2(
    layers: Layers, shape: tuple[int, ...], weights: bool, tmp_path: Path
) -> None:
    """Weights that Keras 3 stores or uses otherwise arrive bit for bit."""
    old, new = (chain(tf_keras, *layers(), shape=shape) for _ in range(2))
    new.set_weights([np.zeros_like(w) for w in new.get_weights()])
    load_weights(new, saved(old, tmp_path, weights=weights))
    assert all(
        np.array_equal(a, b) for a, b in zip(old.get_weights(), new.get_weights(), strict=True)
    )


def test_hard_sigmoid_of_keras_3(tmp_path: Path) -> None:
    """Its weights are divided by the factor; where no weights stand before it the model is another one."""
    old = chain(keras, keras.layers.Dense(3, activation="hard_sigmoid"))
    new = chain(tf_keras, tf_keras.layers.Dense(3, activation="hard_sigmoid"))
    load_weights(new, keras_zip(old, tmp_path))
    x = np.random.default_rng(0).normal(size=(3, 4)).astype("f4") / 9
    assert np.allclose(old.predict(x, verbose=0), new.predict(x, verbose=0), atol=1e-5)
    old = chain(keras, keras.layers.Dense(3), keras.layers.Activation("hard_sigmoid"))
    new = chain(tf_keras, tf_keras.layers.Dense(3), tf_keras.layers.Activation("hard_sigmoid"))
    with pytest.raises(ValueError, match="your model Rescaling"):
        load_weights(new, keras_zip(old, tmp_path))


@pytest.mark.parametrize("weights", [False, True])
def test_refusals(weights: bool, tmp_path: Path) -> None:
    """A layer less, another shape: the model stays as it is."""
    dense = tf_keras.layers.Dense
    file = saved(chain(tf_keras, dense(4, name="a"), dense(4, name="b")), tmp_path, weights=weights)
    for new, why in (
        (
            chain(tf_keras, dense(4, name="a"), dense(4, name="b"), dense(4, name="c")),
            r"(model|weights) (has|of) 2 layers",
        ),
        (chain(tf_keras, dense(5, name="a"), dense(4, name="b")), "'a'"),
    ):
        before = new.get_weights()
        with pytest.raises(ValueError, match=why):
            load_weights(new, file)
        assert all(np.array_equal(a, b) for a, b in zip(before, new.get_weights(), strict=True))


def test_what_is_no_target() -> None:
    with pytest.raises(TypeError, match="a Keras model is needed"):
        load_weights(3, "nothing.h5")
    with pytest.raises(ValueError, match="is not built"):
        load_weights(tf_keras.Sequential([tf_keras.layers.Dense(3)]), "nothing.h5")
