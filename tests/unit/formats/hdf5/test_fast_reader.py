"""Content read without HDF5's library is what the library reads; everything else is left to it."""

from __future__ import annotations

import contextlib
import random
import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import unnest
from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from tests.judged import check_verdict
from unnest.budget import Budget, limited
from unnest.errors import Unreadable
from unnest.formats.hdf5 import (
    dataset_record_and_limits,
    fast_reader,
    guarded_file,
    legacy_h5_reader,
)
from unnest.formats.hdf5.detect_path_keyed_layout import is_path_keyed_file
from unnest.formats.hdf5.fast_reader import PlainFile
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.hdf5.heap_check import Unsafe
from unnest.formats.hdf5.legacy_h5_writer import H5Container
from unnest.formats.hdf5.plain_layouts import ROOT, NotPlain
from unnest.formats.hdf5.write_attributes import BYTES_TEXT, STR_TEXT
from unnest.formats.keras3.weights_h5 import WeightsSource
from unnest.formats.open_container import open_plain_hdf5

#: Paths of Windows are separated in path-keyed files, which the fast reader leaves to the library.
FILES = sorted(
    path for path in FIXTURES.rglob("*.h5") if not path.is_relative_to(FIXTURES / "windows_paths")
)
#: Near these HDF5 has something to say; a damaged byte elsewhere is mostly one of a tensor.
SIGNATURES = (
    b"TREE",
    b"SNOD",
    b"HEAP",
    b"GCOL",
    b"\1\0\4\0",
    b"\3\1",
    b"\x0c\0",
    b"\1\1\1\0",
    b"\x13\1",
    b"weight_n",
)


def read_by(index: PlainFile | GuardedFile) -> object:
    """All that is made of a file: the index, every attribute that can be read, and the stored model or the refusal."""
    attributes = {}
    for path in sorted(index.groups):
        for name, attribute in index.attributes(path).items():
            dtype, shape = attribute.dtype, attribute.shape
            try:
                value = repr(attribute.value(dtype, shape).tolist())
            except (OSError, Unsafe) as e:
                value = type(e).__name__
            try:
                texts = repr([None if text is None else bytes(text) for text in attribute.texts()])
            except (OSError, Unsafe) as e:
                texts = type(e).__name__
            attributes[path, name] = dtype.str, shape, value, attribute.type, texts
    try:
        stored: object = legacy_h5_reader.read(index, legacy_h5_reader.root_of(index))
    except Unreadable as e:
        stored = e.code, e.message
    return (
        index.groups,
        list(index.datasets.values()),
        index.others,
        attributes,
        repr(stored),
    )


def by_library(path: Path) -> object:
    """The same by HDF5's library, or its refusal, within the budget of such a file."""
    with limited(Budget.of(str(path), path.stat().st_size)):
        try:
            hdf5 = GuardedFile(str(path))
        except Unreadable as e:
            return e.message
        try:
            return read_by(hdf5)
        except Unreadable as e:
            return e.message
        finally:
            hdf5.close()


def by_hand(path: Path) -> object:
    """The same without the library. Raises NotPlain."""
    with (
        limited(Budget.of(str(path), path.stat().st_size)),
        contextlib.closing(PlainFile(str(path))) as plain,
    ):
        try:
            return read_by(plain)
        except Unreadable as e:
            return e.message


@pytest.mark.parametrize("stack", sorted({path.relative_to(FIXTURES).parts[0] for path in FILES}))
def test_genuine_files_read_the_same(stack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, whole and by pages, and none is left to the library."""
    monkeypatch.setattr(fast_reader, "MOST_PAGES", 2)
    for path in FILES:
        if path.is_relative_to(FIXTURES / stack):
            expected = by_library(path)
            for small in (fast_reader.READ_WHOLE_UP_TO, 0):
                with monkeypatch.context() as patch:
                    patch.setattr(fast_reader, "READ_WHOLE_UP_TO", small)
                    assert by_hand(path) == expected, (path, small)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_files_read_the_same_or_are_left_to_the_library(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read whole, or by pages."""
    monkeypatch.setattr(fast_reader, "READ_WHOLE_UP_TO", seed % 2 * fast_reader.READ_WHOLE_UP_TO)
    choose = random.Random(seed)  # noqa: S311 - the same ones each time
    path, taken = tmp_path / "m.h5", 0
    for _ in range(60):
        data = bytearray(choose.choice(FILES).read_bytes())
        for _ in range(choose.choice((1, 1, 2))):
            start = data.find(choose.choice(SIGNATURES), choose.randrange(len(data)))
            place = min(len(data) - 8, max(start, 0) + choose.randrange(64))
            size = choose.choice((1, 1, 8))
            value = choose.choice(
                (0, 1, 255, len(data), choose.randrange(1 << 8 * size), (1 << 64) - 1)
            )
            data[place : place + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        path.write_bytes(data)
        try:
            read = by_hand(path)
        except NotPlain:
            continue
        taken += 1
        assert read == by_library(path), bytes(data)
    assert taken


Make = Callable[[h5py.File], object]


@pytest.mark.parametrize(
    "add",
    [
        pytest.param(
            lambda f: f.create_dataset("x", (4, 4), chunks=(2, 2), data=np.ones((4, 4))),
            id="chunks",
        ),
        pytest.param(lambda f: f.create_dataset("x", (4,), "f4", maxshape=(None,)), id="growing"),
        pytest.param(lambda f: f.create_dataset("x", (4,), dtype="f4"), id="never written"),
        pytest.param(lambda f: f.create_dataset("x", data=h5py.Empty("f4")), id="empty"),
        pytest.param(lambda f: f.create_dataset("x", data=np.ones(4, ">f4")), id="big-endian"),
        pytest.param(lambda f: f.create_dataset("x", data=np.ones(4, bool)), id="enumeration"),
        pytest.param(lambda f: f.create_dataset("x", data=["text"]), id="texts"),
        pytest.param(
            lambda f: f.create_dataset("x", (1,), "f4", external="/etc/passwd"),
            id="external storage",
        ),
        pytest.param(lambda f: f.__setitem__("x", h5py.SoftLink("/model_weights")), id="soft link"),
        pytest.param(
            lambda f: f.__setitem__("x", h5py.ExternalLink("other.h5", "/")), id="external link"
        ),
        pytest.param(lambda f: f.__setitem__("x", f["model_weights"]), id="second name of a group"),
        pytest.param(lambda f: f.__setitem__("x", np.dtype("f4")), id="named type"),
        pytest.param(
            lambda f: f.attrs.create("x", np.zeros((2, 2), "i4,f4")), id="compound attribute"
        ),
        pytest.param(
            lambda f: [f.create_group(f"g{k}") for k in range(300)], id="two levels of a B-tree"
        ),
    ],
)
def test_what_keras_does_not_write_is_left_to_the_library(add: Make, tmp_path: Path) -> None:
    path = makeh5.parallel_file(tmp_path / "m.h5")
    PlainFile(str(path))
    with h5py.File(path, "r+", libver="earliest") as file:
        add(file)
    with pytest.raises(NotPlain):
        PlainFile(str(path))


def test_a_large_file_is_read_by_its_index_alone(tmp_path: Path) -> None:
    """64 MiB of tensors, of which no byte is read."""
    path = tmp_path / "m.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        file.attrs["layer_names"] = [b"a", b"b"]
        for name in ("a", "b"):
            group = file.create_group(name)
            group.attrs["weight_names"] = [b"w"]
            group.create_dataset("w", data=np.ones((32 << 20) // 4, "f4"))
    plain = PlainFile(str(path))
    assert [node.shape for node in plain.datasets.values()] == [(8 << 20,)] * 2
    pages = plain._content._pages  # noqa: SLF001 - what was read
    assert len(pages) * fast_reader.PAGE < 1 << 18
    plain.close()
    assert by_hand(path) == by_library(path)


def test_numbers_of_the_library() -> None:
    """That are known without it."""
    assert dataset_record_and_limits.CONTIGUOUS == h5py.h5d.CONTIGUOUS
    for ours, theirs in (
        (BYTES_TEXT, h5py.string_dtype("ascii")),
        (STR_TEXT, h5py.string_dtype("utf-8")),
    ):
        assert (ours, ours.metadata) == (theirs, theirs.metadata)


@pytest.mark.parametrize("version", ["latest", ("v108", "latest")])
def test_newer_forms_are_left_to_the_library(
    version: str | tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "m.h5"
    with h5py.File(path, "w", libver=version) as file:
        file.attrs["layer_names"] = [b"d"]
        file.create_group("d").attrs["weight_names"] = np.empty(0)
    with pytest.raises(NotPlain):
        PlainFile(str(path))


def texts_file(path: Path) -> bytearray:
    """A file whose version is a text of variable length."""
    with h5py.File(path, "w", libver="earliest") as file:
        file.attrs["keras_version"] = "2.2.4"
        file.attrs["layer_names"] = [b"d"]
        file.create_group("d").attrs["weight_names"] = np.empty(0)
    return bytearray(path.read_bytes())


@pytest.mark.parametrize("length", [0, 3, 4])
def test_a_text_shorter_than_its_object_is_left_to_the_library(length: int, tmp_path: Path) -> None:
    """HDF5 2.0 refuses what HDF5 1.14 cuts."""
    path = tmp_path / "m.h5"
    data = texts_file(path)
    reference = data.index(struct.pack("<IQ", 5, data.index(b"GCOL")))
    data[reference : reference + 4] = struct.pack("<I", length)
    path.write_bytes(data)
    version = PlainFile(str(path)).attributes("")["keras_version"]
    with pytest.raises(NotPlain):
        version.value(version.dtype, version.shape)
    assert open_plain_hdf5(str(path)) is None


def test_a_text_with_an_end_in_it_is_left_to_the_library(tmp_path: Path) -> None:
    path = tmp_path / "m.h5"
    path.write_bytes(texts_file(path).replace(b"2.2.4\0", b"2.\0.4\0"))
    assert open_plain_hdf5(str(path)) is None


def test_a_tensor_that_is_the_superblock_is_left_to_the_library(tmp_path: Path) -> None:
    """At offset 0, which HDF5 takes for no place at all."""
    path = makeh5.parallel_file(tmp_path / "m.h5")
    with h5py.File(path) as file:
        paths: list[str] = []
        file.visit(paths.append)
        dataset = next(file[p] for p in paths if isinstance(file[p], h5py.Dataset))
        layout = b"\3\1" + struct.pack(
            "<QQ", dataset.id.get_offset(), dataset.id.get_storage_size()
        )
    data = path.read_bytes()
    assert layout in data
    path.write_bytes(data.replace(layout, layout[:2] + bytes(8) + layout[10:]))
    with pytest.raises(NotPlain):
        PlainFile(str(path))


def test_a_second_name_that_nobody_counted_is_left_to_the_library(tmp_path: Path) -> None:
    """The object's header says that it has one."""
    path = tmp_path / "m.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        for name in ("a", "b"):
            file.create_dataset(name, data=np.zeros(4, "f4"))
        first, second = (
            struct.pack("<Q", h5py.h5o.get_info(file[name].id).addr) for name in ("a", "b")
        )
    PlainFile(str(path))
    path.write_bytes(path.read_bytes().replace(second, first))
    with pytest.raises(NotPlain):
        PlainFile(str(path))
    with pytest.raises(Unreadable, match="a second name for a group or dataset at /b"):
        GuardedFile(str(path))


def test_groups_that_share_their_names_are_left_to_the_library(tmp_path: Path) -> None:
    """Thousands that read the same bytes would take for ever."""
    path = tmp_path / "m.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        large = file.create_group("large")
        for k in range(60):
            large.create_group(f"{k:02}" * 400)
        for k in range(20):
            file.create_group(f"g{k}")
    PlainFile(str(path))
    data = path.read_bytes()
    heaps = {
        struct.unpack_from("<Q", data, place + 8): struct.pack("<Q", place)
        for place in places(data, b"HEAP")
    }
    root_heap = data[ROOT + 32 : ROOT + 40]
    for place in places(data, b"HEAP"):
        own = struct.pack("<Q", place)
        # All but the empty name is free.
        is_empty_groups = struct.unpack_from("<Q", data, place + 16) == (8,)
        if is_empty_groups and own != root_heap:
            data = data.replace(own, heaps[max(heaps)])
    path.write_bytes(data)
    with pytest.raises(NotPlain):
        PlainFile(str(path))


def places(data: bytes, magic: bytes) -> list[int]:
    """Return the offsets at which it stands."""
    return [k for k in range(0, len(data), 8) if data.startswith(magic, k)]


def test_what_an_attempt_cost_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "m.h5"
    path.write_bytes(texts_file(path).replace(b"2.2.4\0", b"2.\0.4\0"))
    with limited(Budget("m.h5", 10_000, 1 << 20)) as budget:
        assert open_plain_hdf5(str(path)) is None
        assert (budget.steps, budget.memory) == (10_000, 1 << 20)


def test_a_look_takes_the_short_way_and_a_copy_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = makeh5.parallel_file(tmp_path / "m.h5")
    opened = []

    class Counted(GuardedFile):
        def __init__(self, path: str) -> None:
            opened.append(path)
            super().__init__(path)

    monkeypatch.setattr(guarded_file, "GuardedFile", Counted)
    check_verdict(unnest.inspect(path), "parallel")
    assert opened == []
    assert unnest.fix(path).action == "fixed"
    assert opened[0] == str(path)


def test_the_tensors_of_what_was_looked_at_can_be_had(tmp_path: Path) -> None:
    path = makeh5.parallel_file(tmp_path / "m.h5")
    source = open_plain_hdf5(str(path))
    assert source is not None
    with source, H5Container().open(str(path)) as opened:
        tensor = source.tensors[0]
        assert b"".join(source.blocks(tensor)) == b"".join(opened.blocks(tensor))


def test_path_keyed_weights_are_the_same_by_both_readers() -> None:
    """What is read at once, what is read later, and a tensor."""
    paths = [path for path in FILES if is_path_keyed_file(str(path))]
    assert paths
    for path in paths:
        source = open_plain_hdf5(str(path))
        assert isinstance(source, WeightsSource)
        with source, WeightsSource(str(path), GuardedFile(str(path))) as opened:
            assert source.stored == opened.stored
            groups = [group.rpartition("/")[0] for group in sorted(opened.tree.groups)]
            assert [*map(source.tree.name, groups)] == [*map(opened.tree.name, groups)]
            tensor = source.tensors[-1]
            assert b"".join(source.blocks(tensor)) == b"".join(opened.blocks(tensor))


def test_a_name_of_a_layer_with_an_end_in_it_is_left_to_the_library(tmp_path: Path) -> None:
    """It is read long after the file was opened."""
    path = tmp_path / "m.weights.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        variables = file.create_group("layers/dense/vars")
        variables.attrs["name"] = "of mine"
        variables["0"] = np.zeros(4, "f4")
    source = open_plain_hdf5(str(path))
    assert source is not None
    source.close()
    path.write_bytes(path.read_bytes().replace(b"of mine", b"of\0mine"))
    assert open_plain_hdf5(str(path)) is None


def test_paths_of_windows_are_left_to_the_library() -> None:
    paths = [*(FIXTURES / "windows_paths").glob("*.weights.h5")]
    assert paths
    assert [*map(open_plain_hdf5, map(str, paths))] == [None] * len(paths)
