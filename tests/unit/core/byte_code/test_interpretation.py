"""What an interpretation need not answer: without `branches` nobody may ask."""

from __future__ import annotations

import pytest

from tests.unit.core.byte_code.python_itself import Branching, Straight
from unnest.core.byte_code.interpretation import NotFollowed


def test_straight_code_has_no_conditions_and_no_imports() -> None:
    straight = Straight({"tensorflow": "tf"})
    assert not straight.branches
    for ask in (lambda: straight.truth(value=True), lambda: straight.module("tensorflow")):
        with pytest.raises(NotFollowed, match="beyond plain expressions"):
            ask()


def test_who_follows_branches_answers() -> None:
    branching = Branching({"tensorflow": "tf"})
    assert (branching.truth(3), branching.module("tensorflow")) == (True, "tf")
