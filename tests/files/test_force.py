"""Outputs that --force replaces, and files that nothing replaces."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import makeh5
from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES

SAVED_MODEL = FIXTURES / "saved_model/tf23/plain-official-named/parallel"
CLEAN_SAVED_MODEL = FIXTURES / "saved_model/tf23/plain-lookalike-named/lookalike"
CHECKPOINT = FIXTURES / "checkpoint/tf23/checkpoint-lookalike-named/lookalike.ckpt"
INDEX = ".index"
SHARD = ".data-00000-of-00001"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A model of every kind, and things that are not our outputs."""
    makeh5.parallel_file(tmp_path / "m.h5")
    makeh5.parallel_file(tmp_path / "n.h5")
    shutil.copytree(SAVED_MODEL, tmp_path / "par" / "m")
    for part in (INDEX, SHARD):
        shutil.copy(f"{CHECKPOINT}{part}", tmp_path / f"ckpt{part}")
    (tmp_path / "photos" / "2019").mkdir(parents=True)
    (tmp_path / "photos" / "2019" / "sea.jpg").write_bytes(b"sea")
    (tmp_path / "notes.txt").write_text("notes")
    return tmp_path


def everything(folder: Path) -> dict[str, bytes | str]:
    """Every file, folder and link below a folder."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[name] = (
            os.readlink(path)
            if path.is_symlink()
            else path.read_bytes()
            if path.is_file()
            else "folder"
        )
    return found


def _model_in_photos(place: Path) -> None:
    shutil.copytree(SAVED_MODEL, place / "out")
    shutil.copytree(place / "photos", place / "out" / "photos")


def _photos_as_assets(place: Path) -> None:
    shutil.copytree(place / "photos", place / "out" / "assets")


def _link_in_assets(place: Path) -> None:
    shutil.copytree(SAVED_MODEL, place / "out")
    (place / "out" / "assets").mkdir(exist_ok=True)
    (place / "out" / "assets" / "photos").symlink_to(place / "photos")


def _notes_in_variables(place: Path) -> None:
    shutil.copytree(SAVED_MODEL, place / "out")
    (place / "out" / "variables" / "notes.txt").write_text("notes")


def _hard_link(source: str, name: str) -> Callable[[Path], None]:
    return lambda place: os.link(place / source, place / name)


def _soft_link(source: str, name: str) -> Callable[[Path], None]:
    return lambda place: (place / name).symlink_to(place / source)


def _link_to(elsewhere: str) -> Callable[[Path], None]:
    return lambda place: (place / "stdout").symlink_to(elsewhere)


def _link_to_a_link(place: Path) -> None:
    _link_to("/dev/stdout")(place)
    (place / "out.h5").symlink_to("stdout")


def _link_to_a_pipe(place: Path) -> None:
    os.mkfifo(place / "pipe")
    (place / "out.h5").symlink_to("pipe")


def _folder(name: str) -> Callable[[Path], None]:
    return lambda place: (place / name).mkdir()


def _nothing(_: Path) -> None:
    pass


#: (what is made first, arguments, what the one line names).
REFUSED = {
    "contains the input": (_nothing, "fix par/m -o par", "contains par/m"),
    "contains the input, by ..": (_nothing, "fix par/m -o photos/../par/", "contains par/m"),
    "contains the input, through a link": (_soft_link("par", "also"), "fix also/m -o par", "contains also/m"),
    "a folder of photos": (_nothing, "fix par/m -o photos", "2019"),
    "a folder of photos, by a slash": (_nothing, "fix par/m -o photos/", "2019"),
    "a model with photos": (_model_in_photos, "fix par/m -o out", "photos"),
    "photos called assets": (_photos_as_assets, "fix par/m -o out", "saved_model.pb"),
    "a link in assets": (_link_in_assets, "fix par/m -o out", "assets/photos"),
    "notes among the variables": (_notes_in_variables, "fix par/m -o out", "variables/notes.txt"),
    "a file by a folder": (_nothing, "fix par/m -o notes.txt", "is a file"),
    "a link to a folder by a folder": (_soft_link("photos", "out"), "fix par/m -o out", "a link to a folder"),
    "a folder by a file": (_nothing, "fix m.h5 -o photos", "is a folder"),
    "an empty folder by a file": (_folder("out"), "fix m.h5 -o out", "is a folder"),
    "a link to a folder by a file": (_soft_link("photos", "out.h5"), "fix m.h5 -o out.h5", "a link to a folder"),
    "a device": (_nothing, "fix m.h5 -o /dev/null", "no regular file"),
    "in the input": (_nothing, "fix par/m -o par/m/out", "lies in par/m"),
    "in the input's variables": (_nothing, "fix par/m -o par/m/variables/out", "lies in par/m"),
    "the input's graph": (_nothing, "fix par/m --to saved_model -o par/m/saved_model.pb", "par/m"),
    "a hard link to the input's graph": (
        _hard_link("par/m/saved_model.pb", "out"), "fix par/m --to saved_model -o out", "saved_model.pb",
    ),
    "a shard of the input": (_nothing, f"fix ckpt -o ckpt{SHARD}", "which is an input"),
    "a hard link to the input": (_hard_link("m.h5", "out.h5"), "fix m.h5 -o out.h5", "the input itself"),
    "a link to the input": (_soft_link("m.h5", "out.h5"), "fix m.h5 -o out.h5", "the input itself"),
    "the backup of a killed run": (_hard_link("m.h5", "m.h5.bak"), "fix m.h5 -o m.h5.bak", "the input itself"),
    "the backup": (
        lambda place: shutil.copy(place / "notes.txt", place / "m.h5.bak"), "fix m.h5 -o m.h5.bak", "a backup",
    ),
    "a name of the system's": (_nothing, "fix m.h5 -o /proc/unnest.h5", "is in /proc"),
    "a link to an open file": (_link_to("/proc/self/fd/1"), "fix m.h5 -o stdout", "is a link to what is in /proc"),
    "a link to such a link": (
        _link_to_a_link,
        "fix m.h5 -o out.h5",
        "is a link to what is in /dev",
    ),
    "a link to a pipe": (_link_to_a_pipe, "fix m.h5 -o out.h5", "no regular file"),
    "ends in a slash": (_nothing, "fix m.h5 -o out.h5/", "name the file"),
    "another input": (_hard_link("n.h5", "out/m.h5"), "fix m.h5 n.h5 -o out", "n.h5"),
    "a prefix whose shard links to the input's": (
        _hard_link(f"ckpt{SHARD}", f"out{SHARD}"), "fix ckpt -o out", f"ckpt{SHARD}",
    ),
}  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("force", ["--force", ""])
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, force: str, place: Path, cli: Cli) -> None:
    """Whatever is in the way stays, and one line names it."""
    make, args, named = REFUSED[case]
    if "out/" in str(args) or case == "another input":
        (place / "out").mkdir(exist_ok=True)
    make(place)
    before = everything(place)
    done = cli(*args.split(), *force.split(), "-q")
    if case == "another input":  # the other one is fixed, to a name of its own
        (place / "out" / "n.h5").unlink()
    assert done.returncode == 2, done.stdout
    assert everything(place) == before
    assert len(done.stderr.splitlines()) == 1, done.stderr
    if force:
        assert named in done.stderr


def _old_output(place: Path) -> None:
    shutil.copytree(CLEAN_SAVED_MODEL, place / "out")


def _old_output_with_more(place: Path) -> None:
    _old_output(place)
    for name in (
        "keras_metadata.pb",
        "fingerprint.pb",
        "assets/a/words.txt",
        "assets.extra/tf_serving_warmup",
    ):
        path = place / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"old")


def _readme_in_both(place: Path) -> None:
    _old_output(place)
    for folder in ("par/m", "out"):
        (place / folder / "README.md").write_text("about the model")


#: (what is made first, arguments).
REPLACED = {
    "a SavedModel": (_old_output, "fix par/m -o out"),
    "a SavedModel, by a slash": (_old_output, "fix par/m -o out/"),
    "all parts of one": (_old_output_with_more, "fix par/m -o out"),
    "what the new one holds, too": (_readme_in_both, "fix par/m -o out"),
    "an empty folder": (_folder("out"), "fix par/m -o out"),
    "a file": (
        lambda place: shutil.copy(place / "notes.txt", place / "out.h5"),
        "fix m.h5 -o out.h5",
    ),
    "a link to a file": (_soft_link("notes.txt", "out.h5"), "fix m.h5 -o out.h5"),
    "a link to nothing": (_soft_link("nothing", "out.h5"), "fix m.h5 -o out.h5"),
    "beside the input": (_folder("par/out"), "fix par/m -o par/out"),
    "a name that the input's begins with": (_nothing, "fix par/m -o par/m2"),
    "a checkpoint": (
        lambda place: shutil.copy(place / "notes.txt", place / "out.index"),
        "fix ckpt -o out",
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("case", REPLACED)
def test_replaced(case: str, place: Path, cli: Cli) -> None:
    """An output of the same kind; everything else stays."""
    make, args = REPLACED[case]
    make(place)
    output = args.split()[-1].rstrip("/")
    before = everything(place)
    done = cli(*args.split(), "--force", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    after = everything(place)
    assert before != after
    assert {n: c for n, c in after.items() if not n.startswith(output)} == {
        n: c for n, c in before.items() if not n.startswith(output)
    }
    again = cli(*args.split(), "--force", "-q")
    assert (again.returncode, everything(place)) == (0, after)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_picture_takes_no_name_of_the_system(place: Path, cli: Cli) -> None:
    """Nor do the pages that `inspect` writes."""
    (place / "out.svg").symlink_to("/proc/self/fd/1")
    done = cli("inspect", "m.h5", "-q", "--diagram", "out.svg", "--force")
    assert done.returncode == 2
    assert "is a link to what is in /proc" in done.stderr
    assert (place / "out.svg").is_symlink()


def test_architecture_is_an_input(place: Path, cli: Cli) -> None:
    """The file that --architecture names is never written."""
    (place / "arch.json").write_text('{"class_name": "Model", "config": {}}')
    shutil.copytree(SAVED_MODEL, place / "m")
    before = everything(place)
    done = cli(
        "fix",
        "m.h5",
        "--to",
        "json",
        "-o",
        "arch.json",
        "--architecture",
        "arch.json",
        "--force",
        "-q",
    )
    assert done.returncode == 2
    assert "arch.json, which is an input" in done.stderr
    assert everything(place) == before


@pytest.mark.parametrize("force", ["--force", ""])
@pytest.mark.parametrize("output", ["par/m", "par/m/variables", "par/m/new"])
def test_a_walk_writes_into_no_model(force: str, output: str, place: Path, cli: Cli) -> None:
    """The folder for all outputs of a walk may be a model that the walk comes to."""
    shutil.copy(place / "m.h5", place / "par" / "a.h5")
    before = everything(place)
    done = cli("fix", "par", "-o", output, "-q", *force.split())
    assert done.returncode == 2
    assert "which is an input" in done.stderr
    assert everything(place) == before


@pytest.mark.parametrize("when", ["while the new one is made", "just before their names change"])
def test_a_folder_that_fills_meanwhile(
    when: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that were put into the old output in the meantime are not lost."""
    import unnest
    from unnest.files import overwrite_checks, write_output_atomically

    _old_output(place)

    def late(*_: object, **__: object) -> None:
        (place / "out" / "sea.jpg").write_bytes(b"sea")

    if when.startswith("while"):
        monkeypatch.setattr(write_output_atomically, "_set_modes", late)
    else:
        monkeypatch.setattr(overwrite_checks, "check_same_kind", late)
    result = unnest.fix(place / "par" / "m", place / "out", force=True)
    assert result.error is not None
    assert "sea.jpg" in result.error.message
    assert (place / "out" / "sea.jpg").read_bytes() == b"sea"
    assert (place / "out" / "saved_model.pb").read_bytes() == (
        CLEAN_SAVED_MODEL / "saved_model.pb"
    ).read_bytes()
