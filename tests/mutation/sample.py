"""Mutants by cosmic-ray, of one package: a sample, within a budget of time.

    python -m tests.mutation.sample PACKAGE [--minutes 10] [--seed 0]       core/weight_assignment, say

Needs `pip install cosmic-ray`; `nox -s mutation -- PACKAGE` has it. The code is changed in a copy of the tree, in an
order that the seed draws, and the tests of `tests/unit/PACKAGE` must turn red. Prints what survived: code that no unit
test holds.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.mutation.run import copy_of_the_tree

CONFIG = """
[cosmic-ray]
module-path = "unnest/{package}"
timeout = 120.0
excluded-modules = []
test-command = "{python} -B -m pytest -x -q -n0 -p no:cacheprovider tests/unit/{package}"
[cosmic-ray.distributor]
name = "local"
"""


def sample(package: str, minutes: float, seed: int, folder: Path) -> list[tuple[str, str]]:
    """Return (what was changed, `killed` or `survived`) for as many mutants as the budget allows."""
    from cosmic_ray.mutating import mutate_and_test
    from cosmic_ray.work_db import WorkDB, use_db

    config = folder / "mutation.toml"
    config.write_text(CONFIG.format(package=package, python=sys.executable), "utf8")
    session = folder / "mutation.sqlite"
    program = shutil.which("cosmic-ray") or str(Path(sys.executable).with_name("cosmic-ray"))
    subprocess.run([program, "init", config.name, session.name], cwd=folder, check=True)
    command = config.read_text("utf8").split('test-command = "')[1].split('"')[0]
    ends = []
    with use_db(str(session), WorkDB.Mode.open) as work:
        items: list[Any] = sorted(work.work_items, key=lambda item: str(item.mutations))
    random.Random(seed).shuffle(items)  # noqa: S311 - a seed draws the same mutants again
    stop = time.monotonic() + 60 * minutes
    for item in items:
        if time.monotonic() > stop:
            break
        result = mutate_and_test(item.mutations, command, 120.0)
        outcome = result.test_outcome.value if result.test_outcome else "no outcome"
        (mutation,) = item.mutations
        told = f"{mutation.module_path}:{mutation.start_pos[0]} {mutation.operator_name.removeprefix('core/')}"
        ends.append((told, outcome))
    print(f"{len(ends)} of {len(items)} mutants drawn")
    return ends


def main(arguments: list[str]) -> int:
    """Run, and print the survivors and a count."""
    parser = argparse.ArgumentParser(
        description="Mutants of one package by cosmic-ray, within a budget of time."
    )
    parser.add_argument("package", help="below unnest/ and tests/unit/: core/weight_assignment")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="unnest-mutants-") as name:
        folder = Path(name)
        copy_of_the_tree(folder)
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(folder)
        ends = sample(options.package, options.minutes, options.seed, folder)
    killed = sum(outcome == "killed" for _, outcome in ends)
    print("\n".join(f"{outcome}: {told}" for told, outcome in ends if outcome != "killed"))
    print(f"{killed} of {len(ends)} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
