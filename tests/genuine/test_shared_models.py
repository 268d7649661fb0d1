"""A model that is called by itself and wrapped by a layer, in a template: TensorFlow 2.0 to 2.3 list it once."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "shared_models"


@pytest.mark.parametrize("name", ["tf20-shared", "tf23-shared"])
def test_weights_listed_once_load_nowhere(name: str, tmp_path: Path) -> None:
    """Neither the stack that wrote the file nor tf_keras loads it, or what stays nested: "expects 4 weights"."""
    path = FOLDER / f"{name}.h5"
    done = unnest.fix(path, tmp_path / "o.h5", keep_nested=True)
    assert (done.error, done.action, done.load) == (None, "fixed", None)
    for report in (unnest.inspect(path), unnest.inspect(tmp_path / "o.h5"), done):
        assert report.loads_in == ()
    assert "weights in template that layers in it share" in done.does_not_load_in["tf_keras"]


def test_weights_of_each_load(tmp_path: Path) -> None:
    """Two models of one name and config, each with its weights in the list."""
    done = unnest.fix(FOLDER / "tf20-own.h5", tmp_path / "o.h5", keep_nested=True)
    assert done.error is None
    assert done.loads_in == ("tf_keras (Keras 2)", "Keras 2.2.4-tf, which wrote it")
