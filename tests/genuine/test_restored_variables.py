"""A SavedModel's variables that are gone, or another model's: a cut graph could not be loaded."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.makebundle import altered
from unnest.formats.tensorflow import protobuf_messages
from unnest.formats.tensorflow.check_restored_variables import check_stored
from unnest.formats.tensorflow.object_graph import KEY

SAVED_MODELS = FIXTURES / "saved_model"
#: With Keras's configs, and the operations alone; TensorFlow 2's functions, and TensorFlow 1's flat graph.
LAYOUTS = [
    "tfkeras/saved_model-carried-named-adam",
    "tfkeras/export-carried-named",
    "k224/simple-official-mlp-double",
]


def without_index(model: Path) -> None:
    """The index alone is gone."""
    (model / "variables/variables.index").unlink()


def without_folder(model: Path) -> None:
    """All variables are gone."""
    shutil.rmtree(model / "variables")


def of_another_model(model: Path) -> None:
    """The variables are another model's."""
    shutil.rmtree(model / "variables")
    shutil.copytree(
        SAVED_MODELS / "tfkeras/resaved-carried-mlp-x3/parallel/variables", model / "variables"
    )


def transposed(model: Path) -> None:
    """The names are right, and every matrix has its rows for columns: as many bytes."""

    def change(pairs: dict[bytes, bytes]) -> None:
        for key in [k for k in pairs if k]:
            entry = protobuf_messages.parse("BundleEntry", pairs[key], "")
            sizes = [d.size for d in entry.shape.dim]
            for dim, size in zip(entry.shape.dim, reversed(sizes), strict=True):
                dim.size = size
            pairs[key] = protobuf_messages.dump(entry)

    altered(model / "variables/variables.index", change)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("damage", "codes"),
    [
        (without_index, {"missing-file"}),
        (without_folder, {"missing-file"}),
        (of_another_model, {"missing-weight", "wrong-shape"}),
        (transposed, {"wrong-shape"}),
    ],
)
def test_is_unreadable(
    layout: str, damage: Callable[[Path], None], codes: set[str], tmp_path: Path
) -> None:
    """Neither report nor file comes of it, whatever it is to become."""
    model = Path(shutil.copytree(SAVED_MODELS / layout / "parallel", tmp_path / "m"))
    damage(model)
    report = unnest.inspect(model)
    assert (report.verdict, report.error and report.error.code in codes) == ("unreadable", True), (
        report.error
    )
    for to in (None, "h5"):
        done = unnest.fix(model, tmp_path / "out.h5", to=to)
        assert done.action == "failed"
        assert not (tmp_path / "out.h5").exists()


def test_a_graph_without_variables_needs_no_file() -> None:
    """A graph that restores nothing, or its list of objects only, needs no variables file."""
    meta = protobuf_messages.new("MetaGraph")
    check_stored(meta, None, "variables.index")
    names, parts = (meta.graph.node.add(name=n, op="Const") for n in ("names", "parts"))
    names.attr["value"].tensor.string_val.append(KEY.encode())
    parts.attr["value"].tensor.string_val.append(b"")
    meta.graph.node.add(name="restore", op="RestoreV2", input=["prefix", "names", "parts"])
    meta.saver.restore = "restore"
    check_stored(meta, None, "variables.index")
