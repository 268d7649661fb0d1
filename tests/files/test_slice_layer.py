"""`--slice-layer CLASS`: the caller vouches for the rows that a custom class takes."""

from __future__ import annotations

import json
from pathlib import Path

from tests import makeh5
from tests.conftest import Cli


def with_class(path: Path, name: str) -> None:
    """A parallel model whose Lambdas are of a custom class that shows nothing."""
    model = makeh5.parallel(makeh5.template())
    for layer in model["config"]["layers"]:
        if layer["class_name"] == "Lambda":
            layer |= {"class_name": name, "config": {"name": layer["name"]}}
    makeh5.write(
        path, model, {"x": [], "lambda_1": [], "lambda_2": [], "tmpl": makeh5.dense(), "d1": []}
    )


def test_vouched_for_it_is_a_wrapper(tmp_path: Path, cli: Cli) -> None:
    """Clean without; with it the same bytes come out as where the slices tell."""
    with_class(tmp_path / "m.h5", "Rows")
    makeh5.parallel_file(tmp_path / "told.h5")
    alone = json.loads(cli("inspect", "m.h5", "--json").stdout)["files"][0]
    assert alone["verdict"] == "clean"
    assert any("--slice-layer Rows" in miss["reason"] for miss in alone["near_misses"])
    assert cli("fix", "m.h5").returncode == 0
    assert not (tmp_path / "m.unnested.h5").exists()

    assert cli("inspect", "m.h5", "--slice-layer", "Rows").returncode == 1
    done = json.loads(cli("fix", "m.h5", "--slice-layer", "Rows", "--json").stdout)["files"][0]
    assert (done["action"], [w["towers"] for w in done["wrappers"]]) == ("fixed", [2])
    assert cli("fix", "told.h5").returncode == 0
    assert (tmp_path / "m.unnested.h5").read_bytes() == (tmp_path / "told.unnested.h5").read_bytes()


def test_another_class_is_not_vouched_for(tmp_path: Path, cli: Cli) -> None:
    """And the option may be given for several."""
    with_class(tmp_path / "m.h5", "Rows")
    assert cli("inspect", "m.h5", "--slice-layer", "Columns").returncode == 0
    assert (
        cli("inspect", "m.h5", "--slice-layer", "Columns", "--slice-layer", "Rows").returncode == 1
    )
