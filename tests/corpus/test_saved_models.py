"""SavedModel folders: what the cut keeps of signatures, tags and assets, and the Keras model that some of them hold.

What the cut graphs serve is asked in tests/slow/test_tensorflow.py.
"""

from __future__ import annotations

from pathlib import Path

import unnest
from tests.corpus import limits
from tests.corpus.case import Case, cases, contents, each
from tests.h5compare import differences
from unnest.formats.tensorflow import protobuf_messages

PARALLEL = [case for case in cases("saved_model") if case.parallel and "signatures" in case.facts]
CUT = [case for case in PARALLEL if (case.wanted() | limits.otherwise(case))["action"] == "fixed"]

#: Keras models that `--to h5` does not find.
NO_MODEL = {
    "155-tf215-subclassed-wrapper": "saved is a class of the person's own; what it does with a template is its code's",
}

#: Files below assets/ that are no assets.
STALE = {
    "assets/saved_model.json": "the architecture of the parallel model, which nothing reads to serve"
}


@each(CUT)
def test_what_is_cut(case: Case, tmp_path: Path) -> None:
    """One MetaGraph with its tags, every signature with its inputs and outputs, the assets."""
    source, out = case.folder / "parallel", tmp_path / "out"
    made = unnest.fix(source, out)
    graphs = [
        protobuf_messages.parse(
            "SavedModel", (p / "saved_model.pb").read_bytes(), str(p)
        ).meta_graphs
        for p in (source, out)
    ]
    (graph,) = graphs[1]
    called = case.facts.get("serving_parallel", case.facts["serving"])
    signature = graph.signatures[called["signature"]]
    assert sorted(graph.info.tags) == sorted(called["tags"])
    assert (
        sorted(k for k in graph.signatures if not k.startswith("__saved_model"))
        == case.facts["signatures"]
    )
    assert sorted(signature.inputs) == sorted(called["inputs"])
    assert sorted(signature.outputs) == sorted(called["outputs"])
    assert ("metagraphs-left-out" in {f.code for f in made.findings}) == (len(graphs[0]) > 1)
    as_h5 = unnest.fix(source, tmp_path / "out.h5", dry_run=True)
    is_keras = as_h5.error is None or as_h5.error.code != "no-architecture"
    assert ("serves-only" in {f.code for f in made.findings}) == is_keras
    assert "serves-only" not in {f.code for f in as_h5.findings}
    kept = {name: data for name, data in contents(out).items() if name.startswith("assets")}
    assert kept == {
        name: (source / name).read_bytes()
        for name in case.facts.get("assets", [])
        if name not in STALE
    }


@each(CUT)
def test_as_h5(case: Case, tmp_path: Path) -> None:
    """A stored Keras model becomes the template as its own software writes it, optimizer state included."""
    base, out = case.folder / "base.h5", tmp_path / "out.h5"
    made = unnest.fix(case.folder / "parallel", out)
    if not base.exists() or case.name in NO_MODEL:
        assert made.error is None or made.error.code == "no-architecture"
        return
    assert made.error is None
    assert differences(out, base) == []


def test_tables_name_cases() -> None:
    """No entry outlives its case."""
    assert NO_MODEL.keys() <= {case.name for case in PARALLEL}
