"""Runs of our command that begin as forks of one process: that saves most runs the start of Python and the imports.

    python -m tests.command_server

reads a line of JSON for each run: its arguments, folder, and the files for what it prints. It answers with the exit
code. A fork runs `python -m unnest` in every other respect. Tests of the start itself, of signals and of limits start
Python.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from select import select

#: Packages that are loaded before the forks, whole.
PRELOADED = ("cli", "batch", "build_report", "core", "files", "formats", "outputs", "report")


class CommandServer:
    """A process that runs our command in forks of itself, in the environment that it was begun in."""

    def __init__(self) -> None:
        self._environment = _environment()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.command_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
            env=self._environment | {"OPENBLAS_NUM_THREADS": "1"},
            text=True,
        )

    def is_in_its_environment(self) -> bool:
        """Return whether this process has the environment still that the server was begun in."""
        return _environment() == self._environment

    def run(
        self, args: Sequence[str], cwd: Path, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Return the finished run of our command. Raises subprocess.TimeoutExpired."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            printed = [Path(folder) / name for name in ("stdout", "stderr")]
            request = {"args": args, "cwd": str(cwd), "printed": [*map(str, printed)]}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            if not select([process.stdout], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired([*args], timeout)
            code = int(process.stdout.readline())
            return subprocess.CompletedProcess(
                [*args], code, *(path.read_text() for path in printed)
            )

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


def _environment() -> dict[str, str]:
    """Return the environment, but for pytest's note of which test runs."""
    return {name: text for name, text in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def _become_run(request: dict[str, list[str]]) -> None:
    """Take on the arguments, folder and streams of a run."""
    os.chdir(str(request["cwd"]))
    streams = [os.open(os.devnull, os.O_RDONLY)]
    streams += [
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND) for path in request["printed"]
    ]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.argv = ["unnest", *request["args"]]


def _is_run() -> bool:
    """Fork for each request; return True in the forks, and False once there are no more requests."""
    for line in sys.stdin:
        fork = os.fork()
        if fork == 0:
            _become_run(json.loads(line))
            return True
        _, status = os.waitpid(fork, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - the answer
    return False


if __name__ == "__main__":
    for package in PRELOADED:
        path = [str(Path(__file__).parents[1] / "unnest" / package)]
        for module in walk_packages(path, f"unnest.{package}."):
            import_module(module.name)
    if _is_run():
        sys.path[0] = os.getcwd()
        runpy.run_module("unnest", run_name="__main__", alter_sys=True)
