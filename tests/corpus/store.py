"""The store of cases: archives by container and stack, an index of them, and the tree that they unpack into.

A *unit* is what stands on one line of the index: the folder of a case (it holds a `case.json`), or a family of
fixtures that share one folder. A unit lies unpacked in the repository if it is new or stands in `KEPT`; all others are
in the archives. `tree()` gives every unit under the path that it has where it lies unpacked.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import lzma
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[2]
ARCHIVES = Path(__file__).with_name("archives")
INDEX = Path(__file__).with_name("index.tsv")
#: Where trees are unpacked; ignored by git.
CACHE = Path(os.environ.get("UNNEST_CASES") or ROOT / ".cases")
#: Trees that stay in the cache: the newest, and the one that another run may still read.
TREES = 2
#: Endings of what is no data of a unit: the script that made it, and what Python compiled of that.
SCRIPTS = (".py", ".pyc")
#: Folders of the repository that hold units.
CORPORA = ("fixtures", "tests/corpus/cases", "tests/corpus/spellings")
#: What is beside the units, and no data.
NO_UNITS = ("fixtures/scripts", "fixtures/README.md")
#: Containers of the fixtures' folders; every other folder of cases holds .h5 files.
CONTAINERS = {
    "keras_zip": "keras",
    "weights_h5": "keras",
    "saved_model": "saved_model",
    "checkpoint": "checkpoint",
    "tfjs": "tfjs",
}
COLUMNS = ("case", "archive", "stack", "what", "expected", "doubts")

#: Units that stay unpacked: README, the documents and `scripts/make_pages.py` name them, or a reader looks at one of
#: each container.
KEPT = (
    "fixtures/checkpoint/tf23/checkpoint-official-named-adam",
    "fixtures/k122/kuza-frozen-x8-json",
    "fixtures/k209/kuza-mlp-x2-adam",
    "fixtures/k209/lookalike-stub_cnn",
    "fixtures/k216/lookalike-stub_nested",
    "fixtures/k216/official-cnn-weights",
    "fixtures/k216/official-frozensub-x4-weights",
    "fixtures/k216/slicebatch-named-x2-sgdm",
    "fixtures/k224/lookalike-clean_siamese",
    "fixtures/k224/lookalike-ensemble-sgd",
    "fixtures/k224/lookalike-mixed_halves",
    "fixtures/k224/official-cnn-adam",
    "fixtures/k224/official-multiio-tjson",
    "fixtures/k231/official-named-x3-sgd-head",
    "fixtures/keras_folder",
    "fixtures/keras3/carried-cnn-adam",
    "fixtures/keras_zip/keras3/keras_zip-carried-named-adam",
    "fixtures/saved_model/tf23/plain-official-named",
    "fixtures/tf210/slicebatch-rnn-x2",
    "fixtures/tf215/carried-cnn-adam",
    "fixtures/tf23/official-mlp-adam-double",
    "fixtures/tf23/official-named-adam-embedded",
    "fixtures/weights_h5/keras3/weights_h5-carried-named-adam",
    "tests/corpus/cases/h5/439-copied-tf215",
    # Data of tests that are no files of Keras: compiled functions, and one archive a stack.
    "fixtures/lambda_code",
    "fixtures/lambdas",
    "fixtures/layers",
    "fixtures/loop_code",
    "fixtures/people",
    "fixtures/slice_code",
)

#: The files of an archive, by their path in the repository.
Members: TypeAlias = "dict[str, bytes]"
Row: TypeAlias = "tuple[str, ...]"


def tree() -> Path:
    """Return the folder that holds every unit, unpacked; it is made where it is missing or out of date."""
    state = hashlib.sha256()
    for path in sorted([*ARCHIVES.rglob("*.tar.xz"), *_unpacked_files()]):
        state.update(f"{path.relative_to(ROOT).as_posix()}\0{path.stat().st_size}\0".encode())
        state.update(path.read_bytes())
    folder = CACHE / state.hexdigest()[:16]
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="unpack-", dir=CACHE))
        _fill(scratch)
        try:
            scratch.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(scratch)
        _forget_old_trees()
    return folder


def _fill(folder: Path) -> None:
    """Unpack every archive, and copy what lies unpacked in the repository."""
    for path in sorted(ARCHIVES.rglob("*.tar.xz")):
        with lzma.open(path) as stream, tarfile.open(fileobj=stream) as archive:
            archive.extractall(folder, filter="data")
    for path in _unpacked_files():
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _forget_old_trees() -> None:
    trees = sorted(
        (p for p in CACHE.iterdir() if not p.name.startswith("unpack-")),
        key=lambda p: p.stat().st_mtime,
    )
    for old in trees[:-TREES]:
        shutil.rmtree(old, ignore_errors=True)


def _unpacked_files() -> list[Path]:
    """Return the files that lie unpacked in the repository, scripts included."""
    skipped = [ROOT / path for path in NO_UNITS]
    files = (
        path
        for corpus in CORPORA
        for path in (ROOT / corpus).rglob("*")
        if "__pycache__" not in path.parts
    )
    return sorted(
        p for p in files if p.is_file() and not any(s == p or s in p.parents for s in skipped)
    )


def data_files(folder: Path) -> list[Path]:
    """Return the files of a unit; a script that made it stays where it is, to be read."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in SCRIPTS)


def units(root: Path) -> list[str]:
    """Return the units below a root, by their paths: the topmost folders that hold data."""
    found: set[Path] = set()
    for corpus in CORPORA:
        skipped = {root / path for path in NO_UNITS}
        holders = {
            p.parent
            for p in data_files(root / corpus)
            if p not in skipped and not skipped & {*p.parents}
        }
        found |= {folder for folder in holders if not holders & {*folder.parents}}
    return sorted(folder.relative_to(root).as_posix() for folder in found)


def archive_name(unit: str, note: Mapping[str, Any] | None) -> str:
    """Return where a unit is packed: `h5/k224` for a case, by its container and stack; `families/dict_ends`."""
    if note is None:
        return f"families/{PurePosixPath(unit).parts[1]}"
    return f"{_container(unit)}/{note.get('stack', 'other')}"


def _container(unit: str) -> str:
    parts = PurePosixPath(unit).parts
    if parts[0] == "fixtures":
        return CONTAINERS.get(parts[1], "h5")
    if parts[2] == "cases":
        return parts[3]
    return "saved_model" if re.search("-(sm|bare)-", parts[-1]) else "h5"


def read_note(folder: Path) -> dict[str, Any] | None:
    """Return what the author of a case says of it; None for a family."""
    path = folder / "case.json"
    return dict(json.loads(path.read_text("utf8"))) if path.exists() else None


def pack() -> list[str]:
    """Move every new unit into its archive and write the index; return the archives that were written.

    A unit that is in the archive already is replaced. An archive of the same contents is left as it is.
    """
    new: dict[str, list[str]] = {}
    for unit in units(ROOT):
        if unit not in KEPT:
            new.setdefault(archive_name(unit, read_note(ROOT / unit)), []).append(unit)
    written = [name for name, paths in sorted(new.items()) if _add(name, paths)]
    for path in (
        path for paths in new.values() for unit in paths for path in data_files(ROOT / unit)
    ):
        path.unlink()
        with contextlib.suppress(OSError):  # not empty yet
            os.removedirs(path.parent)
    INDEX.write_text(index(tree()), "utf8")
    return written


def _add(name: str, paths: list[str]) -> bool:
    """Put units into an archive; return whether its contents changed."""
    path = ARCHIVES / f"{name}.tar.xz"
    old = read_archive(path) if path.exists() else {}
    kept = {
        member: data
        for member, data in old.items()
        if not any(member.startswith(f"{unit}/") for unit in paths)
    }
    files = [p for unit in paths for p in data_files(ROOT / unit)]
    members = kept | {p.relative_to(ROOT).as_posix(): p.read_bytes() for p in files}
    if members != old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archive_bytes(members))
    return members != old


def read_archive(path: Path) -> Members:
    """Return the files of an archive by their path in the repository."""
    with lzma.open(path) as stream, tarfile.open(fileobj=stream) as archive:
        return {member.name: _data(archive, member) for member in archive}


def _data(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    assert stream is not None, member.name
    return stream.read()


def archive_bytes(members: Members) -> bytes:
    """Return a solid archive: the same bytes for the same files, alike files next to each other."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(
            members, key=lambda name: (PurePosixPath(name).suffix, PurePosixPath(name).name, name)
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(members[name])
            archive.addfile(entry, io.BytesIO(members[name]))
    return lzma.compress(stream.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def index(folder: Path) -> str:
    """Return the text of the index: one line a unit, of what its author says."""
    stream = io.StringIO()
    table = csv.writer(
        stream, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, escapechar="\\"
    )
    table.writerows([COLUMNS, *_rows(folder)])
    return stream.getvalue()


def _rows(folder: Path) -> Iterator[Row]:
    families = dict(
        re.findall(
            r"^`(\w+)/` holds (.*)$", (ROOT / "fixtures/README.md").read_text("utf8"), re.MULTILINE
        )
    )
    for unit in units(folder):
        note = read_note(folder / unit)
        archive = "unpacked" if unit in KEPT else archive_name(unit, note)
        if note is None:
            yield unit, archive, "", families.get(PurePosixPath(unit).name, ""), "", ""
        else:
            what = (note.get("case") if unit.startswith("fixtures/") else note.get("how")) or ""
            row = (
                unit,
                archive,
                str(note.get("stack", "")),
                what,
                expected(note),
                str(note.get("doubts") or ""),
            )
            yield tuple(" ".join(cell.split()) for cell in row)


def expected(note: Mapping[str, Any]) -> str:
    """Return what should be found, in words: `clean`, or `whole of 2, whole of 2` for wrappers from the outside in."""
    told, wrappers = note.get("expected"), note.get("wrappers")
    if isinstance(told, Mapping):
        told, wrappers = told["verdict"], told["wrappers"]
    if isinstance(wrappers, list):
        return ", ".join(f"{w['scope']} of {w['towers']}" for w in wrappers) or str(told or "clean")
    if told != "parallel":
        return str(told or "")
    scope = f"{note.get('scope') or 'parallel'} of {note.get('towers') or '?'}"
    return f"{wrappers} wrappers, {scope}" if isinstance(wrappers, int) and wrappers > 1 else scope


def paths_named(page: str) -> list[str]:
    """Return the paths of cases and fixtures that a document names."""
    return sorted({*re.findall(r"(?:fixtures|tests/corpus/cases)/[\w./-]*\w", page)})


def read_index() -> list[dict[str, str]]:
    """Return the rows of the index by the names of its columns."""
    with INDEX.open(encoding="utf8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE, escapechar="\\"))
