"""Coverage-guided fuzzing of what lies below `inspect`: a container's reader and the plan, in one process.

    pip install atheris                                                     (Linux, macOS; Python 3.11 to 3.13)
    python -m fuzz.guided --minutes 10 [--reader h5] [--record FOLDER]

The readers take turns of a minute; with `--record` they are added to the turns that are recorded there. Each round of
a reader starts from the genuine files and from what the rounds before found to reach new lines of `unnest`; half of the
changes are atheris's own, half those of `fuzz.mutants`, which keep checksums and structure. What must hold of each
input: reading it raises `UnnestError` with one line, or nothing, and takes less than SECONDS of the processor; stored
code is read, or is not, and raises nothing.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from fuzz.mutants import KNOWING, READERS, fixtures, scratch_folder
from tests.corpus.unpacked import FIXTURES
from tests.figures import record, recorded
from unnest.core.model import JsonObject

#: What is fuzzed: the readers, and the code of Lambdas on its own.
TARGETS = (*READERS, "stored_code")
#: Of the processor, for one input.
SECONDS = 5
#: Of the clock, for one turn.
TURN = 60
#: What an input may not be larger than, and how many genuine files a corpus starts with.
LONGEST, SEEDS = 150_000, 40
#: libFuzzer's own words: how much was run, and the lines (with their calls) that were reached.
RUNS, REACHED = re.compile(r"number_of_executed_units:\s*(\d+)"), re.compile(r"cov: (\d+)")

Target = Callable[[bytes], None]


def seeds(target: str, number: int) -> list[bytes]:
    """Genuine inputs; `number` decides which come first."""
    if target == "stored_code":
        compiled = json.loads(
            gzip.decompress((FIXTURES / "lambda_code/compiled.json.gz").read_bytes())
        )
        return [
            base64.b64decode(code[0])
            for by_source in compiled.values()
            for code in by_source.values()
        ]
    paths = [p for p in fixtures(target) if p.stat().st_size < LONGEST]
    at = number % len(paths)
    return [p.read_bytes() for p in (paths[at:] + paths[:at])[:SEEDS]]


def target_of(name: str, folder: Path, number: int) -> Target:
    """Return the function that is run on each input; the files beside it are those of the genuine file `number`."""
    if name == "stored_code":
        from unnest.core.byte_code import read_code_objects

        return lambda data: [*read_code_objects.read(base64.b64encode(data).decode())].clear()
    genuine = fixtures(name)[number % len(fixtures(name))]
    beside = genuine.parent / "model.json"
    kept = json.loads(beside.read_text("utf8")) if beside.exists() else None
    if name == "saved_model":
        shutil.copytree(genuine.parent, folder / "m")
        return _reading(name, folder / "m", folder / "m" / "saved_model.pb", None)
    if name == "checkpoint":
        for part in genuine.parent.glob(genuine.name.removesuffix(".index") + ".*"):
            shutil.copy(part, folder / part.name)
        return _reading(
            name, folder / genuine.name.removesuffix(".index"), folder / genuine.name, kept
        )
    return _reading(name, folder / f"m{genuine.suffix}", folder / f"m{genuine.suffix}", kept)


def _reading(name: str, path: Path, changed: Path, architecture: JsonObject | None) -> Target:
    from unnest.budget import Budget, limited
    from unnest.core.make_plan import NotAGraph
    from unnest.core.plan import Choices
    from unnest.errors import UnnestError
    from unnest.formats.detect_container import stored_size
    from unnest.formats.open_container import container
    from unnest.formats.translate_errors import reading

    reader = container(name)  # type: ignore[arg-type] # one of the readers that are names of containers

    def read(data: bytes) -> None:
        changed.write_bytes(data)
        start = time.process_time()
        budget = Budget.of(str(path), stored_size(str(path)))
        try:
            with (
                limited(budget),
                reading(str(path)),
                reader.open(str(path)) as source,
                suppress(NotAGraph),
            ):
                source.plan(architecture, choices=Choices())
        except UnnestError as e:
            if "\n" in e.message:
                raise AssertionError(f"more than a line: {e.message}") from e
        took = time.process_time() - start
        if took > SECONDS:
            raise AssertionError(f"took {took:.1f} s")

    return read


def run_target(name: str, number: int, seconds: int, corpus: Path, folder: Path) -> None:
    """Fuzz in this process; it does not return."""
    import atheris

    with atheris.instrument_imports(include=["unnest"]):
        import unnest.core.byte_code.read_code_objects
        import unnest.core.make_plan  # noqa: F401 - loaded here, so that its lines count
        from unnest.formats.open_container import READERS as CONTAINERS
        from unnest.formats.open_container import container

        for reader in CONTAINERS:
            container(reader)
    target = target_of(name, folder, number)
    suffixes = {
        "h5": ".h5",
        "weights_h5": ".h5",
        "json": ".json",
        "keras": ".keras",
        "checkpoint": ".index",
    }
    suffix = {**suffixes, "saved_model": ".pb", "stored_code": ".code"}[name]
    scratch = folder / "scratch" / ("saved_model" + suffix)
    scratch.parent.mkdir()
    genuine = seeds(name, number)

    def mutated(data: bytes, longest: int, seed: int) -> bytes:
        random = Random(seed)
        if suffix in KNOWING and random.random() < 0.5:
            # The HDF5 library, which makes these changes, does not survive writing to every damaged file.
            scratch.write_bytes(random.choice(genuine) if suffix in (".h5", ".keras") else data)
            with suppress(Exception):  # what earlier changes spoiled cannot be changed knowingly
                KNOWING[suffix](random, scratch)
                return scratch.read_bytes()[:longest]
        changed: bytes = atheris.Mutate(data, longest)
        return changed

    options = (
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        "-timeout=600",
        "-rss_limit_mb=1500",
    )
    told = (
        "-print_final_stats=1",
        f"-artifact_prefix={corpus.parent}/{name}-",
        f"-seed={number + 1}",
    )
    atheris.Setup([sys.argv[0], *options, *told, str(corpus)], target, custom_mutator=mutated)
    atheris.Fuzz()


@dataclass
class Course:
    """The results of one target so far."""

    runs: int = 0
    processor_minutes: float = 0.0
    #: Branches of `unnest` that the corpus reaches, as libFuzzer counts them.
    reached: int = 0
    broken: int = 0


def turn(name: str, number: int, course: Course, seconds: int, corpus: Path) -> None:
    """A process of its own that fuzzes for some seconds; what it found is added to the course."""
    corpus.mkdir(parents=True, exist_ok=True)
    for k, data in enumerate(seeds(name, number)):
        (corpus / f"genuine-{number}-{k}").write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "fuzz.guided", "--target", name, "--number", str(number)]
    with scratch_folder() as folder:
        command += ["--seconds", str(seconds), "--corpus", str(corpus), "--folder", folder]
        run = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ourselves
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = run.stderr.decode("utf8", "replace")
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    course.processor_minutes = round(course.processor_minutes + took / 60, 2)
    course.runs += sum(int(n) for n in RUNS.findall(said)[-1:])
    course.reached = max([course.reached, *(int(n) for n in REACHED.findall(said))])
    if run.returncode:
        (corpus.parent / f"{name}-{number}.log").write_text(said, "utf8")
        course.broken += 1
        print(f"{name}, round {number}:", " | ".join(_last_words(said)), flush=True)


def _last_words(said: str) -> Iterator[str]:
    """Of a process that broke off: what was raised, and where the input is kept."""
    for line in said.splitlines():
        if re.search(r"Error|Exception|^SUMMARY|Test unit written|^\s+File .*unnest", line):
            yield line.strip()


def main() -> int:
    """Take turns, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1, help="for each reader, by the clock")
    parser.add_argument("--reader", choices=TARGETS, action="append")
    parser.add_argument(
        "--record", type=Path, help="a folder for guided.json, which every turn is added to"
    )
    parser.add_argument(
        "--corpus", type=Path, default=Path(tempfile.gettempdir()) / "unnest-corpus"
    )
    parser.add_argument("--target", choices=TARGETS, help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, default=0, help="of the first round")
    parser.add_argument("--seconds", type=int, default=TURN, help="of a turn")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.target:
        run_target(given.target, given.number, given.seconds, given.corpus, given.folder)
    before = recorded("guided", given.record) if given.record else {}
    courses = {name: Course(**before.get(name, {})) for name in given.reader or TARGETS}
    broken = sum(course.broken for course in courses.values())
    until = time.monotonic() + 60 * given.minutes * len(courses)
    number = given.number
    while time.monotonic() < until:
        for name, course in courses.items():
            turn(name, number, course, given.seconds, given.corpus / name)
            if given.record:
                record("guided", before | {n: asdict(c) for n, c in courses.items()}, given.record)
        number += 1
    for name, course in courses.items():
        print(
            f"{name}: {course.runs} inputs, {course.reached} reached, {course.processor_minutes} min"
        )
    return int(sum(course.broken for course in courses.values()) > broken)


if __name__ == "__main__":
    sys.exit(main())
