"""Names, classes, slice arguments and stored code are evidence only: without them the verdict is the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.property.renaming import Renaming, lambdas, shuffled_slices, told
from tests.property.strategies import SETTINGS, recipes
from tests.property.wrapping import Case, both, cases
from unnest.core.make_plan import plan

SEEDS = st.integers(0, 10**6).map(str)


@SETTINGS
@given(cases(recipes(), namings=("layer", "scope", "no-number")), SEEDS, st.booleans())
def test_renamed_consistently_the_same_comes_out(case: Case, seed: str, worded: bool) -> None:
    """Layers, models, classes and weights under other names, made of the very words that the code knows or of none."""
    renaming = Renaming(seed, worded=worded)
    before, wanted = both(case)
    made = plan(told(before, renaming))
    assert made.result is not None
    assert made.result == told(wanted, renaming)


@SETTINGS
@given(cases(recipes()), SEEDS)
def test_code_of_slices_does_not_matter(case: Case, seed: str) -> None:
    """It is evidence only, beside the arguments of the slices."""
    before, wanted = both(case)
    slices = lambdas(before.architecture) - lambdas(wanted.architecture)
    made = plan(before._replace(architecture=shuffled_slices(before.architecture, seed, slices)))
    assert made.result == wanted
