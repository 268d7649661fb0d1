"""Every genuine file and every layer of every stack, converted, in today's Keras on both backends.

pytest -m slow tests/slow/test_keras3.py          (a Python with keras, tensorflow and jax)
"""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.keras.test_keras3_files import BACKENDS, differences, wrong
from tests.layer_cases import cases, stacks

pytestmark = pytest.mark.slow


def converted(paths: dict[str, Path], folder: Path) -> tuple[list[str], list[tuple[Path, Path]]]:
    """The files that are carried and need no custom objects, by name, with their recorded outputs."""
    names, files = [], []
    for k, (name, path) in enumerate(paths.items()):
        output, io = folder / f"{k}.keras", path.with_name("io.npz")
        result = unnest.fix(path, output, keras="3")
        asks = {"custom-objects", "lambda-kept"} & {f.code for f in result.findings}
        if result.error is None and not asks and io.exists():
            names.append(name)
            files.append((output, io))
    return names, files


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_files(backend: str, tmp_path: Path) -> None:
    """Full saves, parallel and base, of every stack and container."""
    named = (
        "parallel.h5",
        "base.h5",
        "lookalike.h5",
        "clean.h5",
        "parallel.keras",
        "base.keras",
        "parallel",
        "base",
    )
    found = [p for n in named for p in FIXTURES.rglob(n) if "scripts" not in p.parts]
    names, files = converted({str(p.relative_to(FIXTURES)): p for p in sorted(found)}, tmp_path)
    assert len(files) > 300
    assert wrong(names, differences(files, backend, tmp_path)) == []


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("stack", stacks())
def test_all_layers(stack: str, backend: str, tmp_path: Path) -> None:
    """Each layer alone; what is known to be worse is worse for the reason given."""
    told = [c for c in cases(stack) if c.has_io and not c.is_worse(backend)]
    paths = {c.name: c.extract(tmp_path / "cases") for c in told}
    names, files = converted(paths, tmp_path)
    assert wrong(names, differences(files, backend, tmp_path)) == []
