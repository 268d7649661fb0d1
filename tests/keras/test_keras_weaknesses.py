"""The known weaknesses of model loaders, where Keras itself is at work: `--verify` and `unnest.keras.load_model`."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import unnest
from tests.attacks import weaknesses
from tests.attacks.weaknesses import ELSEWHERE, PLANTED, STORES, TRAP
from tests.corpus.unpacked import FIXTURES
from unnest.keras import load_model

CONTAINERS = {name: weaknesses.CONTAINERS[name] for name in ("h5", "keras")}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a trap in it that can be imported, and a file that must not be read."""
    (tmp_path / "trap.py").write_text(TRAP)
    (tmp_path / "secret").write_text(ELSEWHERE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    # For the process that --verify starts.
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    return tmp_path


def check(place: Path) -> None:
    """The trap is shut."""
    assert "trap" not in sys.modules
    assert not (place / "ran").exists()


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("weakness", PLANTED)
def test_verify_loads_none_of_it(weakness: str, container: str, place: Path) -> None:
    """A file whose loading would run or read something is not loaded: the result is written and called not verified."""
    path = CONTAINERS[container](place, PLANTED[weakness][0])
    for output, keras in (("same" + path.suffix, "original"), ("three.keras", "3")):
        result = unnest.fix(path, place / output, keras=keras, verify=True)  # type: ignore[arg-type]
        if result.error is None:
            assert "not-verified" in {f.code for f in result.findings}
            assert not [c for c in result.checks if c.startswith("loads") or c == "runs"]
        check(place)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("weakness", PLANTED)
def test_load_model_loads_none_of_it(weakness: str, container: str, place: Path) -> None:
    """It raises: what is refused here in one line, a class that Keras does not find as Keras does."""
    path = CONTAINERS[container](place, PLANTED[weakness][0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)):
            load_model(path)
    check(place)


@pytest.mark.parametrize("container", [name for name in STORES if name != "weights_h5"])
@pytest.mark.parametrize(
    "edit", [weaknesses.external_storage, weaknesses.declared_size], ids=lambda e: e.__name__
)
def test_tensors_that_are_not_in_the_file(container: str, edit: object, place: Path) -> None:
    """Refused before Keras sees the file."""
    path = STORES[container](place, edit)  # type: ignore[arg-type] # one of the edits
    assert unnest.fix(path, verify=True).error is not None
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        load_model(path)


@pytest.mark.parametrize("container", CONTAINERS)
def test_an_older_keras_is_not_given_what_names_code(
    container: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its safe mode would not keep it from running that; a file without any is loaded."""
    keras = import_module("keras")
    monkeypatch.setattr(keras, "__version__", "3.6.0")
    path = CONTAINERS[container](place, PLANTED["CVE-2025-1550: a class of any module"][0])
    with pytest.raises(ValueError, match=r"may run, safe mode or not: install Keras 3\.12"):
        load_model(path)
    check(place)
    plain = FIXTURES / "k224" / "official-cnn-adam" / "base.h5"
    assert load_model(plain, compile=False).count_params() > 0
