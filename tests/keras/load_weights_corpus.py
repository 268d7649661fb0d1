"""`load_weights` for every wrapper of the corpus, its base in Keras 3, renamed and random, being the model.

python -m tests.keras.load_weights_corpus [WORD...]       a table on stdout; all but what is equal on stderr
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.corpus.case import Case, cases
from tests.keras.load_weights_table import outcome

#: What holds the base's architecture, the first that is there: as it was saved, its JSON, the parallel model itself.
BASES = ("base.keras", "base.h5", "base_model.json")


class Pair(NamedTuple):
    """A file of a parallel model, and what the model for its weights is built from."""

    case: Case
    file: Path
    base: Path

    @property
    def name(self) -> str:
        """`h5/101-onebased-arguments/parallel.h5`."""
        return f"{self.case.container}/{self.case.name}/{self.file.name}"


def pairs(words: list[str]) -> Iterator[Pair]:
    """Yield the wrappers of the corpus that have a base, or predictions that were recorded for it."""
    for case in cases("h5", "keras", "saved_model", "checkpoint"):
        if not case.parallel:
            continue
        for source in case.sources:
            stored = [p for name in BASES if (p := case.folder / name).exists()]
            if not stored and (source.name == "weights.h5" or source.name.endswith(".weights.h5")):
                stored = [p for name in ("model.json",) if (p := case.folder / name).exists()]
            base = next(iter(stored), source)
            has_answers = (case.folder / "io.npz").exists() or base.suffix != ".json"
            pair = Pair(case, source, base)
            if has_answers and all(word in pair.name for word in words):
                yield pair


def main(words: list[str]) -> None:
    """Write the table: a line per container, and what is not equal."""
    total: dict[str, Counter[str]] = {}
    for pair in pairs(words):
        with tempfile.TemporaryDirectory() as folder:
            told = outcome(pair.file, pair.base, Path(folder))
        kind = told.split()[0].rstrip(":")
        total.setdefault(pair.case.container, Counter())[kind] += 1
        if kind != "equal":
            sys.stderr.write(f"{pair.name}: {told}\n")
            sys.stderr.flush()
    for container, count in total.items():
        sys.stdout.write(
            f"| {container} | {count['equal']} | {count['refused']} | {count['no']} | {count['other']} |\n"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
