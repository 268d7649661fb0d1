"""The table of spellings x containers: what one definition finds, it finds however it is written and wherever it lies.

A row is a way in which people cut and join rows, or a look-alike; a column is a container. The generator's TABLE.md
says which case is where; `cases/` holds some of them, `spellings/` the others, by their row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import unnest
from tests.corpus.case import Case, Facts, cases, contents
from tests.corpus.compare import tensor_bytes, tensors_missing
from tests.corpus.unpacked import SPELLINGS
from tests.judged import only_wrapper

HERE = Path(__file__).parent
CANNOT = json.loads((HERE / "generators/spellings/cannot.json").read_text())
"""The cells that a stack cannot write, by the name of the case, each with its error."""

COLUMNS = (
    ".h5 of tf.keras 2.3", ".h5 of tf.keras 2.10", ".h5 of Keras 3",
    "SavedModel with its Keras metadata, 2.3", "SavedModel with its Keras metadata, 2.10",
    "SavedModel with its Keras metadata, 2.15",
    "bare, TF 1.15, template inline", "bare, TF 1.15, template a function",
    "bare, TF 2, template inline", "bare, TF 2, template a function",
)  # fmt: skip
"""By the last digit of a case's number."""

WRAPPERS = (
    "split", "split-of-split", "slice-of-slice", "merge-of-merges", "reshape-unstack", "reshape-index", "strided",
    "strided-permuted", "reshape-columns", "gather-ranges", "gather-scatter", "masked", "masked-scattered", "ratio-3-2",
    "ratio-4-2-1", "averaged-loss", "batch-times-index", "cast-floor", "shape-divided", "slice-op", "partition-blocks",
    "partition-parity", "two-inputs", "dictionary-inputs", "two-outputs", "split-sizes", "blocks-of-stripes",
    "called-backwards",
)  # fmt: skip
"""Rows from number 100 on, ten numbers each."""

LOOK_ALIKES = (
    "halves-swapped", "quarters-crossed", "slice-of-slice-hole", "merges-swapped", "columns-joined-as-blocks",
    "one-half-twice", "stripes-joined-as-blocks", "stripes-swapped", "blocks-joined-as-stripes", "wrong-permutation",
    "ranges-overlap", "scattered-to-the-other", "same-mask-twice", "parity-mask-joined-as-blocks", "ratios-disagree",
    "ratios-leave-a-part", "only-the-mean-of-losses", "index-from-one", "two-thirds", "slice-op-of-time",
    "time-joined-on-the-batch", "features-joined-on-features", "stitched-to-the-other", "second-input-crossed",
    "second-input-half-for-both", "second-output-swapped", "one-tower-read", "other-weights", "one-tower-rectified",
    "sizes-overlap", "contrastive", "test-time-augmentation", "siamese", "mean-of-towers", "gan-batch",
)  # fmt: skip
"""Rows from number 400 on."""

TWO_IN_TWO = "two wrappers of two towers, one in the other"
OTHERWISE: Mapping[tuple[str, str], str] = {
    ("blocks-of-stripes", column): TWO_IN_TWO for column in COLUMNS[6:]
}
"""What is found otherwise and is as good: rows that are cut in two steps are two wrappers."""


def row(first: int, spelling: str) -> dict[str, Case]:
    """The cases of ten numbers from `first` on, by their column."""
    kept = [case for case in cases("h5", "saved_model") if case.name[:3].isdigit()]
    found = [
        case
        for case in kept
        if first <= int(case.name[:3]) < first + 10 and f"-{spelling}-" in case.name
    ]
    notes = sorted((SPELLINGS / spelling).glob("*/case.json"))
    found += [Case(p.parent, json.loads(p.read_text())) for p in notes]
    return {COLUMNS[int(case.name[2])]: case for case in found}


def writable(first: int) -> list[str]:
    """The columns that have a case of these ten numbers."""
    missing = {int(name[:3]) for name in CANNOT}
    return [column for number, column in enumerate(COLUMNS) if first + number not in missing]


def outcome(case: Case, scratch: Path) -> Facts:
    """Return what is said of a case, and which of the base's tensors are missing in the output."""
    (source,) = (p for p in case.sources if p.name != "weights.h5")
    output = scratch / f"out-{case.name}{source.suffix}"
    made = unnest.fix(source, output)
    wrapper = only_wrapper(made)
    base = next(path for name in ("base.npz", "base.h5") if (path := case.folder / name).exists())
    return {
        "towers": wrapper.towers,
        "scope": wrapper.scope,
        "left of the wrapper": unnest.inspect(output).verdict != "clean",
        "missing": tensors_missing(output, base)
        if base.suffix == ".npz"
        else [*tensor_bytes(base) - tensor_bytes(output)],
    }


@pytest.mark.parametrize(
    ("first", "spelling"), [(100 + 10 * n, name) for n, name in enumerate(WRAPPERS)]
)
def test_a_wrapper_is_found_in_every_container(first: int, spelling: str, tmp_path: Path) -> None:
    """With its towers and its scope; what is written holds the base's weights, and no wrapper."""
    by_column = row(first, spelling)
    assert sorted(by_column) == sorted(writable(first))
    seen = {
        c: outcome(case, tmp_path)
        for c, case in by_column.items()
        if (spelling, c) not in OTHERWISE
    }
    assert seen == {
        column: {
            "towers": case.facts["towers"],
            "scope": case.facts["scope"],
            "left of the wrapper": False,
            "missing": [],
        }
        for column, case in by_column.items()
        if column in seen
    }


@pytest.mark.parametrize(
    ("first", "spelling"), [(400 + 10 * n, name) for n, name in enumerate(LOOK_ALIKES)]
)
def test_a_look_alike_is_clean_in_every_container(
    first: int, spelling: str, tmp_path: Path
) -> None:
    """And stays byte for byte."""
    by_column = row(first, spelling)
    assert sorted(by_column) == sorted(writable(first))
    for case in by_column.values():
        (source,) = case.sources
        output = tmp_path / f"out-{case.name}{source.suffix}"
        made = unnest.fix(source, output)
        assert (made.verdict, made.action, contents(output)) == (
            "clean",
            "unchanged",
            contents(source),
        )


def test_every_spelling_has_a_row() -> None:
    """And every row its cases."""
    rows = {path.name for path in SPELLINGS.iterdir()}
    assert rows == {*WRAPPERS, *LOOK_ALIKES}
