"""How many genuine files today's Keras opens, how many of them rightly, and how many after `unnest fix --keras 3`.

    python benchmarks/keras_opens.py [--stack k224] [--python PYTHON] [--list] [--models FOLDER]

Every fixture that holds a whole model (`.h5`, `.keras`, SavedModel) and what its own stack predicted (`io.npz`): the
parallel models, and the same templates saved directly. PYTHON has Keras 3; default: the one that runs this. "Rightly":
the largest difference from the recorded predictions is at most 1e-4 of the largest number there. `--list` names every
file that is not opened or predicts something else. `--models` takes other models instead, an `.h5` and an `.npz`
each, as `tests/slow/applications.py` writes them. It needs the `test` extra, whose archives hold most cases.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import unnest
from tests.corpus.unpacked import FIXTURES

PREDICT = ROOT / "tests/keras/predict_today.py"
NAMES = ("parallel", "base", "clean")
"""Of the files of a case, whatever their container."""

CLOSE = 1e-4


def models(stack: str | None) -> list[tuple[str, Path, Path]]:
    """(stack, path, recorded predictions) of every whole model that has these beside it."""
    found: list[tuple[str, Path, Path]] = []
    for io in sorted(FIXTURES.rglob("io.npz")):
        case = io.parent
        writer = (
            json.loads((case / "case.json").read_text())["stack"]
            if (case / "case.json").exists()
            else "other"
        )
        if stack not in (None, writer):
            continue
        paths = [case / f"{name}{suffix}" for name in NAMES for suffix in (".h5", ".keras", "")]
        found += [
            (writer, path, io)
            for path in paths
            if path.exists() and unnest.inspect(path).contents == "model"
        ]
    return found


def converted(path: Path, output: Path) -> Path | None:
    """The file that `fix --keras 3` leaves for Keras 3 to open; None where it refuses."""
    result = unnest.fix(path, output, keras="3")
    return None if result.error is not None else output


def differences(python: str, jobs: list[tuple[Path, Path]], folder: Path) -> list[float | str]:
    """The largest difference of each (file, recorded predictions), or Keras's error; one process for all."""
    asked, answered = folder / "jobs.json", folder / "answers.json"
    asked.write_text(json.dumps([{"file": str(file), "io": str(io)} for file, io in jobs]))
    subprocess.run(
        [python, PREDICT, asked, answered],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    answers: list[float | str] = json.loads(answered.read_text())
    return answers


def outcome(answer: float | str) -> str:
    """One word for what Keras said."""
    if isinstance(answer, str):
        return "refused"
    return "right" if answer <= CLOSE else "wrong"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stack")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--models", type=Path)
    options = parser.parse_args()
    files = models(options.stack)
    if options.models:
        paths = sorted(options.models.rglob("*.h5"))
        files = [(path.parent.name, path, path.with_suffix(".npz")) for path in paths]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outputs = [converted(path, folder / f"{n}.keras") for n, (_, path, _) in enumerate(files)]
        jobs = [(path, io) for _, path, io in files]
        fixed = [
            (output, io)
            for output, (_, io) in zip(outputs, jobs, strict=True)
            if output is not None
        ]
        before = differences(options.python, jobs, folder)
        answers = iter(differences(options.python, fixed, folder))
        after = ["not converted" if output is None else next(answers) for output in outputs]
    for (stack, path, _), was, is_now in zip(files, before, after, strict=True):
        counts[stack].update(
            {"files": 1, f"before {outcome(was)}": 1, f"after {outcome(is_now)}": 1}
        )
        if options.list and outcome(is_now) != "right":
            print(f"{path.relative_to(options.models or FIXTURES)}: {is_now}")
    print(
        "| stack | files | Keras 3 opens | rightly | after fix, it opens | rightly |\n|---|---|---|---|---|---|"
    )
    counts["all"] = sum(counts.values(), Counter())
    for stack, count in counts.items():
        cells: list[object] = [stack, count["files"]]
        for when in ("before", "after"):
            cells += [count[f"{when} right"] + count[f"{when} wrong"], count[f"{when} right"]]
        print("|", " | ".join(map(str, cells)), "|")


if __name__ == "__main__":
    main()
