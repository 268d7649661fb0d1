"""Functions of the user's that prepare texts, arguments of TensorFlow 2.3, and a salt that was never used.

`tests/keras/test_keras_vocabularies.py` compares the predictions.
"""

from __future__ import annotations

import json

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "preprocessing"
#: File -> whether its own Keras loads it plainly, and with its functions given.
LOADED = {
    f"{stack.stem}-{name}": found
    for stack in sorted(FOLDER.glob("*.json"))
    for name, found in json.loads(stack.read_text()).items()
    if name.endswith((".h5", ".keras"))
}


@pytest.mark.parametrize("name", LOADED)
def test_functions_are_asked_for_if_its_own_keras_needs_them(name: str) -> None:
    """And what no Keras loads as it was is said to load nowhere."""
    plainly, given = LOADED[name]
    report = unnest.inspect(FOLDER / name)
    assert bool(report.loads_in) is given
    assert all((", with your cleaned" in software) is not plainly for software in report.loads_in)
    functions = ("cleaned", "parted") if "functions" in name else ("cleaned",)
    assert report.needs.functions == (functions if given and not plainly else ())


@pytest.mark.parametrize("name", sorted(n for n, (plainly, _) in LOADED.items() if not plainly))
def test_they_are_asked_for_in_keras_3_too(name: str, tmp_path: str) -> None:
    """An unused salt has no way there."""
    done = unnest.fix(FOLDER / name, f"{tmp_path}/out.keras", keras="3")
    if "unsalted" in name:
        assert done.action == "refused"
    else:
        (software,) = done.loads_in
        assert software.startswith("Keras 3, with your cleaned")


def test_the_reason_is_told() -> None:
    """Of tf_keras, which hashes with the stored salt."""
    report = unnest.inspect(FOLDER / "tf23-unsalted.h5")
    assert (
        "which TensorFlow 2.3 stored though none was given" in report.does_not_load_in["tf_keras"]
    )
