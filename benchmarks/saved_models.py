"""The cost of a SavedModel of a gigabyte.

    python benchmarks/saved_models.py [--megabytes 1024] [--rounds 5] [--folder DIR]

A genuine SavedModel, made wide. Prints one line per promise, and leaves with 1 where one does not hold.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from run import Promises, interleaved, peak, unnest
from wide_saved_model import FIXTURE, wide_saved_model


def synced(model: Path) -> None:
    """A file, or everything in a folder, on the disk."""
    for path in (model, *model.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def measure(folder: Path, megabytes: int, rounds: int) -> Promises:
    """Time against importing h5py and against cp -r; memory at two sizes."""
    promises = Promises()
    large, small, output = folder / "large", folder / "small", folder / "output"
    shutil.copytree(FIXTURE, small)
    wide_saved_model(large, megabytes << 20)

    def copy() -> None:
        subprocess.run(["cp", "-r", large, output], check=True)  # noqa: S607
        synced(output)
        shutil.rmtree(output)

    def fix() -> None:
        unnest("fix", large, "-o", output)()
        shutil.rmtree(output)

    def h5py_alone() -> None:
        subprocess.run([sys.executable, "-c", "import h5py"], check=True)

    seconds = interleaved({"cp -r + sync": copy, "fix": fix}, rounds)
    print(f"     {megabytes} MiB: " + ", ".join(f"{n} {s:.2f} s" for n, s in seconds.items()))
    promises.note(
        "fix, read-back included, over cp -r + sync",
        seconds["fix"] / seconds["cp -r + sync"],
        1.5,
        "times",
    )
    seconds = interleaved(
        {"h5py": h5py_alone, "inspect": unnest("inspect", large, code=1)}, 4 * rounds
    )
    print("     " + ", ".join(f"{n} {1000 * s:.0f} ms" for n, s in seconds.items()))
    promises.note(
        "inspect over python -c 'import h5py'", seconds["inspect"] / seconds["h5py"], 2.0, "times"
    )
    memory = [peak("fix", p, "-o", output, "--force") for p in (small, large)]
    promises.note("peak memory of fix", memory[1], 150, "MiB")
    promises.note("  and more than for a small one", memory[1] - memory[0], 8, "MiB")
    return promises


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--folder",
        type=Path,
        default=None,
        help="where the large files go; a real disk, not a tmpfs",
    )
    asked = parser.parse_args()
    # Installed programs are compiled; without this each run would compile ours and not h5py.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    folder = Path(tempfile.mkdtemp(prefix="unnest-benchmark-", dir=asked.folder))
    try:
        promises = measure(folder, asked.megabytes, asked.rounds)
    finally:
        shutil.rmtree(folder)
    sys.exit(not promises.held)


if __name__ == "__main__":
    main()
