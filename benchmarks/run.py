"""Costs that the design promises, measured: interleaved medians, only the standard library and HDF5.

    python benchmarks/run.py [--megabytes 512] [--rounds 5] [--folder DIR]

Prints one line per promise, and leaves with 1 where one does not hold.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import models

from unnest.core.model import Stored

PEAK = """
import atexit, re, sys
def tell():
    status = open("/proc/self/status").read()
    print("peak", re.search(r"VmHWM:\\s*(\\d+)", status)[1], file=sys.stderr)
atexit.register(tell)
sys.argv = ["unnest", *sys.argv[1:]]
from unnest.__main__ import main
main()
"""


def interleaved(tasks: Mapping[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """The median seconds of each task in `taking_turns`."""
    return {name: statistics.median(times) for name, times in taking_turns(tasks, rounds).items()}


def taking_turns(tasks: Mapping[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """The seconds of each task; they take turns in changing order, so that a busy machine is unfair to none.

    The first round is not counted: it fills the caches, the compiled modules among them.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    order = random.Random(0)  # noqa: S311 - the same every time
    for turn in range(rounds + 1):
        for name, task in order.sample(sorted(tasks.items()), len(tasks)):
            start = time.perf_counter()
            task()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def unnest(*args: str | Path, code: int = 0) -> Callable[[], None]:
    """A run of the command."""

    def run() -> None:
        done = subprocess.run(
            [sys.executable, "-m", "unnest", *map(str, args)], capture_output=True, check=False
        )
        if done.returncode != code:
            raise SystemExit(done.stderr.decode())

    return run


def peak(*args: str | Path) -> float:
    """Megabytes that a run of the command held at most."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    found = re.search(r"^peak (\d+)$", done.stderr, re.MULTILINE)
    return int(found[1]) / 1024 if found else float("nan")


def planned(stored: Stored) -> Callable[[], None]:
    """Recognition and plan alone."""
    from unnest.budget import Budget, limited
    from unnest.core.make_plan import plan

    def run() -> None:
        with limited(Budget.of("", 0, trust=True)):  # within which nothing is worked out twice
            plan(stored)

    return run


class Promises:
    """Lines of the result, and whether all of them held."""

    def __init__(self) -> None:
        self.held = True

    def note(self, what: str, value: float, limit: float, unit: str) -> None:
        """One line."""
        ok = value <= limit
        self.held &= ok
        print(
            f"{'ok  ' if ok else 'MISS'} {what}: {value:.2f} {unit} (at most {limit:g})", flush=True
        )


def fixing(promises: Promises, folder: Path, megabytes: int, rounds: int) -> None:
    """`fix` against `cp` and sync; memory at two sizes."""
    large, small = folder / "large.h5", folder / "small.h5"
    models.parallel_file(large, megabytes << 20)
    models.parallel_file(small, 16 << 20)
    output = folder / "output.h5"

    def copy() -> None:
        subprocess.run(["cp", large, output], check=True)  # noqa: S607
        with output.open("rb") as file:
            os.fsync(file.fileno())
        output.unlink()

    def fix() -> None:
        unnest("fix", large, "-o", output)()
        output.unlink()  # counted for both

    seconds = interleaved({"cp + sync": copy, "fix": fix}, rounds)
    seconds["start-up"] = interleaved(
        {"start-up": unnest("fix", small, "-o", output, "--force")}, rounds
    )["start-up"]
    print(f"     {megabytes} MiB: " + ", ".join(f"{n} {s:.2f} s" for n, s in seconds.items()))
    converting(promises, large, folder / "today.keras", rounds)
    promises.note(
        "fix, read-back included, over cp + sync",
        seconds["fix"] / seconds["cp + sync"],
        1.25,
        "times",
    )
    if Path("/proc/self/status").exists():
        memory = {p.name: peak("fix", p, "-o", output, "--force") for p in (small, large)}
        promises.note("peak memory of fix", memory["large.h5"], 150, "MiB")
        promises.note(
            "  and more than for a small file", memory["large.h5"] - memory["small.h5"], 8, "MiB"
        )


def converting(promises: Promises, large: Path, output: Path, rounds: int) -> None:
    """`fix --keras 3` against `fix --to keras`: the same bytes into the same container."""

    def fix(*options: str) -> Callable[[], None]:
        def run() -> None:
            unnest("fix", large, "-o", output, *options)()
            output.unlink()

        return run

    seconds = interleaved(
        {"--to keras": fix("--to", "keras"), "--keras 3": fix("--keras", "3")}, rounds
    )
    promises.note(
        "fix --keras 3 over fix --to keras",
        seconds["--keras 3"] / seconds["--to keras"],
        1.1,
        "times",
    )


def inspecting(promises: Promises, folder: Path, rounds: int) -> None:
    """`inspect` against importing h5py, and of a large file against a small one."""

    def h5py_alone() -> None:
        subprocess.run([sys.executable, "-c", "import h5py"], check=True)

    tasks: dict[str, Callable[[], None]] = {
        "h5py": h5py_alone,
        "small": unnest("inspect", folder / "small.h5", code=1),
        "large": unnest("inspect", folder / "large.h5", code=1),
    }
    seconds = interleaved(tasks, 4 * rounds)
    print("     " + ", ".join(f"{n} {1000 * s:.0f} ms" for n, s in seconds.items()))
    promises.note(
        "inspect over python -c 'import h5py'", seconds["small"] / seconds["h5py"], 1.6, "times"
    )
    promises.note(
        "inspect of a large file over a small one",
        seconds["large"] / seconds["small"],
        1.1,
        "times",
    )


def recognising(promises: Promises, rounds: int) -> None:
    """Layers and levels: ten times as much takes about ten times as long."""
    for what, make, sizes in (
        ("layers", models.stored_with_layers, (1000, 10_000)),
        ("levels", models.stored_with_levels, (10, 100)),
    ):
        seconds = interleaved({str(n): planned(make(n)) for n in sizes}, rounds)
        print(f"     {what}: " + ", ".join(f"{n} {s:.3f} s" for n, s in seconds.items()))
        few, many = seconds.values()
        promises.note(f"recognition, ten times the {what}", many / few, 15, "times")


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--folder",
        type=Path,
        default=None,
        help="where the large files go; a real disk, not a tmpfs",
    )
    asked = parser.parse_args()
    # Whoever measures start-up measures compiled modules, on both sides.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    folder = Path(tempfile.mkdtemp(prefix="unnest-benchmark-", dir=asked.folder))
    promises = Promises()
    try:
        fixing(promises, folder, asked.megabytes, asked.rounds)
        inspecting(promises, folder, asked.rounds)
        recognising(promises, asked.rounds)
    finally:
        shutil.rmtree(folder)
    sys.exit(not promises.held)


if __name__ == "__main__":
    main()
