"""Slices whose code calls functions that were imported by name, which a file does not store.

The template predicts what the model does (0.0) but for `other_order` (2.8), as was printed when the files were made.
"""

from __future__ import annotations

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "imported_names"


@pytest.mark.parametrize(("name", "imported"), [("by_split", "split"), ("by_shape", "shape")])
def test_it_is_said_what_a_name_is_taken_for(name: str, imported: str) -> None:
    """A wrapper that rests on it is likely, not proven."""
    report = unnest.inspect(FOLDER / f"{name}.h5")
    (wrapper,) = report.wrappers
    assert wrapper.confidence == "likely"
    assert any(line.endswith(f"taking `{imported}` for TensorFlow's") for line in wrapper.evidence)


def test_names_that_speak_against_a_wrapper() -> None:
    """The halves are joined the other way round, if the name is TensorFlow's."""
    report = unnest.inspect(FOLDER / "other_order.h5")
    (miss,) = report.near_misses
    assert (report.verdict, miss.reason) == (
        "clean",
        "the code of cut_0, cut_1 takes the rows in another order, taking `split` for TensorFlow's",
    )
