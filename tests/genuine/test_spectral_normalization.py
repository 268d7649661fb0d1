"""Keras 3's SpectralNormalization, frozen or not: where its vector is among its weights in each container."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import weights_by_layer

FOLDER = FIXTURES / "spectral"
KINDS = ["trained", "layer-frozen", "held-frozen"]


def placed(path: Path) -> dict[str, bytes]:
    """The bytes of each weight of a `.keras`, by path."""
    weights: dict[str, bytes] = {}

    def note(name: str, node: h5py.Group | h5py.Dataset) -> None:
        if isinstance(node, h5py.Dataset):
            weights[name] = node[()].tobytes()

    with (
        zipfile.ZipFile(path) as archive,
        h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file,
    ):
        file.visititems(note)
    return weights


@pytest.mark.parametrize("kind", KINDS)
def test_h5(kind: str, tmp_path: Path) -> None:
    """As Keras saved the template itself; a kernel of one row has the vector's shape."""
    done = unnest.fix(FOLDER / f"{kind}-parallel.h5", tmp_path / "out.h5")
    assert (done.error, done.action) == (None, "fixed")
    assert weights_by_layer(tmp_path / "out.h5") == weights_by_layer(FOLDER / f"{kind}-base.h5")


@pytest.mark.parametrize("which", ["parallel", "base"])
@pytest.mark.parametrize("kind", KINDS)
def test_h5_to_keras(kind: str, which: str, tmp_path: Path) -> None:
    """By the attributes that lead to them."""
    done = unnest.fix(FOLDER / f"{kind}-{which}.h5", tmp_path / "out.keras", to="keras")
    assert done.error is None
    assert placed(tmp_path / "out.keras") == placed(FOLDER / f"{kind}-base.keras")


@pytest.mark.parametrize("kind", KINDS)
def test_keras_to_h5_is_refused(kind: str, tmp_path: Path) -> None:
    """Its kernel is there twice."""
    done = unnest.fix(FOLDER / f"{kind}-base.keras", tmp_path / "out.h5", to="h5")
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "cannot-convert")
