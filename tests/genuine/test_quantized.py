"""Keras 3's quantized and LoRA layers in `.h5`: other weights than configs speak of, which bear their layers' names."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import weights_by_layer

FOLDER = FIXTURES / "quantized"


@pytest.mark.parametrize("kind", ["int8", "int4", "lora"])
def test_every_layer_gets_its_own(kind: str, tmp_path: Path) -> None:
    """As Keras saved the template itself."""
    done = unnest.fix(FOLDER / f"{kind}-parallel.h5", tmp_path / "out.h5")
    assert (done.error, done.action) == (None, "fixed")
    base = weights_by_layer(FOLDER / f"{kind}-base.h5")
    assert weights_by_layer(tmp_path / "out.h5") == base
    assert {name: len(of_layer) for name, of_layer in base.items()} == dict.fromkeys(
        ("hidden", "score"), len(base["score"])
    )
    assert len(base["score"]) > 2


@pytest.mark.parametrize("which", ["parallel", "base"])
@pytest.mark.parametrize("kind", ["int8", "int4", "lora"])
def test_another_container_is_refused(kind: str, which: str, tmp_path: Path) -> None:
    """It has these weights in another order."""
    done = unnest.fix(FOLDER / f"{kind}-{which}.h5", tmp_path / "out.keras")
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "cannot-convert")
    assert "is quantized or has LoRA weights" in done.error.message
    assert list(tmp_path.iterdir()) == []
