"""Break every rule of rules.py, one at a time, in a copy of the tree, and see which tests turn red.

    python -m tests.mutation.run [WORD...]        only rules with one of these words in them
    python -m tests.mutation.run --record         and keeps what was seen, in tests/figures and in docs/guards.md

Exit 0: every broken rule turned one of its tests red. Takes a few seconds a rule.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.corpus.store import CACHE
from tests.figures import FOLDER, record, recorded
from tests.mutation.rules import RULES, Broken

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/guards.md"
#: Seconds after which a test never ends.
PATIENCE = 400
COPIED = ("unnest", "tests", "pyproject.toml", "README.md", "docs")
LINKED = ("fixtures",)


def copy_of_the_tree(folder: Path) -> None:
    """The tree in `folder`; what is only read there is a link."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)


def red(folder: Path, broken: Broken) -> str | None:
    """The first test that turns red, or never ends, with the rule broken; None where all stay green."""
    path = folder / "unnest" / broken.file
    code = path.read_text("utf8")
    path.write_text(code.replace(broken.old, broken.new), "utf8")
    try:
        alone = ("-q", "-x", "-n0", "-p", "no:cacheprovider")
        command = [sys.executable, "-B", "-m", "pytest", *alone, *broken.tests.split()]
        # Tests that run the command line shall run this tree's.
        env = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "UNNEST_CASES": str(CACHE),
        }
        run = subprocess.run(
            command,
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return f"{broken.tests.split()[0]} does not end"
    finally:
        path.write_text(code, "utf8")
    failed = [
        line.partition(" ")[2]
        for line in run.stdout.splitlines()
        if line.startswith(("FAILED ", "ERROR "))
    ]
    return failed[0].partition(" - ")[0].partition("[")[0] if failed else None


def keep(noticed: dict[str, str]) -> None:
    """Add to what was seen of the rules that there are, and write its page."""
    known = recorded("mutation")["noticed"] if (FOLDER / "mutation.json").exists() else {}
    known |= noticed
    record("mutation", {"noticed": {b.rule: known[b.rule] for b in RULES if b.rule in known}})
    PAGE.write_text(page(), "utf8")


def page() -> str:
    """docs/guards.md: each rule, where it stands, and the test that turned red without it."""
    seen = recorded("mutation")
    rows = [(b.rule, b.file, seen["noticed"][b.rule]) for b in RULES if b.rule in seen["noticed"]]
    table = "\n".join(
        f"| {rule} | `{file}` | `{test.removeprefix('tests/')}` |" for rule, file, test in rows
    )
    return f"""---
search:
  boost: 0.2
---

# Mutation tests: guards broken on purpose

Each rule of this table was taken out of the code, and a test turned red. `python -m tests.mutation.run --record` does
it again and writes this page; the last time for {len(rows)} of {len(RULES)} rules ({seen["day"]}).

| rule | below `unnest/` | test that turned red, below `tests/` |
|---|---|---|
{table}
"""


def main(arguments: list[str]) -> int:
    """Run, and print a line a rule."""
    parser = argparse.ArgumentParser(
        description="Break every rule, one at a time, and see which tests turn red."
    )
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="only rules with one of these words in them"
    )
    parser.add_argument(
        "--record", action="store_true", help="keep what is seen, and write docs/guards.md"
    )
    options = parser.parse_args(arguments)
    chosen = [
        b for b in RULES if not options.words or any(word in b.rule for word in options.words)
    ]
    survived = 0
    with tempfile.TemporaryDirectory(prefix="unnest-mutation-") as name:
        folder = Path(name)
        copy_of_the_tree(folder)
        for broken in chosen:
            test = red(folder, broken)
            survived += test is None
            print(f"{broken.rule}: {test or 'NOTHING'}", flush=True)
            if options.record and test:
                keep({broken.rule: test})
    print(f"\n{len(chosen) - survived} of {len(chosen)} turned a test red", file=sys.stderr)
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
