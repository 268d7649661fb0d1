"""SavedModel folders by people who never saw the recogniser: what is said of them, and what is cut out of them.

What the cut graphs serve is asked in tests/slow/test_tensorflow.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.h5compare import differences
from tests.strangers.asking import AsGood, asked, contents, said, told
from unnest.formats.tensorflow import protos

CASES = sorted(p.parent for p in (Path(__file__).parent / "savedmodel").glob("*/case.json"))
WRAPPERS = [c for c in CASES if told(c)["expected"] == "parallel"]

#: What the recogniser does not reach, and why. Everything else is what a user would want, or harmless.
LIMITS: dict[str, str] = {}

#: What comes out otherwise and is as good: which facts, and why.
AS_GOOD: AsGood = {
    "120-two-autoencoders-one-file": ({"wrappers": 1}, "one is told of the two that share a template; both are cut"),
    "121-frozen-constants": ({"parameters": None}, "no variables: which constants are weights is not stored"),
    "123-classify-signature-shared-sub-model": ({"scope": "embedded"}, "a loop decodes images in front, as told"),
    "156-tf210-fixed-batch-signature": ({"action": "refused"}, "the towers take 4 rows and no others, as told"),
}

#: Keras models that `--to h5` does not find.
NO_MODEL = {
    "155-tf215-subclassed-wrapper": "saved is a class of the person's own; what it does with a template is its code's",
}

#: Files below assets/ that are no assets.
STALE = {"assets/saved_model.json": "the architecture of the parallel model, which nothing reads to serve"}


CUT = [c for c in WRAPPERS if c.name not in LIMITS and asked(c, AS_GOOD)["action"] == "fixed"]


@pytest.mark.parametrize("folder", CASES, ids=lambda p: p.name)
def test_what_is_said(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Verdict, towers, scope, the template's size; a look-alike is copied as it is, and no input is touched."""
    if folder.name in LIMITS:
        request.applymarker(pytest.mark.xfail(reason=LIMITS[folder.name], strict=True))
    source = folder / ("parallel" if folder in WRAPPERS else "lookalike")
    before = contents(source)
    made = unnest.fix(source, tmp_path / "out")
    assert said(unnest.inspect(source), made) == asked(folder, AS_GOOD)
    assert contents(source) == before
    if made.action == "unchanged":
        assert contents(tmp_path / "out") == before
    assert (tmp_path / "out").exists() == (made.action != "refused")


@pytest.mark.parametrize("folder", CUT, ids=lambda p: p.name)
def test_what_is_cut(folder: Path, tmp_path: Path) -> None:
    """One MetaGraph with its tags, every signature with its inputs and outputs, the assets; clean for good."""
    case, source, out = told(folder), folder / "parallel", tmp_path / "out"
    made = unnest.fix(source, out)
    graphs = [
        protos.parse("SavedModel", (p / "saved_model.pb").read_bytes(), str(p)).meta_graphs for p in (source, out)
    ]
    (graph,) = graphs[1]
    called = case.get("serving_parallel", case["serving"])
    signature = graph.signatures[called["signature"]]
    assert sorted(graph.info.tags) == sorted(called["tags"])
    assert sorted(k for k in graph.signatures if not k.startswith("__saved_model")) == case["signatures"]
    assert sorted(signature.inputs) == sorted(called["inputs"])
    assert sorted(signature.outputs) == sorted(called["outputs"])
    assert ("metagraphs-left-out" in {f.code for f in made.findings}) == (len(graphs[0]) > 1)
    kept = {name: data for name, data in contents(out).items() if name.startswith("assets")}
    assert kept == {name: (source / name).read_bytes() for name in case.get("assets", []) if name not in STALE}
    assert unnest.fix(out).action == "unchanged"


@pytest.mark.parametrize("folder", CUT, ids=lambda p: p.name)
def test_as_h5(folder: Path, tmp_path: Path) -> None:
    """Where a Keras model is stored: the template as its own software writes it, the optimizer's state included."""
    base, out = folder / "base.h5", tmp_path / "out.h5"
    made = unnest.fix(folder / "parallel", out)
    if not base.exists() or folder.name in NO_MODEL:
        assert made.error is None or made.error.code == "no-architecture"
        return
    assert made.error is None
    assert differences(out, base) == []


def test_tables_name_cases() -> None:
    """No entry outlives its case."""
    assert {*LIMITS, *AS_GOOD, *NO_MODEL} <= {c.name for c in CASES}
