"""Every genuine SavedModel, checkpoint, .keras and .weights.h5: recognised, fixed, as its own stack would."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import differences, names_of
from unnest.formats.tensorflow import (
    cut_serving_graph,
    protobuf_messages,
    serving_meta_graph,
    unwrap_meta_graph,
)

#: Read by the same stack's base.h5, but stored nowhere in this export: compile settings and what belongs to them.
NO_COMPILE = ("tf20/exported-official-named-adam",)


def cases(kind: str, has: str) -> list[Any]:
    """The fixtures of a container that hold a file, as parameters with readable names."""
    found = sorted(p.parent for p in (FIXTURES / kind).glob(f"*/*/{has}"))
    return [pytest.param(p, id=f"{p.parent.name}-{p.name}") for p in found]


def test_there_are_fixtures() -> None:
    """A glob that finds nothing passes nothing."""
    assert len(cases("saved_model", "parallel")) > 45
    assert len(cases("checkpoint", "parallel.ckpt.index")) > 10
    assert len(cases("keras_zip", "parallel.keras")) > 10
    assert cases("weights_h5", "parallel.weights.json")


@pytest.mark.parametrize("folder", cases("saved_model", "parallel"))
def test_saved_model_is_cut(folder: Path, tmp_path: Path) -> None:
    """One tower is left, everything else is there, and cutting again changes nothing."""
    towers = json.loads((folder / "case.json").read_text())["towers"]
    seen = unnest.inspect(folder / "parallel")
    assert (seen.error, seen.verdict, seen.container) == (None, "parallel", "saved_model")
    assert {w.towers for w in seen.wrappers} == {towers}
    done = unnest.fix(folder / "parallel", tmp_path / "out")
    assert (done.error, done.action) == (None, "fixed")
    again = unnest.inspect(tmp_path / "out")
    assert (again.error, again.verdict) == (None, "clean")
    assert unnest.fix(tmp_path / "out").action == "unchanged"
    assert not list(tmp_path.glob(".*"))
    before, after = (
        protobuf_messages.parse("SavedModel", (p / "saved_model.pb").read_bytes(), "")
        for p in (folder / "parallel", tmp_path / "out")
    )
    serving = serving_meta_graph.choose(before, "")
    assert list(after.meta_graphs[0].info.tags) == list(serving.info.tags)
    assert set(after.meta_graphs[0].signatures) == set(serving.signatures) - {
        cut_serving_graph.TRAIN
    }
    for name in ("variables", "assets"):
        for file in (folder / "parallel" / name).glob("*"):
            if file.name != "saved_model.json":
                assert (tmp_path / "out" / name / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("folder", cases("saved_model", "parallel"))
def test_no_names_are_needed(folder: Path) -> None:
    """With every operation called by a number, the same towers are found among the operations."""
    raw = (folder / "parallel/saved_model.pb").read_bytes()
    plain, numbered = (protobuf_messages.parse("SavedModel", raw, "") for _ in "12")
    _number(serving_meta_graph.choose(numbered, ""))
    found = [
        unwrap_meta_graph.cut_out_wrappers(serving_meta_graph.choose(m, ""), "").wrappers
        for m in (plain, numbered)
    ]
    told = [
        [(t.depth, t.scope, t.towers.towers, len(t.towers.merges), t.parameters) for t in seen]
        for seen in found
    ]
    assert told[0] == told[1]
    note = json.loads((folder / "case.json").read_text())
    assert [t[:4] for t in told[0]] == [
        (w["depth"], w["scope"], w["towers"], len(w["merge"])) for w in note["wrappers"]
    ]
    if (folder / "base.h5").exists():
        with h5py.File(folder / "base.h5") as base:
            total = sum(base["model_weights"][n][w].size for n in base["model_weights"].attrs["layer_names"]
                        for w in base["model_weights"][n].attrs["weight_names"])  # fmt: skip
        assert told[0][-1][4] == total or note["wrappers"][0]["scope"] == "head"


def _number(meta: protobuf_messages.Message) -> None:
    """Every operation's name out of the graph and its functions."""

    def new(names: dict[str, str], tensor: str) -> str:
        control, name = ("^", tensor[1:]) if tensor.startswith("^") else ("", tensor)
        head, colon, rest = name.partition(":")
        return control + names.get(head, head) + colon + rest

    for owner in (meta.graph, *meta.graph.library.function):
        nodes = owner.node if owner is meta.graph else owner.node_def
        names = {n.name: f"op{k}" for k, n in enumerate(nodes)}
        for node in nodes:
            node.name = names[node.name]
            read = [new(names, i) for i in node.input]
            del node.input[:]
            node.input.extend(read)
        if owner is meta.graph:
            for signature in meta.signatures.values():
                for info in (*signature.inputs.values(), *signature.outputs.values()):
                    info.name = new(names, info.name)
        else:
            for key, value in list(owner.ret.items()):
                owner.ret[key] = new(names, value)


@pytest.mark.parametrize("folder", cases("saved_model", "base.h5"))
def test_saved_model_to_h5(folder: Path, tmp_path: Path) -> None:
    """The Keras model inside, as its own stack writes it to .h5."""
    done = unnest.fix(folder / "parallel", tmp_path / "out.h5")
    assert (done.error, done.action) == (None, "fixed")
    told = differences(tmp_path / "out.h5", folder / "base.h5")
    if f"{folder.parent.name}/{folder.name}" in NO_COMPILE:
        told = [t for t in told if not t.startswith(("training_config", "root groups"))]
        assert "optimizer-dropped" in {f.code for f in done.findings}
    if folder.name.startswith("resaved"):
        # Loading spelled the compile settings out and began a fresh optimizer; the base was never loaded.
        told = [t for t in told if not t.startswith(("training_config", "root groups"))]
    assert told == []


@pytest.mark.parametrize("folder", cases("saved_model", "lookalike"))
def test_saved_model_lookalike(folder: Path) -> None:
    """A look-alike is left alone."""
    seen = unnest.inspect(folder / "lookalike")
    assert (seen.error, seen.verdict) == (None, "clean")
    assert unnest.fix(folder / "lookalike").action == "unchanged"


@pytest.mark.parametrize("which", ["model.json", "base.json"])
@pytest.mark.parametrize("folder", cases("checkpoint", "base_weights.h5"))
def test_checkpoint_with_architecture(folder: Path, which: str, tmp_path: Path) -> None:
    """The parallel model's JSON or the template's: the weights that the base saves."""
    target = tmp_path / "out.weights.h5"
    done = unnest.fix(folder / "parallel.ckpt", target, architecture=folder / which)
    # That the JSON is a template's, nothing else shows.
    told = "saver_bare" not in folder.name or which == "model.json"
    assert (done.error, done.action) == (None, "fixed" if told else "converted")
    with h5py.File(target) as a, h5py.File(folder / "base_weights.h5") as b:
        assert _weights(a) == _weights(b)


@pytest.mark.parametrize("folder", cases("checkpoint", "base_weights.h5"))
def test_checkpoint_alone(folder: Path) -> None:
    """A graph shows it, in .meta or as TensorFlow 1.13's config; objects and bare names do not, and say so."""
    seen = unnest.inspect(folder / "parallel.ckpt")
    assert seen.error is None
    told = (folder / "parallel.ckpt.meta").exists() or folder.name == "checkpoint-official-named"
    assert seen.verdict == ("parallel" if told else "clean")
    assert ("needs-architecture" in {f.code for f in seen.findings}) != told
    assert "the model that was saved" in str(seen.load)
    if not told:
        done = unnest.fix(folder / "parallel.ckpt")
        assert (done.action, "the model that was saved" in str(done.load)) == ("unchanged", True)


@pytest.mark.parametrize("folder", cases("keras_zip", "parallel.keras"))
def test_keras(folder: Path, tmp_path: Path) -> None:
    """Paths, names and bytes as the stack's own, and the same config."""
    done = unnest.fix(folder / "parallel.keras", tmp_path / "out.keras")
    assert (done.error, done.action) == (None, "fixed")
    assert unnest.fix(tmp_path / "out.keras").action == "unchanged"
    (config, tree), (wanted, expected) = (
        _keras(p) for p in (tmp_path / "out.keras", folder / "base.keras")
    )
    assert tree == expected
    assert _settled(config) == _settled(wanted)


#: Layers that hold cells, or a model of Keras 2.12 or 2.13: only their code shows in which order .h5 lists those.
HELD = ("cells", "tdnest")


@pytest.mark.parametrize("folder", cases("keras_zip", "base.h5"))
def test_keras_to_h5(folder: Path, tmp_path: Path) -> None:
    """The paths of Keras 2.12 and 2.13, which count layers with weights twice: every list as its own .h5 has it."""
    done = unnest.fix(folder / "parallel.keras", tmp_path / "out.h5")
    if folder.name.endswith(HELD):
        assert done.error is not None
        assert (done.action, done.error.code) == ("refused", "cannot-convert")
        return
    assert (done.error, done.action) == (None, "fixed")
    with h5py.File(tmp_path / "out.h5") as a, h5py.File(folder / "base.h5") as b:
        for group in ("model_weights", "optimizer_weights"):
            assert (group in a) == (group in b)
            if group in a:
                assert _lists(a[group]) == _lists(b[group])


def _lists(group: h5py.Group) -> list[tuple[str, list[tuple[str, bytes]]]]:
    """The arrays by layer, in order, whatever they are called."""
    layers = names_of(group, "layer_names") if "layer_names" in group.attrs else [""]
    held = [(name, group[name] if name else group) for name in layers]
    return [
        (n, [(str(g[w].dtype), g[w][()].tobytes()) for w in names_of(g, "weight_names")])
        for n, g in held
    ]


@pytest.mark.parametrize("folder", cases("weights_h5", "parallel.weights.h5"))
@pytest.mark.parametrize("given", [None, "model.json"])
def test_weights(folder: Path, given: str | None, tmp_path: Path) -> None:
    """With the architecture always; alone where the sub-trees show the wrapper."""
    target = tmp_path / "out.weights.h5"
    architecture = folder / given if given else None
    done = unnest.fix(folder / "parallel.weights.h5", target, architecture=architecture)
    assert done.error is None
    if given is None and ("opsplit" in folder.name or "head" in folder.name):
        assert done.action == "unchanged"
        assert target.read_bytes() == (folder / "parallel.weights.h5").read_bytes()
        return
    assert done.action == "fixed"
    with h5py.File(target) as a, h5py.File(folder / "base.weights.h5") as b:
        assert _tree(a) == _tree(b)


@pytest.mark.parametrize("folder", cases("weights_h5", "parallel.weights.json"))
@pytest.mark.parametrize("given", [None, "model.json"])
@pytest.mark.parametrize("named", ["parallel.weights.json", "parallel_00001.weights.h5"])
def test_sharded_weights(folder: Path, given: str | None, named: str, tmp_path: Path) -> None:
    """By the map or by any of its shards: one file comes out, as Keras saves the template's weights."""
    target = tmp_path / "out.weights.h5"
    done = unnest.fix(folder / named, target, architecture=folder / given if given else None)
    assert (done.error, done.action, done.container) == (None, "fixed", "weights_h5")
    with h5py.File(target) as a, h5py.File(folder / "base.weights.h5") as b:
        assert _tree(a) == _tree(b)


@pytest.mark.parametrize("kind", ["keras_zip", "weights_h5", "checkpoint"])
def test_lookalikes(kind: str) -> None:
    """A look-alike is left alone."""
    found = [
        *(FIXTURES / kind).glob("*/*/lookalike.keras"),
        *(FIXTURES / kind).glob("*/*/lookalike.weights.h5"),
    ]
    found += [p.with_suffix("") for p in (FIXTURES / kind).glob("*/*/lookalike.ckpt.index")]
    assert found
    for path in found:
        seen = unnest.inspect(path)
        assert (path, seen.error, seen.verdict) == (path, None, "clean")


def test_keras_repacked(tmp_path: Path) -> None:
    """A .keras that was zipped again, compressed."""
    folder = next((FIXTURES / "keras_zip/keras3").iterdir())
    with (
        zipfile.ZipFile(folder / "parallel.keras") as old,
        zipfile.ZipFile(tmp_path / "m.keras", "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert unnest.fix(tmp_path / "m.keras").action == "fixed"
    shutil.copy(folder / "parallel.keras", tmp_path / "n.keras")
    assert unnest.fix(tmp_path / "n.keras").action == "fixed"
    assert _keras(tmp_path / "m.unnested.keras") == _keras(tmp_path / "n.unnested.keras")


def _weights(file: h5py.File) -> list[tuple[str, list[tuple[str, bytes]]]]:
    def text(value: Any) -> str:  # noqa: ANN401
        return value.decode() if isinstance(value, bytes) else str(value)

    names = [text(n) for n in file.attrs["layer_names"]]
    found = [
        (n, [(text(w), file[n][w][()].tobytes()) for w in file[n].attrs["weight_names"]])
        for n in names
    ]
    return [(n, w) for n, w in found if w]


def _tree(file: h5py.File) -> dict[str, tuple[bytes | None, dict[str, Any]]]:
    found: dict[str, tuple[bytes | None, dict[str, Any]]] = {}
    file.visititems(
        lambda n, o: found.__setitem__(
            n, (o[()].tobytes() if hasattr(o, "shape") else None, dict(o.attrs))
        )
    )
    # Metrics are state of the training that was; a base that has not trained has none.
    return {n: v for n, v in found.items() if n.split("/")[0] != "metrics"}


def _keras(path: Path) -> tuple[Any, dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["metadata.json", "config.json", "model.weights.h5"]
        with h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file:
            return json.loads(archive.read("config.json")), _tree(file)


def _settled(value: Any) -> Any:  # noqa: ANN401 - JSON is any
    """Without what depends on memory addresses, and on what was serialised before: see formats, shared objects."""
    if isinstance(value, dict):
        return {
            k: _settled(v)
            for k, v in value.items()
            if k not in ("shared_object_id", "build_config")
        }
    return [_settled(v) for v in value] if isinstance(value, list) else value
