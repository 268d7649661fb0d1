"""Habits of command lines: completion, versions, suggestions, a hook, progress, and a way to report."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

from tests.conftest import Cli
from unnest import __version__, pre_commit
from unnest.cli import app, bug_report

ROOT = Path(__file__).parents[1]


def test_made_pages_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """The manual page and the reference say what the program takes: python scripts/make_pages.py."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    for path, make in import_module("make_pages").PAGES.items():
        assert path.read_text(encoding="utf-8") == make(), path


@pytest.mark.parametrize("name", app.COMMANDS)
def test_a_run_makes_the_one_command_that_it_needs(name: str) -> None:
    """And that one as it is among all; whatever else the first word is, all of them are there to choose from."""
    every, alone = (typer.main.get_command(app.program(words)) for words in ([], [name, "m.h5"]))
    assert (set(every.commands), set(alone.commands)) == (set(app.COMMANDS), {name})  # type: ignore[attr-defined]
    every, alone = (each.commands[name] for each in (every, alone))  # type: ignore[attr-defined]
    assert every.get_help(typer.Context(every)) == alone.get_help(typer.Context(alone))
    for words in ([f"{name}s"], ["-v", name], [f"./{name}"]):
        assert set(typer.main.get_command(app.program(words)).commands) == set(app.COMMANDS)  # type: ignore[attr-defined]


def test_versions() -> None:
    """Every dependency, and no path, user or host."""
    told = "\n".join(bug_report.versions())
    metadata = (ROOT / "pyproject.toml").read_text()
    (needed,) = re.findall(r"^dependencies = \[(.*?)^\]", metadata, re.DOTALL | re.MULTILINE)
    for name in re.findall(r'"([\w-]+)>', needed):
        assert re.search(rf"^{name} \d", told, re.MULTILINE)
    assert told.startswith(f"unnest {__version__}\nPython ")
    assert os.path.expanduser("~") not in told


def test_version_verbose(cli: Cli) -> None:
    """With -v, in either order."""
    assert cli("--version").stdout == f"unnest {__version__}\n"
    assert cli("--version", "-v").stdout == cli("-v", "--version").stdout
    assert len(cli("--version", "-v").stdout.splitlines()) > 8


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("inspct m.h5", "'inspect'"),
        ("inspect --jsno m.h5", "--json"),
        ("fix --inplace m.h5", "--in-place"),
        ("m.h5", "unnest: m.h5: say what to do with it: unnest inspect m.h5 or unnest fix m.h5"),
    ],
)
@pytest.mark.usefixtures("bad")
def test_what_was_meant(args: str, told: str, cli: Cli) -> None:
    """A mistyped command or option is answered with the one that was meant."""
    done = cli(*args.split())
    assert done.returncode == 2
    assert told in done.stderr


#: The program under its own name, wherever it is installed.
UNNEST = [
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'unnest'; from unnest.__main__ import main; main()",
]


def test_completion(tmp_path: Path) -> None:
    """Installed into the shell's own file, and completing commands, options and values."""
    # The shell is named: there need not be one among the processes that run the tests.
    home = {
        **os.environ,
        "HOME": str(tmp_path),
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    subprocess.run(
        [*UNNEST, "--install-completion", "bash"], env=home, capture_output=True, check=True
    )
    assert "_UNNEST_COMPLETE" in (tmp_path / ".bash_completions" / "unnest.sh").read_text(
        encoding="utf-8"
    )
    for words, expected in (
        ("unnest in", "inspect"),
        ("unnest fix --to sa", "saved_model"),
        ("unnest fix --ver", "--verify"),
    ):
        asked = {
            **home,
            "_UNNEST_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        done = subprocess.run(UNNEST, env=asked, capture_output=True, text=True, check=False)
        assert expected in done.stdout.split()


def test_an_internal_error_tells_what_to_paste(
    bad: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that says where, and the versions once; no traceback."""

    def broken(*_: object) -> object:
        raise KeyError("nobody\nknows")

    monkeypatch.setattr("unnest.report.batch_text.row", broken)
    monkeypatch.setattr(sys, "argv", ["unnest", "inspect", str(bad), str(bad)])
    assert app.run() == 2
    told = capsys.readouterr().err
    assert "internal error (KeyError: 'nobody\\nknows' at unnest." in told
    assert told.count("Please paste the line above and these into the issue:") == 1
    assert f"    unnest {__version__}\n" in told
    assert "Traceback" not in told


def test_the_hook(
    bad: Path, clean: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Parallel models fail it, all else passes; what could not be read is named."""
    other = tmp_path / "data.txt"
    other.write_bytes(b"no model at all")
    torn = tmp_path / "torn.h5"
    torn.write_bytes(bad.read_bytes()[:2000])
    assert pre_commit.main([str(clean), str(other)]) == 0
    assert capsys.readouterr().out == ""
    assert pre_commit.main([str(torn)]) == 0
    assert capsys.readouterr().out.startswith(f"not checked: {torn}: ")
    assert pre_commit.main([str(clean), str(bad)]) == 1
    assert capsys.readouterr().out == (
        f"{bad}: a multi-GPU parallel model (2 towers of tmpl); run: unnest fix --in-place {bad}\n"
    )


def on_a_terminal(code: str) -> str:
    """Return what a Python program shows on a terminal of its own."""
    child, fd = pty.fork()
    if child == 0:  # pragma: no cover - the child
        os.execv(sys.executable, [sys.executable, "-c", code])  # noqa: S606 - Python itself
    shown = b""
    while select.select([fd], [], [], 30)[0]:
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.waitpid(child, 0)
    return shown.decode()


@pytest.mark.skipif(not hasattr(pty, "fork"), reason="no terminals to make here")
def test_progress_is_for_terminals(bad: Path) -> None:
    """A bar with rate and time left while much is copied, which leaves nothing behind; none with -q."""
    loaded = "import sys; from unnest.cli import app, progress"
    code = (
        f"{loaded}; progress.LONG = progress.OFTEN = 0; sys.argv = ['unnest', 'fix', {str(bad)!r}"
    )
    loud = on_a_terminal(f"{code}]; sys.exit(app.run())")
    assert "━" in loud
    assert "fixed" in loud
    bad.with_name("m.unnested.h5").unlink()
    quiet = on_a_terminal(f"{code}, '-q']; sys.exit(app.run())")
    assert quiet == ""


def test_no_message_names_an_index_for_unnest() -> None:
    """The package is in none: what is missing is installed by the names that an index has."""
    sources = {
        path: path.read_text("utf-8") for path in Path(pre_commit.__file__).parent.rglob("*.py")
    }
    assert [
        str(path) for path, text in sources.items() if re.search(r"pip install '?unnest", text)
    ] == []
