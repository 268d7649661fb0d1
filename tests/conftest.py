"""Fixtures that the whole suite shares."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from tests import judged, makeh5, parts
from tests.command_server import CommandServer
from tests.corpus import store

# How long an example takes says how busy the machine is, not whether the code is right. HYPOTHESIS_PROFILE=thorough
# looks at more of them.
settings.register_profile("unnest", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "unnest"))

#: The room that needs the tensorflow extra; without it, everything else is still tested.
collect_ignore = [] if find_spec("tensorflow") else ["keras"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the part of the tests be chosen."""
    parser.addoption("--part", choices=parts.PARTS, help="which tests to run (tests/parts.py)")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the part, and unpack the cases once, before processes that run tests side by side ask for them."""
    chosen = (
        config.getoption("-k") or config.getoption("-m") or any(map(parts.names_tests, config.args))
    )
    config.option.part = config.getoption("--part") or ("all" if chosen else "quick")
    if not hasattr(config, "workerinput"):
        store.tree()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the other part; what is marked slow runs where it is asked for: `pytest -m slow PATH`."""
    part = config.getoption("--part")
    chosen: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        chosen[parts.is_in(part, item.nodeid)].append(item)
    if chosen[False]:
        items[:] = chosen[True]
        config.hook.pytest_deselected(items=chosen[False])
    if "slow" in (config.getoption("-m") or ""):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: asked for with -m slow"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failed test what the engine said of the models in it (`tests/judged.py`)."""
    report = yield
    if report.failed and call.excinfo is not None:
        report.sections += [
            (f"the engine, {place}", said) for place, said in judged.in_traceback(call.excinfo)
        ]
    return report


Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A small parallel model, `m.h5`."""
    return makeh5.parallel_file(tmp_path / "m.h5")


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    """A small clean model, `clean.h5`."""
    return makeh5.clean_file(tmp_path / "clean.h5")


@pytest.fixture(scope="session")
def command_server() -> Iterator[CommandServer | None]:
    """The process that runs of the command line are forks of, where the system has forks."""
    server = CommandServer() if hasattr(os, "fork") else None
    yield server
    if server is not None:
        server.end()


@pytest.fixture
def cli(tmp_path: Path, command_server: CommandServer | None) -> Cli:
    """The command line, run as users run it, in the test's own folder."""

    def run(*args: str | Path, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        texts = [*map(str, args)]
        if command_server is not None and command_server.is_in_its_environment():
            done = command_server.run(texts, tmp_path, timeout)
        else:
            done = subprocess.run(
                [sys.executable, "-m", "unnest", *texts],
                capture_output=True,
                text=True,
                check=False,
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                timeout=timeout,
            )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        return done

    return run
