"""Mutants of every genuine wrapper, and whether what is taken out of them is what they compute.

    python -m tests.mutants.run [--each 40] [--files 0] [--execute 300 --python TF] [--record FOLDER]

Of every parallel model that `meaning` can follow, `--each` changes of each kind that it has are tried (`--files N`: of
N files only). A mutant is then

    right      extracted, and the extraction computes what the mutant does
    refused    not to be done without doubt, or not to be read: nothing is written
    caught     no wrapper
    missed     no wrapper, though it computes what the genuine file does: no harm
    untold     extracted, and nothing here can tell whether rightly
    by code    extracted because the stored code takes all rows in order, whatever the changed numbers say: `meaning`
               knows the numbers alone, and `tests/unit/core/wrappers/stored_code/test_traced_rows.py` holds what is
               read of code against Python itself
    by names   weights whose names changed, in a file where nothing but these shows the order of the weights
    late       every slice now stores what cells that are bound late hold: "likely", with a finding that says so
    as broken  weights that do not fit their layers: Keras refuses what is written
    wrong      extracted, and the extraction computes something else: there must be none

Weights (`weights`) are judged by their positions. `--execute N`: extracted mutants, drawn by chance, are run in
tf_keras beside their extraction (`execute`), with the weights of both, until N pairs ran; TF is a Python that has it.
"""

from __future__ import annotations

import argparse
import copy
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.corpus.unpacked import TREE
from tests.figures import record
from tests.mutants import changes, meaning, weights
from unnest.core.make_plan import NotAGraph, plan
from unnest.core.model import Stored
from unnest.core.plan import Plan
from unnest.errors import UnnestError
from unnest.formats.open_container import open_container

ROOT = Path(__file__).parents[2]
FILES = (
    "fixtures/*/*/parallel.h5",
    "fixtures/keras_zip/*/*/parallel.keras",
    "tests/corpus/cases/h5/**/*.h5",
)
#: Files whose stored code does not use the numbers that mutants change, so that these say nothing of what it computes.
UNUSED_NUMBERS = ("956-around-slices-a-batch-in-the-closure-",)
#: For each pair that is to run so many are drawn: one in four holds what tf_keras of today does not run.
DRAWN = 3
#: A batch that 2 to 8 towers divide, twice in a row.
ROWS = 48 * 5


@dataclass
class Subject:
    """A genuine file whose wrapper is understood: what the file computes is what is taken out of it."""

    path: Path
    stored: Stored
    model: Any
    made: Plan


@dataclass
class Mutant:
    """One mutant and its end; `model` and `made` are kept of what was extracted."""

    kind: str
    subject: Subject
    what: str
    end: str
    model: Any = None
    made: Plan | None = None


def files() -> list[Path]:
    """Every file that may hold a wrapper."""
    found = {p for pattern in FILES for p in TREE.glob(pattern)}
    return sorted(p for p in found if not p.parent.name.startswith(UNUSED_NUMBERS))


def subject(path: Path) -> Subject | None:
    """The file, if it is a wrapper, the slices of which have known numbers as arguments."""
    try:
        with open_container(str(path)).open(str(path)) as source:
            stored = source.stored
        made = plan(stored)
    except UnnestError:
        return None
    if stored.architecture is None or made.result is None or made.verdict != "parallel":
        return None
    model = json.loads(json.dumps(stored.architecture, default=dict))
    found = Subject(path, stored, model, made)
    return found if judged(model, made.result) == "right" else None


def judged(model: Any, result: Stored, *, ends_told: bool = False) -> str:
    """`right` where the extraction computes what the model does, `wrong`, or `untold` where that cannot be said.

    A model that means nothing is rightly one that means nothing afterwards. `ends_told`: a finding says that the
    outputs are the template's own from now on, all of them and in its order.
    """
    rows = meaning.fixed_batch(model) or ROWS
    symbols = meaning.Symbols()
    extracted = json.loads(json.dumps(result.architecture, default=dict))
    wanted, given = (_computed(each, symbols, rows) for each in (model, extracted))
    if "untold" in (wanted, given):
        return "untold"
    if ends_told and isinstance(wanted, list) and isinstance(given, list):
        return "right" if set(wanted) <= set(given) else "wrong"
    return "right" if wanted == given else "wrong"


def _computed(model: Any, symbols: meaning.Symbols, rows: int) -> list[meaning.Rows] | str:
    try:
        return meaning.outputs(model, symbols, rows)
    except meaning.Meaningless:
        return "nothing"
    except (KeyError, TypeError, IndexError, ValueError, AttributeError):
        return "untold"


def examined(subject: Subject, each: int) -> Iterator[Mutant]:
    """Every mutant of a file."""
    name = subject.path.relative_to(TREE).as_posix()
    for kind, what, model in _changed(subject, name, each):
        yield Mutant(kind, subject, what, *fate(subject, model))
    outermost = subject.made.wrappers[0]
    assert subject.made.result is not None
    for kind, now, stored in weights.mutants(subject.stored, outermost.template, name, each):
        made = _planned(stored)
        result = made.result if made is not None and made.refusal is None else None
        end = weights.fate(
            kind, subject.stored, now, outermost.template, subject.made.result, result
        )
        if end == "wrong" and weights.is_told_by_names(
            subject.stored, outermost.template, subject.made.result
        ):
            end = "by names"
        yield Mutant(f"weights: {kind}", subject, "", end)


def _changed(subject: Subject, name: str, each: int) -> Iterator[tuple[str, str, Any]]:
    for kind, change in changes.CHANGES.items():
        tried = set()
        for number in range(each):
            random = Random(f"{name} {kind} {number}")
            wrapper = random.choice([w for w in subject.made.wrappers if w.depth == 0])
            model = copy.deepcopy(subject.model)
            place = changes.place(model, wrapper.merge, wrapper.template)
            what = change(random, place) if place is not None else None
            if what is not None and (text := json.dumps(model, sort_keys=True)) not in tried:
                tried.add(text)
                yield kind, what, model


def _planned(stored: Stored) -> Plan | None:
    """The plan; None where the model cannot be read."""
    try:
        return plan(stored)
    except (NotAGraph, UnnestError):
        return None


def fate(subject: Subject, model: Any) -> tuple[str, Any, Plan | None]:
    """(what became of a mutant, its architecture and its plan where it was extracted)."""
    assert subject.made.result is not None
    made = _planned(subject.stored._replace(architecture=model))
    if made is None or made.refusal is not None:
        return "refused", None, None
    if made.result is None:
        same = judged(model, subject.made.result) == "right"
        return ("missed" if same else "caught"), None, None
    end = judged(model, made.result, ends_told=_ends_are_told(made))
    if end == "wrong" and any(f.code == "bound-late" for f in made.findings):
        end = "late"
    if end == "wrong" and any(
        FOLLOWED in words for wrapper in made.wrappers for words in wrapper.evidence
    ):
        end = "by code"
    return end, model, made


FOLLOWED = "each once and in order"
"""Evidence of code that was followed, whichever rows it takes."""


def _ends_are_told(made: Plan) -> bool:
    """Return True if a finding says that the outputs are in another order than the mutant's."""
    return any(f.code == "other-ends" for f in made.findings)


def run_in_tf_keras(extracted: list[Mutant], wanted: int, python: str) -> Counter[str]:
    """How often a mutant and its extraction give the same numbers in tf_keras, until `wanted` ran; prints others."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="unnest-mutants-") as folder:
        for number, mutant in enumerate(extracted):
            _store(mutant, Path(folder) / str(number))
        command = [python, "-m", "tests.mutants.execute", folder, str(wanted)]
        run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        for number, end in json.loads(run.stdout.splitlines()[-1]).items():
            outcomes[end] += 1
            if end == "differs":
                one = extracted[int(number)]
                print(f"differs: {one.kind}: {one.subject.path.relative_to(TREE)}: {one.what}")
    return outcomes


def _store(mutant: Mutant, stem: Path) -> None:
    """The pair as `execute` reads it."""
    assert mutant.made is not None
    assert mutant.made.result is not None
    result = mutant.made.result
    told: dict[str, Any] = {"mutant": mutant.model, "rows": meaning.fixed_batch(mutant.model) or 48}
    told["extraction"] = json.loads(json.dumps(result.architecture, default=dict))
    arrays = {}
    with open_container(str(mutant.subject.path)).open(str(mutant.subject.path)) as source:
        for which, stored in (("mutant", mutant.subject.stored), ("extraction", result)):
            told[f"{which} weights"] = [[g.name, len(g.tensors)] for g in stored.groups]
            for g in stored.groups:
                for k, t in enumerate(g.tensors):
                    values = np.frombuffer(b"".join(source.blocks(t)), t.dtype)
                    arrays[f"{which}/{g.name}/{k}"] = values.reshape(t.shape)
    stem.with_suffix(".json").write_text(json.dumps(told), "utf8")
    np.savez(stem.with_suffix(".npz"), **arrays)  # type: ignore[arg-type] # which allow_pickle is not among


def main() -> int:
    """Run, print a line a kind, and record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=40, help="mutants of a kind, for each file")
    parser.add_argument("--files", type=int, default=0, help="so many of them only")
    parser.add_argument(
        "--execute", type=int, default=0, help="so many extracted mutants run in tf_keras"
    )
    parser.add_argument("--python", default=sys.executable, help="a Python that has tf_keras")
    parser.add_argument("--record", type=Path, help="a folder for mutants.json")
    given = parser.parse_args()
    paths = files()
    subjects = [
        s
        for p in (Random(0).sample(paths, given.files) if given.files else paths)
        if (s := subject(p))
    ]
    all_of_them = [mutant for s in subjects for mutant in examined(s, given.each)]
    kinds: dict[str, Counter[str]] = {}
    for mutant in all_of_them:
        kinds.setdefault(mutant.kind, Counter())[mutant.end] += 1
        if mutant.end in ("wrong", "untold"):
            print(
                f"{mutant.end}: {mutant.kind}: {mutant.subject.path.relative_to(TREE)}: {mutant.what}"
            )
    for kind, ends in kinds.items():
        print(f"{kind}: {dict(ends.most_common())}")
    right = [
        m for m in all_of_them if m.made is not None and m.end == "right" and _is_keras_2(m.subject)
    ]
    extracted = [m for m in right if m.made and not _ends_are_told(m.made)]
    drawn = Random(0).sample(extracted, min(len(extracted), DRAWN * given.execute))
    outcomes = run_in_tf_keras(drawn, given.execute, given.python) if drawn else Counter[str]()
    print(f"in tf_keras: {dict(outcomes)}")
    if given.record:
        ran = {"same": outcomes["same"], "differs": outcomes["differs"]}
        ran["not run"] = outcomes.total() - sum(ran.values())
        record("mutants", {"files": len(subjects), "kinds": kinds, "tf_keras": ran}, given.record)
    return int(bool(outcomes["differs"] or any(ends["wrong"] for ends in kinds.values())))


def _is_keras_2(subject: Subject) -> bool:
    """Return True if tf_keras reads the dialect, and takes the weights in the order in which they are stored."""
    return subject.path.suffix == ".h5" and (subject.stored.keras_version or "1").startswith("2.")


if __name__ == "__main__":
    sys.exit(main())
