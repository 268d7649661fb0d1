"""A sample of the semantic mutants: what is taken out of a file computes what the file does."""

from __future__ import annotations

from collections import Counter
from random import Random

from tests.corpus.unpacked import CASES
from tests.mutants import changes, weights
from tests.mutants.run import examined, files, subject


def test_a_sample() -> None:
    """Two mutants of each kind for twelve files; `python -m tests.mutants.run` does all."""
    subjects = [s for path in Random(4).sample(files(), 30) if (s := subject(path))]
    ends: Counter[tuple[str, str]] = Counter()
    wrong = []
    for found in subjects:
        for mutant in examined(found, 2):
            ends[mutant.kind, mutant.end] += 1
            if mutant.end == "wrong":
                wrong.append((mutant.kind, found.path, mutant.what))
    assert wrong == []
    assert {kind for kind, _ in ends} >= {*changes.CHANGES} - {"output", "order of outputs"}
    assert {f"weights: {kind}" for kind in weights.CHANGES} <= {kind for kind, _ in ends}
    assert {"caught", "right", "refused"} <= {end for _, end in ends}


def test_one_of_two_halves_is_no_tower() -> None:
    """Behind a layer that cannot be followed."""
    case = CASES / "h5/952-around-slices-preprocessed-by-one-layer-k224"
    found = subject(case / "parallel.h5")
    assert found is not None
    assert {mutant.end for mutant in examined(found, 40) if mutant.kind == "tower dropped"} == {
        "caught"
    }
