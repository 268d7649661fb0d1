"""Every genuine .h5: the fix is what the same stack saved directly; what looks alike stays as it is.

A new fixture is a new folder: everything here is found by its file names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import differences, names_of
from tests.judged import check_verdict

#: Single-device models of all kinds, and graphs that resemble a wrapper and are not.
ALIKE = ("lookalike.h5", "clean.h5", "clean_weights.h5")


def cases(*names: str) -> list[Any]:
    """A parameter per fixture file of one of these names."""
    found = sorted(
        p
        for name in names
        for p in FIXTURES.glob(f"*/*/{name}")
        if (p.parent / "case.json").exists()
    )
    # A container of its own, with tests of its own.
    found = [p for p in found if "tfjs" not in p.parts]
    return [pytest.param(p, id=str(p.relative_to(FIXTURES))) for p in found]


def architecture_of(path: Path) -> Path | None:
    """The JSON that was kept beside weights."""
    return next(
        (p for n in ("model.json", "template.json") if (p := path.with_name(n)).exists()), None
    )


def test_there_are_fixtures() -> None:
    """A glob that finds nothing would pass everything."""
    assert len(cases("parallel.h5")) >= 100
    assert len(cases("weights.h5")) >= 10
    assert len(cases(*ALIKE)) >= 10


@pytest.mark.parametrize("path", cases("parallel.h5"))
def test_models(path: Path, tmp_path: Path) -> None:
    """Config, layers, weights, optimizer and settings: all as the base has them."""
    output = tmp_path / "out.h5"
    result = unnest.fix(path, output)
    assert result.error is None
    assert result.action == "fixed"
    assert differences(output, path.with_name("base.h5")) == []
    seen_as_expected(path, result)
    check_verdict(unnest.inspect(output), "clean")


@pytest.mark.parametrize("path", cases("parallel.h5"))
def test_weights_of_a_model(path: Path, tmp_path: Path) -> None:
    """The result equals the base below `model_weights`, attributes included, as `save_weights` writes both."""
    output = tmp_path / "out.h5"
    assert unnest.fix(path, output, to="weights").error is None
    with h5py.File(output) as found, h5py.File(path.with_name("base.h5")) as base:
        assert set(found.attrs) - {"unnest"} == set(base["model_weights"].attrs)
        assert tensors(found) == tensors(base["model_weights"])


@pytest.mark.parametrize("path", [p for p in cases("weights.h5") if architecture_of(p.values[0])])
def test_weights_with_an_architecture(path: Path, tmp_path: Path) -> None:
    """Either JSON does: the parallel model's, or the template's."""
    output = tmp_path / "out.h5"
    result = unnest.fix(path, output, architecture=architecture_of(path))
    assert result.error is None
    assert differences(output, path.with_name("base_weights.h5")) == []


@pytest.mark.parametrize(
    "path", [p for p in cases("weights.h5") if not architecture_of(p.values[0])]
)
def test_weights_alone(path: Path, tmp_path: Path) -> None:
    """A flat model: every tensor of the base, bit for bit, under a layer that owns it; a finding says so."""
    output = tmp_path / "out.h5"
    result = unnest.fix(path, output)
    if result.error is not None:
        assert result.action == "refused"
        assert "--architecture" in result.error.message
        return
    # How often it was wrapped does not show, and how many towers there were only where there were slice layers.
    told = json.loads(path.with_name("case.json").read_text())["expected"]
    assert result.verdict == told["verdict"]
    assert result.wrappers[0].towers in (told["wrappers"][0]["towers"], None)
    assert "weightless-left-out" in [f.code for f in result.findings]
    with h5py.File(output) as found, h5py.File(path.with_name("base_weights.h5")) as base:
        assert tensors(found) == tensors(base)


@pytest.mark.parametrize("path", [case for case in cases("model.json") if "tfjs" not in case.id])
def test_architectures(path: Path, tmp_path: Path) -> None:
    """The parallel model's JSON becomes the template's."""
    output = tmp_path / "out.json"
    result = unnest.fix(path, output)
    assert result.error is None
    found, wanted = (json.loads(p.read_text()) for p in (output, path.with_name("base.json")))
    assert found == wanted


@pytest.mark.parametrize("path", cases(*ALIKE))
def test_look_alikes(path: Path, tmp_path: Path) -> None:
    """Clean, and left alone; with an output, copied byte for byte."""
    before = path.read_bytes()
    report = unnest.inspect(path)
    assert (report.verdict, report.error, report.wrappers) == ("clean", None, ())
    result = unnest.fix(path, tmp_path / "out.h5")
    assert (result.action, result.error) == ("unchanged", None)
    assert (tmp_path / "out.h5").read_bytes() == before == path.read_bytes()


@pytest.mark.parametrize("path", cases("stub.h5"))
def test_stubs(path: Path) -> None:
    """An empty file is not called damaged."""
    report = unnest.inspect(path)
    assert report.error
    assert report.error.code == "stub"


def seen_as_expected(path: Path, report: unnest.Report) -> None:
    """The wrappers that the fixture's own notes name, as far as they do."""
    expected = json.loads(path.with_name("case.json").read_text())["expected"]
    assert report.verdict == expected["verdict"]
    found = [
        {
            "depth": w.depth,
            "merge": list(w.merge),
            "name": w.name,
            "scope": w.scope,
            "template": w.template,
            "towers": w.towers,
        }
        for w in report.wrappers
    ]
    assert found == expected["wrappers"]


def tensors(file: h5py.File) -> dict[str, bytes]:
    """Name -> bytes of every weight, whichever layer lists it."""
    return {
        name: file[layer][name][()].tobytes()
        for layer in names_of(file, "layer_names")
        for name in names_of(file[layer], "weight_names")
    }
