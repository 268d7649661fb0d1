"""Scenarios of `fix`, a fault at every call that changes the disk. A sample runs by default; all with `-m slow`."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import makeh5
from tests.corpus.unpacked import FIXTURES
from tests.faults.fault import Fault
from unnest.files.staging_folder import STAGING_NAME

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    # Threads that NumPy's libraries keep are idle when we fork.
    pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning"),
]

Files = dict[str, bytes]


@dataclass(frozen=True)
class Scenario:
    """The files that exist, and the command that is run on them."""

    name: str
    build: Callable[[Path], None]
    args: str
    #: Without hard links and renameat2.
    plain: bool = False

    @property
    def again(self) -> list[str]:
        """The next run: the same, whatever it meets."""
        words = self.args.split()
        return words if {"--in-place", "--force"} & set(words) else [*words, "--force"]


def h5(folder: Path) -> None:
    """A parallel model."""
    makeh5.parallel_file(folder / "m.h5", width=2000)


def h5_and_output(folder: Path) -> None:
    """And something where the output goes."""
    h5(folder)
    (folder / "out.h5").write_bytes(b"precious" * 1000)


def saved_model(folder: Path) -> None:
    """A SavedModel, and the output of another."""
    shutil.copytree(FIXTURES / "saved_model/tf23/plain-official-named/parallel", folder / "m")


def saved_model_and_output(folder: Path) -> None:
    """And another one where the output goes."""
    saved_model(folder)
    (folder / "out" / "variables").mkdir(parents=True)
    (folder / "out" / "saved_model.pb").write_bytes(b"old graph")
    (folder / "out" / "variables" / "variables.index").write_bytes(b"old index")


def checkpoint(folder: Path) -> None:
    """A checkpoint of several shards."""
    for path in (FIXTURES / "checkpoint/tf23/checkpoint-lookalike-named").glob("lookalike.ckpt.*"):
        shutil.copy(path, folder / path.name.replace("lookalike", "m"))


def checkpoint_and_output(folder: Path) -> None:
    """And another one, of more shards, where the output goes."""
    checkpoint(folder)
    for part in ("index", "data-00000-of-00001", "data-00001-of-00002"):
        (folder / f"out.{part}").write_bytes(f"old {part}".encode())


def zipped(folder: Path) -> None:
    """A .keras, and something where the output goes."""
    shutil.copy(
        FIXTURES / "keras_zip/keras3/keras_zip-carried-nested/parallel.keras", folder / "m.keras"
    )
    (folder / "out.keras").write_bytes(b"precious" * 1000)


SCENARIOS = [
    Scenario("file", h5, "fix -q m.h5"),
    Scenario("force", h5_and_output, "fix -q m.h5 -o out.h5 --force"),
    Scenario("in-place", h5, "fix -q m.h5 --in-place"),
    Scenario("in-place-plain", h5, "fix -q m.h5 --in-place", plain=True),
    Scenario("folder", saved_model, "fix -q m -o out"),
    Scenario("folder-force", saved_model_and_output, "fix -q m -o out --force"),
    Scenario("folder-force-plain", saved_model_and_output, "fix -q m -o out --force", plain=True),
    Scenario("checkpoint", checkpoint, "fix -q m.ckpt -o out"),
    Scenario("checkpoint-force", checkpoint_and_output, "fix -q m.ckpt -o out --force"),
    Scenario(
        "checkpoint-force-plain", checkpoint_and_output, "fix -q m.ckpt -o out --force", plain=True
    ),
    Scenario("keras", zipped, "fix -q m.keras -o out.keras --force"),
]
KINDS = ("kill", "power", "term", "ENOSPC", "EIO", "memory")


def files(folder: Path) -> Files:
    """Every file and what is in it, what killed runs left apart."""
    found = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not STAGING_NAME.search(f)]
        for name in names:
            path = Path(root) / name
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def debris(folder: Path) -> list[str]:
    """Return the leftovers of killed runs."""
    return [p.name for p in folder.rglob("*") if STAGING_NAME.search(p.name)]


class Bench:
    """One scenario: what is there before and after, and how many calls lie in between."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        from tests.faults.disk import Disk, child

        self.scenario, self.folder = scenario, folder
        work = self.fresh()
        self.before = files(work)
        assert (
            child(scenario.args.split(), work, Disk("count", 0, work), plain=scenario.plain) == 0
        ), self.said()
        self.calls = (folder / "calls.txt").read_text().split("\n")
        self.after = files(work)
        assert not debris(work)
        assert self.after != self.before

    def fresh(self) -> Path:
        """The scenario's folder, as it is before."""
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        self.scenario.build(work)
        return work

    def said(self) -> str:
        """Return the output of the last run."""
        return (self.folder / "said.txt").read_text()

    def fault(self, kind: str, point: int) -> None:
        """One fault at one call; then the next run."""
        from tests.faults.disk import NEVER, Disk, child

        work = self.fresh()
        code = child(
            self.scenario.args.split(), work, Disk(kind, point, work), plain=self.scenario.plain
        )
        call = self.calls[point - 1]
        where = (
            f"{kind} at call {point}, {call}: {sorted(files(work))} {debris(work)} {self.said()}"
        )
        if code == NEVER:
            return
        left = files(work)
        assert "Traceback" not in self.said(), where
        if kind in ("kill", "power"):
            assert code == -9, where
        elif kind == "term":
            assert code == 128 + 15, where
            assert left in (self.before, self.after), where
            assert not debris(work), where
        else:
            assert code in (0, 2), where
            assert len(self.said().splitlines()) == 1 or code == 0, where
            assert left == self.after if code == 0 else left in (self.before, self.after), where
            may_stay = kind != "memory" and call in ("unlink", "rmdir", "chmod", "open")
            assert not debris(work) or may_stay, where
        self._whole(left, where)
        self._cleans_up(work, where)

    def lacking(self, fault: Fault, where: str) -> str:
        """Too little memory at some place, then the next run; how the first ended.

        `done`, `told`, `misled` where the line names another reason, because Python or a library took the lack for
        one, or `died`: a library in C that does not look whether it got its memory; then as after a kill.
        """
        from tests.faults.disk import child

        work = self.fresh()
        code = child(self.scenario.args.split(), work, fault, plain=self.scenario.plain)
        left, said = files(work), self.said()
        where = f"{where}: exit {code}, {sorted(left)} {debris(work)} {said}"
        if code == 0:
            assert left == self.after, where
        elif code > 0:
            assert code == 2, where
            assert left in (self.before, self.after), where
            assert len(said.splitlines()) == 1, where
        assert code < 0 or not debris(work), where
        self._whole(left, where)
        self._cleans_up(work, where)
        return (
            "done"
            if code == 0
            else "died"
            if code < 0
            else "told"
            if "memory" in said
            else "misled"
        )

    def _cleans_up(self, work: Path, where: str) -> None:
        """The next run, in which nothing goes wrong."""
        from tests.faults.disk import Disk, child

        again = child(self.scenario.again, work, Disk("count", 0, work), plain=self.scenario.plain)
        finished = files(work) == self.after and not debris(work)
        assert finished, (
            f"{where}\nthen {again}: {sorted(files(work))} {debris(work)} {self.said()}"
        )
        assert again == 0, f"{where}\nthen {self.said()}"

    def _whole(self, left: Files, where: str) -> None:
        """Every file is an old one or a new one; an index means that all is there."""
        backups = {
            n: self.before["m.h5"] for n in ("m.h5.bak",) if "--in-place" in self.scenario.args
        }
        for name, content in left.items():
            assert content in (self.before.get(name), self.after.get(name), backups.get(name)), (
                where
            )
        for name, content in self.before.items():
            if not name.startswith("out"):
                assert left[name] in (content, self.after.get(name)), where
        outputs = {n: c for n, c in left.items() if n.startswith("out")}
        if "out.index" in outputs or (outputs and "checkpoint" not in self.scenario.name):
            states = [
                {n: c for n, c in s.items() if n.startswith("out")}
                for s in (self.before, self.after)
            ]
            assert outputs in states, where


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: thousands of syncs on a disk take their time."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory, prefix="unnest-faults-") as folder:
        yield Path(folder)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_a_sample(scenario: Scenario, place: Path) -> None:
    """Every kind of fault somewhere in every scenario, and a kill where the names change, near its end."""
    bench = Bench(scenario, place)
    number = len(bench.calls)
    for k, kind in enumerate(KINDS):
        bench.fault(kind, 1 + (2 * k + 1) * number // (2 * len(KINDS)))
    bench.fault("kill", number - 5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_every_call(scenario: Scenario, kind: str, place: Path) -> None:
    """Every one."""
    bench = Bench(scenario, place)
    for point in range(1, len(bench.calls) + 1):
        bench.fault(kind, point)
