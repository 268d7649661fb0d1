"""`.keras` archives and path-keyed `.weights.h5` files by people who never saw the recogniser; `.h5` made `.keras`."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest

import unnest
from tests.h5compare import differences
from tests.strangers.asking import AsGood, asked, said, told

CASES = sorted(p.parent for p in (Path(__file__).parent / "zip").glob("*/case.json"))
FILES = sorted(f for c in CASES for stem in ("parallel", "model") for f in c.glob(f"{stem}.*") if f.suffix != ".json")
SOURCES = [c / "source.h5" for c in CASES if (c / "source.h5").exists()]
CLEAN = sorted(f for c in CASES for f in (*c.glob("base.*"), *c.glob("expected.*")))

#: What is not reached, and why. Everything else is what a user would want, or harmless.
LIMITS = {
    "119-subclassed-template-custom-merge": "what the project's own merge layer does is in code, and that is not said",
    "206-k315-preprocessing": ".h5 does not say in which module an operation (GetItem) lies",
    "212-k36-mixed-precision": ".h5 does not say in which module an operation (Cast) lies",
}

#: What comes out otherwise and is as good: which facts, and why.
LEFT_ALONE = {"verdict": "clean", "wrappers": 0, "action": "unchanged"} | dict.fromkeys(
    ("towers", "scope", "parameters")
)
AS_GOOD: AsGood = {
    "113-spectral-timedistributed-mixed": (
        {"parameters": 164},
        "SpectralNormalization stores its layer's kernel twice, and the file does not say that they are one",
    ),
    "116-interleaved-stack-reshape": (
        LEFT_ALONE,
        "rows woven together by stack and reshape: no concatenation, as told",
    ),
    "127-parallel-model-class": (
        LEFT_ALONE,
        "a class that keeps its layers in code: there is no graph, and that is said",
    ),
    "150-tf215-lambda-closure-spectral": ({"parameters": 293}, "as in 113"),
}

#: Weights without an architecture whose names fit two readings: refused.
TWO_READINGS = {
    "140-tfk-lambda-arguments-frozen-cnn": "the template was compiled, so that metrics lie beside its layers"
}


def by_name(_: str, found: Any, wanted: Any) -> bool:  # noqa: ANN401 - JSON is any
    """`adam`, and an Adam."""
    return isinstance(found, str) and isinstance(wanted, dict) and wanted["class_name"].lower() == found.lower()


def scaled(_: str, found: Any, wanted: Any) -> bool:  # noqa: ANN401
    """An optimizer, and the same inside a LossScaleOptimizer."""
    return isinstance(wanted, dict) and bool(wanted["config"].get("inner_optimizer") == found)


def wrapped(_: str, found: Any, wanted: Any) -> bool:  # noqa: ANN401
    """`[x, 0, 0]`, and a list of that."""
    return bool([found] == wanted)


def named_twice(place: str, found: Any, wanted: Any) -> bool:  # noqa: ANN401
    """`mae`, and `depth_mae` for the output `depth`."""
    output = place.removeprefix(".compile_config.metrics.").split("[", maxsplit=1)[0]
    return bool(wanted == f"{output}_{found}")


def numbers(_: str, found: Any, wanted: Any) -> bool:  # noqa: ANN401
    """Any two, or none."""
    return all(isinstance(v, int | Missing) for v in (found, wanted))


#: Differences between the config.json of what came out and of the base that are the base's: where, which, and why.
IGNORED: tuple[tuple[str, Callable[[str, Any, Any], bool], str], ...] = (
    (r".*\.shared_object_id", numbers, "addresses in the writer's memory"),
    (r"\.compile_config\.optimizer", by_name, "the wrapper was compiled by name, the base with the optimizer of that"),
    (r"\.compile_config\.optimizer", scaled, "the same: mixed precision had put a LossScaleOptimizer around it"),
    (r"\.config\.input_layers", wrapped, "whether a person called Model with an input or with a list of one"),
    (r"\.compile_config\.metrics\..*\.config\.name", named_twice, "compile renames the metric; the base used it again"),
)


class Missing:
    """No value under this key."""

    def __repr__(self) -> str:
        return "missing"


class Opened(NamedTuple):
    """What is compared of a file."""

    tensors: dict[str, tuple[str, tuple[int, ...], bytes]]
    config: Any
    members: dict[str, bytes]


def opened(path: Path) -> Opened:
    """An archive, or weights alone."""
    if path.suffix != ".keras":
        return Opened(tensors(path), None, {})
    with zipfile.ZipFile(path) as archive:
        members = {n: archive.read(n) for n in archive.namelist() if n not in {"model.weights.h5", "config.json"}}
        version = json.loads(members["metadata.json"])["keras_version"]
        members["metadata.json"] = str(version).encode()  # the rest is the date
        weights = tensors(io.BytesIO(archive.read("model.weights.h5")))
        return Opened(weights, json.loads(archive.read("config.json")), members)


def tensors(file: Path | io.BytesIO) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """By path; not the states of metrics, which in the base are those of an evaluation of its own."""
    found = {}

    def keep(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith("metrics/"):
            data = np.asarray(item[()])
            text = item.dtype.kind == "O"
            found[name] = (str(item.dtype), item.shape, repr(data.tolist()).encode() if text else data.tobytes())

    with h5py.File(file) as f:
        f.visititems(keep)
    return found


def unlike(found: Path, wanted: Path) -> list[str]:
    """What distinguishes two files that should be one: tensors, members; and the config where both are archives."""
    return [*shape_unlike(found, wanted), *json_unlike(opened(found).config, opened(wanted).config)]


def shape_unlike(found: Path, wanted: Path) -> list[str]:
    """The same without the config."""
    a, b = opened(found), opened(wanted)
    told_of = [f"tensor {n}" for n in sorted({*a.tensors, *b.tensors}) if a.tensors.get(n) != b.tensors.get(n)]
    return told_of + [f"member {n}" for n in sorted({*a.members, *b.members}) if a.members.get(n) != b.members.get(n)]


def json_unlike(a: Any, b: Any, place: str = "") -> list[str]:  # noqa: ANN401
    """Where two documents differ, by path."""
    if type(a) is type(b) and json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True):
        return []
    if any(re.fullmatch(where, place) and same(place, a, b) for where, same, _ in IGNORED):
        return []
    if isinstance(a, dict) and isinstance(b, dict):
        keys = sorted({*a, *b})
        return [t for k in keys for t in json_unlike(a.get(k, Missing()), b.get(k, Missing()), f"{place}.{k}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [t for k, (x, y) in enumerate(zip(a, b, strict=True)) for t in json_unlike(x, y, f"{place}[{k}]")]
    return [f"{place}: {str(a)[:60]} != {str(b)[:60]}"]


def layers(config: Any) -> list[Any]:  # noqa: ANN401
    """Class and name of every layer, nested models included."""
    inner = config["config"]
    below = inner.get("layers", []) if isinstance(inner, dict) else []
    return [config["class_name"], inner.get("name"), [layers(entry) for entry in below]]


def named(file: Path) -> str:
    """`101-lambda-arguments-own-input/parallel.keras`."""
    return f"{file.parent.name}/{file.name}"


def architecture(file: Path) -> Path | None:
    """What was kept beside weights."""
    return file.parent / "model.json" if file.name.endswith(".weights.h5") else None


def limited(file: Path, request: pytest.FixtureRequest) -> None:
    """What is not reached must fail."""
    if file.parent.name in LIMITS:
        request.applymarker(pytest.mark.xfail(reason=LIMITS[file.parent.name], strict=True))


@pytest.mark.parametrize("file", FILES, ids=named)
def test_what_comes_out(file: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """What is said of it; the base, bit for bit; a look-alike as it is."""
    limited(file, request)
    output, before = tmp_path / ("out" + "".join(file.suffixes)), file.read_bytes()
    made = unnest.fix(file, output, architecture=architecture(file))
    assert said(unnest.inspect(file, architecture=architecture(file)), made) == asked(file.parent, AS_GOOD)
    assert file.read_bytes() == before
    if made.action == "unchanged":
        assert output.read_bytes() == before
        return
    base = file.with_name(file.name.replace("parallel", "base"))
    assert (differences if file.suffixes == [".h5"] else unlike)(output, base) == []
    assert unnest.fix(output).action == "unchanged"


@pytest.mark.parametrize("file", [f for f in FILES if architecture(f)], ids=named)
def test_weights_alone(file: Path, tmp_path: Path) -> None:
    """Without the architecture: the same result, or a question for it."""
    seen, made = unnest.inspect(file), unnest.fix(file, tmp_path / "out.weights.h5")
    if file.parent.name in TWO_READINGS:
        assert made.error is not None
        assert made.error.code == "ambiguous"
    elif seen.verdict == "parallel":
        assert told(file.parent)["expected"] == "parallel"
        assert unlike(tmp_path / "out.weights.h5", file.with_name("base.weights.h5")) == []
    else:
        assert "needs-architecture" in {f.code for f in seen.findings if f.severity == "warning"}
        assert (tmp_path / "out.weights.h5").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("file", SOURCES, ids=named)
def test_made_keras(file: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """`.h5` to `.keras`: every tensor where the same software puts it, the optimizer's too; the same layers."""
    limited(file, request)
    output, expected = tmp_path / "out.keras", file.with_name("expected.keras")
    made = unnest.fix(file, output)
    assert made.action == ("converted" if told(file.parent)["expected"] == "clean" else "fixed")
    assert shape_unlike(output, expected) == []
    assert layers(opened(output).config)[1:] == layers(opened(expected).config)[1:]


@pytest.mark.parametrize("file", CLEAN, ids=named)
def test_bases_are_clean(file: Path) -> None:
    """What should come out would be left alone."""
    assert unnest.inspect(file).verdict == "clean"


def test_layers_in_code_are_named() -> None:
    """Where a class keeps its layers in code, that is said."""
    (file,) = (f for f in FILES if f.parent.name == "127-parallel-model-class")
    assert {"no-graph", "stored-code"} == {f.code for f in unnest.inspect(file).findings}


def test_tables_name_cases() -> None:
    """No entry outlives its case."""
    assert {*LIMITS, *AS_GOOD, *TWO_READINGS} <= {c.name for c in CASES}
