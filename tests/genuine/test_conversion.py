"""From container to container: what the same stack writes itself, or a line that says why not."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.genuine.test_genuine_containers import cases
from tests.h5compare import stored_architecture
from tests.judged import check_verdict
from unnest.errors import Refused
from unnest.formats.container_interface import Target
from unnest.formats.keras3.keras_zip import KerasSource
from unnest.options import Dialect

#: What `.keras` knows and .h5 does not, and what depends on how a model came about.
UNSTORED = ("shared_object_id", "build_config", "compile_config")


def full(stacks: str, name: str) -> list[Any]:
    """Genuine .h5 files of some stacks."""
    found = sorted(p for s in stacks.split() for p in (FIXTURES / s).glob(f"*/{name}"))
    return [pytest.param(p, id=f"{p.parts[-3]}-{p.parts[-2]}") for p in found]


#: Where Keras 2.12 to 2.14 keep the layers in a path-keyed file. No Keras reads that any more, so it is not written.
OLD_LAYERS = "_layer_checkpoint_dependencies"


def is_of_today(folder: Path) -> bool:
    """Return True if a .keras stores its layers where today's Keras does."""
    with (
        zipfile.ZipFile(folder / "base.keras") as archive,
        h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file,
    ):
        return OLD_LAYERS not in file


@pytest.mark.parametrize(
    "folder", [p for p in cases("keras_zip", "base.keras") if is_of_today(p.values[0])]
)
def test_there_and_back(folder: Path, tmp_path: Path) -> None:
    """A genuine .keras as .h5 and as .keras again: the paths, names and bytes of the original."""
    assert unnest.fix(folder / "base.keras", tmp_path / "m.h5").action == "converted"
    assert unnest.inspect(tmp_path / "m.h5").error is None
    assert (
        unnest.fix(tmp_path / "m.h5", tmp_path / "m.keras", keras="original").action == "converted"
    )
    (config, tree), (wanted, expected) = (
        parts(p) for p in (tmp_path / "m.keras", folder / "base.keras")
    )
    assert {k: v for k, v in tree.items() if not inside(k)} == {
        k: v for k, v in expected.items() if not inside(k)
    }
    assert {k: v[0] for k, v in tree.items()} == {k: v[0] for k, v in expected.items()}
    assert settled(config) == settled(wanted)
    compiled = [c.get("compile_config") or None for c in (config, wanted)]
    assert compiled[0] == compiled[1]


@pytest.mark.parametrize(
    "file", full("k209 k216 k224 k231 tf23 tf215 tfkeras keras3", "parallel.h5")
)
def test_fixed_into_keras(file: Path, tmp_path: Path) -> None:
    """A wrapper taken out on the way to .keras gives what the template's own file gives."""
    done = unnest.fix(file, tmp_path / "fixed.keras", keras="original")
    assert (done.error, done.action) == (None, "fixed")
    assert (
        unnest.fix(file.with_name("base.h5"), tmp_path / "base.keras", keras="original").action
        == "converted"
    )
    assert settled(parts(tmp_path / "fixed.keras")[0]) == settled(parts(tmp_path / "base.keras")[0])
    assert parts(tmp_path / "fixed.keras")[1] == parts(tmp_path / "base.keras")[1]
    assert unnest.fix(tmp_path / "fixed.keras").action == "unchanged"


@pytest.mark.parametrize("folder", cases("saved_model", "base.h5"))
def test_saved_model_into_keras(folder: Path, tmp_path: Path) -> None:
    """The Keras model inside, placed like the one of base.h5."""
    done = unnest.fix(folder / "parallel", tmp_path / "fixed.keras", keras="original")
    wanted = unnest.fix(folder / "base.h5", tmp_path / "base.keras", keras="original")
    assert (done.error is None) == (wanted.error is None)
    if wanted.error is None:
        found, expected = (parts(tmp_path / f"{n}.keras")[1] for n in ("fixed", "base"))
        assert layers(found) == layers(expected)


@pytest.mark.parametrize("file", full("k122", "base.h5"))
def test_keras_1_has_no_keras_file(file: Path, tmp_path: Path) -> None:
    """No software reads its JSON out of one."""
    done = unnest.fix(file, tmp_path / "m.keras", keras="original")
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "cannot-convert")
    assert done.error.message.startswith(f"{file}: ")
    assert not list(tmp_path.iterdir())


def test_old_optimizers_are_named_as_left_out(tmp_path: Path) -> None:
    """`.keras` has no form for optimizers of before TensorFlow 2.11."""
    done = unnest.fix(
        FIXTURES / "k224/official-cnn-adam/base.h5", tmp_path / "m.keras", keras="original"
    )
    assert [f.message for f in done.findings if f.code == "not-held"] == [
        "left out, because the output cannot hold it: the training settings, the optimizer state"
    ]
    with KerasSource(str(tmp_path / "m.keras")) as source:
        assert source.stored.optimizer is None


#: Cases of layers whose code alone knows the order of weights. In those of TimeDistributed over a model the layers of
#: that model tell, where they are numbered one by one.
ORDER_IN_CODE = re.compile(
    "tf21[234]/(keras_zip-carried-cells|weights_h5-kuza-cells-x3)|tf21[23]/keras_zip-carried-tdnest"
)


def is_refused_for_its_order(done: unnest.Result, folder: Path) -> bool:
    """Return True if a case is refused, as those of ORDER_IN_CODE must be and no others."""
    expected = ORDER_IN_CODE.fullmatch(f"{folder.parent.name}/{folder.name}") is not None
    assert (done.error is not None and done.error.code == "cannot-convert") is expected
    return expected


@pytest.mark.parametrize("folder", cases("keras_zip", "parallel.keras"))
def test_keras_into_h5(folder: Path, tmp_path: Path) -> None:
    """Every weight of the template's own file, in the order of Keras's lists."""
    done = unnest.fix(folder / "parallel.keras", tmp_path / "m.h5")
    if is_refused_for_its_order(done, folder):
        return
    assert (done.error, done.action) == (None, "fixed")
    _, expected = parts(folder / "base.keras")
    with h5py.File(tmp_path / "m.h5") as file:
        bytes_of: list[bytes] = []
        file["model_weights"].visititems(
            lambda _, o: bytes_of.append(o[()].tobytes()) if hasattr(o, "shape") else None
        )
    assert sorted(bytes_of) == sorted(layers(expected).values())


@pytest.mark.parametrize("which", ["model.json", "base.json"])
@pytest.mark.parametrize("folder", cases("checkpoint", "base_weights.h5"))
def test_checkpoint_into_h5(folder: Path, which: str, tmp_path: Path) -> None:
    """The template's model, its weights, and the optimizer's state in the order of Keras's .h5."""
    done = unnest.fix(folder / "parallel.ckpt", tmp_path / "m.h5", architecture=folder / which)
    # That the JSON is a template's, nothing else shows.
    untold = "saver_bare" in folder.name and which == "base.json"
    assert (done.error, done.action) == (None, "converted" if untold else "fixed")
    with h5py.File(tmp_path / "m.h5") as file, h5py.File(folder / "base_weights.h5") as base:
        config = json.loads(str(file.attrs["model_config"]))
        assert "keras_version" not in config
        assert weighted(file["model_weights"]) == weighted(base)
        if "adam" not in folder.name or "saver" in folder.name:
            return
        names = [n.rpartition(":")[0] for n in listed(file["optimizer_weights"], "weight_names")]
        trained = [
            n.rpartition(":")[0] for _, ws in weighted(base) for n, _ in ws if "moving" not in n
        ]
        if folder.parent.name == "tf23":
            assert names == ["Adam/iter", *(f"Adam/{n}/{slot}" for slot in "mv" for n in trained)]
        else:
            assert names == ["iteration", *(f"Adam/{slot}/{n}" for n in trained for slot in "mv")]
        with np.load(folder / "tensors.npz") as stored:
            kept = {k: v.tobytes() for k, v in stored.items()}
        state = sorted(file[f"optimizer_weights/{n}:0"][()].tobytes() for n in names)
        assert set(state) <= set(kept.values())
        assert len(state) == 1 + 2 * len(trained)
    assert "no-compile" in {f.code for f in done.findings}


@pytest.mark.parametrize(
    ("name", "keras"),
    [
        ("m.weights.h5", "original"),
        ("m.keras", "original"),
        ("m.weights.h5", "3"),
        ("m.keras", "3"),
    ],
)
def test_weights_of_a_checkpoint_say_what_they_lose(
    name: str, keras: Dialect, tmp_path: Path
) -> None:
    """The state has no place in a file of weights, nor in a model without compile settings."""
    folder = FIXTURES / "checkpoint/tf23/checkpoint-official-named-adam"
    done = unnest.fix(
        folder / "parallel.ckpt", tmp_path / name, architecture=folder / "model.json", keras=keras
    )
    assert "optimizer-dropped" in {f.code for f in done.findings}
    assert any(name.startswith("Adam/") for name in done.dropped)


@pytest.mark.parametrize("folder", cases("weights_h5", "parallel.weights.h5"))
def test_path_keyed_weights_into_h5(folder: Path, tmp_path: Path) -> None:
    """With the architecture a whole model, without it a line that asks for it."""
    refused = unnest.fix(folder / "parallel.weights.h5", tmp_path / "n.h5", to="h5")
    assert refused.error is not None
    assert refused.error.code == "needs-architecture"
    done = unnest.fix(
        folder / "parallel.weights.h5", tmp_path / "m.h5", architecture=folder / "model.json"
    )
    if is_refused_for_its_order(done, folder):
        return
    assert (done.error, done.action) == (None, "fixed")
    with h5py.File(tmp_path / "m.h5") as file, h5py.File(folder / "base.weights.h5") as base:
        assert sorted(tensors(file["model_weights"])) == sorted(
            tensors(base["layers" if "layers" in base else OLD_LAYERS])
        )


#: A genuine file for each row of the table in docs/commands.md.
ROWS = {
    ".h5": "k231/official-cnn-adam/parallel.h5",
    "weights `.h5`": "tf23/official-deep-pjson/weights.h5",
    "`.keras`": "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras",
    "`.weights.h5`": "weights_h5/keras3/weights_h5-carried-named-adam/parallel.weights.h5",
    "sharded `.weights.json`": "weights_h5/keras3/sharded-carried-named-adam/parallel.weights.json",
    "SavedModel with Keras's metadata": "saved_model/tf23/saved_model-official-named-adam/parallel",
    "SavedModel, a graph alone": "saved_model/tf23/plain-official-named/parallel",
    "checkpoint": "checkpoint/tf23/checkpoint-official-named-adam/parallel.ckpt",
    "a folder of Keras 3's (`zipped=False`, the Hub's, a KerasHub or Kaggle preset)": "keras_folder/parallel",
    "TensorFlow.js layers model (`model.json`)": "tfjs/cnn-parallel/model.json",
    "weights alone in `model.json`": "tfjs/weights-parallel/model.json",
    "architecture YAML": "k209/kuza-multiio-yaml/model.yaml",
    "architecture JSON": "checkpoint/tf23/checkpoint-official-named-adam/model.json",
}


#: The file whose architecture is that of weights which have no `model.json` of their own beside them.
OF_ANOTHER_FILE = {"weights alone in `model.json`": FIXTURES / "k224/official-cnn-adam/base.h5"}


def promised() -> list[Any]:
    """(source, --to, what the table says) of every cell."""
    text = (
        (Path(__file__).parents[2] / "docs/commands.md")
        .read_text()
        .split("## Conversions")[1]
        .split("\n## ")[0]
    )
    lines = [
        [c.strip() for c in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    targets = [c.strip("`").removeprefix("--to ") for c in lines[0][1:]]
    cells = [
        (row[0], to, says) for row in lines[2:] for to, says in zip(targets, row[1:], strict=True)
    ]
    return [pytest.param(*cell, id=f"{cell[0]} to {cell[1]}") for cell in cells]


def test_every_row_has_a_file() -> None:
    """And no row is left out."""
    assert {cell.values[0].strip("`") for cell in promised()} == {name.strip("`") for name in ROWS}


@pytest.mark.parametrize(("source", "to", "says"), promised())
def test_the_table_of_conversions(source: str, to: Target, says: str, tmp_path: Path) -> None:
    """The table in docs/commands.md holds for each pair: converted, or refused in one line."""
    file = FIXTURES / next(
        path for name, path in ROWS.items() if name.strip("`") == source.strip("`")
    )
    beside, is_architecture = file.parent / "model.json", source.startswith("architecture")
    architecture: Any = (
        beside if beside.exists() and beside != file and not is_architecture else None
    )
    if source in OF_ANOTHER_FILE:
        architecture = json.loads(stored_architecture(OF_ANOTHER_FILE[source]))
    done = unnest.fix(file, tmp_path / "out", to=to, architecture=architecture)
    if says.startswith("no"):
        assert done.error is not None
        assert (done.action, "\n" in done.error.message) == ("refused", False)
        assert not list(tmp_path.iterdir())
    else:
        assert done.error is None
        assert done.action in ("fixed", "converted")
    if says.startswith("with `--architecture`"):
        assert unnest.fix(file, tmp_path / "bare", to=to).action == "refused"


def tensors(group: h5py.Group) -> list[bytes]:
    """Every dataset below."""
    found: list[bytes] = []
    group.visititems(lambda _, o: found.append(o[()].tobytes()) if hasattr(o, "shape") else None)
    return found


def listed(group: h5py.Group, name: str) -> list[str]:
    """An attribute of names."""
    return [n.decode() if isinstance(n, bytes) else str(n) for n in group.attrs[name]]


def weighted(root: h5py.Group) -> list[tuple[str, list[tuple[str, bytes]]]]:
    """The layers with weights, in order."""
    found = [
        (n, [(w, root[n][w][()].tobytes()) for w in listed(root[n], "weight_names")])
        for n in listed(root, "layer_names")
    ]
    return [(n, ws) for n, ws in found if ws]


def inside(path: str) -> bool:
    """Return True for the name of something inside a layer that is no model, which .h5 does not store."""
    parts = path.split("/")
    return (
        parts[-1] == "vars"
        and "layers" not in parts[-3:-2]
        and len(parts) > 1
        and parts[0] != "optimizer"
    )


def layers(tree: dict[str, tuple[bytes | None, dict[str, Any]]]) -> dict[str, bytes]:
    """The weights alone."""
    return {
        k: v[0]
        for k, v in tree.items()
        if k.startswith(("layers/", OLD_LAYERS)) and v[0] is not None
    }


def parts(path: Path) -> tuple[Any, dict[str, tuple[bytes | None, dict[str, Any]]]]:
    """The config, and the groups and tensors with their attributes."""
    tree: dict[str, tuple[bytes | None, dict[str, Any]]] = {}
    with (
        zipfile.ZipFile(path) as archive,
        h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file,
    ):
        file.visititems(
            lambda n, o: tree.__setitem__(
                n, (o[()].tobytes() if hasattr(o, "shape") else None, dict(o.attrs))
            )
        )
        return json.loads(archive.read("config.json")), {
            k: v for k, v in tree.items() if k.split("/")[0] != "metrics"
        }


def settled(value: Any) -> Any:  # noqa: ANN401 - JSON is any
    """Without what .h5 does not store, and the numbers of input layers that Keras named."""
    if isinstance(value, dict):
        return {k: settled(v) for k, v in value.items() if k not in UNSTORED}
    if isinstance(value, str):
        return re.sub(r"^input_layer_\d+$", "input_layer", value)
    return [settled(v) for v in value] if isinstance(value, list) else value


def test_a_graph_is_cut_whoever_owns_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the objects do not fit the config, only actions that need the layers' weights are refused."""

    def refuse(*_: object) -> None:
        raise Refused("architecture-mismatch", "these are other weights")

    monkeypatch.setattr("unnest.formats.tensorflow.saved_model_reader.ObjectModels.weights", refuse)
    folder = FIXTURES / "saved_model/tf23/saved_model-official-named-adam/parallel"
    check_verdict(unnest.inspect(folder), "parallel")
    assert unnest.fix(folder, tmp_path / "cut").action == "fixed"
    done = unnest.fix(folder, tmp_path / "m.h5")
    assert done.error is not None
    assert (done.action, done.error.message) == ("refused", "these are other weights")


#: Fixture -> what --keras 3 says of it, None where it writes it.
REMEDIES = {
    "k224/official-nested-sgdm/parallel.h5": None,
    "tf215/carried-nested-x3-double/base.h5": None,
    "k122/kuza-multiio-x3-pjson/model.json": None,
    "{gone}": "'s' (SReLU): Keras 3 has no layer for it",
}


@pytest.mark.parametrize("name", REMEDIES)
def test_a_report_names_the_command_for_keras_3_where_it_works(name: str, tmp_path: Path) -> None:
    """The command that inspect and fix propose for a file that Keras 3 does not load is the one that works."""
    path = FIXTURES / name if name[0] != "{" else tmp_path / "model.json"
    if not path.exists():
        layers = [
            {
                "class_name": "SReLU",
                "config": {"name": "s", "trainable": True, "batch_input_shape": [None, 4]},
            }
        ]
        path.write_text(
            json.dumps({"class_name": "Sequential", "keras_version": "2.0.9", "config": layers})
        )
    done = unnest.fix(path, tmp_path / "today", dry_run=True, keras="3", to=None)
    message = None if done.error is None else done.error.message.removeprefix(f"{path}: ")
    assert message == REMEDIES[name]
    for report in (unnest.inspect(path, draw=True), unnest.fix(path, dry_run=True)):
        assert "Keras 3" in report.does_not_load_in
        assert report.as_keras_3 is not None
        assert report.as_keras_3.refusal == message
    assert unnest.inspect(path).as_keras_3 is None


def test_the_command_for_keras_3_has_the_options_of_the_run() -> None:
    """Without them it would be another file's."""
    path = FIXTURES / "k224" / "official-nested-sgdm" / "parallel.h5"
    report = unnest.inspect(path, draw=True, slice_layers=["Cut"], trust=True)
    assert report.options == ("--slice-layer=Cut", "--trust")


def test_versions_of_a_model_out_of_another_container_are_bytes_beside_its_weights(
    tmp_path: Path,
) -> None:
    """TensorFlow 2.0 to 2.3, with the h5py of then, decode them there, and read text as text at the top."""
    saved = FIXTURES / "saved_model" / "tf23" / "saved_model-official-named-adam" / "parallel"
    unnest.fix(saved, tmp_path / "m.h5", to="h5")
    unnest.fix(saved, tmp_path / "m.weights.h5", to="weights")

    def charset(group: h5py.Group) -> int:
        return int(group.attrs.get_id("keras_version").get_type().get_cset())

    with h5py.File(tmp_path / "m.h5") as model, h5py.File(tmp_path / "m.weights.h5") as weights:
        assert charset(model) == h5py.h5t.CSET_UTF8
        assert charset(model["model_weights"]) == h5py.h5t.CSET_ASCII
        assert charset(weights) == h5py.h5t.CSET_ASCII
