"""Weights alone, with the JSON of their model in the same folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.batch.fix_many import fix_all
from unnest.options import FixOptions
from unnest.report import text_report

#: Weights, and the architecture that was kept with them.
PAIRS = [
    (path, architecture)
    for path in sorted(FIXTURES.glob("*/*json/weights.h5"))
    for architecture in sorted(path.parent.glob("*.json"))
    if architecture.name != "case.json"
]


def place(
    pair: tuple[Path, Path], folder: Path, weights: str = "w.h5", architecture: str = "kept.json"
) -> Path:
    """Copies of both in a folder; the path of the weights."""
    folder.mkdir(exist_ok=True)
    shutil.copy(pair[1], folder / architecture)
    return Path(shutil.copy(pair[0], folder / weights))


def test_there_are_pairs() -> None:
    """Of several stacks."""
    assert len({pair[0] for pair in PAIRS}) >= 5


@pytest.mark.parametrize(
    "pair", PAIRS, ids=lambda pair: f"{pair[0].parent.parent.name}-{pair[0].parent.name}"
)
def test_the_report_names_it(pair: tuple[Path, Path], tmp_path: Path) -> None:
    """With the command; where nothing fits, nothing is named."""
    weights = place(pair, tmp_path / "m")
    kept = str(tmp_path / "m" / "kept.json")
    given = unnest.inspect(weights, architecture=kept)
    codes = {finding.code for finding in given.findings}
    fits = given.error is None and "by-order" not in codes
    report = unnest.inspect(weights, draw=True)
    assert report.architecture_beside in ((kept, None) if fits else (None,))
    if report.architecture_beside is not None:
        assert f"unnest fix {weights} --architecture {kept}" in text_report.render(report)
        result = unnest.fix(weights, keras="3")
        assert result.error is not None
        assert kept in result.error.message


def test_in_a_folder_they_are_taken_together(tmp_path: Path) -> None:
    """As if the architecture had been given."""
    together = 0
    for k, pair in enumerate(PAIRS):
        folder = tmp_path / str(k)
        weights = place(pair, folder)
        if unnest.inspect(weights, draw=True).architecture_beside is None:
            continue
        results = {Path(r.path).name: r for r in fix_all([str(folder)], FixOptions(keras="3"))}
        alone = unnest.fix(
            weights, tmp_path / f"{k}.keras", architecture=folder / "kept.json", keras="3"
        )
        assert results["w.h5"].action == alone.action, pair
        if alone.error is None:
            assert alone.output is not None
            assert results["w.h5"].output == str(folder / "w.unnested.keras")
            assert (folder / "w.unnested.keras").read_bytes() == Path(alone.output).read_bytes()
            together += 1
    assert together >= 3


def test_another_models_json_is_not_taken(tmp_path: Path) -> None:
    """Nor one of two that fit and are called otherwise; of these the one that is called like the weights."""
    pair = next(
        pair
        for k, pair in enumerate(PAIRS)
        if unnest.inspect(place(pair, tmp_path / f"t{k}"), draw=True).architecture_beside
        is not None
    )
    other = json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": []}})
    weights = place(pair, tmp_path / "a", architecture="one.json")
    (tmp_path / "a" / "other.json").write_text(other)
    assert unnest.inspect(weights, draw=True).architecture_beside == str(
        tmp_path / "a" / "one.json"
    )
    place(pair, tmp_path / "a", architecture="two.json")
    assert unnest.inspect(weights, draw=True).architecture_beside is None
    place(pair, tmp_path / "a", architecture="w.json")
    assert unnest.inspect(weights, draw=True).architecture_beside == str(tmp_path / "a" / "w.json")
