"""No output that `inspect` then calls unreadable, or parallel; and HDF5 under another container's name."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import unnest
from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from unnest import open_and_plan
from unnest.core.plan import Output
from unnest.errors import Unreadable
from unnest.formats.container_interface import Container, OnBytes, Source
from unnest.formats.hdf5.legacy_h5_reader import H5Source
from unnest.formats.hdf5.legacy_h5_writer import H5Container
from unnest.formats.keras3.keras_zip import KerasContainer

PARALLEL_KERAS = FIXTURES / "keras_zip/tfkeras/keras_zip-carried-named-adam/parallel.keras"


@pytest.mark.parametrize(
    ("change", "code"),
    [("unreadable", "read-back"), ("parallel", "still-parallel")],
    ids=["unreadable", "parallel"],
)
def test_inspect_is_part_of_it(
    change: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the container's own comparison says."""
    path = makeh5.parallel_file(tmp_path / "m.h5")
    known = open_and_plan.plan_source

    def told(source: H5Source, *args: object, **options: bool) -> object:
        plan = known(source, *args, **options)  # type: ignore[arg-type]
        if source.path == str(path):
            return plan
        if change == "unreadable":
            raise Unreadable(
                "not-a-graph", f"{source.path}: the stored architecture does not add up"
            )
        return plan._replace(verdict="parallel")

    monkeypatch.setattr(open_and_plan, "plan_source", told)
    result = unnest.fix(path)
    assert result.error is not None
    assert (result.action, result.error.code) == ("failed", code)
    assert "unnest-tmp" not in result.error.message
    assert os.listdir(tmp_path) == ["m.h5"]


@pytest.mark.parametrize("make", [makeh5.parallel_file, makeh5.clean_file])
def test_hdf5_called_keras_stays_hdf5(make: object, tmp_path: Path) -> None:
    """Keras 2.2 wrote HDF5 under any name: what comes out is what --output without that suffix gives."""
    path = make(tmp_path / "x.keras")  # type: ignore[operator]
    result = unnest.fix(path, tmp_path / "y.keras", keras="original")
    expected = unnest.fix(path, tmp_path / "y.h5")
    assert (result.error, result.action) == (None, expected.action)
    assert h5py.is_hdf5(tmp_path / "y.keras")
    assert (tmp_path / "y.keras").read_bytes() == (tmp_path / "y.h5").read_bytes()


def test_hdf5_called_keras_in_place(tmp_path: Path) -> None:
    """And in its own place."""
    path = makeh5.parallel_file(tmp_path / "x.keras")
    assert unnest.fix(path, in_place=True).action == "fixed"
    assert h5py.is_hdf5(path)


def test_asked_for_it_becomes_keras(tmp_path: Path) -> None:
    """With --to; and from a name that does not say so, the suffix of the output still counts."""
    path = makeh5.clean_file(tmp_path / "x.keras")
    assert (
        unnest.fix(path, tmp_path / "y.keras", to="keras", keras="original").action == "converted"
    )
    assert zipfile.is_zipfile(tmp_path / "y.keras")
    other = makeh5.clean_file(tmp_path / "x.h5")
    assert unnest.fix(other, tmp_path / "z.keras", keras="original").action == "converted"
    assert zipfile.is_zipfile(tmp_path / "z.keras")


def largest(file: h5py.File, root: str) -> str:
    """The path of the largest dataset below a group."""
    sizes: dict[str, int] = {}
    file[root].visititems(
        lambda n, item: sizes.update({n: item.size}) if isinstance(item, h5py.Dataset) else None
    )
    return f"{root}/{max(sizes, key=lambda n: sizes[n])}"


@pytest.fixture(params=["contiguous", "gzip", "keras"])
def weight(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, bytes]:
    """A parallel model, and the bytes of one of its weights as they are stored; of a .keras, which is rearranged."""
    if request.param == "keras":
        path = Path(shutil.copy(PARALLEL_KERAS, tmp_path / "m.keras"))
        with (
            zipfile.ZipFile(path) as archive,
            h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file,
        ):
            return path, file[largest(file, "/")][()].tobytes()
    path = makeh5.parallel_file(tmp_path / "m.h5")
    with h5py.File(path, "r+") as file:
        name = largest(file, "model_weights")
        shape, values = file[name].shape, np.random.default_rng(0).random(file[name].shape, "f4")
        del file[name]
        if request.param == "contiguous":
            file[name] = values
            return path, values.tobytes()
        dataset = file.create_dataset(name, data=values, chunks=shape, compression="gzip")
        return path, dataset.id.read_direct_chunk((0,) * len(shape))[1]


@pytest.mark.parametrize("container", [H5Container, KerasContainer], ids=lambda c: c.name)
def test_a_bit_that_is_written_wrong(
    container: type[Container],
    weight: tuple[Path, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of one weight, however it is stored: it is met, and nothing is left."""
    path, stored = weight
    write = container.write

    def write_wrong(
        self: Container, output: Output, source: Source, new_path: str, progress: OnBytes
    ) -> None:
        write(self, output, source, new_path, progress)
        content = bytearray(Path(new_path).read_bytes())
        content[content.index(stored) + len(stored) // 2] ^= 1
        Path(new_path).write_bytes(content)

    target = tmp_path / f"out{container.suffix}"
    assert unnest.fix(path, target).action == "fixed"
    target.unlink()
    monkeypatch.setattr(container, "write", write_wrong)
    result = unnest.fix(path, target)
    assert result.error is not None
    assert (result.action, result.error.code) == ("failed", "read-back")
    assert str(target) in result.error.message
    assert os.listdir(tmp_path) == [path.name]


def packed(path: Path, damage: bool, **filters: object) -> Path:
    """The HDF5 file at `path`, its tensors of a rank packed in chunks; `damage`: a bit of the first one is another."""
    with h5py.File(path, "r+", libver="earliest") as file:
        names: list[str] = []
        file.visititems(
            lambda name, item: (
                names.append(name) if isinstance(item, h5py.Dataset) and item.shape else None
            )
        )
        for name in names:
            values = file[name][()]
            del file[name]
            file.create_dataset(name, data=values, chunks=values.shape, **filters)
        chunk = file[names[0]].id.get_chunk_info(0)
    if damage:
        content = bytearray(path.read_bytes())
        content[chunk.byte_offset + chunk.size // 2] ^= 4
        path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "filters",
    [{"fletcher32": True}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True}],
)
@pytest.mark.parametrize(
    "options", [{}, {"to": "keras"}, {"keras": "3"}, {"to": "weights"}], ids=str
)
@pytest.mark.parametrize("damage", [False, True], ids=["sound", "damaged"])
def test_chunks_that_their_filter_refuses(
    filters: dict[str, object], options: dict[str, Any], damage: bool, tmp_path: Path
) -> None:
    """HDF5 copies them as they are stored, damage and all."""
    path = packed(makeh5.parallel_file(tmp_path / "m.h5"), damage, **filters)
    result = unnest.fix(path, **options)
    if not damage:
        assert result.error is None
        assert result.output is not None
        return
    assert result.error is not None
    assert result.error.code == "damaged-hdf5"
    assert result.error.message.startswith(f"{path}: /model_weights")
    assert os.listdir(tmp_path) == ["m.h5"]
