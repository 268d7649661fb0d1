"""The table of broken rules stays true of the code; that each is noticed is run by `python -m tests.mutation.run`."""

from __future__ import annotations

import pytest

from tests.mutation.rules import RULES, Broken
from tests.mutation.run import PAGE, ROOT, page


@pytest.mark.parametrize("broken", RULES, ids=lambda broken: broken.rule)
def test_a_rule_stands_where_the_table_says(broken: Broken) -> None:
    """Its code is there once, and what stands there instead compiles."""
    code = (ROOT / "unnest" / broken.file).read_text("utf8")
    assert code.count(broken.old) == 1
    compile(code.replace(broken.old, broken.new), broken.file, "exec")
    assert all((ROOT / path.partition("::")[0]).exists() for path in broken.tests.split())


def test_the_page_is_what_its_command_writes() -> None:
    """Nothing in it is changed by hand."""
    assert PAGE.read_text("utf8") == page()
