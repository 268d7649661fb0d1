"""Command lines are read as they are written, and what is wrong with one is told in one line."""

from __future__ import annotations

import inspect

import pytest

from unnest.cli import app, parameters
from unnest.cli.command import Argument, Command, Option
from unnest.errors import UsageError


def show(**_: object) -> int:
    """Show values.

    In several
    paragraphs.
    """
    return 0


COMMAND = Command(
    "tool show",
    show,
    Argument("paths", "PATH...", "Files.", str.upper),
    (
        Option(("--number", "-n"), "A number.", "N", convert=parameters.at_least_one, default="1"),
        Option(("--name",), "Several names.", "NAME", is_repeatable=True),
        Option(("--kind",), "One of two.", choices=("one", "two")),
        Option(("--json",), "A flag.", parameter="as_json"),
        Option(("--quiet", "-q"), "Another flag."),
    ),
)
ONE = Command(
    "tool one",
    show,
    Argument("place", "PLACE", "One word."),
    (Option(("--size",), "How many.", "N", is_required=True),),
)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["a", "b"], {"paths": ["A", "B"]}),
        (["a", "--number", "12", "b", "-q"], {"paths": ["A", "B"], "number": 12, "quiet": True}),
        (["-qn3", "a"], {"paths": ["A"], "number": 3, "quiet": True}),
        (["a", "--name=x", "--name", "-y"], {"paths": ["A"], "name": ["x", "-y"]}),
        (["--json", "--", "--json", "-q"], {"paths": ["--JSON", "-Q"], "as_json": True}),
        (["-", ""], {"paths": ["-", ""]}),
        (["--kind", "three", "a"], {"paths": ["A"], "kind": "three"}),
        (["--help"], {"help": True}),
        (["a", "-h", "--json"], {"help": True}),
    ],
)
def test_values_are_read(words: list[str], values: dict[str, object]) -> None:
    """In any order; what is absent is left to the function."""
    assert COMMAND.parse(words) == values


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        (COMMAND, [], "missing argument 'PATH...'; see tool show --help"),
        (COMMAND, ["--jsn", "a"], "no such option --jsn; did you mean --json?"),
        (COMMAND, ["--jso=3", "a"], "no such option --jso; did you mean --json?"),
        (COMMAND, ["--other", "a"], "no such option --other; see tool show --help"),
        (COMMAND, ["-z", "a"], "option -z not recognized; see tool show --help"),
        (COMMAND, ["a", "-n"], "option -n requires argument; see tool show --help"),
        (COMMAND, ["a", "--number", "0"], "--number needs a number, 1 or more"),
        (COMMAND, ["a", "-n", "many"], "--number needs a number, 1 or more"),
        (
            COMMAND,
            ["a", "--json=3"],
            "option --json must not have an argument; see tool show --help",
        ),
        (ONE, ["a", "b", "--size", "3"], "unexpected argument 'b'; see tool one --help"),
        (ONE, ["a"], "missing option --size; see tool one --help"),
    ],
)
def test_wrong_lines_are_refused(command: Command, words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        command.parse(words)
    assert caught.value.message == message


def test_help_is_made_of_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """In two columns, of a terminal's width."""
    monkeypatch.setenv("COLUMNS", "60")
    assert COMMAND.help_page(("More", [("x" * 40, "long")]), end="The end.").splitlines() == [
        "Usage: tool show [OPTIONS] PATH...",
        "",
        "  Show values.",
        "",
        "  In several paragraphs.",
        "",
        "Arguments:",
        "  PATH...  Files.  [required]",
        "",
        "Options:",
        "  -n, --number N  A number.  [default: 1]",
        "  --name NAME     Several names.",
        "  --kind one|two  One of two.",
        "  --json          A flag.",
        "  -q, --quiet     Another flag.",
        "  -h, --help      Show this message and exit.",
        "",
        "More:",
        f"  {'x' * 40}",
        f"{'':34}long",
        "",
        "  The end.",
    ]


@pytest.mark.parametrize("name", app.COMMANDS)
def test_a_command_takes_what_its_function_takes(name: str) -> None:
    """Every option is a parameter, and every parameter can be given; a default that is shown is the function's."""
    command = app.command(name)
    parameters_of = inspect.signature(command.run).parameters
    assert command.argument is not None
    assert {command.argument.parameter, *(each.name for each in command.options)} == set(
        parameters_of
    )
    for option in command.options:
        default = parameters_of[option.name].default
        assert option.is_required == (default is inspect.Parameter.empty)
        assert not option.default or option.default == str(default)
        assert option.value or default is False
