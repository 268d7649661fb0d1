"""Messages: one line that says what was found, where, and what to do, in sentences that one can take in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import unnest
from tests import messages

#: Words of the longest sentence.
MOST = 20
#: What says what to do: a verb in the imperative, or what is possible instead.
ADVICE = re.compile(
    r"\b(pass|copy|use|name|save|unpack|unzip|install|check|see|did you mean|choose|drop|add|make|run|call|give|end it|"
    r"do not trust|must|needs a number|say what|only --to|restore|is something like|reads it|load it)\b"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the commands name."""
    path = tmp_path_factory.mktemp("messages")
    messages.make(path)
    return path


@pytest.mark.parametrize("command", messages.COMMANDS)
def test_a_message(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, exit code 2; it names a path or option of the command, and what to do; no sentence is long."""
    monkeypatch.chdir(folder)
    code, lines = messages.run(command)
    assert (code, len(lines)) == (2, 1), lines
    start, _, message = lines[0].partition(": ")
    assert start == "unnest"
    words = [word.strip("'").partition("/")[0] for word in command.split()] + ["PATH"]
    assert any(word in message for word in words), message
    assert ADVICE.search(message), message
    assert max(map(len, sentences(message))) <= MOST, message


def sentences(message: str) -> list[list[str]]:
    """The words of each sentence, what stands in brackets apart."""
    return [part.split() for part in re.split(r"[.;:]\s|[()]", message)]


ERRORS = {"Unreadable", "Refused", "Failed", "UsageError", "Refusal", "CannotConvert", "refused", "NoCounterpart",
          "Ambiguous", "Different", "NotAGraph", "Unknown", "Problem", "ValueError", "TypeError",
          "ImportError"}  # fmt: skip


def texts() -> Iterator[tuple[str, str]]:
    """Every message that is raised, as far as the code shows it, with its place; a value that is put in is one word."""
    root = Path(unnest.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name in ERRORS:
                yield f"{path.relative_to(root)}:{node.lineno}", written(node.args[-1])


def written(node: ast.expr) -> str:
    """The text of an expression."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(written, parts))
        case ast.BinOp(left=left, right=right):
            return written(left) + written(right)
        case _:
            return "x"


def test_no_sentence_of_a_message_is_long() -> None:
    """Wherever one is raised, those that no command provokes too."""
    found = [*texts()]
    assert len(found) > 400
    assert [(place, text) for place, text in found if max(map(len, sentences(text))) > MOST] == []
