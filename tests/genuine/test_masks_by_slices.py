"""Wrappers by what makes a mask, how the batch is cut and joined, and what would heed the mask.

The stack predicted with each file, and with the same weights without slices and merges. Where these differ, the wrapper
stays, or a finding says what custom code would have to do; it never goes without a word.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "masks_by_slices"
CASES = sorted(FOLDER.glob("*/*.h5"))

#: Custom slices that cut the mask, too, which a file of TensorFlow's Keras does not show.
KEPT = ("tf23", "masking-maskclass-concat-last-none")


def _differs(case: Path) -> bool:
    with np.load(case.with_suffix(".npz")) as arrays:
        return bool(np.abs(arrays["y1"] - arrays["y0"]).max() > 1e-5)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.stem}")
def test_no_other_prediction_without_a_word(case: Path) -> None:
    """The stack's own predictions decide, not the verdict."""
    report = unnest.inspect(case)
    is_doubted = "unknown-mask" in {finding.code for finding in report.findings}
    if _differs(case):
        assert report.verdict == "clean" or is_doubted
    elif (case.parent.name, case.stem) != KEPT:
        assert report.verdict == "parallel"


def test_both_kinds_are_there() -> None:
    """Some cases predict the same without the wrapper, some do not."""
    differ = sum(map(_differs, CASES))
    assert (len(CASES) - differ >= 10, differ >= 10) == (True, True)


def test_the_finding_names_what_would_heed_the_mask() -> None:
    """The class that may make the mask, and the layer that it would reach."""
    (finding,) = [
        finding
        for finding in unnest.inspect(FOLDER / "k224" / "own-given-concat-last-none.h5").findings
        if finding.code == "unknown-mask"
    ]
    assert finding.message == (
        "the mask of marks ends at the slices, and would reach template without them, if its code makes a mask"
    )
