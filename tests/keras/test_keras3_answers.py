"""The report's answer for a file of Keras 2 in Keras 3 ("Keras 3: yes") agrees with Keras 3."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.keras.process_without_unnest import answers_of, is_computed_here
from tests.layer_cases import FOLDER, PEOPLE, LayerCase, cases, stacks
from unnest.report import text_report

#: Every so many cases of a stack.
STRIDE = 45
#: How often each answer is tried at least.
TRIED = 2
#: Sums in another order.
TOLERANCE = 1e-5
#: Answer -> what Keras 3 does; "same" for any other.
EXPECTED = {"yes, but wrong": "other", "no:": "fails"}


def answer(path: Path) -> str:
    """The last line of `unnest inspect`, as far as the reason."""
    line = text_report.render(unnest.inspect(path, draw=True)).splitlines()[-1].strip()
    answers = ("yes, with compile=False", "yes, but wrong", "yes", "no:", "not safely")
    return next(said for said in answers if line.startswith(f"Keras 3: {said}"))


def sampled(folder: Path, stride: int) -> list[LayerCase]:
    """Cases whose own stack loads the same model again: a file need not hold all that was built."""
    found = [(stack, case) for stack in stacks(folder) for case in cases(stack, folder)]
    return [case for _, case in found[::stride] if case.has_io and not case.is_worse("tensorflow")]


def outcome(found: float | str) -> str:
    """Whether Keras 3 failed, predicted the same, or something else."""
    return "fails" if isinstance(found, str) else "same" if found <= TOLERANCE else "other"


def test_what_is_said_of_genuine_files_in_keras_3(tmp_path: Path) -> None:
    """Yes: it loads and predicts the same. But wrong: it loads and predicts something else. No: it does not load."""
    said: list[tuple[str, str]] = []
    jobs: list[dict[str, str]] = []
    for k, case in enumerate([*sampled(FOLDER, STRIDE), *sampled(PEOPLE, 4)]):
        path = case.extract(tmp_path / str(k))
        if path.suffix == ".h5":
            said.append((f"{case.stack}/{case.name}", answer(path)))
            compile_it = "yes" if said[-1][1] == "yes" else "no"
            jobs.append(
                {"file": str(path), "io": str(path.with_name("io.npz")), "compile": compile_it}
            )
    archives = sorted((FIXTURES / "sequential_archives").glob("*.keras"))
    said += [(path.name, answer(path)) for path in archives]
    jobs += [
        {"file": str(path), "io": str(path.with_suffix(".npz")), "compile": "no"}
        for path in archives
    ]
    untrue = [
        (name, line, found)
        for (name, line), found in zip(
            said, answers_of("predict_today.py", jobs, tmp_path), strict=True
        )
        if line != "not safely"
        and is_computed_here(found)
        and outcome(found) != EXPECTED.get(line, "same")
    ]
    assert untrue == []
    counts = Counter(line for _, line in said)
    assert (
        min(counts[line] for line in ("yes, with compile=False", "yes, but wrong", "yes", "no:"))
        > TRIED
    )
