"""What a command takes, as data: a command line is read by it, and the help is made of it.

Words and options come in any order, as in `unnest inspect a.h5 --json b.h5`; behind `--` everything is a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from getopt import GetoptError, gnu_getopt
from typing import Any, NamedTuple

from unnest.errors import UsageError

HELP_WIDTH = 78
NAMES_WIDTH = 30
"""Columns of a page of help, and of the names in it beside which the text begins."""


class Argument(NamedTuple):
    """The words of a command that belong to no option: one, or several if the metavar ends in dots."""

    parameter: str
    metavar: str
    help: str
    convert: Callable[[str], str] = str


class Option(NamedTuple):
    """An option: a flag if it has neither a metavar nor choices.

    `spellings`: the long one first. `parameter`: the function's, if it is not the long spelling. `convert` raises
    ValueError with what the option needs. `default` is for the help; the function has the value.
    """

    spellings: tuple[str, ...]
    help: str
    metavar: str = ""
    parameter: str = ""
    choices: tuple[str, ...] = ()
    convert: Callable[[str], object] = str
    default: str = ""
    is_required: bool = False
    is_repeatable: bool = False

    @property
    def value(self) -> str:
        """What follows the option; empty for a flag."""
        return self.metavar or "|".join(self.choices)

    @property
    def usage(self) -> str:
        """How the option is written, the short spelling first, with its value."""
        return " ".join(filter(None, (", ".join(sorted(self.spellings, key=len)), self.value)))

    @property
    def name(self) -> str:
        """The parameter of the command's function."""
        return self.parameter or self.spellings[0][2:].replace("-", "_")


HELP = Option(("--help", "-h"), "Show this message and exit.")


class Command(NamedTuple):
    """How a command is called, the function that it runs, and what it takes: by name, the function's parameters."""

    name: str
    run: Callable[..., int]
    argument: Argument | None
    options: tuple[Option, ...]

    @property
    def help(self) -> str:
        """The text of the command's function."""
        lines = (self.run.__doc__ or "").strip().splitlines()
        return "\n".join(line.strip() for line in lines)

    @property
    def usage(self) -> str:
        """How the command is called."""
        return f"{self.name} [OPTIONS] {self.argument.metavar if self.argument else 'COMMAND [ARGS]...'}"

    def parse(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the values of a command line by parameter; `help` alone if it asks for that. Raises UsageError."""
        by_spelling = {name: each for each in (*self.options, HELP) for name in each.spellings}
        given = dict[str, Any]()
        options, rest = self._split(words, by_spelling)
        for spelling, text in options:
            option = by_spelling[spelling]
            value = _converted(option, text) if option.value else True
            given[option.name] = (
                [*given.get(option.name, ()), value] if option.is_repeatable else value
            )
        if HELP.name in given:
            return {HELP.name: True}
        if self.argument is not None:
            given[self.argument.parameter] = self._argument(self.argument, rest)
        for option in self.options:
            if option.is_required and option.name not in given:
                raise self._wrong(f"missing option {option.spellings[0]}")
        return given

    def _split(
        self, words: Sequence[str], by_spelling: Mapping[str, Option]
    ) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the options of a command line, each with its text, and the other words. Raises UsageError."""
        for word in words[: [*words, "--"].index("--")]:
            name = word.partition("=")[0]
            if (
                name.startswith("--") and name not in by_spelling
            ):  # getopt takes beginnings of names
                raise self._wrong(f"no such option {name}", nearest(name, by_spelling))
        short = [f"{n[1]}{':' if o.value else ''}" for n, o in by_spelling.items() if n[1] != "-"]
        long = [f"{n[2:]}{'=' if o.value else ''}" for n, o in by_spelling.items() if n[1] == "-"]
        try:
            return gnu_getopt([*words], "".join(short), long)
        except GetoptError as error:
            raise self._wrong(error.msg) from None

    def _argument(self, argument: Argument, words: Sequence[str]) -> list[str] | str:
        """Return the value of the argument. Raises UsageError."""
        if not words:
            raise self._wrong(f"missing argument '{argument.metavar}'")
        values = [*map(argument.convert, words)]
        if argument.metavar.endswith("..."):
            return values
        if len(values) > 1:
            raise self._wrong(f"unexpected argument '{words[1]}'")
        return values[0]

    def _wrong(self, message: str, meant: str | None = None) -> UsageError:
        return wrong_usage(message, self.name, meant)

    def help_page(self, *more: tuple[str, Sequence[tuple[str, str]]], end: str = "") -> str:
        """Return what `--help` shows; `more` are tables, each with its title, `end` the last paragraph."""
        words = (
            [(self.argument.metavar, f"{self.argument.help}  [required]")] if self.argument else []
        )
        options = [(each.usage, each.help + _note(each)) for each in (*self.options, HELP)]
        lines = [f"Usage: {self.usage}", "", *_paragraphs(self.help)]
        for title, rows in (("Arguments", words), ("Options", options), *more):
            lines += ["", f"{title}:", *_table(rows)] if rows else []
        return "\n".join([*lines, *(["", *_paragraphs(end)] if end else [])])


def wrong_usage(message: str, command: str, meant: str | None = None) -> UsageError:
    """Return the error of a command line, with what may have been meant, or where help is."""
    return UsageError(
        "usage", f"{message}; {f'did you mean {meant}?' if meant else f'see {command} --help'}"
    )


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that a mistyped one is most like; None without one."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, 1, 0.7)), None)


def _converted(option: Option, text: str) -> object:
    """Return an option's value. Raises UsageError."""
    try:
        return option.convert(text)
    except ValueError as needed:
        raise UsageError("usage", f"{option.spellings[0]} {needed}") from None


def _note(option: Option) -> str:
    return (
        "  [required]"
        if option.is_required
        else f"  [default: {option.default}]"
        if option.default
        else ""
    )


def _width() -> int:
    from shutil import get_terminal_size

    return max(50, min(get_terminal_size().columns - 2, HELP_WIDTH))


def _paragraphs(text: str) -> list[str]:
    """Return a text in lines of the page's width."""
    from textwrap import wrap

    paragraphs = [
        wrap(each, _width(), initial_indent="  ", subsequent_indent="  ")
        for each in text.split("\n\n")
    ]
    return [line for each in paragraphs for line in ("", *each)][1:]


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Return rows of a name and a text in two columns; a name that is too long has a line of its own."""
    from textwrap import wrap

    width = min(NAMES_WIDTH, max(len(name) for name, _ in rows)) + 2
    lines = list[str]()
    for name, text in rows:
        first, *others = wrap(text, _width() - width - 2)
        lines += (
            [f"  {name:{width}}{first}"]
            if len(name) <= width - 2
            else [f"  {name}", f"{'':{width + 2}}{first}"]
        )
        lines += [f"{'':{width + 2}}{line}" for line in others]
    return lines
