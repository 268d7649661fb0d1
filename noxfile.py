"""Tasks: `nox -s NAME`, each in an environment of its own. `nox --list` names them; `.ci/run` runs what must pass."""

from __future__ import annotations

import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "tests"]
nox.options.reuse_existing_virtualenvs = True

ROOT = Path(__file__).parent
#: Holds an installed command against the text that describes it; not part of this repository.
CONTRACT = ROOT.parent / "shared/check-contract"
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
#: The lowest versions that pyproject.toml allows.
LOWEST = [
    "h5py==3.12.*",
    "numpy==1.24.*",
    "typer==0.20.*",
    # Newer ones warn of what this typer calls.
    "click==8.1.*",
    "rich==13.*",
    "protobuf==5.27.*",
    "google-crc32c==1.6.*",
    "zlib-ng==0.5.*",
    "PyYAML==6.0.*",
]


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types, and the direction of imports."""
    session.install("-e", ".[test]", "nox")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("lint-imports")


@nox.session
def tests(session: nox.Session) -> None:
    """What needs no TensorFlow: the quick part, then the rest; or `nox -s tests -- ARGUMENTS OF PYTEST`."""
    session.install("-e", ".[test]")
    if session.posargs:
        session.run("pytest", *session.posargs)
        return
    session.run("pytest")
    session.run("pytest", "--part", "rest")
    if CONTRACT.exists():
        session.run(str(CONTRACT), "fixtures", external=True)


@nox.session(python=PYTHONS)
def pythons(session: nox.Session) -> None:
    """The quick part with each Python that is installed."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def lowest(session: nox.Session) -> None:
    """The quick part with the lowest versions that are allowed."""
    session.install("-e", ".[test]", *LOWEST)
    session.run("pytest", *session.posargs)


@nox.session
def keras(session: nox.Session) -> None:
    """Training code, and what `--keras 3` writes, with TensorFlow and both Kerases; models of the Hub by URL."""
    session.install("-e", ".[tensorflow,test,plot,hub]")
    session.run("pytest", "--part", "most", "tests/keras", "tests/test_hub.py", *session.posargs)


@nox.session
def keras_all(session: nox.Session) -> None:
    """The same, and all of the kinds of which `keras` runs a few."""
    session.install("-e", ".[tensorflow,test,plot,hub]")
    session.run("pytest", "--part", "all", "tests/keras", "tests/test_hub.py", *session.posargs)


@nox.session
def operations(session: nox.Session) -> None:
    """Every operation against TensorFlow and Keras, on random arguments: docs/operations.md anew."""
    session.install("-e", ".[tensorflow,test]")
    session.run("python", "-m", "tests.operations", "--write", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The site, its links and the API in it; warnings are errors."""
    # Zensical takes Material's place when that ends: it must read the same mkdocs.yml.
    session.install("-e", ".[docs,test]", "zensical>=0.0.73")
    session.run(
        "mkdocs",
        "build",
        "--quiet",
        "--strict",
        "--site-dir",
        "build/site",
        env={"NO_MKDOCS_2_WARNING": "1"},
    )
    session.run("pytest", "tests/test_site.py")


@nox.session
def browser(session: nox.Session) -> None:
    """The page of --report in a headless Chromium: console, policy, keyboard, axe, downloads, 10,000 rows."""
    session.install("-e", ".[test]", "playwright", "axe-playwright-python")
    session.run(
        "pytest", "-m", "slow", "-n0", "tests/slow/test_page_in_browser.py", *session.posargs
    )


@nox.session
def corpus(session: nox.Session) -> None:
    """Every archive and the index are what `python -m tests.corpus pack` writes; every case, judged."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "tests.corpus", "check")
    session.run("pytest", "--part", "all", "tests/corpus", "tests/test_golden.py")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Mutants of genuine files for some minutes: `nox -s fuzz -- --minutes 10` for each reader."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "fuzz.run", *session.posargs)


@nox.session
def mutation(session: nox.Session) -> None:
    """Promises of SECURITY.md broken on purpose; or `nox -s mutation -- PACKAGE --minutes 10`: mutants of a package."""
    session.install("-e", ".[test]", "cosmic-ray")
    if session.posargs:
        session.run("python", "-m", "tests.mutation.sample", *session.posargs)
    else:
        session.run("python", "-m", "tests.mutation.run")


@nox.session
def bench(session: nox.Session) -> None:
    """What the program costs, on this machine."""
    session.install("-e", ".[test]")
    session.run("python", "benchmarks/run.py", *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """The packages in dist/, and what is in them."""
    session.install("build", "twine", "check-wheel-contents")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.run("python", "-m", "build")
    packages = sorted(str(path) for path in (ROOT / "dist").iterdir())
    session.run("twine", "check", "--strict", *packages)
    session.run("check-wheel-contents", *(path for path in packages if path.endswith(".whl")))
