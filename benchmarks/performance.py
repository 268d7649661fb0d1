"""All costs, measured on this machine and written to docs/performance.md: one command.

    python benchmarks/performance.py [--only SECTION ...] [--megabytes 1024] [--files 10000] [--rounds 5] [--large 8192]
                                     [--tensorflow PYTHON] [--stack PYTHON] [--reflinks FOLDER] [--folder DIR]
                                     [--results FILE]

Makes its inputs, lets the competitors take turns (medians, the first round not counted), and removes everything. The
results of sections that are measured one by one are kept in FILE, from which the page is written. `--tensorflow` is an
interpreter that has TensorFlow, `--stack` one of an original stack (Keras 2.2.4, say), for the comparisons with them;
`--large` the megabytes of a second size for memory; `--reflinks` a folder on a file system that clones files, without
which that section is left out. The sections `url` and `cluster` need moto, s3fs and distributed, and are left out where
these are not installed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import models
import saved_models
from run import peak, planned, taking_turns, unnest
from wide_saved_model import wide_saved_model

from tests.corpus.unpacked import FIXTURES
from unnest.core.model import Stored

PAGE = ROOT / "docs" / "performance.md"
MIB = 1 << 20

#: What was measured, and the value with its unit.
Row = tuple[str, str]


class Took(NamedTuple):
    """Seconds of a task: the median of its rounds, and the best, which other work on the machine disturbs least."""

    median: float
    best: float

    def over(self, *others: tuple[float, Took]) -> str:
        """How many times as long as so many times the others together."""
        whole = [sum(factor * other[k] for factor, other in others) for k in (0, 1)]
        return f"{self.median / whole[0]:.2f} times (best rounds: {self.best / whole[1]:.2f})"

    def __str__(self) -> str:
        unit, factor = ("s", 1) if self.best >= 1 else ("ms", 1000)
        digits = 2 if unit == "s" else 0
        return f"{factor * self.median:.{digits}f} {unit} (best {factor * self.best:.{digits}f})"


def interleaved(tasks: Mapping[str, Callable[[], None]], rounds: int) -> dict[str, Took]:
    """Run tasks in turns; return the time of each."""
    return {
        n: Took(statistics.median(seconds), min(seconds))
        for n, seconds in taking_turns(tasks, rounds).items()
    }


class Bench:
    """The folder for inputs, and the size of the measurement."""

    def __init__(self, folder: Path, asked: argparse.Namespace) -> None:
        self.folder, self.rounds, self.megabytes = folder, int(asked.rounds), int(asked.megabytes)
        self.files, self.large = int(asked.files), int(asked.large)
        self.tensorflow, self.stack = asked.tensorflow, asked.stack
        self.reflinks: Path | None = asked.reflinks

    def h5(self, megabytes: int) -> Path:
        """A parallel .h5 of that size."""
        path = self.folder / f"{megabytes}.h5"
        if not path.exists():
            models.parallel_file(path, megabytes * MIB)
        return path

    def many(self, count: int, kind: str = "different") -> Path:
        """A folder of so many small .h5 files, made of genuine ones.

        `different`: no two models are the same, as in a zoo. `checkpoints`: some models, each of many epochs.
        """
        folder = self.folder / f"{kind}-{count}"
        if not folder.exists():
            genuine = genuine_h5()
            for n in range(count):
                turn = n % len(genuine) if kind == "different" else n * len(genuine) // count
                place = folder / f"{n // 1000:03}"
                place.mkdir(parents=True, exist_ok=True)
                path = Path(shutil.copy(genuine[turn], place / f"{n:06}.h5"))
                (models.renamed if kind == "different" else models.trained_on)(path, n)
        return folder


def genuine_h5() -> list[Path]:
    """Return every `.h5` of the fixtures, those in archives too: the models of which `Bench.many` makes folders."""
    return sorted(FIXTURES.rglob("*.h5"))


def command(*words: str | Path) -> Callable[[], None]:
    """A run of some program."""

    def run() -> None:
        subprocess.run(list(map(str, words)), check=True, capture_output=True)

    return run


def copied(source: Path, target: Path) -> Callable[[], None]:
    """A copy of a file, synced, and removed."""

    def run() -> None:
        command("cp", source, target)()
        with target.open("rb") as file:
            os.fsync(file.fileno())
        target.unlink()

    return run


def removing(output: Path, write: Callable[[], None]) -> Callable[[], None]:
    """`write`, and the removal of what it wrote."""

    def run() -> None:
        write()
        _remove(output)

    return run


def start_up(bench: Bench) -> list[Row]:
    """One small file, and nothing at all."""
    small = bench.h5(16)
    seconds = interleaved(
        {
            "python": command(sys.executable, "-c", ""),
            "package": command(sys.executable, "-c", "import unnest"),
            "h5py": command(sys.executable, "-c", "import h5py"),
            "inspect": unnest("inspect", small, code=1),
        },
        4 * bench.rounds,
    )
    return [
        (
            "`import unnest`, over starting Python",
            f"{1000 * max(0, seconds['package'].best - seconds['python'].best):.0f} ms (best rounds)",
        ),
        ("`python -c 'import h5py'`", str(seconds["h5py"])),
        ("`unnest inspect` of one small file", str(seconds["inspect"])),
        ("... over importing h5py", seconds["inspect"].over((1, seconds["h5py"]))),
    ]


def peak_of_fix(path: Path, output: Path, *options: str) -> float:
    """Megabytes that `fix` of a file held at most; the output is removed."""
    try:
        return peak("fix", path, "-o", output, *options)
    finally:
        _remove(output)


def fix_h5(bench: Bench) -> list[Row]:
    """A large .h5 against a copy of it."""
    large, output = bench.h5(bench.megabytes), bench.folder / "output.h5"

    fix = removing(output, unnest("fix", large, "-o", output))
    seconds = interleaved(
        {
            "cp": copied(large, output),
            "fix": fix,
            "h5py": command(sys.executable, "-c", "import h5py"),
        },
        bench.rounds,
    )
    return [
        (f"`cp` and sync, {bench.megabytes} MiB", str(seconds["cp"])),
        ("`unnest fix`, read back and synced", str(seconds["fix"])),
        (
            "... over 1.1 x (`cp` + sync) + `import h5py`",
            seconds["fix"].over((1.1, seconds["cp"]), (1, seconds["h5py"])),
        ),
        *(
            (f"peak memory, {megabytes} MiB", f"{peak_of_fix(bench.h5(megabytes), output):.0f} MiB")
            for megabytes in (bench.megabytes, bench.large)
            if megabytes
        ),
    ]


def to_keras_3(bench: Bench) -> list[Row]:
    """Into a .keras, against a copy of the .h5, and into another dialect against into another container alone."""
    source, output = bench.h5(bench.megabytes), bench.folder / "output.keras"

    def fix(*options: str) -> Callable[[], None]:
        return removing(output, unnest("fix", source, "-o", output, *options))

    seconds = interleaved(
        {
            "cp": copied(source, output),
            "container": fix("--to", "keras"),
            "dialect": fix("--keras", "3"),
            "h5py": command(sys.executable, "-c", "import h5py"),
        },
        bench.rounds,
    )
    return [
        (f"`cp` and sync, {bench.megabytes} MiB", str(seconds["cp"])),
        ("`fix --to keras`", str(seconds["container"])),
        (
            "... over 1.1 x (`cp` + sync) + `import h5py`",
            seconds["container"].over((1.1, seconds["cp"]), (1, seconds["h5py"])),
        ),
        ("`fix --keras 3`", str(seconds["dialect"])),
        ("... over `fix --to keras`", seconds["dialect"].over((1, seconds["container"]))),
        ("peak memory", f"{peak_of_fix(source, output, '--keras', '3'):.0f} MiB"),
    ]


def phases(bench: Bench) -> list[Row]:
    """Return how `fix` of a large .h5 spends its time, without Python's start; reading back and fsync overlap."""
    from unnest.files import portable_file_operations
    from unnest.formats.hdf5.legacy_h5_writer import H5Container

    source, output = bench.h5(bench.megabytes), bench.folder / "output.h5"
    seconds: dict[str, list[float]] = {}

    def timed(owner: Any, name: str, phase: str) -> None:  # noqa: ANN401 - a class, or a module
        call = getattr(owner, name)

        def run(*args: Any) -> Any:  # noqa: ANN401 - stands for whatever is timed
            start = time.perf_counter()
            try:
                return call(*args)
            finally:
                seconds.setdefault(phase, []).append(time.perf_counter() - start)

        setattr(owner, name, run)

    timed(H5Container, "open", "opening, the input and what was written")
    timed(H5Container, "write", "writing")
    timed(H5Container, "verify", "reading back and comparing")
    timed(portable_file_operations, "sync", "fsync, beside reading back")
    import unnest as library

    for turn in range(bench.rounds + 1):
        start = time.perf_counter()
        result = library.fix(source, output)
        assert result.action == "fixed", result.error
        seconds.setdefault("all of `fix`", []).append(time.perf_counter() - start)
        output.unlink()
        if not turn:
            seconds.clear()
    return [
        (phase, str(Took(statistics.median(times), min(times)))) for phase, times in seconds.items()
    ]


def fix_saved_model(bench: Bench) -> list[Row]:
    """A large SavedModel against a copy of it, and against TensorFlow's reading of its variables."""
    large, output = bench.folder / "saved_model", bench.folder / "output"
    wide_saved_model(large, bench.megabytes * MIB)

    def copy() -> None:
        command("cp", "-r", large, output)()
        saved_models.synced(output)
        shutil.rmtree(output)

    fix = removing(output, unnest("fix", large, "-o", output))
    tasks = {
        "cp": copy,
        "fix": fix,
        "h5py": command(sys.executable, "-c", "import h5py"),
        "inspect": unnest("inspect", large, code=1),
    }
    if bench.tensorflow:
        read = f"import tensorflow as tf; r = tf.train.load_checkpoint({str(large / 'variables/variables')!r}); "
        read += "[r.get_tensor(k) for k in r.get_variable_to_shape_map()]"
        tasks["tensorflow"] = command(bench.tensorflow, "-c", read)
    seconds = interleaved(tasks, bench.rounds)
    rows = [
        (f"`cp -r` and sync, {bench.megabytes} MiB", str(seconds["cp"])),
        ("`unnest fix`, checksums held and synced", str(seconds["fix"])),
        (
            "... over 1.1 x (`cp` + sync) + `import h5py`",
            seconds["fix"].over((1.1, seconds["cp"]), (1, seconds["h5py"])),
        ),
        ("`unnest inspect`", str(seconds["inspect"])),
        ("peak memory of `fix`", f"{peak_of_fix(large, output):.0f} MiB"),
    ]
    if "tensorflow" in seconds:
        rows.append(
            ("`tf.train.load_checkpoint` and every tensor of it", str(seconds["tensorflow"]))
        )
    return rows


#: A parallel model of so many MiB, by tf_keras; and what people do with such a file without the program.
MAKE = """
import sys, tf_keras
layers = tf_keras.layers
x = y = layers.Input((2048,))
for n in range(int(sys.argv[2]) // 16):
    y = layers.Dense(2048, name=f"dense_{n}")(y)
template, x = tf_keras.Model(x, y, name="template"), layers.Input((2048,))
def part(x, number):
    rows = tf_keras.backend.shape(x)[0] // 2
    return x[number * rows : (number + 1) * rows]
towers = [template(layers.Lambda(part, arguments={"number": n})(x)) for n in range(2)]
tf_keras.Model(x, layers.Concatenate(axis=0)(towers)).save(sys.argv[1])
"""
BY_HAND = """
import sys, tf_keras
model = tf_keras.models.load_model(sys.argv[1], compile=False)
model.get_layer("template").save(sys.argv[2])
"""
#: The same by the Keras of the time, which asks for the GPUs again when it loads the file.
FAKED = """
import sys
sys.path.insert(0, sys.argv[1])
import fake_gpus
fake_gpus.install(2)
import keras
"""
MAKE_IN_STACK = """
x = y = keras.layers.Input((2048,))
for n in range(int(sys.argv[3]) // 16):
    y = keras.layers.Dense(2048, name="dense_%d" % n)(y)
keras.utils.multi_gpu_model(keras.models.Model(x, y), gpus=2).save(sys.argv[2])
"""
BY_HAND_IN_STACK = """
keras.models.load_model(sys.argv[2], compile=False).layers[-2].save(sys.argv[3])
"""


def other_ways(bench: Bench) -> list[Row]:
    """Measure ways without the program: load with Keras and save what is inside; look at a file with h5dump."""
    rows = []
    if bench.tensorflow:
        path = bench.folder / "tf_keras.h5"
        command(bench.tensorflow, "-c", MAKE, path, str(bench.megabytes))()
        by_hand = command(bench.tensorflow, "-c", BY_HAND, path, bench.folder / "output.h5")
        rows += _against_keras("tf_keras", path, by_hand, bench)
        tasks = {"inspect": unnest("inspect", path, code=1)}
        if shutil.which("h5dump"):
            tasks["`h5dump -A`, which prints attributes and shapes"] = command("h5dump", "-A", path)
        took = interleaved(tasks, bench.rounds)
        rows.append(("`unnest inspect` of it", str(took.pop("inspect"))))
        rows += [(what, str(seconds)) for what, seconds in took.items()]
    if bench.stack:
        path, scripts = bench.folder / "stack.h5", ROOT / "fixtures" / "scripts"
        command(bench.stack, "-c", FAKED + MAKE_IN_STACK, scripts, path, str(bench.megabytes))()
        by_hand = command(
            bench.stack, "-c", FAKED + BY_HAND_IN_STACK, scripts, path, bench.folder / "output.h5"
        )
        rows += _against_keras("the Keras that wrote it, two GPUs faked", path, by_hand, bench)
    return rows


def _against_keras(keras: str, path: Path, by_hand: Callable[[], None], bench: Bench) -> list[Row]:
    """`fix` of a file against loading it and saving the model inside, which `by_hand` does."""
    output = bench.folder / "output.h5"
    took = interleaved(
        {
            "by hand": removing(output, by_hand),
            "fix": removing(output, unnest("fix", path, "-o", output)),
        },
        bench.rounds,
    )
    return [
        (
            f"{keras}: load an .h5 of {bench.megabytes} MiB, save the model inside",
            str(took["by hand"]),
        ),
        ("`unnest fix` of it", str(took["fix"])),
        ("... over loading and saving", took["fix"].over((1, took["by hand"]))),
    ]


def reflinks(bench: Bench) -> list[Row]:
    """A SavedModel and an .h5 where the file system clones: against copies with and without that."""
    if bench.reflinks is None:
        return []
    rows = []
    with tempfile.TemporaryDirectory(prefix="unnest-benchmark-", dir=bench.reflinks) as name:
        folder = Path(name)
        for kind, megabytes in (
            ("SavedModel", bench.megabytes),
            *((".h5", m) for m in (bench.megabytes, bench.large)),
        ):
            if not megabytes:
                continue
            what, source = (
                f"{kind} of {megabytes} MiB",
                folder / ("model" + kind.removeprefix("SavedModel")),
            )
            (wide_saved_model if kind == "SavedModel" else models.parallel_file)(
                source, megabytes * MIB
            )
            output = source.with_name("output" + source.suffix)

            def copy(how: str, source: Path = source, output: Path = output) -> None:
                command("cp", "-r", f"--reflink={how}", source, output)()
                saved_models.synced(output)
                _remove(output)

            def fix(source: Path = source, output: Path = output) -> None:
                unnest("fix", source, "-o", output)()
                _remove(output)

            took = interleaved(
                {"never": partial(copy, "never"), "always": partial(copy, "always"), "fix": fix},
                bench.rounds,
            )
            rows += [
                (f"`cp -r --reflink=never` and sync, {what}", str(took["never"])),
                ("`cp -r --reflink=always` and sync", str(took["always"])),
                ("`unnest fix`", str(took["fix"])),
                ("... over `cp --reflink=never`", took["fix"].over((1, took["never"]))),
            ]
            _remove(source)
    return rows


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


#: What is in a folder of each kind.
WHAT = {"different": "no two models the same", "checkpoints": "the epochs of each model together"}


def many_files(bench: Bench) -> list[Row]:
    """A folder of small files."""
    rows = [("genuine `.h5` that the files are made of", f"{len(genuine_h5()):,}")]
    for kind, jobs in (("different", 1), ("different", 2), ("checkpoints", 1), ("checkpoints", 2)):
        folder = bench.many(bench.files, kind)
        start = time.perf_counter()
        words = [
            sys.executable,
            "-m",
            "unnest",
            "inspect",
            str(folder),
            "--jobs",
            str(jobs),
            "--json-lines",
        ]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            assert child.stdout
            child.stdout.readline()
            first = time.perf_counter() - start
            lines = 1 + sum(1 for _ in child.stdout)
        seconds = time.perf_counter() - start
        rows += [
            (
                f"`inspect` of {bench.files:,} files, {WHAT[kind]}, `--jobs {jobs}`",
                f"{lines / seconds:.0f} files a second",
            ),
            ("... the first line after", f"{first:.2f} s"),
        ]
    for count in (max(10, bench.files // 10), bench.files):
        path = bench.many(count)
        rows.append(
            (
                f"peak memory of the command, {count:,} files",
                f"{peak('inspect', path, '-q'):.0f} MiB",
            )
        )
    return rows


def growth(bench: Bench) -> list[Row]:
    """Measure how costs grow with layers, files and bytes."""
    rows, output = [], bench.folder / "output.h5"
    for megabytes in (16, 64, 256):
        path = bench.h5(megabytes)
        fix = removing(output, unnest("fix", path, "-o", output))
        took = interleaved({"fix": fix}, bench.rounds)["fix"]
        rows.append((f"`fix` of {megabytes} MiB", f"{took}, {peak_of_fix(path, output):.0f} MiB"))
    kinds: list[tuple[str, Callable[[int], Stored], tuple[int, ...]]] = [
        ("layers", models.stored_with_layers, (100, 1000, 10_000)),
        ("levels of wrappers", models.stored_with_levels, (1, 10, 100)),
        ("towers", models.stored_with_towers, (2, 16, 128)),
    ]
    for what, make, sizes in kinds:
        for size in sizes:
            stored = make(size)

            took = interleaved({"plan": planned(stored)}, bench.rounds)["plan"]
            rows.append((f"recognition and plan, {size:,} {what}", str(took)))
    return rows


def by_url(bench: Bench) -> list[Row]:
    """Bytes that `inspect` transfers from a server on this machine that speaks S3, and how `fix` gets on with one."""
    import fsspec

    import unnest as library

    with s3_server() as address:
        os.environ |= {
            "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1",
            # The server takes minutes to put the parts of a large object together.
            "AWS_ENDPOINT_URL": address, "FSSPEC_S3_CONFIG_KWARGS": '{"read_timeout": 600}',
        }  # fmt: skip
        store = fsspec.filesystem("s3")
        store.mkdir("zoo")
        large, folder, local = (
            bench.h5(bench.megabytes),
            bench.folder / "by-url",
            bench.folder / "local.h5",
        )
        store.put_file(str(large), "zoo/m.h5")
        wide_saved_model(folder, bench.megabytes * MIB)
        store.put(str(folder), "zoo/m", recursive=True)
        rows = []
        for name, what in (("m.h5", ".h5"), ("m", "SavedModel")):
            read = _counted(type(store))
            start = time.perf_counter()
            report = library.inspect(f"s3://zoo/{name}")
            seconds = time.perf_counter() - start
            assert report.verdict == "parallel", report.error
            transferred = f"{sum(read) / 1024:.0f} KiB in {len(read)} requests, {seconds:.2f} s"
            rows.append((f"`inspect` of a {what} of {bench.megabytes} MiB over S3", transferred))

        def copy() -> None:
            store.get_file("zoo/m.h5", str(local))
            store.put_file(str(local), "zoo/copied.h5")
            local.unlink()

        def fix() -> None:
            result = library.fix("s3://zoo/m.h5", "s3://zoo/out.h5")
            assert result.action == "fixed", result.error
            store.rm_file("zoo/out.h5")

        took = interleaved({"copy": copy, "fix": fix}, max(1, bench.rounds // 2))
        return [
            *rows,
            ("the .h5 from the server and back, by fsspec's S3 driver", str(took["copy"])),
            ("`fix` from the server to the server", str(took["fix"])),
            ("... over from the server and back", took["fix"].over((1, took["copy"]))),
        ]


SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
server.start()
host, port = server.get_host_and_port()
print(f"\\nhttp://{host}:{port}", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server that speaks S3, in a process of its own, which ends when its input does."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield next(line.strip() for line in server.stdout if line.startswith("http://"))


def _counted(kind: Any) -> list[int]:  # noqa: ANN401 - fsspec has no types
    """The sizes of what is read from now on."""
    read: list[int] = []
    before = kind.cat_file

    def cat_file(store: Any, *args: Any, **options: Any) -> bytes:  # noqa: ANN401
        data: bytes = before(store, *args, **options)
        read.append(len(data))
        return data

    kind.cat_file = cat_file
    return read


def cluster(bench: Bench) -> list[Row]:
    """Two processes here against two workers of a cluster on this machine."""
    from distributed import LocalCluster

    folder = bench.many(max(10, bench.files // 10))
    workers: Any = LocalCluster  # Dask has types in part
    with workers(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as dask:
        seconds = interleaved(
            {
                "jobs": unnest("inspect", folder, "-q", "--jobs", "2", code=2),
                "dask": unnest(
                    "inspect", folder, "-q", "--scheduler", dask.scheduler_address, code=2
                ),
            },
            max(1, bench.rounds // 2),
        )
    count = max(10, bench.files // 10)
    return [
        (f"`inspect` of {count:,} files, `--jobs 2`", str(seconds["jobs"])),
        ("... over a cluster of two workers", str(seconds["dask"])),
        ("... over `--jobs 2`", seconds["dask"].over((1, seconds["jobs"]))),
    ]


SECTIONS: dict[str, tuple[str, Callable[[Bench], list[Row]]]] = {
    "start-up": ("One small file", start_up),
    "h5": ("A large .h5", fix_h5),
    "phases": ("What `fix` does with its time", phases),
    "keras-3": ("Into a .keras, and into Keras 3", to_keras_3),
    "saved-model": ("A large SavedModel", fix_saved_model),
    "many": ("Many small files", many_files),
    "other-ways": ("Other ways", other_ways),
    "reflinks": ("Where the file system clones", reflinks),
    "growth": ("Growth", growth),
    "url": ("By URL", by_url),
    "cluster": ("A cluster", cluster),
}


def write(results: dict[str, dict[str, Any]]) -> None:
    """The page: the tables, and below them what people have written there."""
    kept = PAGE.read_text().partition(MARK)[2] if PAGE.exists() else "\n"
    lines = ["---", "search:", "  boost: 0.2", "---", "", "# Measurements: time and memory", ""]
    lines += ["Measured by `python benchmarks/performance.py`, which writes the tables anew.", ""]
    for name, (title, _) in SECTIONS.items():
        if name in results:
            lines += [
                f"## {title}",
                "",
                results[name]["machine"],
                "",
                "| what | measured |",
                "|---|---|",
            ]
            lines += [f"| {what} | {value} |" for what, value in results[name]["rows"]]
            lines.append("")
    PAGE.write_text("\n".join(lines) + MARK + kept)


#: What stands behind this is written by hand and stays.
MARK = "<!-- The rest is not written by the command. -->"


def machine() -> str:
    """Describe the machine, and how busy it was."""
    load = f", load {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""
    system = f"{platform.system()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"{system}{load}, {time.strftime('%Y-%m-%d')}."


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--tensorflow", metavar="PYTHON")
    parser.add_argument(
        "--stack", metavar="PYTHON", help="of an original stack with keras.utils.multi_gpu_model"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=None,
        help="where the large files go; a real disk, not a tmpfs",
    )
    parser.add_argument(
        "--reflinks",
        type=Path,
        default=None,
        metavar="FOLDER",
        help="on btrfs, or XFS with reflinks",
    )
    parser.add_argument("--results", type=Path, default=None)
    asked = parser.parse_args()
    # Installed programs are compiled; without this each run would compile ours and not h5py.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    results = (
        json.loads(asked.results.read_text()) if asked.results and asked.results.exists() else {}
    )
    with tempfile.TemporaryDirectory(prefix="unnest-benchmark-", dir=asked.folder) as folder:
        bench = Bench(Path(folder), asked)
        for name in asked.only:
            about = machine()
            try:
                rows = SECTIONS[name][1](bench)
            except ModuleNotFoundError as e:
                print(f"{name}: left out, {e.name} is not installed", flush=True)
                continue
            if not rows:
                continue
            results[name] = {"machine": about, "rows": rows}
            for what, value in rows:
                print(f"{what}: {value}", flush=True)
            if asked.results:
                asked.results.write_text(json.dumps(results))
    write(results)


if __name__ == "__main__":
    main()
