"""Mutants of genuine files through `inspect` and `fix`, for as long as you have.

    python -m fuzz.run --minutes 10 [--reader h5] [--first-seed 0] [--record fuzz]

The readers take turns of BATCH mutants until each has had its minutes (by the clock: of all of them together).
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
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import unnest
from fuzz.mutants import READERS, mutant
from tests.figures import record
from unnest.report.result import Report

#: Of the processor for one call, and of memory for the process (which has h5py and protobuf loaded, and a past).
SECONDS, MEGABYTES = 5, 500
#: A mutant that takes more of the processor hangs; one that is not heard of for so long by the clock waits.
HANGS, STALLS = 60, 1800
#: Mutants until a fresh process takes over.
BATCH = 100


def check(reader: str, seed: int) -> tuple[str, list[str]]:
    """(verdict and action, what does not hold) of one mutant."""
    folder = Path(tempfile.mkdtemp(prefix="unnest-fuzz-"))
    try:
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
        if result.action in ("fixed", "converted") and unnest.inspect(str(result.output)).verdict != "clean":
            troubles.append("the output is not clean")
        if took > SECONDS:
            troubles.append(f"took {took:.1f} s")
        return f"{report.verdict}/{result.action}", troubles
    finally:
        shutil.rmtree(folder)


def _of_report(report: Report, call: str) -> list[str]:
    if report.error is None:
        return [] if report.verdict != "unreadable" else [f"{call}: unreadable without an error"]
    told = f"{call}: {report.error.code}: {report.error.message}"
    bug = report.error.code == "internal" or report.error.message.endswith("please report it")
    return [told] if bug or "\n" in report.error.message or "Traceback" in report.error.message else []


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
            tell.send((seed, outcome, [*troubles, f"the process holds {held} MB"], time.process_time() - start))
            return
        tell.send((seed, outcome, troubles, time.process_time() - start))


@dataclass
class Course:
    """What became of one reader's mutants so far; `seed` is the next one's."""

    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    #: (seed, what does not hold).
    broken: list[tuple[int, str]] = field(default_factory=list)
    #: Of the processor.
    seconds: float = 0.0

    def figures(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "mutants": self.outcomes.total(),
            "processor_minutes": round(self.seconds / 60, 1),
            "outcomes": dict(self.outcomes.most_common()),
            "broken": self.broken,
        }


def turn(reader: str, course: Course, until: float) -> None:
    """A batch of mutants in a process of their own, or as many as there is time for."""
    hear, tell = multiprocessing.Pipe(duplex=False)
    seeds = range(course.seed, course.seed + BATCH)
    worker = multiprocessing.get_context("fork").Process(target=_work, args=(reader, seeds, tell))
    worker.start()
    tell.close()
    try:
        while time.monotonic() < until:
            if not hear.poll(STALLS):
                course.broken.append((course.seed, "stalls"))
                course.seed += 1
                break
            seed, outcome, troubles, took = hear.recv()
            course.outcomes[outcome] += 1
            course.broken += [(seed, t) for t in troubles]
            course.seconds += took
            course.seed = seed + 1
    except EOFError:
        worker.join()
        if worker.exitcode:
            hung = worker.exitcode == -signal.SIGPROF
            course.broken.append((course.seed, "hangs" if hung else f"the process ended with {worker.exitcode}"))
            course.seed += 1
    worker.kill()
    worker.join()


def main() -> int:
    """Run the loop for each reader asked for, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1, help="for each reader")
    parser.add_argument("--reader", choices=sorted(READERS), action="append")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seed", type=int, help="this mutant alone")
    parser.add_argument("--record", type=Path, help="a folder for fuzz.json, written anew after every turn")
    given = parser.parse_args()
    readers = given.reader or list(READERS)
    if given.seed is not None:
        return max(_one(reader, given.seed) for reader in readers)
    courses = {reader: Course(given.first_seed) for reader in readers}
    until = time.monotonic() + 60 * given.minutes * len(readers)
    while time.monotonic() < until:
        for reader, course in courses.items():
            turn(reader, course, until)
            if given.record:
                record("fuzz", {name: c.figures() for name, c in courses.items()}, given.record)
    for reader, course in courses.items():
        told = ", ".join(f"{n} {what}" for what, n in course.outcomes.most_common())
        print(f"{reader}: {course.outcomes.total()} mutants (up to seed {course.seed - 1}): {told}")
        for seed, what in course.broken:
            print(f"  seed {seed}: {what}")
    return int(any(course.broken for course in courses.values()))


def _one(reader: str, seed: int) -> int:
    outcome, troubles = check(reader, seed)
    print(reader, seed, outcome, *troubles, sep="\n  ")
    return int(bool(troubles))


if __name__ == "__main__":
    sys.exit(main())
