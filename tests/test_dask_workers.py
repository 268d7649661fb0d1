"""Many files over a Dask cluster on this machine: what one process gives, whoever of the workers dies."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import makeh5
from tests.conftest import Cli
from unnest.batch.dask_workers import map_in_order
from unnest.batch.fix_many import FixWork, fix_all
from unnest.batch.task_runner import Engine
from unnest.batch.walk import Task
from unnest.files.staging_folder import StagingFolder
from unnest.options import FixOptions, PhaseMeter
from unnest.report.result import Result

distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Dask's own
    pytest.mark.skipif(os.name == "nt", reason="workers are killed by signals"),
]


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster of two workers, which start again when they die."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """Parallel, clean and torn files."""
    folder = tmp_path / "zoo"
    folder.mkdir()
    for name in "abc":
        makeh5.parallel_file(folder / f"{name}.h5")
    makeh5.clean_file(folder / "clean.h5")
    (folder / "torn.h5").write_bytes((folder / "a.h5").read_bytes()[:2000])
    return folder


class TestTheSameAsHere:
    """The reports, their order, their paths, and the files."""

    @pytest.mark.usefixtures("zoo")
    def test_inspect(self, scheduler: str, cli: Cli) -> None:
        here, there = (
            cli("inspect", "zoo", "missing.h5", "--json", *o)
            for o in ([], ["--scheduler", scheduler])
        )
        assert (here.returncode, here.stdout) == (there.returncode, there.stdout)
        assert there.stderr == ""

    @pytest.mark.parametrize("output", [[], ["-o", "out"]])
    def test_fix(self, output: list[str], scheduler: str, zoo: Path, cli: Cli) -> None:
        shutil.copytree(zoo, zoo.parent / "before")
        runs = []
        for options in ([], ["--scheduler", scheduler]):
            done = cli("fix", "zoo", *output, "--json-lines", *options)
            made = {
                p.name: p.read_bytes() for p in zoo.parent.rglob("*.h5") if "before" not in str(p)
            }
            runs.append((done.returncode, done.stdout, made))
            shutil.rmtree(zoo)
            shutil.rmtree(zoo.parent / "out", ignore_errors=True)
            shutil.copytree(zoo.parent / "before", zoo)
        here, there = ([json.loads(line) for line in stdout.splitlines()] for _, stdout, _ in runs)
        assert here == there
        assert runs[0] == runs[1]

    def test_nobody_answers(self, cli: Cli, bad: Path) -> None:
        done = cli("inspect", bad, "--scheduler", "tcp://127.0.0.1:1")
        assert done.returncode == 2
        assert done.stderr.startswith(
            "unnest: --scheduler tcp://127.0.0.1:1: no Dask scheduler answers there"
        )

    def test_one_place_only(self, cli: Cli, bad: Path) -> None:
        assert (
            cli("inspect", bad, "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2").returncode == 2
        )


@dataclass(frozen=True)
class Dying(FixWork):
    """Fixes, and the first worker that comes to one file dies while it writes."""

    def entry(self, task: Task, meter: PhaseMeter | None) -> Result:
        """Its result."""
        died = Path(task.path + ".died")
        if task.path.endswith("b.h5") and not died.exists():
            died.touch()
            with StagingFolder(task.path.replace("b.h5", "b.unnested.h5")) as work:
                Path(work.new_path).write_bytes(b"half")
                os.kill(os.getpid(), signal.SIGKILL)
        return super(Dying, self).entry(task, meter)  # noqa: UP008 - slots make the class anew


def test_a_worker_that_dies_while_it_writes(
    scheduler: str, zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one does it again: nothing is lost, half, or there twice."""
    monkeypatch.setattr("unnest.batch.fix_many.FixWork", Dying)
    engine = Engine(scheduler=scheduler)
    results = {
        os.path.basename(r.path): r.action for r in fix_all([str(zoo)], FixOptions(), engine=engine)
    }
    assert (zoo / "b.h5.died").exists()
    assert results == {
        "a.h5": "fixed",
        "b.h5": "fixed",
        "c.h5": "fixed",
        "clean.h5": "unchanged",
        "torn.h5": "failed",
    }
    assert (zoo / "b.unnested.h5").read_bytes() == (zoo / "a.unnested.h5").read_bytes()
    assert list(zoo.glob(".*")) == []


@dataclass(frozen=True)
class Deadly:
    """Every worker dies over the number 3."""

    def __call__(self, task: int, meter: PhaseMeter | None) -> int:  # noqa: ARG002
        """Its square."""
        if task == 3:
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
        return task * task

    def lost(self, task: int, why: str) -> int:
        """A number below 0."""
        assert why == "was lost again and again"
        return -task


def test_what_kills_every_worker_costs_itself_alone(scheduler: str) -> None:
    """The lot that it came with is done one by one."""
    results = list(map_in_order(range(8), Deadly(), scheduler, lot=4))
    assert results == [(n, -n if n == 3 else n * n) for n in range(8)]


def test_functions_that_others_map(zoo: Path, scheduler: str) -> None:
    """`unnest.inspect` and `unnest.fix` are plain functions of plain values, as any engine maps them."""
    import unnest

    paths = [str(zoo / "a.h5"), str(zoo / "clean.h5")]
    with distributed.Client(scheduler, set_as_default=False) as client:
        reports = client.gather(client.map(unnest.inspect, paths, pure=False))
        results = client.gather(client.map(unnest.fix, paths, pure=False))
    assert [r.verdict for r in reports] == ["parallel", "clean"]
    assert [r.action for r in results] == ["fixed", "unchanged"]
    assert json.loads(json.dumps([r.path for r in reports])) == paths


def test_the_page(zoo: Path, scheduler: str, tmp_path: Path) -> None:
    """The program in docs/cluster.md runs as it stands there, but for the address and its paths."""
    page = (Path(__file__).parents[1] / "docs" / "cluster.md").read_text()
    (program,) = [
        each
        for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        if "distributed" in each
    ]
    paths = [str(zoo / "a.h5"), str(zoo / "torn.h5")]
    script = tmp_path / "program.py"
    script.write_text(f"paths = {paths!r}\n{program.replace('tcp://127.0.0.1:8786', scheduler)}")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, timeout=600
    )
    lines = done.stdout.splitlines()
    assert lines[0] == f"{paths[0]} parallel None", done.stderr
    assert lines[1].startswith(f"{paths[1]} unreadable Problem(code='truncated'")
