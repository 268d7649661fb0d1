"""The command line from outside: what goes in, the exit code, what is left on the disk."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import h5py
import pytest

from tests import makeh5
from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES
from unnest.cli.app import complain_of_memory
from unnest.cli.streams import complain

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

#: arguments, exit code. The folder holds m.h5 (parallel), clean.h5, torn.h5, m.json, zoo/ and empty/.
RUNS = [
    ("inspect clean.h5", 0),
    ("inspect m.h5", 1),
    ("inspect clean.h5 m.h5", 1),
    ("inspect m.json", 1),
    ("inspect missing.h5", 2),
    ("inspect m.h5 missing.h5 clean.h5", 2),
    ("inspect torn.h5", 2),
    ("inspect empty", 2),
    ("inspect zoo", 1),
    ("inspect", 2),
    ("inspect --nonsense m.h5", 2),
    ("inspect m.h5 --architecture missing.json", 2),
    ("fix m.h5", 0),
    ("fix clean.h5", 0),
    ("fix m.h5 clean.h5", 0),
    ("fix m.json", 0),
    ("fix m.h5 torn.h5", 2),
    ("fix -n m.h5", 1),
    ("fix --dry-run clean.h5", 0),
    ("fix -n clean.h5 --to json", 1),
    ("fix clean.h5 --to json", 0),
    ("fix m.h5 --to weights", 0),
    ("fix m.h5 --to keras", 0),
    ("fix m.h5 --to nonsense", 2),
    ("fix m.json --to h5", 2),
    ("fix m.h5 -o out.json", 0),
    ("fix m.h5 -o out.keras", 0),
    ("fix m.h5 -o m.h5", 2),
    ("fix m.h5 -o ./m.h5", 2),
    ("fix m.h5 -o no/folder/out.h5", 2),
    ("fix m.h5 -o out.h5 --to json", 2),
    ("fix m.h5 -o out.h5 --in-place", 2),
    ("fix m.h5 -o clean.h5", 2),
    ("fix m.h5 -o clean.h5 --force", 0),
    ("fix m.h5 -o empty", 2),
    ("fix m.h5 clean.h5 -o all", 0),
    ("fix m.h5 clean.h5 -o torn.h5", 2),
    ("fix m.h5 clean.h5 -o all.h5", 2),
    ("fix zoo -o all.keras", 2),
    ("fix m.h5 clean.h5 -o all.h5/", 0),
    ("fix m.h5 -o out.onnx", 2),
    ("fix -n m.h5 -o out.PTH", 2),
    ("fix clean.h5 -o out.zip", 2),
    ("fix zoo -o out.npz", 2),
    ("fix m.h5 -o out.model", 0),
    ("fix zoo -o all", 0),
    ("fix --in-place m.h5", 0),
    ("fix --in-place --backup .orig m.h5", 0),
    ("fix --in-place --backup no/slash m.h5", 2),
    ("fix --in-place clean.h5", 0),
    ("fix --in-place zoo", 2),
    ("fix", 2),
    ("--version", 0),
    ("--help", 0),
    ("inspect --help", 0),
    ("fix --help", 0),
    ("", 2),
    ("nonsense", 2),
]


@pytest.fixture
def folder(tmp_path: Path, bad: Path, clean: Path) -> Path:
    """Something of everything."""
    (tmp_path / "torn.h5").write_bytes(bad.read_bytes()[:2000])
    (tmp_path / "m.json").write_text(json.dumps(makeh5.parallel(makeh5.template())))
    (tmp_path / "empty").mkdir()
    zoo = tmp_path / "zoo"
    (zoo / "deep").mkdir(parents=True)
    shutil.copy(bad, zoo / "deep" / "a.h5")
    shutil.copy(clean, zoo / "b.h5")
    (zoo / "notes.txt").write_text("not a model")
    (zoo / "settings.json").write_text('{"a": 1}')
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    """Everything below, and what it holds."""
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def entries(cli: Cli, *args: str | Path) -> list[dict[str, Any]]:
    """files[] of a --json run."""
    found: list[dict[str, Any]] = json.loads(cli(*args, "--json").stdout)["files"]
    return found


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("args", "code"), RUNS)
def test_exit_code(args: str, code: int, cli: Cli, folder: Path) -> None:
    """Every row of the table; where nothing is to be done, nothing is."""
    before = files(folder)
    done = cli(*args.split())
    assert done.returncode == code, done.stdout + done.stderr
    after = files(folder)
    if (code == 2 and " torn.h5" not in args) or "-n" in args or args.startswith("inspect"):
        assert after == before
    if "--in-place" not in args and "--force" not in args:
        assert before.items() <= after.items()


#: model_config -> the exit code of a model that has it.
ARCHITECTURES = {
    '{"class_name": "Model", "config": {"layers": [7], "input_layers": [], "output_layers": []}}': 2,
    '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"name": "d"}}, 7]}}': 2,
    '{"class_name": "Model", "config": {"name": "m"}}': 0,
    '{"class_name": "MLP", "config": {"name": "m", "layers": [64, 32]}}': 0,
}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_one_decision(architecture: str, clean: Path, cli: Cli) -> None:
    """In every form: with a picture or without one, for people or programs, before or with a fix."""
    with h5py.File(clean, "a") as file:
        file.attrs["model_config"] = architecture
    code = ARCHITECTURES[architecture]
    verdict = "unreadable" if code else "clean"
    for args in (
        "inspect",
        "inspect -v",
        "inspect -q",
        "inspect --json",
        "inspect --json-lines",
        "fix -q",
        "fix -n",
    ):
        assert cli(*args.split(), clean.name).returncode == code, args
    assert [entries(cli, command, clean.name)[0]["verdict"] for command in ("inspect", "fix")] == [
        verdict
    ] * 2


#: Arguments -> the line on stderr. The folder holds m.h5.
WRONG_USAGE = {
    "inspect": "missing argument 'PATH...'; see unnest inspect --help",
    "inspect --nonsense m.h5": "no such option --nonsense; see unnest inspect --help",
    "insp m.h5": "no such command 'insp'; did you mean 'inspect'?",
    "fix m.h5 -o": "option '-o' requires an argument; see unnest fix --help",
    "m.h5": "m.h5: say what to do with it: unnest inspect m.h5 or unnest fix m.h5",
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("args", WRONG_USAGE)
def test_wrong_usage(args: str, cli: Cli) -> None:
    """Told in one line, with the command whose help lists what there is."""
    done = cli(*args.split())
    line = done.stderr.replace("python -m unnest", "unnest")  # as it was called
    assert (done.returncode, done.stdout, line) == (2, "", f"unnest: {WRONG_USAGE[args]}\n")


#: Arguments -> what the one line says. The folder holds m.h5, sm/ and loop, a link to itself.
TOLD = {
    ("fix", "m.h5", "-o", ""): "name the file",
    ("fix", "m.h5", "sm", "-o", ""): "name the file",
    (
        "fix",
        "m.h5",
        "-o",
        "out.onnx",
    ): "out.onnx: .onnx cannot be written; name it .keras, .h5 (.hdf5), .weights.h5 or",
    (
        "fix",
        "m.h5",
        "sm",
        "-o",
        "out.h5",
    ): "for several inputs -o names a folder, and this is a file's name; for a",
    ("fix", "m.h5", "-o", "-"): "cannot go to stdout; name a file",
    ("fix", "sm", "-o", "./sm"): "is the input itself; choose another output",
    ("fix", "m.h5", "-o", "./m.h5"): "is the input itself; use --in-place",
    ("inspect", "loop"): "is a link that leads back to itself",
    ("inspect", "pipe"): "saved_model.pb: a link or no plain file",
    ("fix", "pipe"): "saved_model.pb: a link or no plain file",
}


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize(
    ("command", "name"), [("inspect", "PATH..."), ("fix", "PATH..."), ("balance", "MODULE:FN")]
)
def test_help_names_what_is_typed(command: str, name: str, cli: Cli) -> None:
    """As the pages do, whichever parser is installed: no types, no braces."""
    shown = cli(command, "--help").stdout
    assert shown.splitlines()[0].endswith(f"unnest {command} [OPTIONS] {name}")
    assert "<" not in shown
    assert "x>=" not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize("args", TOLD)
def test_what_to_do_is_told(args: tuple[str, ...], bad: Path, cli: Cli) -> None:
    """In one line, and nothing is written."""
    saved = FIXTURES / "saved_model/tf23/plain-official-named/parallel"
    for name in ("sm", "pipe"):
        shutil.copytree(saved, bad.parent / name)
    (bad.parent / "pipe" / "saved_model.pb").unlink()
    os.mkfifo(bad.parent / "pipe" / "saved_model.pb")
    (bad.parent / "loop").symlink_to("loop")
    before = files(bad.parent)
    done = cli(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert TOLD[args] in done.stderr
    assert files(bad.parent) == before


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("args", "made"),
    [
        ("fix m.h5", ["m.unnested.h5"]),
        ("fix m.json", ["m.unnested.json"]),
        ("fix m.h5 --to json", ["m.unnested.json"]),
        ("fix m.h5 --to weights", ["m.unnested.h5"]),
        ("fix clean.h5", []),
        ("fix clean.h5 --to json", ["clean.unnested.json"]),
        ("fix clean.h5 -o copy.h5", ["copy.h5"]),
        ("fix m.h5 clean.h5 -o all", ["all/clean.h5", "all/m.h5"]),
        ("fix m.h5 clean.h5 -o all.h5/", ["all.h5/clean.h5", "all.h5/m.h5"]),
        ("fix zoo", ["zoo/deep/a.unnested.h5"]),
        ("fix zoo -o all", ["all/b.h5", "all/deep/a.h5"]),
        ("fix zoo torn.h5 -o all --to json", ["all/b.json", "all/deep/a.json"]),
        ("fix --in-place m.h5", ["m.h5.bak"]),
        ("fix --in-place --backup .orig m.h5", ["m.h5.orig"]),
        ("fix --in-place clean.h5", []),
    ],
)
def test_outputs(args: str, made: list[str], cli: Cli, folder: Path) -> None:
    """Each command line writes its output, and nothing else."""
    before = set(files(folder))
    cli(*args.split())
    assert sorted(set(files(folder)) - before) == made


class TestReports:
    """stdout is the report, stderr the talk."""

    @pytest.mark.usefixtures("folder")
    def test_errors_are_data(self, cli: Cli) -> None:
        found = entries(cli, "inspect", "m.h5", "missing.h5", "clean.h5")
        assert [e["verdict"] for e in found] == ["parallel", "unreadable", "clean"]
        assert found[1]["error"]["code"] == "not-found"
        assert [e["path"] for e in found] == ["m.h5", "missing.h5", "clean.h5"]

    @pytest.mark.usefixtures("folder")
    def test_errors_are_one_line_on_stderr(self, cli: Cli) -> None:
        done = cli("fix", "torn.h5")
        assert done.stdout == ""
        assert done.stderr.splitlines() == [
            "unnest: torn.h5: the file is cut short; copy or download it again"
        ]

    def test_fix_ends_with_the_line_that_loads(self, bad: Path, cli: Cli) -> None:
        lines = cli("fix", bad.name).stdout.splitlines()
        assert lines[0] == "fixed: m.unnested.h5"
        assert len(lines) <= 6
        assert "  import tf_keras; model = tf_keras.models.load_model('m.unnested.h5')" in lines
        assert lines[4] == "  Keras 3: yes"

    def test_fix_says_all_with_v(self, bad: Path, cli: Cli) -> None:
        lines = cli("fix", "-v", bad.name).stdout.splitlines()
        assert lines[0] == "fixed: m.unnested.h5"
        assert any(line.startswith("    because ") for line in lines)
        assert any(line.startswith("  read back and compared: ") for line in lines)

    def test_a_clean_file_is_left_alone(self, clean: Path, cli: Cli) -> None:
        lines = cli("fix", clean.name).stdout.splitlines()
        assert lines[0] == "unchanged: clean.h5: already single-device; nothing written"
        assert lines[-1] == "  Keras 3: yes"
        assert cli("fix", clean.name, "-o", "copy.h5").stdout.splitlines()[0] == "copied: copy.h5"

    @pytest.mark.usefixtures("folder")
    def test_a_folder_has_a_line_a_file(self, cli: Cli) -> None:
        done = cli("fix", "zoo", "torn.h5", "-o", "all")
        assert [line.split()[:2] for line in done.stdout.splitlines()] == [
            ["copied", "zoo/b.h5"],
            ["fixed", "zoo/deep/a.h5"],
            ["failed", "torn.h5"],
        ]
        assert done.stderr.splitlines()[1] == "3 files: 1 failed, 1 fixed, 1 copied"

    def test_quiet(self, bad: Path, cli: Cli) -> None:
        done = cli("fix", "-q", bad.name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        done = cli("inspect", "-q", bad.name, "missing.h5")
        assert done.returncode == 2
        assert done.stdout == ""
        assert "missing.h5" in done.stderr

    def test_plain_off_a_terminal(self, bad: Path, cli: Cli) -> None:
        assert "\x1b" not in cli("inspect", bad).stdout

    @pytest.mark.usefixtures("folder")
    def test_the_same_document_twice(self, cli: Cli) -> None:
        assert cli("inspect", "--json", "zoo").stdout == cli("inspect", "--json", "zoo").stdout

    def test_a_closed_pipe_is_no_error(self, bad: Path) -> None:
        other = makeh5.parallel_file(bad.with_name("other.h5"))
        command = (
            f"{sys.executable} -m unnest inspect -v {bad} {other} | true; exit ${{PIPESTATUS[0]}}"
        )
        done = subprocess.run(
            ["/bin/bash", "-c", command], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr.splitlines()[0]) == (1, "2 files: 2 parallel")


class TestNext:
    """The commands that a report proposes run as they stand."""

    def test_with_what_it_says_behind_it(self, bad: Path, cli: Cli) -> None:
        lines = cli("inspect", bad.name).stdout.splitlines()
        (line,) = (line.strip() for line in lines if line.startswith("  next: "))
        assert line == "next: unnest fix m.h5  # writes m.unnested.h5"
        (also,) = (line.partition("next: ")[2] for line in lines if "Keras 3: " in line)
        for command in (line.removeprefix("next: "), also):
            typed = command.replace("unnest", f"{sys.executable} -m unnest", 1)
            done = subprocess.run(
                ["/bin/bash", "-c", typed], cwd=bad.parent, capture_output=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, b"")
        assert {p.name for p in bad.parent.iterdir()} == {
            "m.h5",
            "m.unnested.h5",
            "m.unnested.keras",
        }

    def test_the_paths_of_this_run_are_in_the_next(self, bad: Path, cli: Cli) -> None:
        """The output's as that of a .keras; the architecture's for weights alone, for no other file."""
        shutil.copy(FIXTURES / "k224/official-multiio-tjson/weights.h5", bad.with_name("w.h5"))
        shutil.copy(
            FIXTURES / "k224/official-multiio-tjson/template.json", bad.with_name("graph.json")
        )
        told = cli("inspect", "w.h5", "--architecture", "graph.json").stdout
        assert "next: unnest fix w.h5 --architecture graph.json  # writes w.unnested.h5" in told
        shutil.copy(FIXTURES / "k224/official-cnn-adam/parallel.h5", bad)
        told = cli("fix", "m.h5", "--architecture", "graph.json", "-o", "out.h5").stdout
        assert "; next: unnest fix m.h5 -o out.keras --keras 3" in told

    @pytest.mark.usefixtures("folder")
    def test_all_of_a_folder(self, cli: Cli) -> None:
        """Clean models of an older Keras are made for Keras 3; a path that is given twice is read once."""
        assert cli("inspect", "zoo", "zoo").stderr.splitlines()[-2:] == [
            "next: unnest fix zoo zoo -o FOLDER  # take every wrapper out",
            "next: unnest fix zoo zoo -o FOLDER --keras 3  # write files that Keras 3 loads",
        ]
        cli("fix", "zoo", "zoo", "-o", "made")
        assert cli("inspect", "made").stderr.splitlines() == [
            "2 files: 2 clean",
            "next: unnest fix made -o FOLDER --keras 3  # write files that Keras 3 loads",
        ]


class TestPages:
    """`--report FILE.html`, of both commands."""

    @pytest.mark.usefixtures("folder")
    def test_what_was_written_is_said(self, cli: Cli) -> None:
        done = cli("inspect", "m.h5", "--report", "page.html", "--diagram", "graph.svg")
        assert done.stderr.splitlines() == ["written: graph.svg", "written: page.html"]

    @pytest.mark.usefixtures("folder")
    @pytest.mark.parametrize("command", ["inspect zoo", "fix zoo", "fix zoo -n -o all"])
    def test_every_night(self, command: str, cli: Cli, folder: Path) -> None:
        """An earlier report is replaced, whichever command wrote it."""
        for args in ("inspect m.h5", command, command):
            done = cli(*args.split(), "--report", "scan.html", "-q")
            assert (done.returncode, done.stderr) == (cli(*args.split(), "-q").returncode, ""), args
        page = (folder / "scan.html").read_text()
        assert page.count("<tr class=") == 2
        assert ("zoo/deep/a.h5" in page, "m.h5" in page) == (True, False)

    def test_anything_else_is_refused_before_the_scan(
        self, bad: Path, clean: Path, cli: Cli, tmp_path: Path
    ) -> None:
        """Nothing is read or written, unless --force says so; never in the place of an input."""
        (tmp_path / "notes.html").write_text("<p>mine</p>")
        cli("inspect", bad, "--diagram", "picture.html")
        (tmp_path / "folder.html").mkdir()
        (tmp_path / "model.html").write_bytes(clean.read_bytes())
        before = files(tmp_path)
        for place in (
            "notes.html",
            "picture.html",
            "folder.html",
            "no/such.html",
            "report.txt",
            "model.html",
        ):
            for command in ("inspect", "fix"):
                done = cli(command, bad, "model.html", "--report", place)
                assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (
                    2,
                    "",
                    1,
                ), done.stderr
                assert place in done.stderr
        assert files(tmp_path) == before
        assert (
            cli("inspect", bad, "model.html", "--report", "model.html", "--force").returncode == 2
        )
        assert cli("inspect", bad, "--report", "notes.html", "--force").returncode == 1
        assert {**files(tmp_path), "notes.html": b"<p>mine</p>"} == before
        assert "<tr class" in (tmp_path / "notes.html").read_text()


class TestBehaviour:
    """Behaviour that shows over several runs only."""

    def test_again_is_unchanged(self, bad: Path, cli: Cli) -> None:
        cli("fix", bad)
        output = bad.with_name("m.unnested.h5")
        once = output.read_bytes()
        (entry,) = entries(cli, "fix", bad)
        assert entry["action"] == "unchanged"
        (entry,) = entries(cli, "fix", output)
        assert entry["action"] == "unchanged"
        assert output.read_bytes() == once
        assert sorted(p.name for p in bad.parent.iterdir()) == ["m.h5", "m.unnested.h5"]

    def test_the_same_bytes_every_time(self, bad: Path, cli: Cli) -> None:
        outputs = []
        for name in ("one.h5", "two.h5"):
            cli("fix", bad, "-o", name)
            outputs.append(bad.with_name(name).read_bytes())
            time.sleep(1.1)  # object headers know seconds
        cli("fix", bad, "--in-place")
        assert outputs[0] == outputs[1] == bad.read_bytes()

    def test_a_dry_run_tells_what_fix_does(self, bad: Path, clean: Path, cli: Cli) -> None:
        for args in (["-o", clean.name], ["-o", "new.h5"], [], ["--in-place"]):
            (would,) = entries(cli, "fix", "-n", bad, *args)
            (did,) = entries(cli, "fix", bad, *args)
            expected = {"would-fix": "fixed"}.get(would["action"], would["action"])
            assert did["action"] == expected
            assert did["output"] == would["output"]
        (would,) = entries(cli, "fix", "-n", bad, "-o", "new.h5")
        assert would["action"] == "unchanged"

    def test_a_dry_run_tells_a_copy_from_one_that_is_there(self, clean: Path, cli: Cli) -> None:
        """The words are those of the run; a copy that is there already is no copy."""
        words = [
            cli("fix", clean.name, "-o", "copy.h5", *option).stdout.splitlines()[0]
            for option in (["-n"], [], ["-n"], [])
        ]
        there = "unchanged: copy.h5  (already there, with the same bytes)"
        assert words == ["would-copy: copy.h5", "copied: copy.h5", there, there]

    def test_a_walk_passes_our_own_by(self, folder: Path, cli: Cli) -> None:
        cli("fix", "zoo")
        cli("fix", "--in-place", "zoo/deep/a.h5")
        (folder / "zoo" / ".b.h5.0123456789ab.unnest-tmp").write_bytes(b"\x89HDF\r\n\x1a\n debris")
        assert [e["path"] for e in entries(cli, "inspect", "zoo")] == ["zoo/b.h5", "zoo/deep/a.h5"]

    def test_a_walk_goes_by_content(self, folder: Path, cli: Cli) -> None:
        zoo = folder / "zoo"
        shutil.copy(zoo / "b.h5", zoo / "checkpoint-17")
        h5py.File(zoo / "data.h5", "w").close()
        shutil.copy(folder / "torn.h5", zoo / "torn.h5")
        shutil.copy(folder / "m.json", zoo / "m.json")
        found = {e["path"]: e["verdict"] for e in entries(cli, "inspect", "zoo")}
        assert found == {
            "zoo/b.h5": "clean",
            "zoo/checkpoint-17": "clean",
            "zoo/deep/a.h5": "parallel",
            "zoo/m.json": "parallel",
            "zoo/torn.h5": "unreadable",
        }

    def test_two_inputs_never_share_an_output(self, folder: Path, cli: Cli) -> None:
        shutil.copy(folder / "m.h5", folder / "zoo" / "m.h5")
        found = entries(cli, "fix", "m.h5", "zoo/m.h5", "-o", "all", "--force")
        assert [e["action"] for e in found] == ["fixed", "refused"]
        assert [e["verdict"] for e in found] == ["parallel", "parallel"]

    def test_in_place_through_a_link(self, bad: Path, cli: Cli) -> None:
        link = bad.with_name("link.h5")
        link.symlink_to(bad.name)
        old = bad.read_bytes()
        assert cli("fix", "--in-place", link).returncode == 0
        assert link.is_symlink()
        assert bad.read_bytes() != old
        assert bad.with_name("m.h5.bak").read_bytes() == old

    @pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
    )
    def test_no_permission(self, bad: Path, cli: Cli) -> None:
        bad.chmod(0)
        done = cli("fix", bad)
        assert done.returncode == 2
        assert "permission" in done.stderr.lower()

    @pytest.mark.parametrize("what", ["fifo", "device"])
    def test_what_is_no_file(self, what: str, tmp_path: Path, cli: Cli) -> None:
        path = tmp_path / "pipe.h5"
        if what == "fifo":
            os.mkfifo(path)
        else:
            path = Path("/dev/zero")
        done = cli("inspect", path)
        assert done.returncode == 2
        assert "no regular file" in done.stderr


@pytest.mark.skipif(resource is None, reason="no such limits here")
@pytest.mark.parametrize("limit", [0, 1, 100, 2048, 5000, 20_000, 60_000, 200_000])
@pytest.mark.parametrize("args", [[], ["--keras", "3"]], ids=["h5", "keras"])
def test_a_full_disk(args: list[str], limit: int, tmp_path: Path) -> None:
    """However much still fits: exit 2, one line that says why, nothing left."""
    path = makeh5.parallel_file(tmp_path / "m.h5", width=20_000)
    done = subprocess.run(
        [sys.executable, "-m", "unnest", "fix", "m.h5", *args],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 2, done
    assert len(done.stderr.splitlines()) == 1
    assert "m.unnested." in done.stderr
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="programs are found otherwise")
@pytest.mark.parametrize("args", [["inspect", "m.h5"], ["fix", "m.h5"]], ids=["inspect", "fix"])
def test_no_program_of_the_path_is_run(args: list[str], tmp_path: Path) -> None:
    """Not even those that libraries ask about the machine."""
    makeh5.parallel_file(tmp_path / "m.h5")
    programs, ran = tmp_path / "bin", tmp_path / "ran"
    programs.mkdir()
    for name in ("uname", "sh", "ldconfig", "gcc", "cc", "file"):
        (programs / name).write_text(f"#!/bin/bash\necho {name} >> {ran}\n")
        (programs / name).chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "unnest", *args],
        cwd=tmp_path,
        env={**os.environ, "PATH": str(programs)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == (1 if args[0] == "inspect" else 0), done.stderr
    assert not ran.exists(), ran.read_text()


#: Says so when Ctrl-C is ours to handle.
STARTED = """
from unnest.__main__ import main
try:
    print("started", flush=True)
    main()
except KeyboardInterrupt:  # in the instant before main() takes over
    raise SystemExit(130)
"""


#: Memory is there again only after what the error holds is let go of; or not even then.
FORGETFUL = """
import io, sys
from unnest.__main__ import main
from unnest.cli import app

class Held:
    pass

class Lacking(io.TextIOWrapper):
    def write(self, text):
        if alive() or {always}:
            raise MemoryError
        return super().write(text)

def run():
    global alive
    import weakref
    held = Held()
    alive = weakref.ref(held)
    raise MemoryError

sys.stderr = Lacking(sys.stderr.buffer)
app.run = run
main()
"""


@pytest.mark.parametrize("always", [False, True])
def test_no_memory_to_tell_of_it(always: bool) -> None:
    """One line all the same, as soon as there is some."""
    code = FORGETFUL.replace("{always}", str(always))
    done = subprocess.run(
        [sys.executable, "-c", code, "inspect"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done
    assert done.stderr == (
        "unnest: the machine has not enough memory left; end other programs, or use a larger machine\n"
    )


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        (
            "m.h5: the machine has not enough memory left to read it; end other programs, or use a larger machine",
            1,
        ),
        ("m.h5: is empty (0 bytes); copy or download it again", 2),
    ],
)
def test_a_lack_of_memory_is_told_once(
    before: str, lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the file; a second error on what follows from it is not printed."""
    complain(before)
    complain_of_memory()
    assert len(capsys.readouterr().err.splitlines()) == lines


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process")
@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5])
def test_ctrl_c(delay: float, tmp_path: Path) -> None:
    """At any moment: either nothing or everything, and never a traceback."""
    path = makeh5.parallel_file(tmp_path / "m.h5", width=1_000_000)
    child = subprocess.Popen(
        [sys.executable, "-c", STARTED, "fix", "m.h5"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout
    assert child.stdout.readline() == "started\n"  # before that, Python itself is still starting
    time.sleep(delay)
    child.send_signal(signal.SIGINT)
    said = "".join(child.communicate(timeout=600))
    left = sorted(p.name for p in tmp_path.iterdir())
    assert path.name in left
    if child.returncode == 0:
        assert left == ["m.h5", "m.unnested.h5"]
    else:
        assert child.returncode == 130
        assert "Traceback" not in said
    assert left in (["m.h5"], ["m.h5", "m.unnested.h5"])
