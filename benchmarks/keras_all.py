"""All measurements of training with both Kerases: `python benchmarks/keras_all.py [--rounds 9]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = ("keras_towers.py", "keras_start.py", "keras_checkpoint.py")


def main() -> None:
    """Run each script for each Keras."""
    for script in SCRIPTS:
        for keras in ("keras", "tf_keras"):
            command = [
                sys.executable,
                str(Path(__file__).parent / script),
                "--keras",
                keras,
                *sys.argv[1:],
            ]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
