"""`unnest fix` takes the template out of files that our own parallel models were saved to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.keras import multi_gpu_model

MIXED = FIXTURES / "mixed_precision" / "tf27"


@pytest.mark.parametrize("name", ["dense", "batch_norm", "several", "nested"])
def test_our_own_files(keras: Any, zoo: Any, rows: Any, tmp_path: Path, name: str) -> None:
    """A trained parallel model in every container: what is taken out is the template, bit for bit."""
    template = zoo[name]()
    parallel = multi_gpu_model(template, 3, ratios=[1, 2, 1])
    parallel.compile(keras.optimizers.Adam(0.01), loss=keras.losses.MeanSquaredError())
    x = rows(template, 9)
    outputs = template(x)
    y = [np.zeros(tuple(o.shape)) for o in (outputs if isinstance(outputs, list) else [outputs])]
    parallel.fit(x, y[0] if len(y) == 1 else y, verbose=0)
    for container in ("p.keras", "p.h5", "p.weights.h5"):
        loaded = out_of(keras, parallel, template, tmp_path, container)
        for a, b in zip(loaded.get_weights(), template.get_weights(), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=container)


def out_of(keras: Any, parallel: Any, template: Any, folder: Path, container: str) -> Any:
    """The parallel model saved, fixed and loaded."""
    path, fixed = str(folder / container), str(folder / container.replace("p", "fixed", 1))
    if "weights" in container:
        parallel.save_weights(path)
        (folder / "p.json").write_text(parallel.to_json())
        unnest.fix(path, fixed, architecture=str(folder / "p.json"))
        loaded = keras.models.clone_model(template)
        loaded.load_weights(fixed)
        return loaded
    parallel.save(path)
    unnest.fix(path, fixed)
    loaded = keras.models.load_model(fixed, compile=False)
    assert type(loaded) is type(template)
    return loaded


def test_a_serving_graph_of_mixed_precision(tf: Any, tmp_path: Path) -> None:
    """Cut to one tower it serves the same numbers, also for an odd batch."""
    unnest.fix(MIXED, tmp_path / "cut")
    before, after = (
        tf.saved_model.load(str(path)).signatures["serving_default"]
        for path in (MIXED, tmp_path / "cut")
    )
    x = np.random.default_rng(0).normal(size=(5, 6)).astype("float32")
    expected, served = (graph(x=tf.constant(x))["merge"].numpy() for graph in (before, after))
    assert np.ptp(expected) > 0.1
    np.testing.assert_array_equal(served, expected)
