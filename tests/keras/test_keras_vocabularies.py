"""Layers that `adapt()` filled predict in Keras 3 what they did in their own stack, for unknown words too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "vocabularies"
NAMES = [
    *(
        f"{stack}-{kind}"
        for stack in ("tf23", "tf27", "tf210", "tf215")
        for kind in ("everything", "file")
    ),
    *(
        f"{stack}-{kind}"
        for stack in ("tf27", "tf210", "tf215")
        for kind in ("counts", "inverted", "bins", "bins.h5")
    ),
    "tf23-limited",
    "tf215-archive.keras",
    *(f"tf213-{kind}.keras" for kind in ("archive", "several", "wrapped")),
]


#: Models that count or weigh words, by name, SavedModels and `.keras`.
COUNTED = sorted(
    path.name for path in (FIXTURES / "word_weights").iterdir() if path.suffix != ".npz"
)


def assert_same(found: Any, wanted: Any) -> None:
    """Hold two arrays of float32 to be equal, but for sums in another order, which another processor makes."""
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "path",
    [
        *(FOLDER / name for name in (*NAMES, "tf27-weighted", "tf210-weighted", "tf215-weighted")),
        *(FIXTURES / "word_weights" / name for name in COUNTED),
    ],
    ids=lambda path: path.name,
)
def test_predicts_as_its_own_stack_did(path: Path, keras: Any, tf: Any, tmp_path: Path) -> None:
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    assert unnest.fix(path, tmp_path / "out.keras", keras="3").action != "refused"
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(path.with_name(f"{path.name.partition('.')[0]}.npz")) as io:
        x = [io[key] for key in sorted(io.files) if key[0] == "x"]
        wanted = io["y0"]
    x = [tf.constant(array.tolist() if array.dtype.kind == "U" else array) for array in x]
    found = np.asarray(model(x if len(x) > 1 else x[0]))
    if wanted.dtype.kind == "U":
        assert np.char.decode(found.astype("S")).tolist() == wanted.tolist()
    else:
        assert_same(found, wanted)


@pytest.mark.parametrize(
    "path",
    [
        FIXTURES / "preprocessing/tf23-integers",
        *(p for p in sorted((FIXTURES / "preprocessing").glob("*-*.*")) if p.suffix != ".npz"),
    ],
    ids=lambda path: path.name,
)
def test_with_its_functions_given(path: Path, keras: Any, tf: Any, tmp_path: Path) -> None:
    """As its own stack did, in Keras 3 and, where the report names it, in tf_keras."""
    recorded = path.with_name(f"{path.name.partition('.')[0]}.npz")
    if keras.__name__ == "keras":
        done = unnest.fix(path, tmp_path / "out.keras", keras="3")
        assert (done.action == "converted") is ("unsalted" not in path.name)
        is_named, path = done.action == "converted", tmp_path / "out.keras"
    else:
        is_named = any("tf_keras" in software for software in unnest.inspect(path).loads_in)
    if not is_named:
        return

    def cleaned(texts: Any) -> Any:
        return tf.strings.regex_replace(tf.strings.lower(texts), "b", "a")

    def parted(texts: Any) -> Any:
        return tf.strings.split(texts, "-")

    model = keras.models.load_model(path, custom_objects={"cleaned": cleaned, "parted": parted})
    with np.load(recorded) as io:
        x, wanted = io["x0"], io["y0"]
    found = model(tf.constant(x.tolist()) if x.dtype.kind == "U" else x)
    assert_same(found, wanted)


def test_bins_of_fractions(keras: Any, tmp_path: Path) -> None:
    """A Discretization stores the dtype of its numbers; Keras 3 would cast the fractions that it reads to it."""
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    tf_keras = pytest.importorskip("tf_keras")
    path = FIXTURES / "adapted" / "tfkeras-discretization-base.h5"
    done = unnest.fix(path, tmp_path / "out.keras", keras="3")
    assert "discretization-dtype" in [each.rule for each in done.conversions]
    x = np.linspace(-1.5, 1.5, 7, dtype="f")[:, None]
    found = keras.models.load_model(tmp_path / "out.keras").predict(x, verbose=0)
    wanted = tf_keras.models.load_model(path).predict(x, verbose=0)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["tf213-activation", "tf215-activation", "tf213-text", "tf215-text"]
)
def test_with_its_lambda_given(name: str, keras: Any, tf: Any, tmp_path: Path) -> None:
    """A lambda as an argument is a function without a name, which the loader is given."""
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    stack, _, kind = name.partition("-")
    folder = FIXTURES / "lambda_arguments"
    assert unnest.fix(folder / f"{name}.keras", tmp_path / "out.keras", keras="3").error is None
    code = {"activation": lambda x: x * 2.0, "text": tf.strings.lower}[kind]
    model = keras.models.load_model(tmp_path / "out.keras", custom_objects={"<lambda>": code})
    x = {
        "activation": np.arange(6, dtype="float32").reshape(2, 3),
        "text": tf.constant([["Red green"], ["blue RED"]]),
    }[kind]
    with np.load(folder / f"{stack}.npz") as recorded:
        assert_same(np.asarray(model(x)), recorded[kind])
