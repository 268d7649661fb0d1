"""Many files: processes side by side give what one gives, and no file takes another with it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import unnest
from tests import makeh5
from tests.conftest import Cli
from tests.judged import check_verdict
from unnest.batch.fix_many import FixWork, fix_all
from unnest.batch.inspect_many import InspectWork
from unnest.batch.task_runner import NO_WATCH, Engine
from unnest.batch.walk import Task
from unnest.batch.workers import MAX_WAITING_RESULTS, map_in_order
from unnest.files.staging_folder import StagingFolder
from unnest.options import FixOptions, PhaseMeter
from unnest.report.result import Report, Result

SCHEMA = json.loads((Path(__file__).parents[1] / "unnest" / "report" / "schema.json").read_text())


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """A folder with parallel, clean, torn and foreign files, some of them deep down."""
    folder = tmp_path / "zoo"
    (folder / "deep").mkdir(parents=True)
    for name in ("a.h5", "deep/b.h5", "deep/c.h5"):
        makeh5.parallel_file(folder / name)
    makeh5.clean_file(folder / "clean.h5")
    (folder / "torn.h5").write_bytes((folder / "a.h5").read_bytes()[:2000])
    (folder / "notes.txt").write_text("not a model")
    return folder


def below(folder: Path) -> dict[str, bytes]:
    """Every file, and what it holds."""
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


@pytest.mark.usefixtures("zoo")
class TestTheSameAsOneProcess:
    """Whatever the number of processes."""

    @pytest.mark.parametrize("form", [[], ["--json"], ["--json-lines"], ["--quiet"], ["--verbose"]])
    def test_inspect(self, form: list[str], cli: Cli) -> None:
        one, two = (cli("inspect", "zoo", "missing.h5", "--jobs", n, *form) for n in ("1", "2"))
        assert (one.returncode, one.stdout, one.stderr) == (two.returncode, two.stdout, two.stderr)
        assert one.returncode == 2

    def test_fix(self, cli: Cli, tmp_path: Path) -> None:
        one, two = (
            cli("fix", "zoo", "-o", f"out{n}", "--jobs", n, "--json-lines") for n in ("1", "2")
        )
        assert one.stdout.replace("out1", "out2") == two.stdout
        assert below(tmp_path / "out1") == below(tmp_path / "out2")
        assert set(below(tmp_path / "out2")) == {"a.h5", "clean.h5", "deep/b.h5", "deep/c.h5"}

    def test_a_folder_without_models(self, cli: Cli, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        done = cli("inspect", "empty", "zoo/clean.h5", "--jobs", "2")
        assert done.returncode == 2
        assert done.stderr.splitlines()[0].startswith("unnest: empty: no model in this folder")

    def test_two_inputs_never_share_an_output(self, cli: Cli, zoo: Path) -> None:
        shutil.copy(zoo / "clean.h5", zoo.parent / "a.h5")
        done = cli("fix", "zoo", "a.h5", "-o", "out", "--jobs", "2", "--json-lines")
        actions = {(e["path"], e["action"]) for e in map(json.loads, done.stdout.splitlines())}
        assert ("zoo/a.h5", "fixed") in actions
        assert ("a.h5", "refused") in actions

    def test_what_is_no_model_takes_no_place(self, cli: Cli, tmp_path: Path) -> None:
        for name, text in (
            ("one", '{"a": 1}'),
            ("two", json.dumps(makeh5.parallel(makeh5.template()))),
        ):
            (tmp_path / name).mkdir()
            (tmp_path / name / "m.json").write_text(text)
        makeh5.clean_file(tmp_path / "one" / "k.h5")
        done = cli("fix", "one", "two", "-o", "out", "--jobs", "2", "--json-lines")
        assert [e["action"] for e in map(json.loads, done.stdout.splitlines())] == [
            "unchanged",
            "fixed",
        ]

    def test_no_empty_folder_is_left(self, cli: Cli, tmp_path: Path) -> None:
        (tmp_path / "bad" / "deep").mkdir(parents=True)
        (tmp_path / "bad" / "deep" / "torn.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
        cli("fix", "bad", "zoo/clean.h5", "-o", "out", "--jobs", "2")
        assert [str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*")] == [
            "clean.h5"
        ]

    def test_what_was_begun_is_completed(self, cli: Cli, zoo: Path) -> None:
        cli("fix", "zoo", "-o", "out")
        (zoo.parent / "out" / "deep" / "b.h5").unlink()
        done = cli("fix", "zoo", "-o", "out", "--jobs", "2", "--json-lines")
        found = {e["path"]: e["action"] for e in map(json.loads, done.stdout.splitlines())}
        assert found == {
            "zoo/a.h5": "unchanged",
            "zoo/clean.h5": "unchanged",
            "zoo/deep/b.h5": "fixed",
            "zoo/deep/c.h5": "unchanged",
            "zoo/torn.h5": "failed",
        }

    def test_lines_are_entries_of_the_document(self, cli: Cli) -> None:
        lines = cli("inspect", "zoo", "--json-lines").stdout.splitlines()
        document = json.loads(cli("inspect", "zoo", "--json").stdout)
        assert [json.loads(line) for line in lines] == document["files"]
        entry = {**SCHEMA["properties"]["files"]["items"], "$defs": SCHEMA["$defs"]}
        for line in lines:
            jsonschema.validate(json.loads(line), entry)

    def test_both_forms_of_json_contradict_each_other(self, cli: Cli) -> None:
        assert cli("inspect", "zoo", "--json", "--json-lines").returncode == 2


@dataclass(frozen=True)
class Numbers:
    """A task is a number; some kill the process that they are worked on in."""

    deaths: Mapping[int, int]
    #: Seconds that a task takes.
    slow: dict[int, float]

    def __call__(self, task: int, meter: PhaseMeter | None) -> int:
        """Its square."""
        if task in self.deaths:
            os.kill(os.getpid(), self.deaths[task])
            time.sleep(60)
        time.sleep(self.slow.get(task, 0))
        if meter is not None:
            meter(task, 2 * task, "copying")
        return task * task

    def lost(self, task: int, why: str) -> int:
        """A number below 0 says so."""
        assert why.startswith("was ended by SIG")
        return -task


class TestProcesses:
    """Order, and who pays for a death."""

    def test_in_the_order_of_the_tasks(self) -> None:
        work = Numbers({}, {0: 0.5, 3: 0.1})
        assert list(map_in_order(range(20), work, 3, ahead=2)) == [(n, n * n) for n in range(20)]

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
    @pytest.mark.parametrize("is_forked", [True, False])
    @pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
    def test_a_death_costs_one_task(self, is_forked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        """A process that dies costs one task, whether processes are forked from this one or from a server."""
        monkeypatch.setattr("unnest.batch.workers._has_one_thread", lambda: is_forked)
        deaths: dict[int, int] = {2: signal.SIGKILL, 5: signal.SIGSEGV, 6: signal.SIGKILL}
        results = dict(map_in_order(range(12), Numbers(deaths, {}), 2, ahead=2))
        assert results == {n: -n if n in deaths else n * n for n in range(12)}

    def test_tasks_are_asked_for_as_they_can_be_worked_on(self) -> None:
        asked = 0

        def tasks() -> Iterator[int]:
            nonlocal asked
            while asked < 3 * MAX_WAITING_RESULTS:
                asked += 1
                yield asked

        ahead = [asked - task for task, _ in map_in_order(tasks(), Numbers({}, {1: 0.2}), 2)]
        assert max(ahead) <= MAX_WAITING_RESULTS

    def test_the_meter_is_told_here(self) -> None:
        told: list[tuple[int, int, int]] = []

        def meter_of(task: int) -> PhaseMeter:
            return lambda done, total, _: told.append((task, done, total))

        list(map_in_order([3, 4], Numbers({}, {}), 2, meter_of))
        assert sorted(told) == [(3, 3, 6), (4, 4, 8)]


@dataclass(frozen=True)
class Dying(FixWork):
    """Fixes, and dies in the middle of writing where the path says so."""

    def entry(self, task: Task, meter: PhaseMeter | None) -> Result:
        """Its result."""
        if task.path.endswith("dies.h5"):
            with StagingFolder(task.path.replace("dies.h5", "dies.unnested.h5")) as work:
                Path(work.new_path).write_bytes(b"half")
                os.kill(os.getpid(), signal.SIGKILL)
        return super(Dying, self).entry(task, meter)  # noqa: UP008 - slots make the class anew


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_process_that_dies_while_it_writes(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file fails with a line, its half-written output goes, the others are fixed."""
    shutil.copy(zoo / "a.h5", zoo / "b-dies.h5")
    monkeypatch.setattr("unnest.batch.fix_many.FixWork", Dying)
    results = {
        os.path.basename(r.path): r for r in fix_all([str(zoo)], FixOptions(), engine=Engine(2))
    }
    error = results["b-dies.h5"].error
    assert error is not None
    assert error.code == "process-lost"
    assert "SIGKILL" in error.message
    assert {n: r.action for n, r in results.items()} == {
        "a.h5": "fixed",
        "b-dies.h5": "failed",
        "b.h5": "fixed",
        "c.h5": "fixed",
        "clean.h5": "unchanged",
        "torn.h5": "failed",
    }
    assert not list(zoo.rglob(".*"))
    assert not (zoo / "b-dies.unnested.h5").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no signal to one process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay", [0.2, 0.5, 0.9])
def test_an_interrupt_ends_all(delay: float, number: signal.Signals, tmp_path: Path) -> None:
    """Exit code, one line, no debris, no process that goes on writing."""
    for name in "abcdef":
        makeh5.parallel_file(tmp_path / f"{name}.h5", width=500_000)
    child = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "unnest",
            "fix",
            *(f"{n}.h5" for n in "abcdef"),
            "--jobs",
            "3",
            "-q",
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(delay)
    child.send_signal(number)
    said = "".join(child.communicate(timeout=600))
    # On a busy machine Python itself is still starting at first, which ends with 1 and its own lines.
    is_starting = delay < 0.3
    assert "Traceback" not in said or is_starting
    assert child.returncode in {0, 128 + number, -number, *([1] if is_starting else [])}
    left = {p.name for p in tmp_path.iterdir()}
    assert {n for n in left if n.startswith(".")} == set()
    for name in sorted(left - {f"{n}.h5" for n in "abcdef"}):
        check_verdict(unnest.inspect(tmp_path / name), "clean")


class InterruptedInACallback:
    """A signal comes while Python lets go of an object, from where no exception gets out."""

    def __call__(self, task: int, meter: PhaseMeter | None) -> int:
        """The task."""
        del meter

        class Kept:
            def __del__(self) -> None:
                signal.raise_signal(signal.SIGTERM)
                for _ in range(1000):  # handlers run between two instructions
                    pass

        Kept()
        return task

    def lost(self, task: int, why: str) -> int:
        """Less than any task."""
        del why
        return -1 - task


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no signal to one process")
def test_an_interrupt_in_a_callback_ends_a_process_without_a_word() -> None:
    """Python shows a traceback of whatever cannot come through."""
    work = "from tests.test_jobs import *; print([r for _, r in map_in_order([1], InterruptedInACallback(), 1)])"
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[-2]\n", "")


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("again", ["zoo/../zoo/a.h5", "zoo/a.h5", "link.h5"])
def test_a_file_that_is_given_twice_in_place(again: str, jobs: str, zoo: Path, cli: Cli) -> None:
    """A file that is given twice is refused: the result of the second would depend on timing."""
    (zoo.parent / "link.h5").symlink_to(zoo / "a.h5")
    before = below(zoo)
    done = cli("fix", "zoo/a.h5", again, "--in-place", "--jobs", jobs)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"unnest: {again}: is the same file as zoo/a.h5; name it once\n"
    assert below(zoo) == before


def in_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return the result of a command line after something that only a shell can do first."""
    environment = {**os.environ, "PYTHONPATH": str(Path(unnest.__file__).parents[1])}
    shell = ["/bin/sh", "-c", command]
    return subprocess.run(
        shell, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of open files")
@pytest.mark.parametrize("limit", [14, 16, 18, 26])
def test_too_few_open_files_for_processes(limit: int, zoo: Path) -> None:
    """One line, whatever the server that forks them would say; what it can do with few, it does."""
    shell = (
        f"ulimit -n {limit}; exec {sys.executable} -m unnest fix -n zoo/a.h5 zoo/clean.h5 --jobs 4"
    )
    done = in_shell(shell, zoo.parent)
    assert done.returncode == 2
    assert done.stderr == (
        f"unnest: --jobs: no process can be started with {limit} open files at most (ulimit -n); leave it out\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of open files")
def test_few_open_files_make_fewer_processes(zoo: Path) -> None:
    """Two of eight, here."""
    shell = (
        f"ulimit -n 30; exec {sys.executable} -m unnest fix -n zoo/a.h5 zoo/clean.h5 -q --jobs 8"
    )
    done = in_shell(shell, zoo.parent)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the working folder of a process")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            "fix {zoo}/a.h5 -o out.h5",
            2,
            "unnest: the working folder is gone; change into one that there is\n",
        ),
        ("fix -n -q {zoo}/a.h5 {zoo}/clean.h5 --jobs 2", 1, ""),
    ],
)
def test_a_working_folder_that_is_gone(words: str, code: int, said: str, zoo: Path) -> None:
    """It is not stdout that cannot be written; what needs no working folder is done."""
    gone = zoo.parent / "gone"
    gone.mkdir()
    shell = f"rmdir {gone}; exec {sys.executable} -m unnest {words.format(zoo=zoo)}"
    done = in_shell(shell, gone)
    assert (done.returncode, done.stderr) == (code, said)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_processes_end_with_the_main_one() -> None:
    """Killed, it ends none of them; each sees that its pipe has ended."""
    work = "from tests.test_jobs import *; [*map_in_order(range(10**9), Numbers({}, {}), 2)]"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # no other thread: it may fork
    with subprocess.Popen([sys.executable, "-c", work], env=environment) as main:
        children = Path(f"/proc/{main.pid}/task/{main.pid}/children")
        until = time.monotonic() + 60
        while len(workers := children.read_text().split()) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        main.kill()
    assert len(workers) == 2
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


@dataclass(frozen=True)
class Reading(InspectWork):
    """Tells the process that worked on a path, by its number, in place of the path."""

    def entry(self, task: Task, meter: PhaseMeter | None) -> Report:
        """Its report."""
        del meter
        until = time.process_time() + float(task.path)
        while time.process_time() < until:
            pass
        return Report(path=str(os.getpid()), verdict="clean")


@pytest.mark.parametrize(
    ("seconds", "count", "is_alone"), [(0.001, 100, True), (0.2, 12, True), (0.2, 40, False)]
)
def test_inspect_begins_with_processes_where_they_are_worth_it(
    seconds: float, count: int, is_alone: bool
) -> None:
    """After a second of work, if what is left takes so long that they save more than they cost."""
    tasks = iter([Task(str(seconds))] * count)
    work = Reading(None, frozenset(), trust=False)
    workers = [entry.path for _, entry in Engine(2).run(tasks, work, NO_WATCH) if entry is not None]
    assert (len(workers), {*workers} == {str(os.getpid())}) == (count, is_alone)
    assert workers[0] == str(os.getpid())


def test_inspect_begins_with_processes_where_many_files_take_little_each() -> None:
    """A folder of the epochs of some trainings: a millisecond a file, and ten thousand files."""
    work = Reading(None, frozenset(), trust=False)
    with closing(Engine(2).run(iter([Task("0.001")] * 10_000), work, NO_WATCH)) as results:
        workers = (entry.path for _, entry in results if entry is not None)
        assert any(worker != str(os.getpid()) for worker in islice(workers, 5_000))


@pytest.mark.parametrize("kind", [os.fsencode, Path, str])
def test_paths_of_every_kind(kind: Callable[[str], Any], zoo: Path) -> None:
    """As the functions of `os` take them."""
    check_verdict(unnest.inspect(kind(str(zoo / "a.h5"))), "parallel")
    done = unnest.fix(kind(str(zoo / "a.h5")), kind(str(zoo / "out.h5")))
    assert (done.error, done.output) == (None, str(zoo / "out.h5"))


def test_a_null_byte_is_in_no_path() -> None:
    """That is the caller's mistake."""
    with pytest.raises(unnest.UsageError, match=r"^a: a null byte follows"):
        unnest.inspect("a\0b")
