"""Look-alikes of a wrapper are clean, whatever the model inside."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from tests.property.lookalikes import FLAWS, Flaw, lookalike
from tests.property.strategies import SETTINGS, recipes
from tests.property.wrapping import Case, cases, saved
from unnest.core.make_plan import plan


@pytest.mark.parametrize("flaw", FLAWS)
@SETTINGS
@given(case=cases(recipes(depth=1), where=("whole",), levels=1))
def test_a_lookalike_is_clean(case: Case, flaw: Flaw) -> None:
    """It computes something else than its template would."""
    assume(case.wraps[0].towers > 1)
    made = plan(saved(case, lookalike(case, flaw)))
    assert (made.verdict, made.result, made.refusal) == ("clean", None, None)
