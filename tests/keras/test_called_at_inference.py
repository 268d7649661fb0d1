"""A call with training=False: the finding is there if and only if Keras 3's fit moves what tf.keras left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "called_at_inference"
#: Case -> whether a step of training in TensorFlow 2.3 left the moving mean as it was.
LEFT = {
    case: is_left
    for case, is_left in json.loads((FOLDER / "tf23.json").read_text()).items()
    if is_left is not None
}


@pytest.mark.parametrize("case", LEFT)
def test_moving_means(case: str, keras: Any, tmp_path: Path) -> None:
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    done = unnest.fix(FOLDER / f"tf23-{case}.h5", tmp_path / "o.keras", keras="3")
    model = keras.models.load_model(tmp_path / "o.keras")
    means = [v for v in model.variables if "moving_mean" in v.path]
    before = [v.numpy() for v in means]
    model.fit(np.ones((4, 3), "f4"), np.ones((4, 2), "f4"), verbose=0)
    is_left = all(np.array_equal(v.numpy(), mean) for v, mean in zip(means, before, strict=True))
    is_named = "training-overridden" in {finding.code for finding in done.findings}
    assert means
    assert is_named is (is_left != LEFT[case])
