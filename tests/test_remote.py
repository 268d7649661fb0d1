"""Models by URL: in a store in memory, and in a real server that speaks S3, on this machine."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import unnest
from tests import makeh5
from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES
from unnest.batch.fix_many import fix_all
from unnest.batch.inspect_many import inspect_all
from unnest.batch.walk import is_walked
from unnest.options import FixOptions
from unnest.remote.store import RemoteStore
from unnest.remote.urls import is_remote, safe_url, without_credentials
from unnest.report.result import with_path_replaced

fsspec = pytest.importorskip("fsspec")

ROOT = Path(__file__).parents[1]
SAVED_MODEL = next(
    iter(sorted(p.parent for p in (FIXTURES / "saved_model").rglob("saved_model.pb"))), None
)
KERAS = sorted(FIXTURES.rglob("*.keras"))
WEIGHTS = sorted(FIXTURES.rglob("weights_h5-*/*.weights.h5"))
SHARDED = FIXTURES / "weights_h5/keras3/sharded-carried-named-adam"


@pytest.fixture
def memory() -> Iterator[Any]:
    """An empty store in memory."""
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def contents(store: Any) -> dict[str, bytes]:
    """Every object of it."""
    return {path: store.cat_file(path) for path in store.find("/")}


class Read:
    """Counts what is read from the store in memory, and may do something after so many reads."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, then: Callable[[int], None] = lambda _: None
    ) -> None:
        self.bytes = self.calls = 0
        system = type(fsspec.filesystem("memory"))
        before = system.cat_file

        def cat_file(
            store: Any, path: str, start: int | None = None, end: int | None = None, **more: Any
        ) -> bytes:
            data: bytes = before(store, path, start=start, end=end, **more)
            self.bytes, self.calls = self.bytes + len(data), self.calls + 1
            then(self.calls)
            return data

        monkeypatch.setattr(system, "cat_file", cat_file)


def without_path(report: unnest.Report, path: str) -> unnest.Report:
    """The report as it would be of a file called X."""
    return with_path_replaced(report, path, "X")


class TestInspect:
    """The same report as of the file, for a few of its bytes."""

    @pytest.mark.parametrize(
        "path", [*KERAS[:3], *WEIGHTS[:3], SAVED_MODEL], ids=lambda p: str(p)[-40:]
    )
    def test_genuine_files(self, path: Path | None, memory: Any) -> None:
        assert path is not None
        memory.put(str(path), f"/zoo/{path.name}", recursive=True)
        url = f"memory://zoo/{path.name}"
        assert without_path(unnest.inspect(url), url) == without_path(
            unnest.inspect(path), str(path)
        )

    @pytest.mark.parametrize("chunks", [None, (100, 100)])
    def test_tensors_are_not_read(
        self,
        chunks: tuple[int, int] | None,
        memory: Any,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        path = makeh5.clean_file(tmp_path / "m.h5")
        with h5py.File(path, "r+") as file:
            place = "model_weights/" + next(n for n in _datasets(file["model_weights"]))
            shape = (1000, 5000)
            del file[place]
            file.create_dataset(
                place, data=np.random.default_rng(0).random(shape, "f4"), chunks=chunks
            )
        memory.put_file(str(path), "/zoo/m.h5")
        expected = unnest.inspect(path)
        read = Read(monkeypatch)
        assert without_path(
            unnest.inspect("memory://zoo/m.h5"), "memory://zoo/m.h5"
        ) == without_path(expected, str(path))
        assert read.bytes < path.stat().st_size / 10

    def test_what_changes_meanwhile(
        self, memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = makeh5.parallel_file(tmp_path / "m.h5")
        memory.put_file(str(path), "/zoo/m.h5")
        other = makeh5.clean_file(tmp_path / "other.h5").read_bytes()
        Read(
            monkeypatch, lambda calls: memory.pipe_file("/zoo/m.h5", other) if calls == 1 else None
        )
        error = unnest.inspect("memory://zoo/m.h5").error
        assert error is not None
        assert error.code in {"changed", "damaged-hdf5"}
        assert unnest.fix("memory://zoo/m.h5").verdict != "parallel"

    @pytest.mark.parametrize(
        ("data", "code"),
        [(b"", "empty"), (b"hello", "damaged"), (b"\x89HDF\r\n\x1a\n", "truncated")],
    )
    def test_bad_objects(self, data: bytes, code: str, memory: Any) -> None:
        memory.pipe_file("/zoo/x.h5", data)
        error = unnest.inspect("memory://zoo/x.h5").error
        assert error is not None
        assert (
            error.code in {code, "damaged-hdf5"},
            error.message.startswith("memory://zoo/x.h5: "),
        ) == (True, True)

    def test_sharded_weights(self, memory: Any) -> None:
        """A URL names one object, and a map is nothing without the files that it names."""
        memory.put(str(SHARDED), "/zoo", recursive=True)
        for seen in (unnest.inspect, unnest.fix):
            error = seen("memory://zoo/parallel.weights.json").error
            assert error is not None
            assert (error.code, "download it with all its files" in error.message) == (
                "not-supported-yet",
                True,
            )

    def test_a_drawing(self, memory: Any, bad: Path) -> None:
        memory.put_file(str(bad), "/zoo/m.h5")
        drawing = unnest.inspect("memory://zoo/m.h5", draw=True).drawing
        assert drawing is not None
        assert drawing == unnest.inspect(bad, draw=True).drawing

    def test_no_object(self, cli: Cli) -> None:
        done = cli("inspect", "memory://zoo/none.h5")
        assert (done.returncode, done.stderr) == (
            2,
            "unnest: memory://zoo/none.h5: no such object; check the URL\n",
        )

    def test_no_driver(self, cli: Cli) -> None:
        done = cli("fix", "nonsense://user:secret@zoo/m.h5?signature=secret")
        assert done.returncode == 2
        assert "secret" not in done.stdout + done.stderr


class TestFix:
    """The bytes that a local run writes, in the store, or none."""

    def test_beside_the_input(self, memory: Any, tmp_path: Path) -> None:
        path = makeh5.parallel_file(tmp_path / "m.h5")
        unnest.fix(path)
        memory.put_file(str(path), "/zoo/m.h5")
        result = unnest.fix("memory://zoo/m.h5")
        assert (result.action, result.output) == ("fixed", "memory://zoo/m.unnested.h5")
        assert memory.cat("/zoo/m.unnested.h5") == (tmp_path / "m.unnested.h5").read_bytes()
        assert unnest.fix("memory://zoo/m.h5").action == "unchanged"

    def test_a_saved_model(self, memory: Any, tmp_path: Path) -> None:
        parallel = [p.parent for p in sorted((FIXTURES / "saved_model").rglob("saved_model.pb"))]
        path = next(
            p
            for p in parallel
            if unnest.inspect(p).fix_would and unnest.fix(p, tmp_path / p.name).output
        )
        memory.put(str(path), "/zoo/m", recursive=True)
        assert unnest.fix("memory://zoo/m", "memory://zoo/out").action == "fixed"
        made = tmp_path / path.name
        assert {n: memory.cat(n) for n in memory.find("/zoo/out")} == {
            f"/zoo/out/{p.relative_to(made)}": p.read_bytes()
            for p in made.rglob("*")
            if p.is_file()
        }

    def test_what_is_there_stays(self, memory: Any, tmp_path: Path) -> None:
        path = makeh5.parallel_file(tmp_path / "m.h5")
        memory.pipe_file("/zoo/out.h5", b"something else")
        result = unnest.fix(path, "memory://zoo/out.h5")
        assert result.error is not None
        assert (result.action, result.error.code) == ("refused", "output-exists")
        assert memory.cat("/zoo/out.h5") == b"something else"
        assert unnest.fix(path, "memory://zoo/out.h5", force=True).action == "fixed"

    def test_a_dry_run_sends_nothing(self, memory: Any, tmp_path: Path) -> None:
        path = makeh5.parallel_file(tmp_path / "m.h5")
        assert unnest.fix(path, "memory://zoo/out.h5", dry_run=True).action == "would-fix"
        assert memory.find("/zoo") == []

    def test_a_store_that_refuses(
        self, memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = makeh5.parallel_file(tmp_path / "m.h5")

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError("secret")

        monkeypatch.setattr(type(memory), "put_file", refuse)
        result = unnest.fix(path, "memory://zoo/out.h5")
        assert result.error is not None
        assert result.action == "failed"
        assert "secret" not in result.error.message
        assert memory.find("/zoo") == []

    def test_in_place_is_for_files(self, memory: Any, tmp_path: Path) -> None:
        memory.put_file(str(makeh5.parallel_file(tmp_path / "m.h5")), "/zoo/m.h5")
        assert unnest.fix("memory://zoo/m.h5", in_place=True).action == "refused"


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of a server on this machine."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    before = dict(os.environ)
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "visible",
        "AWS_SECRET_ACCESS_KEY": "hidden-key",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }
    fsspec.filesystem("s3", skip_instance_cache=True).makedirs("zoo", exist_ok=True)
    yield "s3://zoo"
    server.stop()
    os.environ.clear()
    os.environ.update(before)


class TestS3:
    """Over HTTP, by the command line, as people do it."""

    def test_inspect_and_fix(self, bucket: str, bad: Path, cli: Cli) -> None:
        store = fsspec.filesystem("s3", skip_instance_cache=True)
        store.put_file(str(bad), "zoo/m.h5")
        done = cli("inspect", f"{bucket}/m.h5", "--json")
        (entry,) = json.loads(done.stdout)["files"]
        assert (entry["path"], entry["verdict"]) == ("s3://zoo/m.h5", "parallel")
        done = cli("fix", f"{bucket}/m.h5", "-o", f"{bucket}/out.h5", "--jobs", "2")
        assert done.returncode == 0, done.stderr
        unnest.fix(bad)
        store.invalidate_cache()
        assert store.cat_file("zoo/out.h5") == bad.with_name("m.unnested.h5").read_bytes()
        assert "hidden" not in done.stdout + done.stderr
        done = cli(
            "fix", f"{bucket}/m.h5", "-o", f"{bucket.replace('s3:', 's3a:')}/m.h5", "--force"
        )
        assert done.returncode == 2
        assert "an input" in done.stderr
        assert store.cat_file("zoo/m.h5") == bad.read_bytes()

    def test_what_is_not_there(self, bucket: str, cli: Cli) -> None:
        done = cli("inspect", f"{bucket}/none.h5", f"{bucket.replace('zoo', 'nowhere')}/none.h5")
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 3
        assert "hidden" not in done.stderr


def _datasets(group: h5py.Group) -> list[str]:
    names: list[str] = []
    group.visititems(
        lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None
    )
    return names


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("s3://key:secret@bucket/m.h5", "s3://bucket/m.h5"),
        ("https://h/m.h5?X-Amz-Signature=secret#x", "https://h/m.h5"),
        ("folder/m.h5?x", "folder/m.h5?x"),
    ],
)
def test_shown(url: str, expected: str) -> None:
    """URLs are shown without credentials, in sentences too."""
    assert safe_url(url) == expected
    if is_remote(url):
        assert without_credentials(f"see {url} there") == f"see {expected} there"


def test_paths_are_no_urls(tmp_path: Path, cli: Cli) -> None:
    """A folder may be called like a scheme."""
    shutil.copy(makeh5.clean_file(tmp_path / "m.h5"), tmp_path / "s3:")
    assert cli("inspect", "s3:").returncode == 0


class TestFolders:
    """The URL of a folder, with a slash at its end, is searched; names decide what is a model."""

    @pytest.fixture
    def zoo(self, memory: Any, tmp_path: Path) -> Any:
        """Two models, a SavedModel, and a file that is no model."""
        assert SAVED_MODEL is not None
        memory.put_file(str(makeh5.parallel_file(tmp_path / "m.h5")), "/zoo/old/a.h5")
        memory.put_file(str(makeh5.clean_file(tmp_path / "c.h5")), "/zoo/b.H5")
        memory.put(str(SAVED_MODEL), "/zoo/served", recursive=True)
        memory.pipe_file("/zoo/notes.txt", b"no model")
        memory.pipe_file("/zoo/a.unnested.h5", b"ours")
        with h5py.File(tmp_path / "data.h5", "w") as file:
            file["x"] = np.zeros(3)
        memory.put_file(str(tmp_path / "data.h5"), "/zoo/data.h5")
        return memory

    @pytest.mark.usefixtures("zoo")
    def test_inspect(self) -> None:
        reports = {r.path: r.verdict for r in inspect_all(["memory://zoo/"])}
        served = unnest.inspect("memory://zoo/served").verdict
        assert reports == {
            "memory://zoo/b.H5": "clean",
            "memory://zoo/old/a.h5": "parallel",
            "memory://zoo/served": served,
        }

    def test_fix_into_a_folder(self, zoo: Any) -> None:
        options = FixOptions(output="memory://out")
        results = {
            r.path: (r.action, r.output)
            for r in fix_all(["memory://zoo/old/", "memory://zoo/b.H5"], options)
        }
        assert results == {
            "memory://zoo/old/a.h5": ("fixed", "memory://out/a.h5"),
            "memory://zoo/b.H5": ("unchanged", "memory://out/b.H5"),
        }
        assert zoo.find("/out") == ["/out/a.h5", "/out/b.H5"]

    @pytest.mark.usefixtures("zoo")
    def test_the_output_is_no_input(self) -> None:
        """An output inside the folder that is searched is refused."""
        options = FixOptions(output="memory://zoo/old/fixed/")
        runs = [
            [(r.path, r.action) for r in fix_all(["memory://zoo/old/"], options)] for _ in range(2)
        ]
        assert runs == [
            [("memory://zoo/old/a.h5", "fixed")],
            [("memory://zoo/old/a.h5", "unchanged")],
        ]

    def test_nothing_in_it_is_replaced(self, zoo: Any) -> None:
        """--force does not let one input's output take another's place."""
        zoo.copy("/zoo/b.H5", "/zoo/old/sub/b.H5")
        before = contents(zoo)
        options = FixOptions(output="memory://zoo/old/sub", force=True)
        results = fix_all(["memory://zoo/old/", "memory://zoo/b.H5"], options)
        assert [r.error.code for r in results if r.error] == ["in-the-way"] * 2
        assert contents(zoo) == before

    def test_beside_the_inputs_and_again(self, zoo: Any) -> None:
        actions = [
            [r.action for r in fix_all(["memory://zoo/old/"], FixOptions())] for _ in range(2)
        ]
        assert actions == [["fixed"], ["unchanged"]]
        assert zoo.find("/zoo/old") == ["/zoo/old/a.h5", "/zoo/old/a.unnested.h5"]

    @pytest.mark.usefixtures("zoo")
    @pytest.mark.parametrize(
        ("url", "code"),
        [
            ("memory://none/", "not-found"),
            ("memory://zoo/notes.txt/", "no-model"),
            ("nonsense://zoo/", "read"),
        ],
    )
    def test_what_is_no_folder(self, url: str, code: str) -> None:
        error = next(r.error for r in inspect_all([url]))
        assert error is not None
        assert (error.code, error.message.startswith(url)) == (code, True)

    @pytest.mark.usefixtures("zoo")
    def test_a_saved_model_is_one(self) -> None:
        """With or without the slash; so `-o` names the output and no folder for it."""
        assert not is_walked("memory://zoo/served/")
        assert [r.path for r in inspect_all(["memory://zoo/served/"])] == ["memory://zoo/served/"]

    @pytest.mark.usefixtures("zoo")
    def test_no_model_in_it(self, memory: Any) -> None:
        memory.pipe_file("/empty/notes.txt", b"no model")
        error = next(r.error for r in inspect_all(["memory://empty/"]))
        assert error is not None
        assert (error.code, error.message.startswith("memory://empty/: ")) == ("no-model", True)


def test_a_whole_bucket(bucket: str, bad: Path, tmp_path: Path, cli: Cli) -> None:
    """As the documents say it, over HTTP; in processes of their own."""
    store = fsspec.filesystem("s3", skip_instance_cache=True)
    for name in ("a.h5", "old/b.h5", "old/older/c.h5"):
        store.put_file(str(bad), f"zoo/models/{name}")
    store.pipe_file("zoo/models/", b"")  # as some tools mark a folder
    store.pipe_file("zoo/models/notes.txt", b"no model")
    done = cli(
        "inspect",
        f"{bucket}/models/",
        "--jobs",
        "2",
        "--json",
        "--report",
        str(tmp_path / "scan.html"),
    )
    assert (done.returncode, (tmp_path / "scan.html").exists()) == (1, True), done.stderr
    paths = [entry["path"] for entry in json.loads(done.stdout)["files"]]
    assert paths == [f"{bucket}/models/{name}" for name in ("a.h5", "old/b.h5", "old/older/c.h5")]
    done = cli("fix", f"{bucket}/models/", "--jobs", "2", "-o", f"{bucket}/fixed", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    store.invalidate_cache()
    assert store.find("zoo/fixed") == [
        f"zoo/fixed/{name}" for name in ("a.h5", "old/b.h5", "old/older/c.h5")
    ]
    unnest.fix(bad)
    assert store.cat_file("zoo/fixed/old/older/c.h5") == bad.with_name("m.unnested.h5").read_bytes()
    assert "hidden" not in done.stdout + done.stderr


def test_an_object_that_changes_meanwhile(
    bucket: str, bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same size, so that only its ETag differs; the second look must see it."""
    store = fsspec.filesystem("s3", skip_instance_cache=True)
    store.put_file(str(bad), "zoo/changing.h5")
    data = bytearray(bad.read_bytes())
    written: list[str] = []

    def changes_after(call: Callable[..., Any]) -> Callable[..., Any]:
        def changing(self: RemoteStore, name: str, *args: Any) -> Any:
            part = call(self, name, *args)
            if not written:
                written.append(name)
                store.pipe_file("zoo/changing.h5", bytes(data))
            return part

        return changing

    for run, method in ((unnest.inspect, "read"), (unnest.fix, "download")):
        monkeypatch.setattr(RemoteStore, method, changes_after(getattr(RemoteStore, method)))
        written.clear()
        data[-1] ^= 1
        error = run(f"{bucket}/changing.h5").error
        assert error is not None
        assert error.code == "changed"


class TestInputsAreKept:
    """By whatever name the output calls them, forced or not."""

    @pytest.fixture
    def model(self, tmp_path: Path) -> Path:
        return makeh5.parallel_file(tmp_path / "m.h5")

    @pytest.mark.parametrize("form", ["file://{}", "FILE://{}", "local://{}"])
    @pytest.mark.parametrize("name", ["m.h5", "link.h5", "hard.h5", "folder/../m.h5"])
    def test_a_url_of_this_machine_is_a_path(self, form: str, name: str, model: Path) -> None:
        (model.parent / "folder").mkdir()
        (model.parent / "link.h5").symlink_to(model)
        os.link(model, model.parent / "hard.h5")
        before, place = model.read_bytes(), form.format(model.parent / name)
        for path, output in ((str(model), place), (place, str(model)), (form.format(model), place)):
            with pytest.raises(unnest.UsageError, match="is the input itself"):
                unnest.fix(path, output, force=True)
        assert model.read_bytes() == before
        assert unnest.inspect(place).verdict == "parallel"

    def test_on_the_command_line(self, model: Path, cli: Cli) -> None:
        before = model.read_bytes()
        done = cli("fix", f"file://{model}", "-o", f"local://{model}", "--force")
        assert (done.returncode, model.read_bytes()) == (2, before)
        assert cli("inspect", f"file://{model.parent}/").returncode == 1
        assert cli("fix", f"file://{model}", "-o", f"file://{model.parent}/new.h5").returncode == 0
        assert (model.parent / "new.h5").exists()

    @pytest.mark.parametrize(
        "output", ["memory://zoo/sm/keras_metadata", "memory://zoo/sm/new", "memory://zoo"]
    )
    def test_around_and_in_a_folder(self, output: str, memory: Any) -> None:
        assert SAVED_MODEL is not None
        memory.put(str(SAVED_MODEL), "/zoo/sm", recursive=True)
        before = contents(memory)
        with pytest.raises(unnest.UsageError, match="is the input itself"):
            unnest.fix("memory://zoo/sm", "memory://zoo/sm", force=True)
        result = unnest.fix(
            "memory://zoo/sm", output, force=True, to="h5" if output.endswith("metadata") else None
        )
        assert result.error is not None
        assert result.error.code == "in-the-way"
        assert contents(memory) == before

    def test_a_file_of_the_checkpoint(self, memory: Any) -> None:
        parts = sorted(FIXTURES.rglob("*.index"))[:1]
        prefix = str(parts[0]).removesuffix(".index")
        for part in parts[0].parent.glob(os.path.basename(prefix) + ".*"):
            memory.put(str(part), f"/zoo/{part.name}")
        url = f"memory://zoo/{os.path.basename(prefix)}"
        result = unnest.fix(url, url + ".index", force=True)
        assert result.error is not None
        assert result.error.code == "in-the-way"
