"""Completion in shells: a script of each shell's own language, made of what the commands take.

A shell completes by its script alone; no Python is started for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from unnest.cli.app import COMMANDS, PROGRAM, command
from unnest.cli.command import HELP, Command
from unnest.errors import UsageError

BASH = """_unnest() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=
    case ${{COMP_WORDS[COMP_CWORD-1]}} in
{choices}
    *)
        case ${{COMP_WORDS[1]}} in
{options}
        esac
        if [[ $COMP_CWORD -eq 1 ]]; then words="{commands} {program}"
        elif [[ $word != -* ]]; then words=; fi;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _unnest unnest
"""

ZSH = """#compdef unnest
local -a names
case ${{words[CURRENT-1]}} in
{choices}
*)
    case ${{words[2]}} in
{options}
    esac
    if (( CURRENT == 2 )); then names=({commands} {program}); elif [[ $PREFIX != -* ]]; then names=(); fi;;
esac
if (( $#names )); then compadd -- $names; else _files; fi
"""


def current_shell() -> str:
    """Return the name of the user's shell. Raises UsageError for one that has no script."""
    shell = os.path.basename(os.environ.get("SHELL", ""))
    if shell not in SCRIPTS:
        raise UsageError(
            "usage",
            f"completion is for {', '.join(SCRIPTS)}, and not for '{shell}'; name the shell: SHELL=bash unnest ...",
        )
    return shell


def script(shell: str) -> str:
    """Return the script of a shell."""
    return SCRIPTS[shell]()


def install(shell: str) -> str:
    """Write the script to where the shell looks for it, and return what to tell the user. Raises UsageError."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    place, advice = {
        "bash": (
            data / "bash-completion" / "completions" / "unnest",
            "new shells read it (by the package bash-completion)",
        ),
        "fish": (config / "fish" / "completions" / "unnest.fish", "new shells read it"),
        "zsh": (home / ".zfunc" / "_unnest", "in .zshrc, before compinit: fpath+=~/.zfunc"),
    }[shell]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(script(shell), encoding="utf-8")
    except OSError as e:
        raise UsageError("usage", f"{place} cannot be written ({e.strerror})") from None
    return f"written: {place}; {advice}"


def _spellings(of: Command) -> list[str]:
    return [name for option in (*of.options, HELP) for name in option.spellings]


def _choices() -> dict[str, str]:
    """Return option -> its choices, of all commands."""
    return {
        name: " ".join(option.choices)
        for each in map(command, COMMANDS)
        for option in each.options
        for name in option.spellings
        if option.choices
    }


def _bash() -> str:
    return _filled(BASH, 'words="{}"')


def _zsh() -> str:
    return _filled(ZSH, "names=({})")


def _filled(template: str, assignment: str) -> str:
    """Return a script of the shells that have `case`."""

    def cases(rows: Iterable[tuple[str, str]]) -> str:
        return "\n".join(f"    {name}) {assignment.format(words)};;" for name, words in rows)

    return template.format(
        choices=cases(_choices().items()),
        options=cases((name, " ".join(_spellings(command(name)))) for name in COMMANDS),
        commands=" ".join(COMMANDS),
        program=" ".join(_spellings(PROGRAM)),
    )


def _fish() -> str:
    rows = [("__fish_use_subcommand", f"-f -a '{' '.join(COMMANDS)}'")]
    for name, of in (("", PROGRAM), *((name, command(name)) for name in COMMANDS)):
        where = f"__fish_seen_subcommand_from {name}" if name else "__fish_use_subcommand"
        for option in (*of.options, HELP):
            words = [
                f"-{'l' if name[1] == '-' else 's'} {name.lstrip('-')}" for name in option.spellings
            ]
            words += (
                [f"-x -a '{' '.join(option.choices)}'"]
                if option.choices
                else ["-r"]
                if option.metavar
                else []
            )
            rows.append((where, " ".join([*words, "-d", _quoted(option.help)])))
    return "\n".join(f"complete -c unnest -n '{where}' {what}" for where, what in rows)


def _quoted(text: str) -> str:
    """Return a text as fish quotes it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SCRIPTS = {"bash": _bash, "fish": _fish, "zsh": _zsh}
