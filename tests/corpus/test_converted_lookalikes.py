"""Look-alikes that only stored code distinguishes from a wrapper: `--keras 3` keeps that code as a function's name."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import CASES
from tests.judged import check_verdict

TOLD_BY_CODE = [
    "304-tta-all-lambdas",
    "344-image-pyramid",
    "759-index-equal-last-k224",
    "973-slice-code-reversed-features-py27k224",
    "982-slice-code-first-half-always-k224",
]


@pytest.mark.parametrize("name", TOLD_BY_CODE)
def test_the_output_says_that_it_is_no_wrapper(name: str, tmp_path: Path) -> None:
    """Whoever converts it gets a file that is not taken for a wrapper again."""
    output = tmp_path / "out.keras"
    result = unnest.fix(CASES / "h5" / name / "lookalike.h5", output, keras="3")
    assert (result.verdict, result.action) == ("clean", "converted")
    check_verdict(unnest.inspect(output), "clean")
    assert unnest.fix(output, tmp_path / "again.keras").action == "unchanged"
    with (
        zipfile.ZipFile(output) as archive,
        zipfile.ZipFile(tmp_path / "trained.keras", "w") as without,
    ):
        for member in archive.namelist():
            data = archive.read(member)
            if member == "metadata.json":
                said = json.loads(data)
                assert said.pop("unnest") == "a single-device model"
                data = json.dumps(said).encode()
            without.writestr(member, data)
    # What Keras saves of it does not say so, and its functions' code is nowhere.
    assert unnest.inspect(tmp_path / "trained.keras").wrappers[0].confidence == "likely"


def test_what_the_layers_tell_is_not_said_again(tmp_path: Path) -> None:
    """Other outputs are as Keras writes them."""
    unnest.fix(
        CASES / "h5" / "491-clean-siamese" / "lookalike.h5", tmp_path / "out.keras", keras="3"
    )
    with zipfile.ZipFile(tmp_path / "out.keras") as archive:
        assert list(json.loads(archive.read("metadata.json"))) == ["keras_version"]
