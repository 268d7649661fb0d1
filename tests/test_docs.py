"""The documents say what there is, nothing that is gone, and what they show works."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import textwrap
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

from tests import doc_blocks
from tests.corpus.unpacked import FIXTURES
from unnest.cli.parameters import TARGETS
from unnest.core.model import Verdict
from unnest.core.recognition_results import Confidence, Scope
from unnest.findings import Code
from unnest.signals_and_exit_codes import EXITS

ROOT = Path(__file__).parents[1]
COMMANDS = (ROOT / "docs" / "commands.md").read_text()
OPTIONS = (ROOT / "docs" / "cli.md").read_text()
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()
FINDINGS = (ROOT / "docs" / "findings.md").read_text()
ERRORS = (ROOT / "docs" / "error-codes.md").read_text()
README = (ROOT / "README.md").read_text()

#: Terms in the sentences and hints of findings that are not every practitioner's.
TERMS_OF_FINDINGS = {
    "architecture", "compile settings", "frozen", "mask", "nested model", "optimizer state",
    "parallel model", "serving graph", "template", "tower", "weights alone", "wrapper",
}  # fmt: skip

#: Callables whose first argument is an error's code.
RAISERS = {
    "Unreadable",
    "Refused",
    "Failed",
    "UsageError",
    "Refusal",
    "Problem",
    "OverBudget",
    "_refuse",
    "Foreign",
}


def options_of(command: str) -> set[str]:
    """Every option that --help shows."""
    done = subprocess.run(
        [sys.executable, "-m", "unnest", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(
        re.findall(
            r"(?<![\w-])--?[a-z][a-z-]*", done.stdout.split("Options:")[1].split("Commands:")[0]
        )
    )


def error_codes() -> set[str]:
    """Every code that the source raises or refuses with."""
    found = set()
    for path in (ROOT / "unnest").rglob("*.py"):
        if path.is_relative_to(ROOT / "unnest" / "keras"):
            continue
        tree = ast.parse(path.read_text())
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args:
                name = (
                    node.func.attr
                    if isinstance(node.func, ast.Attribute)
                    else getattr(node.func, "id", "")
                )
                code = (
                    constants.get(node.args[0].id)
                    if isinstance(node.args[0], ast.Name)
                    else node.args[0]
                )
                if name in RAISERS and isinstance(code, ast.Constant):
                    found.add(str(code.value))
    return found


@pytest.mark.parametrize("command", ["inspect", "fix", "balance"])
def test_commands_and_options(command: str) -> None:
    """All of them are in the table, under the right command."""
    section = OPTIONS.partition(f"\n## unnest {command}\n")[2].partition("\n## ")[0]
    if command != "balance":
        section += OPTIONS.partition("\n## Options of inspect and fix\n")[2].partition("\n## ")[0]
    told = {
        option
        for cell in re.findall(r"^\| `(-.*?)` \|", section, re.MULTILINE)
        for option in cell.split(", ")
    }
    assert options_of(command) - {"-h", "--help"} == {option.split()[0] for option in told}


def test_other_options() -> None:
    """Those of no command."""
    section = OPTIONS.partition("\n## unnest\n")[2].partition("\n## ")[0]
    told = " ".join(re.findall(r"^\| `(-.*?)` \|", section, re.MULTILINE)).replace(",", "").split()
    assert options_of("") - {"-h", "--help"} == set(told)


def test_details_are_of_options() -> None:
    """The reference adds details to existing options only."""
    source = (ROOT / "scripts" / "make_pages.py").read_text(encoding="utf-8")
    (details,) = re.findall(r"^DETAILS = \{\n(.*?)^\}", source, re.MULTILINE | re.DOTALL)
    named = set(re.findall(r'^    "(?:unnest \w+ )?(--[\w-]+)":', details, re.MULTILINE))
    assert named <= {
        option for command in ("inspect", "fix", "balance") for option in options_of(command)
    }


def test_targets() -> None:
    """The documents list the targets of --to."""
    (row,) = (line for line in OPTIONS.splitlines() if line.startswith("| `--to "))
    assert [t for t in TARGETS if t not in row] == []


def test_exit_codes() -> None:
    """One row per code."""
    rows = re.findall(r"^\| (\d+) \|", COMMANDS, re.MULTILINE)
    assert [int(r) for r in rows] == sorted(EXITS)


def test_findings() -> None:
    """An entry per finding with its severity, a line of the index for each, and no other."""
    severities = {code.name.lower().replace("_", "-"): code.severity for code in Code}
    assert dict(re.findall(r"^## ([a-z-]+)\n\n\*(\w+)\*$", FINDINGS, re.MULTILINE)) == severities
    index = re.findall(
        r"^\| \[`([a-z-]+)`\]\(#([a-z-]+)\) \| (\w+) \| .+ \|$", FINDINGS, re.MULTILINE
    )
    assert [(code, code, severities[code]) for code in sorted(severities)] == index


def test_glossary() -> None:
    """A term stands once, in order; what reports answer with stands there, and terms of findings do."""
    terms = re.findall(r"^\| \*\*(.+?)\*\*", GLOSSARY, re.MULTILINE)
    assert terms == sorted({*terms}, key=lambda term: term.replace(" ", "").lower())
    answers = {*get_args(Verdict), *get_args(Confidence), *get_args(Scope)}
    assert {word for word in answers if not re.search(rf"\b{word}\b", GLOSSARY)} == set()
    defined = " ".join(re.findall(r"\*\*(.+?)\*\*", GLOSSARY))
    assert {term for term in TERMS_OF_FINDINGS if not re.search(rf"\b{term}\b", defined)} == set()
    sentences = " ".join(" ".join(code.value) for code in Code)
    assert {word for word in TERMS_OF_FINDINGS if word not in sentences} == set()


def test_errors() -> None:
    """A place in a table per error code, and no other."""
    rows = re.findall(r"^\| (`.*?) \|", ERRORS, re.MULTILINE)
    told = [code for row in rows for code in re.findall(r"`([a-z0-9-]+)`", row)]
    assert len(told) == len(set(told))
    assert set(told) == error_codes()


def test_readme_python(tmp_path: Path) -> None:
    """The example runs as it stands, from the repository."""
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    code = code.replace('"clean.h5"', repr(str(tmp_path / "clean.h5")))
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    assert (tmp_path / "clean.h5").exists()


def test_readme_commands(tmp_path: Path) -> None:
    """The first fix is typed as it stands; all others are known to the parser."""
    lines = [c.split("#")[0].strip() for c in re.findall(r"^\$ (.*)$", README, re.MULTILINE)]
    (first,) = (
        line.split(" && ")[1] for line in lines if line.startswith("pip install . && unnest")
    )
    _, *args, output = first.split()
    done = subprocess.run(
        [sys.executable, "-m", "unnest", *args, str(tmp_path / output)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    typed = [*lines, *re.findall(r"`(unnest [^`]+)`", README)]
    commands = [line.split()[1:] for line in typed if line.startswith("unnest ")]
    assert len(commands) >= 5
    for command, *rest in commands:
        assert {o for o in rest if o.startswith("-")} <= options_of(command)


def test_readme_is_a_door() -> None:
    """A visitor reads it in three minutes: one picture before the first command, and at most 600 words."""
    assert len(README.split()) <= 600
    picture = re.search(r'<img src="(docs/pictures/[^"]+\.svg)" width="\d+" alt="[^"]+">', README)
    assert picture
    assert picture.start() < README.index("```console")
    assert (ROOT / picture[1]).exists()


@pytest.mark.parametrize("page", doc_blocks.PAGES, ids=lambda page: page.stem)
def test_console_blocks(page: Path) -> None:
    """Every command of a page prints what the page says: python -m tests.doc_blocks."""
    shown = [*doc_blocks.blocks(page)]
    assert shown
    for told, done in shown:
        assert doc_blocks.agrees(told, done), done


def words_of_users() -> dict[str, int]:
    """Words of each page of the site, but for those of developers; a word has a letter or a digit."""
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = set(
        re.findall(r"([\w/-]+\.md)$", site.partition("- For developers:")[0], re.MULTILINE)
    ) - {"gallery.md"}
    assert len(pages) > 40
    texts = {
        page: (ROOT / "docs" / page).read_text(encoding="utf-8").rpartition("\n---\n")[2]
        for page in pages
    }
    return {
        page: sum(re.search(r"\w", word) is not None for word in text.split())
        for page, text in texts.items()
    }


def test_users_read_little() -> None:
    """Users' pages stay within some 25,000 words without the gallery; a page is read in minutes."""
    words = words_of_users()
    assert sum(words.values()) <= 26_500
    lists = {"findings.md", "usages.md"}
    assert {
        page: count for page, count in words.items() if count > 1100 and page not in lists
    } == {}


def test_pages_of_errors_are_run() -> None:
    """Each has a command that shows what it speaks of, and a place in the list and in the site."""
    listed = (ROOT / "docs" / "errors" / "index.md").read_text(encoding="utf-8")
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [page for page in (ROOT / "docs" / "errors").glob("*.md") if page.stem != "index"]
    assert len(pages) >= 14
    for page in pages:
        assert page in doc_blocks.PAGES
        assert f"({page.name})" in listed
        assert f"errors/{page.name}" in site


def test_api_page(tmp_path: Path) -> None:
    """Its example runs on a real file, and what it documents exists."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    shutil.copy(FIXTURES / "k224" / "official-cnn-adam" / "parallel.h5", tmp_path / "model.h5")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    page += (ROOT / "docs" / "api-keras.md").read_text(encoding="utf-8")
    for name in re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE):
        module, _, member = name.rpartition(".")
        if module.startswith("unnest.keras") and find_spec("tensorflow") is None:
            continue
        assert hasattr(import_module(module), member), name


@pytest.mark.parametrize("engine", ["ray", "pyspark"])
def test_other_engines(engine: str, tmp_path: Path) -> None:
    """Their examples run where they are installed."""
    if find_spec(engine) is None:
        pytest.skip(f"{engine} is not installed")
    blocks = re.findall(
        r"```python\n(.*?)```",
        (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    (code,) = (block for block in blocks if engine in block)
    for name in ("base", "parallel"):
        shutil.copy(FIXTURES / "k224" / "official-cnn-adam" / f"{name}.h5", tmp_path)
    program = tmp_path / "program.py"
    # Workers have folders of their own.
    paths = [str(tmp_path / f"{name}.h5") for name in ("base", "parallel")]
    program.write_text(f"paths = {paths}\n{code}")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, program],
        cwd=tmp_path,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.stdout.splitlines()[-2:] == [f"{paths[0]} clean None", f"{paths[1]} parallel None"]


def test_readme_sets_up_in_two_commands() -> None:
    """One block to paste: two commands do all the set-up, one installs and fixes. Another installs and tests."""
    first, *_ = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    *setup, use = first.splitlines()
    assert len(setup) == 2
    assert use.startswith("$ pip install . && unnest fix ")
    assert "$ pip install -e '.[test]' && pytest\n" in README


def test_links() -> None:
    """Every local link leads somewhere."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for link in re.findall(r"\]\(([^):#\s]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def named_paths(page: Path) -> set[str]:
    """Paths of the repository that a page names: whole ones, and below a heading of `unnest/` those inside it."""
    text = page.read_text(encoding="utf-8")
    whole = re.findall(r"`((?:unnest|tests|scripts|benchmarks|fixtures|packaging)/[\w./-]*)`", text)
    inside = re.findall(r"`((?:cli|batch|formats|report|files|core|keras|remote)/[\w./]*)`", text)
    commands = re.findall(r"(?<![\w/])((?:tests|scripts)/[\w/]+(?:\.\w+)?)", text)
    return {*whole, *(f"unnest/{path}" for path in inside), *commands}


#: What the recipes have a reader write.
TO_BE_WRITTEN = {"unnest/formats/npz.py"}


@pytest.mark.parametrize(
    "page",
    ["docs/contributing.md", "docs/architecture.md", "docs/recognition.md", "CONTRIBUTING.md"],
)
def test_pages_for_developers_name_what_there_is(page: str) -> None:
    """Files and folders have not moved since the page was written."""
    gone = {path for path in named_paths(ROOT / page) if not (ROOT / path).exists()}
    assert gone - TO_BE_WRITTEN == set()


def test_the_recipe_for_a_variant_runs() -> None:
    """Its program makes the model that it speaks of."""
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^   ```python\n(.*?)^   ```", page, re.DOTALL | re.MULTILINE)
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, check=True)
