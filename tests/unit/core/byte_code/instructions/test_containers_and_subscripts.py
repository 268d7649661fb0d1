"""Lists grow where nothing else refers to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.byte_code.test_machine import (
    CODE,
    CONST,
    DUP,
    EXTEND,
    FAST,
    LIST,
    RETURN,
    ROT_TWO,
    STORE,
    run,
)
from unnest.core.model import Unknown


class TestLists:
    """A list that grows is a new value here: nothing else may hold the old one."""

    MADE = replace(CODE, constants=((1, 2), 3))

    def test_a_list_grows_where_it_is_made(self) -> None:
        code = (LIST, 0, CONST, 0, EXTEND, 1, CONST, 0, EXTEND, 1, RETURN, 0)
        assert run(*code, version="3.9", made=self.MADE) == [1, 2, 1, 2]

    @pytest.mark.parametrize(
        "code",
        [
            (LIST, 0, STORE, 1, FAST, 1, CONST, 0, EXTEND, 1, RETURN, 0),
            (LIST, 0, DUP, 0, STORE, 1, CONST, 0, EXTEND, 1, RETURN, 0),
            (LIST, 0, CONST, 0, ROT_TWO, 0, CONST, 0, EXTEND, 1, RETURN, 0),
            (LIST, 0, CONST, 0, CONST, 0, EXTEND, 2, RETURN, 0),
            (CONST, 0, CONST, 0, EXTEND, 1, RETURN, 0),
        ],
        ids=[
            "a local holds it",
            "a copy of it is kept",
            "it was moved",
            "a list further down",
            "a tuple",
        ],
    )
    def test_anywhere_else_it_ends(self, code: tuple[int, ...]) -> None:
        with pytest.raises(Unknown, match=r"^a list that grows$"):
            run(*code, version="3.9", made=self.MADE)
