"""Mutants of genuine files through `inspect` and `fix`, for as long as you have.

    python -m fuzz.run --minutes 10 [--reader h5] [--first-seed 0] [--record tests/figures]

The readers take turns of BATCH mutants until each has had its minutes (by the clock: of all of them together). With
`--record` they go on behind the last seed of the runs that are recorded there, and are added to them.
What must hold of each, whatever was changed: both calls return; an error is one line, and none that asks to report a
bug; the input is what it was; an output is there only where `fix` says so, and then `inspect` calls it clean; neither
call takes more than SECONDS of the processor, nor the process more than MEGABYTES. A mutant for which something does
not hold is named by its reader and seed, which make it again: `python -m fuzz.run --reader h5 --seed 123`.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import unnest
from fuzz.mutants import READERS, mutant, scratch_folder
from tests.figures import record, recorded
from unnest.report.result import Report

#: Of the processor for one call, and of memory for the process (which has h5py and protobuf loaded, and a past).
SECONDS, MEGABYTES = 5, 500
#: A mutant that takes more of the processor hangs; one that is not heard of for so long by the clock waits.
HANGS, STALLS = 60, 1800
#: Mutants until a fresh process takes over.
BATCH = 100


def check(reader: str, seed: int) -> tuple[str, list[str]]:
    """(verdict and action, what does not hold) of one mutant."""
    with scratch_folder() as name:
        folder = Path(name)
        path = mutant(reader, seed, folder)
        before = _digest(folder)
        troubles: list[str] = []
        start = time.process_time()
        report = unnest.inspect(path)
        took = time.process_time() - start
        troubles += _of_report(report, "inspect")
        start = time.process_time()
        result = unnest.fix(path, folder / "out" if path.is_dir() else None)
        took = max(took, time.process_time() - start)
        troubles += _of_report(result, "fix")
        after = _digest(folder)
        if {name: after.get(name) for name in before} != before:
            troubles.append("the input was changed")
        new = set(after) - set(before)
        if result.error is not None and new:
            troubles.append(f"left behind: {sorted(new)}")
        if (
            result.action in ("fixed", "converted")
            and unnest.inspect(str(result.output)).verdict != "clean"
        ):
            troubles.append("the output is not clean")
        if took > SECONDS:
            troubles.append(f"took {took:.1f} s")
        return f"{report.verdict}/{result.action}", troubles


def _of_report(report: Report, call: str) -> list[str]:
    if report.error is None:
        return [] if report.verdict != "unreadable" else [f"{call}: unreadable without an error"]
    told = f"{call}: {report.error.code}: {report.error.message}"
    bug = report.error.code == "internal" or report.error.message.endswith("please report it")
    return (
        [told] if bug or "\n" in report.error.message or "Traceback" in report.error.message else []
    )


def _digest(folder: Path) -> dict[str, str]:
    files = (p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def _work(reader: str, seeds: range, tell: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    for seed in seeds:
        signal.setitimer(signal.ITIMER_PROF, HANGS)  # ends the process
        start = time.process_time()
        try:
            outcome, troubles = check(reader, seed)
        except Exception:  # noqa: BLE001 - what gets out of the library is what is looked for
            outcome, troubles = "raised", [traceback.format_exc().strip()]
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        if held > MEGABYTES:
            tell.send(
                (
                    seed,
                    outcome,
                    [*troubles, f"the process holds {held} MB"],
                    time.process_time() - start,
                )
            )
            return
        tell.send((seed, outcome, troubles, time.process_time() - start))


@dataclass
class Course:
    """The results of one reader's mutants so far; `seed` is the next one's."""

    reader: str
    seed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    #: Of the processor.
    seconds: float = 0.0

    @classmethod
    def after(cls, reader: str, figures: dict[str, Any]) -> Course:
        """Return a course that continues where `figures` end."""
        seconds = 60 * figures["processor_minutes"]
        return cls(
            reader, figures["next_seed"], Counter(figures["outcomes"]), figures["broken"], seconds
        )

    def breaks(self, what: str, seed: int) -> None:
        """Tell of a mutant for which something does not hold."""
        self.broken += 1
        print(f"{self.reader}: seed {seed}: {what}", flush=True)

    def figures(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "mutants": self.outcomes.total(),
            "processor_minutes": round(self.seconds / 60, 2),
            "outcomes": dict(self.outcomes.most_common()),
            "broken": self.broken,
            "next_seed": self.seed,
        }


def turn(course: Course, until: float) -> None:
    """A batch of mutants in a process of their own, or as many as there is time for."""
    hear, tell = multiprocessing.Pipe(duplex=False)
    seeds = range(course.seed, course.seed + BATCH)
    worker = multiprocessing.get_context("fork").Process(
        target=_work, args=(course.reader, seeds, tell)
    )
    worker.start()
    tell.close()
    try:
        while time.monotonic() < until:
            if not hear.poll(STALLS):
                course.breaks("stalls", course.seed)
                course.seed += 1
                break
            seed, outcome, troubles, took = hear.recv()
            course.outcomes[outcome] += 1
            for trouble in troubles:
                course.breaks(trouble, seed)
            course.seconds += took
            course.seed = seed + 1
    except EOFError:
        worker.join()
        if worker.exitcode:
            hung = worker.exitcode == -signal.SIGPROF
            course.breaks(
                "hangs" if hung else f"the process ended with {worker.exitcode}", course.seed
            )
            course.seed += 1
    worker.kill()
    worker.join()


def main() -> int:
    """Run the loop for each reader asked for, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1, help="for each reader")
    parser.add_argument("--reader", choices=sorted(READERS), action="append")
    parser.add_argument("--first-seed", type=int, help="0, or behind what is recorded")
    parser.add_argument("--seed", type=int, help="this mutant alone")
    parser.add_argument(
        "--record", type=Path, help="a folder for fuzz.json, which every turn is added to"
    )
    given = parser.parse_args()
    readers = given.reader or list(READERS)
    if given.seed is not None:
        return max(_one(reader, given.seed) for reader in readers)
    before = recorded("fuzz", given.record) if given.record else {}
    courses = [Course.after(r, before[r]) if r in before else Course(r) for r in readers]
    for course in courses:
        course.seed = course.seed if given.first_seed is None else given.first_seed
    broken = sum(course.broken for course in courses)
    until = time.monotonic() + 60 * given.minutes * len(readers)
    while time.monotonic() < until:
        for course in courses:
            turn(course, until)
            if given.record:
                record("fuzz", before | {c.reader: c.figures() for c in courses}, given.record)
    for course in courses:
        told = ", ".join(f"{n} {what}" for what, n in course.outcomes.most_common())
        print(
            f"{course.reader}: {course.outcomes.total()} mutants (up to seed {course.seed - 1}): {told}"
        )
    return int(sum(course.broken for course in courses) > broken)


def _one(reader: str, seed: int) -> int:
    outcome, troubles = check(reader, seed)
    print(reader, seed, outcome, *troubles, sep="\n  ")
    return int(bool(troubles))


if __name__ == "__main__":
    sys.exit(main())
