"""SavedModels, checkpoints, .keras and .weights.h5 with one thing wrong each: one line, exit 2, nothing left behind."""

from __future__ import annotations

import copy
import io
import shutil
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.judged import check_verdict
from tests.makebundle import altered
from unnest.formats.container_interface import Target
from unnest.formats.tensorflow import protobuf_messages

SAVED = FIXTURES / "saved_model/tf23/saved_model-official-named-adam/parallel"
CHECKPOINT = FIXTURES / "checkpoint/tf23/checkpoint-official-named-adam/parallel.ckpt"
KERAS = FIXTURES / "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras"
WEIGHTS = FIXTURES / "weights_h5/keras3/weights_h5-carried-named-adam/parallel.weights.h5"

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
INDEX = "variables/variables.index"
DATA = "variables/variables.data-00000-of-00001"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A SavedModel to spoil."""
    shutil.copytree(SAVED, tmp_path / "m")
    return tmp_path / "m"


def refused(cli: Cli, path: Path, code: str) -> str:
    """Both commands leave with 2 and one line, and nothing else is there afterwards."""
    folder = path.parent
    before = sorted(p.relative_to(folder) for p in folder.rglob("*"))
    start = time.process_time()
    for command in ("inspect", "fix"):
        done = cli(command, path)
        assert done.returncode == 2, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
    assert time.process_time() - start < 10
    assert sorted(p.relative_to(folder) for p in folder.rglob("*")) == before
    error = unnest.fix(path).error
    assert error is not None
    assert error.code == code
    assert "\n" not in error.message
    return error.message


def entry(
    change: Callable[[protobuf_messages.Message], None], key: bytes
) -> Callable[[dict[bytes, bytes]], None]:
    """Change one entry of an index."""

    def apply(pairs: dict[bytes, bytes]) -> None:
        name = key and next(k for k in pairs if key in k)
        message = protobuf_messages.parse(
            "BundleEntry" if key else "BundleHeader", pairs[name], "test"
        )
        change(message)
        pairs[name] = protobuf_messages.dump(message)

    return apply


def test_missing_shard(cli: Cli, model: Path) -> None:
    """The data file was not copied along."""
    (model / DATA).unlink()
    assert "data-00000-of-00001" in refused(cli, model, "missing-file")


def test_short_shard(cli: Cli, model: Path) -> None:
    """The data file is cut short."""
    data = (model / DATA).read_bytes()
    (model / DATA).write_bytes(data[:-1])
    refused(cli, model, "truncated")


@pytest.mark.parametrize("left", [0, 10, 47, 200])
def test_short_index(cli: Cli, model: Path, left: int) -> None:
    """The index is cut short, at several places."""
    data = (model / INDEX).read_bytes()
    (model / INDEX).write_bytes(data[:left])
    refused(cli, model, "damaged-index")


def test_index_checksum(cli: Cli, model: Path) -> None:
    """One bit of the index."""
    data = bytearray((model / INDEX).read_bytes())
    data[40] ^= 1
    (model / INDEX).write_bytes(data)
    refused(cli, model, "checksum")


def test_data_checksum(cli: Cli, model: Path, tmp_path: Path) -> None:
    """One bit of a tensor: seen when it is copied, and the copy is not left."""
    data = bytearray((model / DATA).read_bytes())
    data[3] ^= 1
    (model / DATA).write_bytes(data)
    for extra in ((), ("-o", tmp_path / "out.h5")):
        done = cli("fix", model, *extra)
        assert done.returncode == 2
        assert "checksum" in done.stdout + done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]


def test_wrong_shape(cli: Cli, model: Path) -> None:
    """A shape that asks for more than is stored."""

    def grow(message: protobuf_messages.Message) -> None:
        message.shape.dim[0].size = 1 << 40

    altered(model / INDEX, entry(grow, b"variables/0/.ATTR"))
    refused(cli, model, "wrong-shape")


def test_negative_shape(cli: Cli, model: Path) -> None:
    """A dimension below zero."""

    def shrink(message: protobuf_messages.Message) -> None:
        message.shape.dim[0].size = -4

    altered(model / INDEX, entry(shrink, b"variables/0/.ATTR"))
    refused(cli, model, "damaged-index")


@pytest.mark.parametrize("key", [b"", b"variables/0/.ATTR"])
def test_unknown_field(cli: Cli, model: Path, key: bytes) -> None:
    """Something newer than we are, where it could change what the bytes mean."""

    def add(pairs: dict[bytes, bytes]) -> None:
        name = key and next(k for k in pairs if key in k)
        pairs[name] += b"\xf8\x07\x01"  # field 127, a varint

    altered(model / INDEX, add)
    refused(cli, model, "unknown-field")


def test_big_endian(cli: Cli, model: Path) -> None:
    """Written on another kind of machine."""

    def swap(message: protobuf_messages.Message) -> None:
        message.endianness = 1

    altered(model / INDEX, entry(swap, b""))
    refused(cli, model, "big-endian")


def test_outside(cli: Cli, model: Path) -> None:
    """An entry that points beyond the shards there are."""

    def point(message: protobuf_messages.Message) -> None:
        message.shard_id = 7

    altered(model / INDEX, entry(point, b"variables/0/.ATTR"))
    refused(cli, model, "damaged-index")


@pytest.mark.parametrize("name", [DATA, "assets", "saved_model.pb"])
def test_links(cli: Cli, model: Path, name: str, tmp_path: Path) -> None:
    """A link in the folder could lead anywhere."""
    target = model / name
    if target.is_dir():
        target.rmdir()
    elif target.exists():
        target.rename(tmp_path / "elsewhere")
    target.symlink_to(tmp_path / "elsewhere")
    refused(cli, model, "link")


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 100, b"not a protobuf at all", b"\x0a" * 100_000]
)
def test_no_graph(cli: Cli, model: Path, content: bytes) -> None:
    """saved_model.pb is anything else."""
    (model / "saved_model.pb").write_bytes(content)
    refused(cli, model, "empty" if not content else "damaged-protobuf")


def test_text_graph(cli: Cli, model: Path) -> None:
    """The text form is not read."""
    (model / "saved_model.pb").rename(model / "saved_model.pbtxt")
    refused(cli, model, "text-graph")


def test_lost_graph(cli: Cli, tmp_path: Path) -> None:
    """Keras's notes are there, the graph is not: what is left is no checkpoint of its own."""
    model = tmp_path / "lost"
    shutil.copytree(FIXTURES / "saved_model/tf210/saved_model-carried-named-head/parallel", model)
    (model / "saved_model.pb").unlink()
    refused(cli, model, "missing-file")


def test_keras_metadata_is_not_json(cli: Cli, model: Path) -> None:
    """The Keras config is damaged while the graph is not."""
    raw = (model / "saved_model.pb").read_bytes()
    saved = protobuf_messages.parse("SavedModel", raw, "test")
    saved.meta_graphs[0].objects.nodes[0].user.metadata = '{"class_name": '
    (model / "saved_model.pb").write_bytes(protobuf_messages.dump(saved))
    refused(cli, model, "bad-json")


def test_function_that_calls_itself(cli: Cli, model: Path) -> None:
    """Calls without end."""
    saved = protobuf_messages.parse("SavedModel", (model / "saved_model.pb").read_bytes(), "test")
    meta = saved.meta_graphs[0]
    meta.objects.nodes[0].user.identifier = "_generic_user_object"
    for function in meta.graph.library.function:
        for node in function.node_def:
            if "f" in node.attr:
                node.attr["f"].func.name = function.signature.name
    (model / "saved_model.pb").write_bytes(protobuf_messages.dump(saved))
    refused(cli, model, "damaged-graph")


@pytest.mark.parametrize("child", [-1, 1 << 30])
def test_objects_that_there_are_not(model: Path, tmp_path: Path, child: int) -> None:
    """The graph can be read and not be cut (found by fuzzing): the file's fault, and no word of a bug."""
    saved = protobuf_messages.parse("SavedModel", (model / "saved_model.pb").read_bytes(), "test")
    signatures = next(
        n for n in saved.meta_graphs[0].objects.nodes if n.user.identifier == "signature_map"
    )
    signatures.children[0].node_id = child if child > 0 else len(saved.meta_graphs[0].objects.nodes)
    (model / "saved_model.pb").write_bytes(protobuf_messages.dump(saved))
    result = unnest.fix(model)
    assert result.error is not None
    assert (result.action, result.error.code) == ("failed", "damaged")
    assert "report it if the software that wrote it still loads it" in result.error.message
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_places_of_operations_that_are_no_text(model: Path, tmp_path: Path) -> None:
    """`_class` of a node names others in bytes that are no UTF-8 (found by fuzzing): the file's fault."""
    saved = protobuf_messages.parse("SavedModel", (model / "saved_model.pb").read_bytes(), "test")
    graph = saved.meta_graphs[0].graph
    for node in [
        *graph.node,
        *(n for function in graph.library.function for n in function.node_def),
    ]:
        node.attr["_class"].list.s.append(b"loc:@\xff")
    (model / "saved_model.pb").write_bytes(protobuf_messages.dump(saved))
    result = unnest.fix(model)
    assert result.error is not None
    assert (result.action, result.error.code) == ("failed", "damaged")
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_checkpoint_shard(cli: Cli, tmp_path: Path) -> None:
    """A checkpoint without its data."""
    shutil.copy(str(CHECKPOINT) + ".index", tmp_path / "c.index")
    refused(cli, tmp_path / "c", "missing-file")


def test_zip_cut_short(cli: Cli, tmp_path: Path) -> None:
    """Downloaded in part."""
    (tmp_path / "m.keras").write_bytes(KERAS.read_bytes()[:20_000])
    refused(cli, tmp_path / "m.keras", "damaged-zip")


def test_zip_bomb(cli: Cli, tmp_path: Path) -> None:
    """A small member that claims and holds much more than weights would."""
    with (
        zipfile.ZipFile(KERAS) as old,
        zipfile.ZipFile(tmp_path / "m.keras", "w", zipfile.ZIP_DEFLATED) as new,
    ):
        new.writestr("config.json", old.read("config.json"))
        with new.open("model.weights.h5", "w") as member:
            for _ in range(200):
                member.write(bytes(1 << 20))
    refused(cli, tmp_path / "m.keras", "absurd-size")


def test_zip_without_weights(cli: Cli, tmp_path: Path) -> None:
    """A zip of something else."""
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as new:
        new.writestr("x.txt", "x")
    refused(cli, tmp_path / "m.keras", "not-keras")


@pytest.mark.parametrize("lost", ["config.json", "model.weights.h5"])
def test_zip_that_lost_a_member(cli: Cli, lost: str, tmp_path: Path) -> None:
    """The rest shows that it was a model."""
    source = FIXTURES / "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(tmp_path / "m.keras", "w") as new:
        for name in {*old.namelist()} - {lost}:
            new.writestr(name, old.read(name))
    refused(cli, tmp_path / "m.keras", "incomplete")


@pytest.mark.parametrize(
    "name", ["../escape.txt", "/etc/x", "assets/../../x", "a\\..\\..\\x", "C:/x", "config.json"]
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_zip_member_names(cli: Cli, name: str, tmp_path: Path) -> None:
    """Members whose names climb out, or are there twice."""
    shutil.copy(KERAS, tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras", "a") as archive:
        archive.writestr(name, "x")
    assert repr(name) in refused(cli, tmp_path / "m.keras", "bad-member")


def test_zip_members_that_share_bytes(cli: Cli, tmp_path: Path) -> None:
    """One stored content under many names unpacks to more than is there."""
    shutil.copy(KERAS, tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras", "a") as archive:
        archive.writestr("assets/one", "x" * 100)
        same = copy.copy(archive.getinfo("assets/one"))
        same.filename = same.orig_filename = "assets/two"
        archive.filelist.append(same)
    assert "shares bytes" in refused(cli, tmp_path / "m.keras", "bad-member")


def test_zip_link(cli: Cli, tmp_path: Path) -> None:
    """A member that is a link, for whoever unpacks the file."""
    shutil.copy(KERAS, tmp_path / "m.keras")
    info = zipfile.ZipInfo("assets/x")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "m.keras", "a") as archive:
        archive.writestr(info, "/etc/passwd")
    refused(cli, tmp_path / "m.keras", "bad-member")


def test_zip_encrypted(cli: Cli, tmp_path: Path) -> None:
    """A member that wants a password."""
    data = bytearray(KERAS.read_bytes())
    data[data.rindex(b"PK\1\2") + 8] |= 1
    (tmp_path / "m.keras").write_bytes(data)
    refused(cli, tmp_path / "m.keras", "bad-member")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_zip_methods(cli: Cli, method: int, tmp_path: Path) -> None:
    """Ways of packing that no writer uses for Keras, and whose decoders take what memory a header asks for."""
    with zipfile.ZipFile(KERAS) as old, zipfile.ZipFile(tmp_path / "m.keras", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name), method)
    refused(cli, tmp_path / "m.keras", "compression")


def member_at(data: bytes | bytearray, name: str) -> int:
    """Return the offset at which a member's content begins."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        start = archive.getinfo(name).header_offset
    return (
        start
        + 30
        + sum(int.from_bytes(data[start + k : start + k + 2], "little") for k in (26, 28))
    )


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zip_checksum_of_an_asset(method: int, tmp_path: Path) -> None:
    """A vocabulary that is not what its checksum says is not written under a new one, whatever packs it."""
    path = tmp_path / "m.keras"
    shutil.copy(KERAS, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("assets/layers/x/vocabulary.txt", b"one\ntwo\nthree\n" * 9, method)
    data = bytearray(path.read_bytes())
    data[member_at(data, "assets/layers/x/vocabulary.txt") + 5] ^= 1
    path.write_bytes(data)
    result = unnest.fix(path)
    assert (result.action, result.verdict) == ("failed", "parallel")
    assert result.error
    assert result.error.code == "damaged-zip"
    assert [p.name for p in tmp_path.iterdir()] == ["m.keras"]


@pytest.mark.parametrize("to", [None, "h5", "weights"])
def test_zip_checksum_of_the_weights(to: Target | None, tmp_path: Path) -> None:
    """One bit of a weight: no output has it, in whatever container."""
    path = tmp_path / "m.keras"
    data = bytearray(KERAS.read_bytes())
    with zipfile.ZipFile(KERAS) as archive:
        size = archive.getinfo("model.weights.h5").file_size
    data[member_at(data, "model.weights.h5") + size - 5] ^= 1
    path.write_bytes(data)
    check_verdict(unnest.inspect(path), "parallel")
    result = unnest.fix(path, to=to)
    assert result.error
    assert (result.action, result.error.code) == ("failed", "checksum")
    assert [p.name for p in tmp_path.iterdir()] == ["m.keras"]


def test_zip_checksum_of_a_config(cli: Cli, tmp_path: Path) -> None:
    """Members that `inspect` reads whole are checked against their checksums, too."""
    data = bytearray(KERAS.read_bytes())
    data[member_at(data, "config.json") + 400] ^= 1
    (tmp_path / "m.keras").write_bytes(data)
    refused(cli, tmp_path / "m.keras", "damaged-zip")


def test_external_link_in_weights(cli: Cli, tmp_path: Path) -> None:
    """HDF5's own guards hold for the path-keyed layout, too."""
    shutil.copy(WEIGHTS, tmp_path / "m.weights.h5")
    with h5py.File(tmp_path / "m.weights.h5", "a") as file:
        file["layers/outside"] = h5py.ExternalLink("/etc/passwd", "/")
    refused(cli, tmp_path / "m.weights.h5", "link")


def test_wrong_architecture(cli: Cli, tmp_path: Path) -> None:
    """The JSON of another model."""
    shutil.copy(WEIGHTS, tmp_path / "m.weights.h5")
    other = FIXTURES / "weights_h5/keras3/weights_h5-carried-mlp-double/model.json"
    done = cli("fix", tmp_path / "m.weights.h5", "--architecture", other)
    assert done.returncode == 2
    assert "architecture" in done.stdout + done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.weights.h5"]
