"""Mutants of genuine files through `inspect` and `fix`, for as long as you have.

    python -m fuzz.run --minutes 10 [--reader h5] [--first-seed 0]

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
import sys
import tempfile
import time
import traceback
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import unnest
from fuzz.mutants import READERS, mutant
from unnest.report.result import Report

#: Of the processor for one call, and of memory for the process (which has h5py and protobuf loaded, and a past).
SECONDS, MEGABYTES = 5, 500
#: A mutant that takes longer hangs.
HANGS = 60
#: Mutants until a fresh process takes over.
BATCH = 400


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
        try:
            outcome, troubles = check(reader, seed)
        except Exception:  # noqa: BLE001 - what gets out of the library is what is looked for
            outcome, troubles = "raised", [traceback.format_exc().strip()]
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        if held > MEGABYTES:
            tell.send((seed, outcome, [*troubles, f"the process holds {held} MB"]))
            return
        tell.send((seed, outcome, troubles))


def fuzz(reader: str, first: int, until: float) -> tuple[Counter[str], int, list[tuple[int, str]]]:
    """(how often each outcome came, the next seed, what did not hold) of the mutants until a point in time."""
    outcomes: Counter[str] = Counter()
    broken: list[tuple[int, str]] = []
    seed = first
    while time.monotonic() < until:
        hear, tell = multiprocessing.Pipe(duplex=False)
        worker = multiprocessing.get_context("fork").Process(
            target=_work, args=(reader, range(seed, seed + BATCH), tell)
        )
        worker.start()
        tell.close()
        try:
            while time.monotonic() < until:
                if not hear.poll(HANGS):
                    broken.append((seed, "hangs"))
                    seed += 1
                    break
                done, outcome, troubles = hear.recv()
                outcomes[outcome] += 1
                broken += [(done, t) for t in troubles]
                seed = done + 1
        except EOFError:
            worker.join()
            if worker.exitcode:
                broken.append((seed, f"the process ended with {worker.exitcode}"))
                seed += 1
        worker.kill()
        worker.join()
    return outcomes, seed, broken


def main() -> int:
    """Run the loop for each reader asked for, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1, help="for each reader")
    parser.add_argument("--reader", choices=sorted(READERS), action="append")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seed", type=int, help="this mutant alone")
    given = parser.parse_args()
    failed = False
    for reader in given.reader or READERS:
        if given.seed is not None:
            outcome, troubles = check(reader, given.seed)
            print(reader, given.seed, outcome, *troubles, sep="\n  ")
            failed |= bool(troubles)
            continue
        outcomes, seed, broken = fuzz(reader, given.first_seed, time.monotonic() + 60 * given.minutes)
        told = ", ".join(f"{n} {what}" for what, n in outcomes.most_common())
        print(
            f"{reader}: {sum(outcomes.values())} mutants (seeds {given.first_seed} to {seed - 1}): {told}", flush=True
        )
        for at, what in broken:
            print(f"  seed {at}: {what}", flush=True)
        failed |= bool(broken)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
