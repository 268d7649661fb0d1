"""The printed line, --verify and unnest.keras.load_model: of one file they say the same, and each works."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.keras import load_model, model_loading
from unnest.keras.keras_api import KERAS, TF_KERAS

pytestmark = pytest.mark.slow

#: A file, what it becomes, and which Keras loads that: every container and every dialect, as it is and for Keras 3.
WHOLE = (
    ("k122/kuza-mlp-x2-adam/parallel.h5", "o.keras", "3", "keras"),
    ("k209/kuza-mlp-x2-adam/parallel.h5", "o.keras", "3", "keras"),
    ("k216/slicebatch-named-x2-sgdm/parallel.h5", "o.keras", "3", "keras"),
    ("k224/official-cnn-adam/parallel.h5", "o.h5", "original", "tf_keras"),
    ("k224/official-cnn-adam/parallel.h5", "o.keras", "3", "keras"),
    ("k224/official-embedding-x4-adagrad/parallel.h5", "o.keras", "3", "keras"),
    ("k231/official-named-x3-sgd-head/parallel.h5", "o.keras", "3", "keras"),
    ("tfk113/official-mlp-rmsprop-double/parallel.h5", "o.h5", "original", "tf_keras"),
    ("tfk115/official-nested-sgd-head/parallel.h5", "o.keras", "3", "keras"),
    ("tf20/opsplit_concat-mlp-x3-sgd/parallel.h5", "o.keras", "3", "keras"),
    ("tf22/official-twins/parallel.h5", "o.h5", "original", "tf_keras"),
    ("tf23/official-multiio-adam-byname/parallel.h5", "o.keras", "3", "keras"),
    ("tf27/opslice-residual-x2/parallel.h5", "o.keras", "3", "keras"),
    ("tf210/slicebatch-rnn-x2/parallel.h5", "o.h5", "original", "tf_keras"),
    ("tf215/carried-cnn-adam/base.h5", "o.keras", "original", "tf_keras"),
    ("tfkeras/opslice-multiio-x2-sgd-byname/parallel.h5", "o.h5", "original", "tf_keras"),
    ("keras_zip/tf213/keras_zip-carried-nested/parallel.keras", "o.keras", "3", "keras"),
    (
        "keras_zip/tfkeras/keras_zip-carried-named-adam/parallel.keras",
        "o.keras",
        "original",
        "tf_keras",
    ),
    ("keras_zip/keras3/keras_zip-carried-nested/parallel.keras", "o.keras", "original", "keras"),
    ("keras3/carried-cnn-adam/parallel.h5", "o.keras", "original", "keras"),
)
#: Weights, whose architecture is another file: there is no load_model of them.
WEIGHTS = (
    ("checkpoint/tf215/checkpoint-carried-named-adam", "parallel.ckpt", "o.keras", "3", "keras"),
    (
        "weights_h5/tf213/weights_h5-carried-named-adam",
        "parallel.weights.h5",
        "o.keras",
        "3",
        "keras",
    ),
)


def by_line(result: unnest.Result) -> Any:
    """The model that the line gives, as it stands in the report."""
    assert result.load is not None
    names: dict[str, Any] = {}
    exec(result.load, names)  # noqa: S102 - the very thing to be tested
    return names["model"]


def off(model: Any, folder: Path) -> float:
    """How far its predictions are from those that the file's own stack recorded."""
    with np.load(folder / "io.npz") as io:
        xs, ys = ([io[n] for n in sorted(io.files) if n[0] == kind] for kind in "xy")
    found = model.predict(xs if len(xs) > 1 else xs[0], batch_size=len(xs[0]), verbose=0)
    pairs = zip(found if isinstance(found, list) else [found], ys, strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - b))) for a, b in pairs)


@pytest.mark.parametrize(("name", "output", "keras", "api"), WHOLE)
def test_a_whole_model(
    name: str,
    output: str,
    keras: Any,
    api: str,
    tf: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """All three in the Keras that the report names."""
    import_module(api)
    result = unnest.fix(FIXTURES / name, tmp_path / output, keras=keras, verify=True)
    assert result.error is None
    assert f"loads in {'Keras 3' if api == 'keras' else api}" in result.checks
    assert result.load is not None
    assert f"import {api};" in result.load
    assert off(by_line(result), (FIXTURES / name).parent) <= 1e-5
    monkeypatch.setattr(
        model_loading, "keras_in_use", lambda: KERAS if api == "keras" else TF_KERAS
    )
    assert off(load_model(FIXTURES / name), (FIXTURES / name).parent) <= 1e-5


@pytest.mark.parametrize(("folder", "name", "output", "keras", "api"), WEIGHTS)
def test_weights_and_their_architecture(
    folder: str, name: str, output: str, keras: Any, api: str, tf: Any, tmp_path: Path
) -> None:
    """The line and --verify; load_model says what is missing."""
    import_module(api)
    if folder.startswith("checkpoint"):
        pytest.importorskip("google_crc32c")
    path = FIXTURES / folder / name
    result = unnest.fix(
        path, tmp_path / output, architecture=path.parent / "model.json", keras=keras, verify=True
    )
    assert result.error is None
    assert f"loads in {'Keras 3' if api == 'keras' else api}" in result.checks
    assert off(by_line(result), path.parent) <= 1e-5
    with pytest.raises(ValueError, match="--architecture"):
        load_model(path)
