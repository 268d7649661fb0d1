"""Run the slow cases of the fault suite, one after the other, and see how each ends.

    python -m tests.faults.run [WORD...] [--record]

Exit 0: every case passed. Takes one to two minutes a case; `python -m tests.figures.security` writes the figures down.
"""

from __future__ import annotations

import argparse
import compileall
import datetime as dt
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.figures import FOLDER, recorded

ROOT = Path(__file__).parents[2]
SLOW = ("-m", "slow", "-q", "-n0", "-p", "no:cacheprovider", "-W", "ignore")


def cases() -> list[str]:
    """Every slow case, as pytest names it: the disk's first, then the memory's."""
    command = [sys.executable, "-m", "pytest", *SLOW, "--collect-only", "tests/faults"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return re.findall(r"^\S+::\S+$", run.stdout, re.MULTILINE)


def passes(case: str) -> bool:
    """Return True if a command succeeds; its output goes to stdout."""
    return (
        subprocess.run(
            [sys.executable, "-m", "pytest", *SLOW, case], cwd=ROOT, check=False
        ).returncode
        == 0
    )


def keep(case: str, *, passed: bool) -> None:
    """Add to how cases ended."""
    figures = recorded("faults")
    figures[case] = {"day": dt.datetime.now(dt.timezone.utc).date().isoformat(), "passed": passed}
    (FOLDER / "faults.json").write_text(
        json.dumps(dict(sorted(figures.items())), indent=1) + "\n", "utf8"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run, and print a line a case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "words", metavar="WORD", nargs="*", help="only cases with one of these words in their names"
    )
    parser.add_argument(
        "--record", action="store_true", help="keep how each ended, and when, in tests/figures"
    )
    asked = parser.parse_args(arguments)
    # Installed programs are compiled, and CPython takes a lack of memory within its compiler for a syntax error.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(ROOT / "unnest", quiet=1)
    failed = 0
    for case in [
        case for case in cases() if not asked.words or any(word in case for word in asked.words)
    ]:
        passed = passes(case)
        failed += not passed
        print(f"{case}: {'passed' if passed else 'FAILED'}", flush=True)
        if asked.record:
            keep(case, passed=passed)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
