"""Test the built wheel on every Python there is, with the oldest and the newest version of every dependency.

    python scripts/try_versions.py [--python 3.12]... [--] [PYTEST ARGUMENTS]

Wants `uv` (pip install uv). Pythons are pyenv's and those that uv finds. Nothing is compiled: the oldest version of a
dependency is the oldest that has a wheel for that Python. Prints the rows of the table in docs/versions.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: What is run unless other arguments are given: all that needs neither TensorFlow nor long.
TESTS = ("tests/unit", "tests/test_imports.py", "tests/test_cli.py", "tests/test_pictures.py")
SHOWN = ("h5py", "numpy", "typer", "protobuf", "google-crc32c", "pyyaml")
TOOLS = ("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100", "jsonschema>=4.21")


def main() -> int:
    """Exit code 1 where a combination fails."""
    parser = argparse.ArgumentParser(description="Test the wheel on every Python, with the oldest and newest versions.")
    parser.add_argument("--python", action="append", help="a version, such as 3.12; default: all that are there")
    parser.add_argument("tests", nargs="*", default=TESTS)
    asked = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="unnest-versions-") as scratch:
        run("uv", "build", "--wheel", "--quiet", "--out-dir", scratch, str(ROOT))
        (wheel,) = Path(scratch).glob("*.whl")
        for version in asked.python or PYTHONS:
            cells = []
            for resolution in ("lowest-direct", "highest"):
                cell, well = combination(
                    Path(scratch) / f"{version}-{resolution}", version, resolution, wheel, asked.tests
                )
                cells.append(cell)
                failed |= not well
            sys.stdout.write(f"| Python {version} | {' | '.join(cells)} |\n")
            sys.stdout.flush()
    return failed


def combination(venv: Path, version: str, resolution: str, wheel: Path, tests: list[str]) -> tuple[str, bool]:
    """What a cell says, and whether all was well."""
    command = ("uv", "venv", "--quiet", "--no-python-downloads", "--python", interpreter(version), str(venv))
    made = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        return "untested: no such Python at hand", True
    environment = {**os.environ, "VIRTUAL_ENV": str(venv)}
    binary = ("--only-binary", ":all:", "--quiet")
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    run("uv", "pip", "install", "--resolution", resolution, *binary, str(wheel), *needed, environment=environment)
    run("uv", "pip", "install", *binary, *TOOLS, environment=environment)
    frozen = run("uv", "pip", "freeze", environment=environment).splitlines()
    installed = dict(line.lower().split("==") for line in frozen if "==" in line)
    # Tests are read from where they are, the package from where it is installed, and not from the sources beside them.
    code = "import os, sys, pytest; sys.path.append(os.getcwd()); sys.exit(pytest.main(sys.argv[1:]))"
    done = subprocess.run(
        [venv / "bin" / "python", "-I", "-c", code, "-q", "--import-mode=append", *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    summary = next((line for line in reversed(done.stdout.splitlines()) if " in " in line), "no result").split(" in ")[
        0
    ]
    if done.returncode:
        sys.stderr.write(done.stdout[-3000:] + done.stderr[-3000:])
    versions = ", ".join(f"{name} {installed[name]}" for name in SHOWN)
    return f"{summary.strip('= ')} ({versions})", done.returncode == 0


def interpreter(version: str) -> str:
    """Pyenv's Python of that version, which need not be on the PATH; else whatever uv finds."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return next((str(p / "bin" / "python") for p in sorted(versions.glob(f"{version}.*"))), version)


def run(*command: str, environment: dict[str, str] | None = None) -> str:
    """Its output. Raises CalledProcessError."""
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
