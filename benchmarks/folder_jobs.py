"""`inspect` or `fix` of folders of small files with one process and with two: interleaved medians.

    python benchmarks/folder_jobs.py [--command fix] [--files 100 600 5000] [--rounds 5] [--folder DIR]

Prints a line for each number of files, and leaves with 1 where two processes take longer than one by more than
TOLERANCE.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import models
from run import taking_turns

from tests.corpus.unpacked import FIXTURES

#: Bytes of the largest file that is copied.
SMALL = 100_000

#: What medians of the same command differ by on a machine that has other work.
TOLERANCE = 1.05


def fill(folder: Path, count: int) -> None:
    """Copy so many small genuine models, and rename each, so that no two are the same."""
    genuine = [path for path in sorted(FIXTURES.rglob("*.h5")) if path.stat().st_size < SMALL]
    for number in range(count):
        models.renamed(
            Path(shutil.copy(genuine[number % len(genuine)], folder / f"{number:06}.h5")), number
        )


def run(command: str, folder: Path, jobs: int) -> None:
    """Run `inspect` or `fix` on the folder; what `fix` writes is removed."""
    output = folder.parent / f"{folder.name}-fixed"
    options = {"inspect": ["--json-lines"], "fix": ["--output", str(output)]}
    words = [sys.executable, "-m", "unnest", command, str(folder), *options[command]]
    done = subprocess.run(
        [*words, "--jobs", str(jobs)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    shutil.rmtree(output, ignore_errors=True)
    if done.returncode not in (0, 1, 2):  # 1: parallel models; 2: some that cannot be read
        sys.exit(f"{' '.join(words)} ended with {done.returncode}")


def main() -> None:
    """Measure each folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--command", choices=["inspect", "fix"], default="inspect")
    parser.add_argument("--files", type=int, nargs="+", default=[100, 600, 5000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    is_slower = False
    for count in asked.files:
        with tempfile.TemporaryDirectory(dir=asked.folder) as name:
            fill(Path(name), count)
            tasks = {
                f"{jobs}": (lambda jobs=jobs: run(asked.command, Path(name), jobs))
                for jobs in (1, 2)
            }
            medians = {
                jobs: statistics.median(times)
                for jobs, times in taking_turns(tasks, asked.rounds).items()
            }
        is_slower = is_slower or medians["2"] > medians["1"] * TOLERANCE
        print(
            f"{count} files: {medians['1']:.2f} s with one process, {medians['2']:.2f} s with two"
        )
    sys.exit(int(is_slower))


if __name__ == "__main__":
    main()
