"""Values of a command line have their types, whichever release of typer converts the others."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from typer.core import TyperCommand
from typer.main import get_command

from unnest.cli.skip_startup_work import TypedValues


class _Command(TypedValues, TyperCommand):
    """A command as the program has them."""


def upper_case(paths: list[str]) -> list[str]:
    return [path.upper() for path in paths]


def parse(*words: str) -> list[object]:
    """Return the values that a command is called with."""
    values: list[object] = []
    app = typer.Typer()

    @app.command(cls=_Command)
    def show(
        paths: Annotated[list[str], typer.Argument(callback=upper_case)],
        number: Annotated[int, typer.Option(min=1)] = 1,
        names: Annotated[list[str] | None, typer.Option("--name")] = None,
        place: Annotated[str | None, typer.Option()] = None,
        flag: Annotated[bool, typer.Option("--flag")] = False,
    ) -> None:
        values.extend([paths, number, list(names or ()), place, flag])

    get_command(app)([*words], standalone_mode=False)
    return values


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["a", "b"], [["A", "B"], 1, [], None, False]),
        (["a", "--number", "12", "--flag"], [["A"], 12, [], None, True]),
        (["a", "--name", "x", "--name", "y", "--place", "3"], [["A"], 1, ["x", "y"], "3", False]),
    ],
)
def test_values_have_their_types(words: list[str], values: list[object]) -> None:
    """Absent ones are defaults, numbers are converted, callbacks are called."""
    assert parse(*words) == values


@pytest.mark.parametrize("words", [[], ["a", "--number", "0"], ["a", "--number", "many"]])
def test_wrong_values_are_refused(words: list[str]) -> None:
    """By the parser, in its words."""
    with pytest.raises(Exception, match=r".") as caught:
        parse(*words)
    assert hasattr(caught.value, "format_message")
