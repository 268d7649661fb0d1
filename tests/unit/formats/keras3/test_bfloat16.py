"""Weights in bfloat16, which Keras 3 writes as two opaque bytes with a note of their type."""

from __future__ import annotations

import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

KERAS = FIXTURES / "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras"
WEIGHTS = "model.weights.h5"


def weights_of(keras: Path, path: Path) -> Path:
    """The weights in a `.keras`, as a file of their own."""
    with zipfile.ZipFile(keras) as archive:
        path.write_bytes(archive.read(WEIGHTS))
    return path


def in_bfloat16(
    path: Path, *, note: str | None, numbers: type = np.uint16, chunks: bool | None = None
) -> None:
    """The layers' weights of a file as Keras 3 has them in bfloat16, if with this note."""
    opaque = np.dtype(f"V{numbers().itemsize}")
    with h5py.File(path, "r+") as file:
        for k, name in enumerate(_paths(file)):
            shape = file[name].shape
            values = (
                np.random.default_rng(k)
                .integers(1, 1 << 14, shape)
                .astype(numbers)
                .view(opaque)
                .reshape(shape)
            )
            del file[name]
            file.create_dataset(
                name, data=values, chunks=chunks, compression="gzip" if chunks else None
            )
            if note is not None:
                file[name].attrs["dtype"] = note


@pytest.fixture
def keras(tmp_path: Path) -> Path:
    """A parallel model of Keras 3, its weights in bfloat16."""
    return made(tmp_path, note="bfloat16")


def made(folder: Path, **options: object) -> Path:
    """The same, spoiled as `in_bfloat16` takes it."""
    weights = weights_of(KERAS, folder / "p.weights.h5")
    in_bfloat16(weights, **options)  # type: ignore[arg-type] # its own
    with zipfile.ZipFile(KERAS) as old, zipfile.ZipFile(folder / "m.keras", "w") as new:
        for member in old.namelist():
            new.writestr(member, weights.read_bytes() if member == WEIGHTS else old.read(member))
    return folder / "m.keras"


def contents(path: Path) -> list[tuple[bytes, str | None]]:
    """The bytes and the note of each of the layers' arrays, sorted."""
    with h5py.File(path) as file:
        return sorted(
            (file[name][()].tobytes(), file[name].attrs.get("dtype")) for name in _paths(file)
        )


def _paths(file: h5py.File) -> list[str]:
    paths: list[str] = []
    file.visititems(
        lambda p, o: paths.append(p) if isinstance(o, h5py.Dataset) and "layers" in p else None
    )
    return paths


@pytest.mark.parametrize("chunks", [None, True])
def test_the_template_is_taken_out_as_it_is(chunks: bool | None, tmp_path: Path) -> None:
    """Every byte, and every note."""
    keras = made(tmp_path, note="bfloat16", chunks=chunks)
    done = unnest.fix(keras, tmp_path / "fixed.keras")
    assert (done.error, done.action) == (None, "fixed")
    written = contents(weights_of(tmp_path / "fixed.keras", tmp_path / "fixed.weights.h5"))
    assert written == contents(tmp_path / "p.weights.h5")
    assert {note for _, note in written} == {"bfloat16"}


def test_weights_alone(keras: Path, tmp_path: Path) -> None:
    """Also with their architecture, as a whole model."""
    done = unnest.fix(keras, tmp_path / "out.weights.h5", to="weights")
    assert done.error is None
    assert contents(tmp_path / "out.weights.h5") == contents(tmp_path / "p.weights.h5")
    with zipfile.ZipFile(keras) as archive:
        (tmp_path / "m.json").write_bytes(archive.read("config.json"))
    done = unnest.fix(
        tmp_path / "p.weights.h5",
        tmp_path / "w.keras",
        architecture=tmp_path / "m.json",
        to="keras",
    )
    assert done.error is None
    assert contents(weights_of(tmp_path / "w.keras", tmp_path / "w.h5")) == contents(
        tmp_path / "p.weights.h5"
    )


def test_not_into_h5(keras: Path, tmp_path: Path) -> None:
    """Keras does not load them from there."""
    done = unnest.fix(keras, tmp_path / "out.h5", to="h5")
    assert done.error is not None
    assert (done.error.code, not (tmp_path / "out.h5").exists()) == ("dtype", True)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"note": None}, "dtype"),  # as Keras 2 writes it, and loads it not
        ({"note": "float32"}, "not-a-tensor"),
        ({"note": "bfloat16", "numbers": np.uint32}, "not-a-tensor"),
    ],
)
def test_what_keras_3_does_not_write(options: dict[str, object], code: str, tmp_path: Path) -> None:
    """Two bytes that are called bfloat16, or nothing."""
    report = unnest.inspect(made(tmp_path, **options))
    assert report.error is not None
    assert report.error.code == code
    assert ("Keras 3 as .keras" in report.error.message) is (code == "dtype")
