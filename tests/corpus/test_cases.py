"""The runner of the corpus: every case but the checkpoints, which have tests of their own.

What comes out is what the author of the case asks for (`case.json`); what is not reached, or comes out otherwise and
does no harm, stands in `limits.py`, each with its reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus import limits
from tests.corpus.case import Case, cases, contents, each_source, limited, said, suffixes
from tests.corpus.compare import tensor_bytes, unlike

CASES = cases("h5", "keras", "saved_model")


@each_source(CASES)
def test_what_comes_out(
    case: Case, source: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Verdict, towers, scope, the template's size; the base bit for bit; a look-alike as it is; the input untouched."""
    limited(case, limits.LIMITS, request)
    before, out, architecture = (
        contents(source),
        tmp_path / f"out{suffixes(source)}",
        case.architecture(source),
    )
    made = unnest.fix(source, out, architecture=architecture)
    wanted = case.wanted() | limits.otherwise(case)
    facts = said(unnest.inspect(source, architecture=architecture), made)
    assert {key: facts[key] for key in wanted} == wanted
    assert contents(source) == before
    assert out.exists() == (made.action != "refused")
    if made.action == "unchanged":
        assert contents(out) == before
    if made.action == "fixed":
        base = case.base(source)
        assert (
            base is None
            or case.name in limits.OTHER_FILE
            or unlike(out, base, flat=is_flat(source, case)) == []
        )
        assert unnest.fix(out).action == "unchanged"


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in limits.INLINE], ids=lambda case: case.name
)
def test_no_weight_is_lost(case: Case, tmp_path: Path) -> None:
    """Every weight of a base whose layers around it have other names."""
    unnest.fix(case.folder / "parallel.h5", out := tmp_path / "out.h5")
    assert not tensor_bytes(case.folder / "base.h5") - tensor_bytes(out)


def is_flat(source: Path, case: Case) -> bool:
    """Return True if weight names are the only evidence."""
    return source.name == "weights.h5" and case.architecture(source) is None


def test_limits_are_cases() -> None:
    """No entry outlives its case."""
    assert {*limits.LIMITS, *limits.AS_GOOD, *limits.OTHER_FILE} <= {case.name for case in CASES}
