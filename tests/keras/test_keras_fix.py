"""`unnest fix` takes the template out of files that our own parallel models were saved to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from unnest.keras import multi_gpu_model


@pytest.mark.parametrize("container", ["p.keras", "p.h5", "p.weights.h5"])
@pytest.mark.parametrize("name", ["dense", "batch_norm", "several", "nested"])
def test_our_own_files(keras: Any, zoo: Any, rows: Any, tmp_path: Path, name: str, container: str) -> None:
    template = zoo[name]()
    parallel = multi_gpu_model(template, 3, ratios=[1, 2, 1])
    parallel.compile(keras.optimizers.Adam(0.01), loss=keras.losses.MeanSquaredError())
    x = rows(template, 9)
    outputs = template(x)
    y = [np.zeros(tuple(o.shape)) for o in (outputs if isinstance(outputs, list) else [outputs])]
    parallel.fit(x, y[0] if len(y) == 1 else y, verbose=0)
    path, fixed = str(tmp_path / container), str(tmp_path / container.replace("p", "fixed", 1))
    if "weights" in container:
        parallel.save_weights(path)
        (tmp_path / "p.json").write_text(parallel.to_json())
        unnest.fix(path, fixed, architecture=str(tmp_path / "p.json"))
        loaded = keras.models.clone_model(template)
        loaded.load_weights(fixed)
    else:
        parallel.save(path)
        unnest.fix(path, fixed)
        loaded = keras.models.load_model(fixed, compile=False)
        assert type(loaded) is type(template)
    for a, b in zip(loaded.get_weights(), template.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
