"""Test the built wheel on every Python there is, with the oldest and the newest version of every dependency.

    python scripts/try_versions.py [--python 3.12]... [--write] [PYTEST ARGUMENTS]

Wants `uv` (pip install uv). Pythons are pyenv's and those that uv finds. Nothing is compiled: the oldest version of a
dependency is the oldest that pyproject.toml allows and that has a wheel for that Python. Prints the table of
docs/versions-tested.md, and with --write puts it there.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "versions-tested.md"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: As uv calls it, and as the table does.
RESOLUTIONS = {"lowest-direct": "oldest", "highest": "newest"}
#: What is run unless other arguments are given: what depends most on the dependencies.
TESTS = ("tests/unit/formats", "tests/genuine/test_genuine_containers.py", "tests/test_imports.py")
SHOWN = ("h5py", "numpy", "typer", "protobuf", "google-crc32c", "zlib-ng", "pyyaml")
TOOLS = ("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100", "jsonschema>=4.21")


def main() -> int:
    """Exit code 1 where a combination fails."""
    parser = argparse.ArgumentParser(
        description="Test the wheel on every Python, with the oldest and newest versions."
    )
    parser.add_argument(
        "--python", action="append", help="a version, such as 3.12; default: all that are there"
    )
    parser.add_argument(
        "--write", action="store_true", help="put the table into docs/versions-tested.md"
    )
    asked, tests = parser.parse_known_args()
    if all(argument.startswith("-") for argument in tests):
        tests += TESTS
    rows = [
        f"| Python | dependencies | {' | '.join(SHOWN)} | tests |",
        f"|{'---|' * (len(SHOWN) + 3)}",
    ]
    failed = False
    with tempfile.TemporaryDirectory(prefix="unnest-versions-") as scratch:
        run("uv", "build", "--wheel", "--quiet", "--out-dir", scratch, str(ROOT))
        (wheel,) = Path(scratch).glob("*.whl")
        for version in asked.python or PYTHONS:
            for resolution in RESOLUTIONS:
                venv = Path(scratch) / f"{version}-{resolution}"
                row, well = combination(venv, version, resolution, wheel, tests)
                rows.append(row)
                sys.stdout.write(f"{row}\n")
                sys.stdout.flush()
                failed |= not well
    if asked.write:
        page = PAGE.read_text(encoding="utf-8")
        table = "\n".join(rows)
        PAGE.write_text(
            re.sub(r"^\| Python \|.*\n(\|.*\n)*", f"{table}\n", page, flags=re.MULTILINE),
            encoding="utf-8",
        )
    return failed


def combination(
    venv: Path, version: str, resolution: str, wheel: Path, tests: list[str]
) -> tuple[str, bool]:
    """A row of the table, and whether all was well."""
    begin = f"| {version} | {RESOLUTIONS[resolution]}"
    try:
        run(
            "uv",
            "venv",
            "--quiet",
            "--no-python-downloads",
            "--python",
            interpreter(version),
            str(venv),
        )
    except subprocess.CalledProcessError:
        return f"{begin} |{' |' * len(SHOWN)} untested: no such Python at hand |", True
    environment = {**os.environ, "VIRTUAL_ENV": str(venv)}
    binary = ("--only-binary", ":all:", "--quiet")
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "dependencies"
    ]
    run(
        "uv",
        "pip",
        "install",
        "--resolution",
        resolution,
        *binary,
        str(wheel),
        *needed,
        environment=environment,
    )
    run("uv", "pip", "install", *binary, *TOOLS, environment=environment)
    frozen = run("uv", "pip", "freeze", environment=environment).splitlines()
    installed = dict(line.lower().split("==") for line in frozen if "==" in line)
    done = subprocess.run(
        # Tests are read from where they are, the package from where it is installed, not from the sources beside them.
        [venv / "bin" / "python", "-I", "-c", AS_INSTALLED, "-q", "--import-mode=append", *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout[-3000:] + done.stderr[-3000:])
    summary = re.findall(r"^=*\s*(\d+ .*?) in [\d.]+s", done.stdout, re.MULTILINE) or ["no result"]
    versions = " | ".join(installed[name] for name in SHOWN)
    return f"{begin} | {versions} | {summary[-1]} |", done.returncode == 0


AS_INSTALLED = (
    "import os, sys, pytest; sys.path.append(os.getcwd()); sys.exit(pytest.main(sys.argv[1:]))"
)


def interpreter(version: str) -> str:
    """Pyenv's Python of that version, which need not be on the PATH; else whatever uv finds."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return next((str(p / "bin" / "python") for p in sorted(versions.glob(f"{version}.*"))), version)


def run(*command: str, environment: dict[str, str] | None = None) -> str:
    """Its output. Raises CalledProcessError."""
    return subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
