"""Questions that a domain need not answer: without `branches` they are not asked."""

from __future__ import annotations

import pytest

from tests.unit.core.byte_code.python_itself import Branching, Straight
from unnest.core.model import Unknown


def test_straight_code_has_no_conditions() -> None:
    straight = Straight({})
    assert not straight.branches
    with pytest.raises(Unknown, match="beyond plain expressions"):
        straight.truth(value=True)


def test_who_follows_branches_answers() -> None:
    branching = Branching({"tensorflow": "tf"})
    assert (branching.truth(3), branching.module("tensorflow")) == (True, "tf")
