"""`.keras` archives and path-keyed `.weights.h5`: weights without their architecture, and `.h5` made `.keras`."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.case import Case, cases, each, each_source, limited
from tests.corpus.compare import layers_of, members_unlike, opened, unlike

ARCHIVES = [
    case for case in cases("keras") if any(s.name.endswith(".weights.h5") for s in case.sources)
]
CONVERSIONS = [case for case in cases("h5") if (case.folder / "base.keras").exists()]

#: What `--to keras` does not reach, and why.
LIMITS = {
    "212-k36-mixed-precision": "Keras stores the state of the optimizer in a LossScaleOptimizer once more, below it",
}


@each_source(ARCHIVES)
def test_weights_alone(case: Case, source: Path, tmp_path: Path) -> None:
    """Without the architecture: the same result, or a question for it."""
    if not source.name.endswith(".weights.h5"):
        pytest.skip("an archive holds its architecture")
    seen = unnest.inspect(source)
    unnest.fix(source, tmp_path / "out.weights.h5")
    if seen.verdict == "parallel":
        assert case.parallel
        assert unlike(tmp_path / "out.weights.h5", source.with_name("base.weights.h5")) == []
    else:
        assert "needs-architecture" in {f.code for f in seen.findings if f.severity == "warning"}
        assert (tmp_path / "out.weights.h5").read_bytes() == source.read_bytes()


@each(CONVERSIONS)
def test_made_keras(case: Case, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """`.h5` to `.keras`: every tensor where the same software puts it, the optimizer's too; the same layers."""
    limited(case, LIMITS, request)
    (source,) = case.sources
    output, base = tmp_path / "out.keras", case.folder / "base.keras"
    made = unnest.fix(source, output, keras="original")
    assert made.action == ("fixed" if case.parallel else "converted")
    assert members_unlike(output, base) == []
    assert layers_of(opened(output).config)[1:] == layers_of(opened(base).config)[1:]


def test_layers_in_code_are_named() -> None:
    """A class that keeps its layers in code is named."""
    (case,) = (c for c in cases("keras") if c.name == "127-parallel-model-class")
    assert {"no-graph", "stored-code"} == {f.code for f in unnest.inspect(case.sources[0]).findings}


def test_tables_name_cases() -> None:
    """No entry outlives its case."""
    assert LIMITS.keys() <= {case.name for case in CONVERSIONS}
