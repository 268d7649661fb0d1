"""Small files that ask for seconds without end, or for gigabytes: one function each, which writes and returns a path.

Every file stays below 10 MB. What each must be answered with stands beside it: a code, or None where a right answer
(exit 0 or 1) is as good.
"""

from __future__ import annotations

import base64
import json
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from tests.makebundle import altered, block, table, varint
from unnest.formats.tensorflow import protobuf_messages, read_sstable

SAVED = FIXTURES / "saved_model/tf23/saved_model-official-named-adam/parallel"
CHECKPOINT = FIXTURES / "checkpoint/tf23/checkpoint-official-named-adam/parallel.ckpt"
META = FIXTURES / "checkpoint/k231/saver-official-mlp-x3/parallel.ckpt"
WEIGHTS = FIXTURES / "weights_h5/keras3/weights_h5-carried-named-adam/parallel.weights.h5"
KERAS = FIXTURES / "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras"

#: What no attack may be larger than.
LARGEST = 10_000_000
KERNEL = "model_weights/tmpl/d1/kernel:0"

Maker = Callable[[Path], Path]
#: name -> (maker in a folder, the codes that answer it; with None any exit code will do)
COSTLY: dict[str, tuple[Maker, tuple[str | None, ...]]] = {}


def costly(*codes: str | None) -> Callable[[Maker], Maker]:
    """Register a maker."""

    def register(make: Maker) -> Maker:
        COSTLY[make.__name__] = (make, codes)
        return make

    return register


# ---- attributes ----


@costly(None, "too-many-attributes")
def attributes_of_a_tensor(folder: Path) -> Path:
    """A tensor's attributes, which the program ignores, but the library copies."""
    path = makeh5.parallel_file(folder / "m.h5")
    with h5py.File(path, "a") as file:
        for number in range(2_000):
            file[KERNEL].attrs[f"a{number}"] = number
    return path


@costly(None, "over-budget")
def attributes_500_of_every_group(folder: Path) -> Path:
    """Just below what one group may have."""
    path = makeh5.parallel_file(folder / "m.h5")
    with h5py.File(path, "a") as file:
        for group in ("/", "model_weights", "model_weights/tmpl"):
            for number in range(500):
                file[group].attrs.create(f"a{number}", "text", dtype=h5py.string_dtype())
    return path


# ---- stored code ----


def _lambda_file(folder: Path, marshalled: bytes) -> Path:
    """A parallel model whose slices hold this code."""
    model = makeh5.parallel(makeh5.template())
    code = base64.b64encode(marshalled).decode()
    for entry in model["config"]["layers"]:
        if entry["class_name"] == "Lambda":
            entry["config"] |= {"function": [code, None, None], "function_type": "lambda"}
    path = folder / "m.json"
    path.write_text(json.dumps(model))
    return path


def _function(constants: bytes) -> bytes:
    """A code object of Python 3.8 to 3.10 around some constants."""
    empty, text = b"\x29\x00", b"\xfa\x01f"
    head = b"c" + struct.pack("<6i", 1, 0, 0, 1, 1, 0)
    return (
        head
        + b"s"
        + struct.pack("<i", 2)
        + b"S\0"
        + constants
        + empty * 4
        + text * 2
        + struct.pack("<i", 1)
        + b"s"
        + bytes(4)
    )


@costly(None)
def marshal_references_that_double(folder: Path) -> Path:
    """Each tuple holds the one before it twice: 2 ** 50 numbers."""
    value = b"\xa9\x02" + b"i\1\0\0\0" * 2
    parts = b""
    for level in range(50):
        parts += value if not level else b"\xa9\x02" + (b"r" + struct.pack("<i", level)) * 2
    return _lambda_file(folder, _function(b"(" + struct.pack("<i", 50) + parts))


@costly(None)
def marshal_integer_of_200_000_digits(folder: Path) -> Path:
    """A number that takes Python long to put together, and longer to print."""
    long = b"l" + struct.pack("<i", 200_000) + b"\xff\x7f" * 200_000
    return _lambda_file(folder, _function(b"\x29\x01" + long))


# ---- HDF5 attributes ----


def _plant(path: Path, name: str, count: int, length: int) -> None:
    """A list of texts under `name`, all but the first references to the first one's object in the heap."""
    with h5py.File(path, "a") as file:
        group = file["model_weights"] if name == "layer_names" else file
        marks = [b"A" * length, *(b"%07d" % k for k in range(1, count))]
        group.attrs.create(name, marks, dtype=h5py.string_dtype("ascii"))
    data = bytearray(path.read_bytes())
    heap = data.index(b"A" * length)
    start = data.rindex(b"GCOL", 0, heap)
    index = int.from_bytes(data[heap - 16 : heap - 14], "little")
    first = struct.pack("<IQI", length, start, index)
    place = data.index(first)
    for k in range(1, count):
        data[place + 16 * k : place + 16 * (k + 1)] = first
    path.write_bytes(data)


@costly("bad-attribute", "over-budget")
def references_that_share_an_object(folder: Path) -> Path:
    """3,000 names that are one text of 2 MB."""
    path = makeh5.parallel_file(folder / "m.h5")
    with h5py.File(path, "a") as file:
        del file["model_weights"].attrs["layer_names"]
    _plant(path, "layer_names", 3000, 2_000_000)
    return path


@costly(None)
def references_that_share_an_object_nobody_asks_for(folder: Path) -> Path:
    """The same in an attribute that no Keras knows."""
    path = makeh5.parallel_file(folder / "m.h5")
    _plant(path, "notes", 3000, 2_000_000)
    return path


def _broken_heap(
    path: Path, name: str, of: str = "/", size: int = (1 << 64) - 16, index: int = 7
) -> Path:
    """The first object of the heap that an attribute is in leads back to itself."""
    with h5py.File(path, "a") as file:
        file[of].attrs.create(name, "B" * 100, dtype=h5py.string_dtype("ascii"))
    data = bytearray(path.read_bytes())
    text = data.index(b"B" * 100)
    start = data.rindex(b"GCOL", 0, text)
    data[start + 16 : start + 32] = struct.pack("<HHIQ", index, 1, 0, size)
    path.write_bytes(data)
    return path


@costly("bad-attribute")
def broken_heap(folder: Path) -> Path:
    """The HDF5 library walks its objects for ever."""
    return _broken_heap(makeh5.parallel_file(folder / "m.h5"), "model_config")


@costly("bad-attribute")
def empty_text_in_a_broken_heap(folder: Path) -> Path:
    """A reference of no length, which the library looks up all the same."""
    path = _broken_heap(makeh5.parallel_file(folder / "m.h5"), "model_config")
    data = bytearray(path.read_bytes())
    start = data.rindex(b"GCOL", 0, data.index(b"B" * 100))
    place = data.index(struct.pack("<IQ", 100, start))
    data[place : place + 4] = bytes(4)
    path.write_bytes(data)
    return path


@costly("bad-attribute", None)
def broken_heap_of_a_tensor(folder: Path) -> Path:
    """The same in an attribute of a dataset, which the library copies along."""
    return _broken_heap(makeh5.parallel_file(folder / "m.h5"), "notes", of=KERNEL)


@costly("bad-attribute", "not-a-tensor", None)
def broken_heap_in_a_tensor(folder: Path) -> Path:
    """The same in a dataset that no layer lists, and that is copied with its group."""
    path = folder / "m.weights.h5"
    shutil.copy(WEIGHTS, path)
    with h5py.File(path, "a") as file:
        file.create_dataset("optimizer/vars/99", data="B" * 100, dtype=h5py.string_dtype("ascii"))
    data = bytearray(path.read_bytes())
    start = data.rindex(b"GCOL", 0, data.index(b"B" * 100))
    data[start + 16 : start + 32] = bytes(16)
    path.write_bytes(data)
    return path


@costly("bad-attribute")
def free_space_of_no_size(folder: Path) -> Path:
    """The same by an object that is free, and takes no place."""
    return _broken_heap(makeh5.parallel_file(folder / "m.h5"), "model_config", size=0, index=0)


@costly(None)
def broken_heap_nobody_asks_for(folder: Path) -> Path:
    """The same in an attribute that no Keras knows."""
    return _broken_heap(makeh5.parallel_file(folder / "m.h5"), "notes")


@costly("bad-attribute")
def broken_heap_in_dense_storage(folder: Path) -> Path:
    """The same where attributes are kept in a heap of their own."""
    path = makeh5.parallel_file(folder / "m.h5")
    with h5py.File(folder / "d.h5", "w", libver="latest") as new, h5py.File(path) as old:
        for key in old:
            old.copy(key, new)
        for key, value in old.attrs.items():
            new.attrs[key] = value
        for k in range(12):
            new.attrs[f"extra{k}"] = np.zeros(3)
    path.unlink()
    return _broken_heap(folder / "d.h5", "notes")


# ---- HDF5 datasets ----


def _kernel(path: Path, write: Callable[[h5py.Group], None]) -> Path:
    with h5py.File(path, "a") as file:
        del file[KERNEL]
        write(file["model_weights/tmpl/d1"])
    return path


@costly("over-budget", None, "weights-unplaced")
def chunk_of_a_gigabyte(folder: Path) -> Path:
    """Two rows and columns, stored as one chunk of a gigabyte of zeros."""

    def write(group: h5py.Group) -> None:
        data = group.create_dataset(
            "kernel:0",
            (2, 4),
            "f4",
            chunks=(1 << 14, 1 << 14),
            maxshape=(None, None),
            compression=9,
        )
        data.id.write_direct_chunk((0, 0), _zeros(1 << 30))

    return _kernel(makeh5.parallel_file(folder / "m.h5"), write)


def _zeros(size: int) -> bytes:
    """That many zeros, deflated."""
    packer = zlib.compressobj(9)
    out = b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20))
    return out + packer.flush()


@costly("over-budget", None, "weights-unplaced")
def row_of_a_gigabyte(folder: Path) -> Path:
    """One row, in chunks of 1 MB, each of them zeros."""

    def write(group: h5py.Group) -> None:
        chunk = 1 << 18
        data = group.create_dataset(
            "kernel:0", (1, 1 << 28), "f4", chunks=(1, chunk), compression=9
        )
        zeros = _zeros(chunk * 4)
        for k in range(1 << 10):
            data.id.write_direct_chunk((0, k * chunk), zeros)

    return _kernel(makeh5.parallel_file(folder / "m.h5"), write)


@costly("over-budget", None, "weights-unplaced")
def chunks_across_the_rows(folder: Path) -> Path:
    """4,000 rows of which each touches every chunk: to read row by row is to inflate all, 4,000 times."""

    def write(group: h5py.Group) -> None:
        data = group.create_dataset(
            "kernel:0", (4000, 1 << 14), "f4", chunks=(4000, 1 << 8), compression=9
        )
        zeros = zlib.compress(bytes(4000 << 10), 9)
        for k in range(1 << 6):
            data.id.write_direct_chunk((0, k << 8), zeros)

    return _kernel(makeh5.parallel_file(folder / "m.h5"), write)


@costly("over-budget", "too-many", None)
def hundred_thousand_groups(folder: Path) -> Path:
    """Beside the model."""
    path = makeh5.parallel_file(folder / "m.h5")
    with h5py.File(folder / "g.h5", "w", libver="latest") as new, h5py.File(path) as old:
        for key in old:
            old.copy(key, new)
        for key, value in old.attrs.items():
            new.attrs[key] = value
        group = new.create_group("more")
        for k in range(50_000):
            h5py.h5g.create(group.id, b"%x" % k)
    path.unlink()
    return folder / "g.h5"


# ---- zips ----


def _zip(folder: Path, add: Callable[[zipfile.ZipFile], None]) -> Path:
    path = folder / "m.keras"
    shutil.copy(KERAS, path)
    with zipfile.ZipFile(path, "a") as archive:
        add(archive)
    return path


@costly("absurd-size", "over-budget")
def deflated_asset_of_a_gigabyte(folder: Path) -> Path:
    """A vocabulary of zeros."""

    def add(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("assets/layers/x/vocabulary.txt")
        info.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(info, "w") as member:
            for _ in range(1 << 10):
                member.write(bytes(1 << 20))

    return _zip(folder, add)


@costly("compression")
def lzma_dictionaries(folder: Path) -> Path:
    """A config whose decoder wants 1.5 GB before it begins."""
    with zipfile.ZipFile(KERAS) as old:
        config, weights = old.read("config.json"), old.read("model.weights.h5")
    path = folder / "m.keras"
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("config.json", config, zipfile.ZIP_LZMA)
        new.writestr("model.weights.h5", weights)
    data = bytearray(path.read_bytes())
    # Behind the local header and name: version of LZMA, size of its properties, then they: a byte and the dictionary.
    place = 30 + len("config.json") + 5
    data[place : place + 4] = (1610612736).to_bytes(4, "little")
    path.write_bytes(data)
    return path


@costly("over-budget", "too-many", None)
def hundred_thousand_members(folder: Path) -> Path:
    """Empty files in a zip."""

    def add(archive: zipfile.ZipFile) -> None:
        for k in range(80_000):
            archive.writestr(f"assets/{k}", b"")

    return _zip(folder, add)


# ---- tables ----


def _checkpoint(folder: Path, index: bytes) -> Path:
    shutil.copy(f"{CHECKPOINT}.data-00000-of-00001", folder / "c.data-00000-of-00001")
    (folder / "c.index").write_bytes(index)
    return folder / "c"


def _pairs() -> dict[bytes, bytes]:
    path = Path(f"{CHECKPOINT}.index")
    return read_sstable.entries(path.read_bytes(), str(path))


def _whole(data: bytes, handles: list[tuple[bytes, int, int]]) -> bytes:
    """A table of these data blocks."""
    index = b"".join(
        varint(0) + varint(len(k)) + varint(len(h := varint(at) + varint(size))) + k + h
        for k, at, size in handles
    )
    index += (0).to_bytes(4, "little") + (1).to_bytes(4, "little") + b"\0"
    index += read_sstable.masked_crc(index).to_bytes(4, "little")
    meta = block({})
    footer = (
        varint(len(data))
        + varint(len(meta) - 5)
        + varint(len(data) + len(meta))
        + varint(len(index) - 5)
    )
    return data + meta + index + footer.ljust(40, b"\0") + read_sstable.MAGIC.to_bytes(8, "little")


@costly("damaged-index")
def block_listed_100_000_times(folder: Path) -> Path:
    """One block of a thousand entries, a hundred million entries in all."""
    pairs = _pairs() | {b"z%06d" % k: b"" for k in range(1000)}
    data = block(dict(sorted(pairs.items())))
    return _checkpoint(folder, _whole(data, [(b"\xff", 0, len(data) - 5)] * 100_000))


@costly("damaged-index", "damaged-protobuf", "over-budget", "dtype")
def keys_of_100_kb_that_share_a_prefix(folder: Path) -> Path:
    """Each entry is a few bytes and a name of 100 kB."""
    body = varint(0) + varint(0) + varint(0)
    body += varint(0) + varint(100_000) + varint(0) + b"k" * 100_000
    shared = varint(100_000) + varint(4) + varint(0)
    body += b"".join(shared + k.to_bytes(4, "big") for k in range(400_000))
    body += (0).to_bytes(4, "little") + (1).to_bytes(4, "little") + b"\0"
    data = body + read_sstable.masked_crc(body).to_bytes(4, "little")
    return _checkpoint(folder, _whole(data, [(b"\xff", 0, len(data) - 5)]))


@costly("damaged-index")
def shape_of_200_000_dimensions(folder: Path) -> Path:
    """More axes than any software knows."""
    pairs = _pairs()
    key = next(k for k in pairs if b"kernel" in k)
    entry = protobuf_messages.parse("BundleEntry", pairs[key], "entry")
    del entry.shape.dim[:]
    for _ in range(200_000):
        entry.shape.dim.add(size=1)
    pairs[key] = protobuf_messages.dump(entry)
    return _checkpoint(folder, table(pairs))


@costly("wrong-shape", "over-budget", "damaged-index", None)
def slices_8_000_of_one_tensor(folder: Path) -> Path:
    """A partitioned variable in 8,000 parts, along two axes."""
    from unnest.formats.tensorflow.read_tensor_bundle import slice_key

    pairs = _pairs()
    whole = protobuf_messages.new("BundleEntry")
    whole.dtype = 1
    whole.shape.dim.add(size=90)
    whole.shape.dim.add(size=90)
    for row in range(90):
        for column in range(90):
            part = whole.slices.add()
            part.extent.add(start=row, length=1)
            part.extent.add(start=column, length=1)
            entry = protobuf_messages.new("BundleEntry")
            entry.dtype, entry.size = 1, 4
            entry.shape.dim.add(size=1)
            entry.shape.dim.add(size=1)
            pairs[slice_key("wide", [(row, 1), (column, 1)])] = protobuf_messages.dump(entry)
    pairs[b"wide"] = protobuf_messages.dump(whole)
    return _checkpoint(folder, table(pairs))


@costly("damaged-index", "over-budget", "unknown-field", "damaged-protobuf", "dtype")
def snappy_byte_by_byte(folder: Path) -> Path:
    """20 MB of copies of one byte each."""
    size = 20_000_000
    body = varint(0) + varint(1) + varint(size) + b"k"
    body += bytes(size) + (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
    packed = bytearray(varint(len(body)) + bytes([(len(body[:8]) - 1) << 2]) + body[:8])
    packed += bytes([0, 0])  # a literal zero, to copy from
    left = len(body) - 9 - 8
    copies, rest = divmod(left, 5)
    packed += bytes([(5 - 4) << 2 | 1, 1]) * copies
    tail = body[-(8 + rest) :]
    packed += bytes([(len(tail) - 1) << 2]) + tail
    data = bytes(packed) + b"\1"
    data += read_sstable.masked_crc(data).to_bytes(4, "little")
    return _checkpoint(folder, _whole(data, [(b"\xff", 0, len(data) - 5)]))


# ---- graphs ----


def _graph(folder: Path, change: Callable[[Any], None]) -> Path:
    """A SavedModel without Keras configs, its graph changed."""
    shutil.copytree(SAVED, folder / "m")
    saved = protobuf_messages.parse(
        "SavedModel", (folder / "m/saved_model.pb").read_bytes(), "saved"
    )
    for node in saved.meta_graphs[0].objects.nodes:
        if node.user.metadata:
            node.user.identifier, node.user.metadata = "_generic_user_object", ""
    change(saved.meta_graphs[0])
    (folder / "m/saved_model.pb").write_bytes(protobuf_messages.dump(saved))
    return folder / "m"


def _calls_twice(meta: Any, levels: int) -> str:  # noqa: ANN401
    """Functions f0 .. that each add up two calls of the next; the name of the first."""
    for k in range(levels):
        function = meta.graph.library.function.add()
        function.signature.name = f"f{k}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        for name in "ab":
            if k + 1 < levels:
                node = function.node_def.add(name=name, op="PartitionedCall", input=["x"])
                node.attr["f"].func.name = f"f{k + 1}"
            else:
                function.node_def.add(name=name, op="Relu", input=["x"])
        function.node_def.add(
            name="sum",
            op="AddV2",
            input=[
                "a:output:0" if k + 1 < levels else "a:activations:0",
                "b:output:0" if k + 1 < levels else "b:activations:0",
            ],
        )
        function.ret["y"] = "sum:z:0"
    return "f0"


def _merge(meta: Any, name: str, operands: list[str]) -> None:  # noqa: ANN401
    """A concatenation along the batch that a signature serves."""
    axis = meta.graph.node.add(name=f"{name}/axis", op="Const")
    axis.attr["value"].tensor.dtype = 3
    axis.attr["value"].tensor.int_val.append(0)
    axis.attr["value"].tensor.shape.SetInParent()
    meta.graph.node.add(name=name, op="ConcatV2", input=[*operands, f"{name}/axis"]).attr[
        "N"
    ].i = len(operands)


def _served(meta: Any, name: str) -> None:  # noqa: ANN401
    key = next(k for k in meta.signatures if not k.startswith("__"))
    for info in meta.signatures[key].outputs.values():
        info.name = f"{name}:0"


@costly("over-budget", "damaged-graph", None)
def functions_that_call_the_next_twice(folder: Path) -> Path:
    """40 functions, 2 ** 40 operations."""

    def change(meta: Any) -> None:  # noqa: ANN401
        first = _calls_twice(meta, 40)
        meta.graph.node.add(name="input", op="Placeholder")
        for k in range(2):
            node = meta.graph.node.add(name=f"tower{k}", op="PartitionedCall", input=["input"])
            node.attr["f"].func.name = first
        _merge(meta, "merged", ["tower0", "tower1"])
        _served(meta, "merged")

    return _graph(folder, change)


@costly("over-budget", "damaged-graph", None)
def chain_of_1_000_functions(folder: Path) -> Path:
    """Calls nested a thousand deep."""

    def change(meta: Any) -> None:  # noqa: ANN401
        for k in range(1000):
            function = meta.graph.library.function.add()
            function.signature.name = f"f{k}"
            function.signature.input_arg.add(name="x", type=1)
            function.signature.output_arg.add(name="y", type=1)
            node = function.node_def.add(
                name="a", op="PartitionedCall" if k < 999 else "Relu", input=["x"]
            )
            if k < 999:
                node.attr["f"].func.name = f"f{k + 1}"
            function.ret["y"] = "a:output:0"
        meta.graph.node.add(name="input", op="Placeholder")
        for k in range(2):
            meta.graph.node.add(name=f"tower{k}", op="PartitionedCall", input=["input"]).attr[
                "f"
            ].func.name = "f0"
        _merge(meta, "merged", ["tower0", "tower1"])
        _served(meta, "merged")

    return _graph(folder, change)


@costly("over-budget", "damaged-graph", None)
def graph_of_100_000_nodes(folder: Path) -> Path:
    """A chain, and a concatenation at every hundredth of it."""

    def change(meta: Any) -> None:  # noqa: ANN401
        meta.graph.node.add(name="n0", op="Placeholder")
        for k in range(1, 100_000):
            meta.graph.node.add(name=f"n{k}", op="Relu", input=[f"n{k - 1}"])
        before = "n99999"
        for k in range(1, 1000):
            _merge(meta, f"m{k}", [f"n{100 * k}", f"n{100 * k + 1}", before])
            before = f"m{k}"
        _served(meta, before)

    return _graph(folder, change)


@costly("over-budget", "damaged-graph", None)
def towers_in_towers(folder: Path) -> Path:
    """2,000 concatenations of two long chains each."""

    def change(meta: Any) -> None:  # noqa: ANN401
        meta.graph.node.add(name="input", op="Placeholder")
        for tower in range(2):
            meta.graph.node.add(name=f"t{tower}_0", op="Relu", input=["input"])
            for k in range(1, 10_000):
                meta.graph.node.add(name=f"t{tower}_{k}", op="Relu", input=[f"t{tower}_{k - 1}"])
        parts = []
        for k in range(2000):
            _merge(meta, f"m{k}", [f"t0_{9_999 - k}", f"t1_{9_999 - k}"])
            parts.append(f"m{k}")
        meta.graph.node.add(name="all", op="AddN", input=parts)
        _served(meta, "all")

    return _graph(folder, change)


@costly("over-budget", None)
def meta_of_100_000_nodes(folder: Path) -> Path:
    """The graph beside a checkpoint, with a thousand concatenations."""
    for part in (".index", ".data-00000-of-00001"):
        shutil.copy(f"{META}{part}", folder / f"c{part}")
    meta = protobuf_messages.parse("MetaGraph", Path(f"{META}.meta").read_bytes(), "meta")
    meta.graph.node.add(name="n0", op="Placeholder")
    for k in range(1, 100_000):
        meta.graph.node.add(name=f"n{k}", op="Relu", input=[f"n{k - 1}"])
    for k in range(1, 1000):
        _merge(meta, f"m{k}", [f"n{100 * k}", f"n{99_000 - k}"])
    (folder / "c.meta").write_bytes(protobuf_messages.dump(meta))
    return folder / "c"


@costly("over-budget", "damaged-index", None)
def objects_100_000(folder: Path) -> Path:
    """An object graph of 100,000 nodes, each of them a model of a hundred layers."""
    graph = protobuf_messages.new("ObjectGraph")
    for k in range(30_000):
        node = graph.nodes.add()
        for n in range(12):
            node.children.add(node_id=(k * 12 + n + 1) % 30_000, local_name=f"layer-{n}")
    text = protobuf_messages.dump(graph)
    lengths = varint(len(text))
    crc = read_sstable.mask(read_sstable.extend(0, len(text).to_bytes(4, "little")))
    data = lengths + crc.to_bytes(4, "little") + text
    path = Path(f"{CHECKPOINT}.data-00000-of-00001")
    at = path.stat().st_size
    (folder / "c.data-00000-of-00001").write_bytes(path.read_bytes() + data)
    shutil.copy(f"{CHECKPOINT}.index", folder / "c.index")

    def change(pairs: dict[bytes, bytes]) -> None:
        entry = protobuf_messages.parse(
            "BundleEntry", pairs[b"_CHECKPOINTABLE_OBJECT_GRAPH"], "entry"
        )
        entry.offset, entry.size = at, len(data)
        whole = read_sstable.extend(
            read_sstable.extend(0, len(text).to_bytes(4, "little")), crc.to_bytes(4, "little")
        )
        entry.crc32c = read_sstable.mask(read_sstable.extend(whole, text))
        pairs[b"_CHECKPOINTABLE_OBJECT_GRAPH"] = protobuf_messages.dump(entry)

    altered(folder / "c.index", change)
    return folder / "c"


# ---- architectures ----


def _json(folder: Path, value: Any) -> Path:  # noqa: ANN401
    path = folder / "m.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@costly("json-too-deep", "too-deep", "over-budget", None)
def models_in_models_1_000_deep(folder: Path) -> Path:
    """A chain of models that hold one model each."""
    text = json.dumps(makeh5.template()["config"])
    for k in range(150):
        inner = {
            "class_name": "Model",
            "name": f"i{k}",
            "config": "@",
            "inbound_nodes": [[["x", 0, 0, {}]]],
        }
        whole = makeh5.model(f"m{k}", [makeh5.source(), inner], [["x", 0, 0]], [[f"i{k}", 1, 0]])
        text = json.dumps(whole["config"]).replace('"@"', text)
    text = f'{{"class_name": "Model", "config": {text}}}'
    return _json(folder, text)


@costly("json-too-deep", "too-deep", "over-budget", None)
def metadata_1_000_deep(folder: Path) -> Path:
    """An argument in an argument in an argument."""
    model = makeh5.parallel(makeh5.template())
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    model["config"]["layers"][1]["config"]["arguments"] = {"i": "@"}
    text = json.dumps(model).replace('"@"', "[" * 900 + "1" + "]" * 900)
    return _json(folder, text)


@costly("json-too-deep", "too-deep", "over-budget", None)
def kwargs_900_deep(folder: Path) -> Path:
    """The same in what a call is given."""
    model = makeh5.parallel(makeh5.template())
    model["config"]["layers"][1]["inbound_nodes"][0][0][3] = {"a": "@"}
    return _json(folder, json.dumps(model).replace('"@"', "[" * 900 + "1" + "]" * 900))


@costly("over-budget", None)
def layers_60_000(folder: Path) -> Path:
    """A chain of 60,000 layers."""
    layers = [makeh5.source(), makeh5.layer("Dense", "d0", [["x", 0, 0]], units=4)]
    layers += [makeh5.layer("A", f"d{k}", [[f"d{k - 1}", 0, 0]]) for k in range(1, 60_000)]
    return _json(folder, makeh5.model("m", layers, [["x", 0, 0]], [["d59999", 0, 0]]))


@costly("over-budget", None)
def merges_3_000(folder: Path) -> Path:
    """More wrappers than anybody has, one behind the other."""
    layers, before = [makeh5.source()], "x"
    for k in range(3000):
        cuts = [
            makeh5.layer("Lambda", f"l{k}_{i}", [[before, 0, 0]], arguments={"i": i, "parts": 2})
            for i in range(2)
        ]
        shared = makeh5.layer("Dense", f"d{k}", units=4)
        shared["inbound_nodes"] = [[[f"l{k}_{i}", 0, 0, {}]] for i in range(2)]
        layers += [
            *cuts,
            shared,
            makeh5.layer("Concatenate", f"c{k}", [[f"d{k}", i, 0] for i in range(2)], axis=0),
        ]
        before = f"c{k}"
    return _json(folder, makeh5.model("m", layers, [["x", 0, 0]], [[before, 0, 0]]))


@costly("over-budget", None)
def towers_of_templates_2_000(folder: Path) -> Path:
    """2,000 wrappers beside each other, each around a model."""
    layers, ends = [makeh5.source()], []
    for k in range(2000):
        inner = makeh5.parallel(makeh5.template(f"t{k}"), name=f"p{k}")
        layers.append(
            {
                "class_name": "Model",
                "name": f"p{k}",
                "config": inner["config"],
                "inbound_nodes": [[["x", 0, 0, {}]]],
            }
        )
        ends.append([f"p{k}", 1, 0])
    return _json(folder, makeh5.model("m", layers, [["x", 0, 0]], ends))


@costly("over-budget", None)
def towers_20_000(folder: Path) -> Path:
    """One wrapper of more towers than there are devices."""
    return _json(folder, makeh5.parallel(makeh5.template(), 20_000))


@costly("over-budget", None)
def wrappers_40_deep(folder: Path) -> Path:
    """A wrapper of a wrapper of a wrapper."""
    model = makeh5.template()
    for k in range(40):
        model = makeh5.parallel(model, name=f"m{k}")
    return _json(folder, model)


@costly("over-budget", "not-a-graph", None)
def batch_shape_of_200_000_dimensions(folder: Path) -> Path:
    """An input with more axes than any software knows."""
    model = makeh5.parallel(makeh5.template())
    model["config"]["layers"][0]["config"]["batch_input_shape"] = [None] * 200_000
    model["config"]["layers"][1]["config"]["output_shape"] = [None] * 200_000
    return _json(folder, model)


@costly("over-budget", "not-keras", "bad-json", None)
def empty_lists_3_000_000(folder: Path) -> Path:
    """10 MB of JSON that takes Python twenty times that."""
    return _json(
        folder,
        '{"class_name": "Model", "config": {"layers": [' + ",".join(["[]"] * 3_300_000) + "]}}",
    )


@costly("over-budget", "not-keras", "bad-json", None)
def empty_objects_1_200_000(folder: Path) -> Path:
    """The same with objects."""
    return _json(
        folder,
        '{"class_name": "Model", "config": {"a": [' + ",".join(['{"b":0}'] * 1_200_000) + "]}}",
    )


@costly(None)
def models_that_call_the_next_twice(folder: Path) -> Path:
    """Forty deep: a trillion calls of the innermost."""
    inner, below = makeh5.template("m0", 4), "m0"
    for k in range(1, 40):
        layers = [
            makeh5.layer("InputLayer", "x", batch_input_shape=[None, 4], dtype="float32"),
            {**inner, "name": below, "inbound_nodes": [[["x", 0, 0, {}]], [["x", 0, 0, {}]]]},
            makeh5.layer("Add", "sum", [[below, 1, 0], [below, 2, 0]]),
        ]
        inner, below = makeh5.model(f"m{k}", layers, [["x", 0, 0]], [["sum", 0, 0]]), f"m{k}"
    return _json(folder, makeh5.parallel(inner))


@costly(None, "not-keras", "not-a-graph")
def config_of_4_000_000_characters(folder: Path) -> Path:
    """A text where layers belong."""
    return _json(folder, json.dumps({"class_name": "Model", "config": "x " * 2_000_000}))


@costly(None)
def joins_300_of_the_last_with_itself(folder: Path) -> Path:
    """Each doubles the batch."""
    before, layers = "x", [makeh5.source()]
    for k in range(300):
        layers.append(
            makeh5.layer("Concatenate", f"c{k}", [[before, 0, 0], [before, 0, 0]], axis=0)
        )
        before = f"c{k}"
    return _json(folder, makeh5.model("m", layers, [["x", 0, 0]], [[before, 0, 0]]))


@costly(None, "over-budget")
def towers_3_000_of_the_same_rows(folder: Path) -> Path:
    """The arguments of each slice are those of the first half."""
    model = makeh5.parallel(makeh5.template(), 3_000)
    for entry in model["config"]["layers"]:
        if entry["class_name"] == "Lambda":
            entry["config"]["arguments"] = {"i": 0, "parts": 2}
    return _json(folder, model)


#: name -> what is run on it, where it is not `inspect` and `fix`.
COMMANDS = {
    "models_that_call_the_next_twice": (["inspect"], ["fix"], ["fix", "--keras", "3", "--force"]),
} | {
    name: (["inspect"], ["fix", "--to", "keras"])
    for name in ("chunk_of_a_gigabyte", "row_of_a_gigabyte", "chunks_across_the_rows")
}
