"""The store of cases: what is packed comes out again, an archive depends on its files alone, the index is true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.corpus import __main__ as command
from tests.corpus import store
from tests.corpus.unpacked import TREE

DOCS = [store.ROOT / "README.md", *sorted((store.ROOT / "docs").rglob("*.md"))]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one kept case, a new one of the same stack, and a family with the script that made it."""
    files = {
        "fixtures/README.md": b"`twins/` holds two of a kind.\n",
        "fixtures/k224/kept/case.json": json.dumps(
            {"stack": "k224", "case": "kept", "wrappers": []}
        ).encode(),
        "fixtures/k224/new/case.json": json.dumps(
            {"stack": "k224", "case": "new", "expected": "parallel"}
        ).encode(),
        "fixtures/k224/new/parallel.h5": b"h" * 5000,
        "fixtures/twins/one.h5": b"1",
        "fixtures/twins/make.py": b"print('made')",
    }
    for name, data in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    archives, index, cache = tmp_path / "archives", tmp_path / "index.tsv", tmp_path / "cache"
    for name, value in (
        ("ROOT", tmp_path),
        ("ARCHIVES", archives),
        ("INDEX", index),
        ("CACHE", cache),
    ):
        monkeypatch.setattr(store, name, value)
    monkeypatch.setattr(store, "KEPT", ("fixtures/k224/kept",))
    return tmp_path


def test_new_cases_are_packed_and_come_out_again(checkout: Path) -> None:
    """Kept ones stay, and so does the script of a family."""
    before = store.tree()
    assert store.pack() == ["families/twins", "h5/k224"]
    left = sorted(
        p.relative_to(checkout).as_posix()
        for p in (checkout / "fixtures").rglob("*")
        if p.is_file()
    )
    assert left == ["fixtures/README.md", "fixtures/k224/kept/case.json", "fixtures/twins/make.py"]
    after = store.tree()
    for path in (p for p in before.rglob("*") if p.is_file()):
        assert (after / path.relative_to(before)).read_bytes() == path.read_bytes()
    assert [row["archive"] for row in store.read_index()] == [
        "unpacked",
        "h5/k224",
        "families/twins",
    ]
    assert store.read_index()[2]["what"] == "two of a kind."


def test_an_archive_is_written_again_for_new_contents_alone(checkout: Path) -> None:
    """The same case anew changes nothing, another one is put beside it, one with other files replaces it."""
    store.pack()
    packed = store.tree() / "fixtures/k224/new"
    again = checkout / "fixtures/k224/new"
    again.mkdir()
    for path in packed.iterdir():
        (again / path.name).write_bytes(path.read_bytes())
    assert store.pack() == []
    again.mkdir()
    (again / "case.json").write_bytes((packed / "case.json").read_bytes())
    assert store.pack() == ["h5/k224"]
    assert sorted(store.read_archive(store.ARCHIVES / "h5/k224.tar.xz")) == [
        "fixtures/k224/new/case.json"
    ]


@pytest.mark.usefixtures("checkout")
def test_a_tree_is_made_once_and_the_last_two_are_kept(checkout: Path) -> None:
    """A change of any file makes another."""
    first = store.tree()
    assert store.tree() == first
    for text in ("a", "b"):
        (checkout / "fixtures/twins/one.h5").write_text(text)
        assert (store.tree() / "fixtures/twins/one.h5").read_text() == text
    assert not first.exists()
    assert len([*store.CACHE.iterdir()]) == store.TREES


def test_the_order_of_files_does_not_change_an_archive() -> None:
    """Nor does the time; and what goes in comes out."""
    members = {f"fixtures/x/{n}.h5": bytes([n]) * 1000 for n in range(5)}
    packed = store.archive_bytes(members)
    assert packed == store.archive_bytes(dict(reversed(members.items())))


@pytest.mark.parametrize("name", ["h5/py27k120", "families/adapted"])
def test_an_archive_is_what_pack_writes(name: str) -> None:
    """Byte for byte; `python -m tests.corpus check` asks it of all."""
    path = store.ARCHIVES / f"{name}.tar.xz"
    assert store.archive_bytes(store.read_archive(path)) == path.read_bytes()


def test_the_index_has_a_line_for_every_case() -> None:
    """New cases have theirs once they are packed."""
    now = store.index(TREE).splitlines()
    told = store.INDEX.read_text("utf8").splitlines()
    new = {path for path in store.units(store.ROOT) if path not in store.KEPT}
    assert [line for line in now if line.split("\t")[0] not in new] == told


def test_kept_cases_are_unpacked() -> None:
    """The commands of the documents work in a fresh clone."""
    assert {*store.KEPT} <= {*store.units(store.ROOT)}
    assert len(store.KEPT) < 35


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_files_that_a_page_names_are_unpacked(page: Path) -> None:
    """`fixtures/...` in the documents is a path of the repository, without a cache."""
    missing = [
        path
        for path in store.paths_named(page.read_text("utf8"))
        if not (store.ROOT / path).exists()
    ]
    assert missing == []


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    """By the end of its name: what is expected, and where the files are."""
    assert command.main(["show", "k224/official-cnn-adam"]) == 0
    told = capsys.readouterr().out
    assert "expected: whole of 2" in told
    assert str(TREE / "fixtures/k224/official-cnn-adam/parallel.h5") in told


def test_a_name_of_several_cases() -> None:
    """They are listed."""
    with pytest.raises(
        SystemExit, match=r"official-cnn-adam: \d+ cases are called so.*\n    fixtures/"
    ):
        command.find_case("official-cnn-adam")


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    """The lines that hold all words."""
    command.main(["list", "siamese", "k224", "clean"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert all("siamese" in line for line in lines)
