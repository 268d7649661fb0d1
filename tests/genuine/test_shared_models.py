"""A model that is called by itself and wrapped by a layer, in a template: TensorFlow 2.0 to 2.3 list it once."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import weights_by_layer

FOLDER = FIXTURES / "shared_models"


@pytest.mark.parametrize("name", ["tf20-shared", "tf23-shared"])
def test_weights_listed_once(name: str, tmp_path: Path) -> None:
    """Neither the stack that wrote the file nor tf_keras loads it: "expects 4 weights".

    The template alone has them twice, as the stack's own save of it does.
    """
    path = FOLDER / f"{name}.h5"
    report = unnest.inspect(path)
    assert report.loads_in == ()
    assert "weights in template that layers in it share" in report.does_not_load_in["tf_keras"]
    done = unnest.fix(path, tmp_path / "o.h5")
    assert (done.error, done.action) == (None, "fixed")
    assert weights_by_layer(tmp_path / "o.h5") == weights_by_layer(FOLDER / f"{name}-base.h5")
    assert len(done.loads_in) == 2


def test_weights_of_each_load(tmp_path: Path) -> None:
    """Two models of one name and config, each with its weights in the list: they load if the template stays nested."""
    refused = unnest.fix(FOLDER / "tf20-own.h5", tmp_path / "o.h5")
    assert refused.error is not None
    assert "--keep-nested (not with --keras 3) keeps" in refused.error.message
    done = unnest.fix(FOLDER / "tf20-own.h5", tmp_path / "o.h5", keep_nested=True)
    assert done.error is None
    assert done.loads_in == ("tf_keras (Keras 2)", "Keras 2.2.4-tf, which wrote it")
