"""Templates in which a layer holds others of which one is frozen: Keras lists that one's weights behind all others."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import weights_by_layer
from unnest.core.make_plan import plan
from unnest.formats.open_container import open_container

FOLDER = FIXTURES / "frozen_parts"
PARALLEL = sorted(FOLDER.glob("*-parallel.h5"))


@pytest.mark.parametrize("path", PARALLEL, ids=lambda path: str(path.stem))
def test_every_layer_gets_its_own(path: Path, tmp_path: Path) -> None:
    """As the same stack saved the template itself."""
    done = unnest.fix(path, tmp_path / "out.h5")
    assert (done.error, done.action) == (None, "fixed")
    base = weights_by_layer(path.with_name(path.name.replace("parallel", "base")))
    assert weights_by_layer(tmp_path / "out.h5") == base
    assert len(base) == 2


#: Keras 2 does not store which way of a Bidirectional is frozen; then names alone tell which weights are whose.
TOLD = [path for path in PARALLEL if "cells" in path.name or path.name.startswith("keras3")]
UNTOLD = [path for path in PARALLEL if path not in TOLD]


@pytest.mark.parametrize("path", TOLD, ids=lambda path: str(path.stem))
def test_without_names(path: Path) -> None:
    """The config shows what is frozen: if shapes leave one reading it is right, else the file is refused."""
    with open_container(str(path)).open(str(path)) as source:
        stored = source.stored
    nameless = tuple(
        group._replace(tensors=tuple(t._replace(name=f"w{k}") for k, t in enumerate(group.tensors)))
        for group in stored.groups
    )
    by_name, by_order = plan(stored), plan(stored._replace(groups=nameless))
    if "cells" in path.name:
        assert by_order.refusal is not None
        assert by_order.refusal.code == "weights-ambiguous"
        return
    assert by_name.result is not None
    assert by_order.result is not None
    refs = [
        [[t.ref for t in group.tensors] for group in each.groups]
        for each in (by_name.result, by_order.result)
    ]
    assert refs[0] == refs[1]


@pytest.mark.parametrize("which", ["parallel", "base"])
@pytest.mark.parametrize("options", [{"to": "keras"}, {"keras": "3"}], ids=str)
@pytest.mark.parametrize("path", UNTOLD, ids=lambda path: str(path.stem))
def test_each_way_gets_its_own(
    path: Path, options: dict[str, Any], which: str, tmp_path: Path
) -> None:
    """In whichever order they are listed."""
    given = Path(
        shutil.copy(path.with_name(path.name.replace("parallel", which)), tmp_path / "m.h5")
    )
    done = unnest.fix(given, tmp_path / "out.keras", **options)
    assert done.error is None
    listed = weights_by_layer(path.with_name(path.name.replace("parallel", "base")))["ways"]
    base = [data for _, _, data in listed]
    forward, backward = (base[3:], base[:3]) if "forward" in path.name else (base[:3], base[3:])
    with zipfile.ZipFile(tmp_path / "out.keras") as archive:
        member = io.BytesIO(archive.read("model.weights.h5"))
    with h5py.File(member) as file:
        held = file["layers/bidirectional"]
        stored = {way: held[f"{way}_layer/cell/vars"] for way in ("forward", "backward")}
        got = {
            way: [group[str(k)][()].tobytes() for k in range(3)] for way, group in stored.items()
        }
    assert got == {"forward": forward, "backward": backward}


@pytest.mark.parametrize("which", ["parallel", "base"])
@pytest.mark.parametrize("options", [{"to": "keras"}, {"keras": "3", "to": "keras"}], ids=str)
@pytest.mark.parametrize("path", TOLD, ids=lambda path: str(path.stem))
def test_another_container_is_refused(
    path: Path, options: dict[str, Any], which: str, tmp_path: Path
) -> None:
    """It has these weights in another order."""
    given = Path(
        shutil.copy(path.with_name(path.name.replace("parallel", which)), tmp_path / "m.h5")
    )
    done = unnest.fix(given, **options)
    # Another container was not asked for, and the .h5 is Keras 3's.
    if "keras3" in path.name and "to" not in options:
        assert done.error is None
        assert done.output is None or done.output.endswith(".h5")
        return
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "cannot-convert")
    assert "holds layers of which some are frozen" in done.error.message
    assert os.listdir(tmp_path) == ["m.h5"]
