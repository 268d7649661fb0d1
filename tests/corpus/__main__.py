"""Look into the store of cases.

    python -m tests.corpus list [WORD...]   the lines of the index that hold all of these words
    python -m tests.corpus show CASE        a case: what its author says, and where its files are
    python -m tests.corpus pack             move new cases into the archives, and write the index
    python -m tests.corpus check            exit 1 if the index or an archive is not what `pack` would write

CASE is a line's first column, or the end of one that no other has.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.corpus import store


def matching_rows(words: list[str]) -> list[dict[str, str]]:
    """Return the rows of the index that hold all of these words."""
    return [
        row for row in store.read_index() if all(word in " ".join(row.values()) for word in words)
    ]


def find_case(name: str) -> str:
    """Return the path of the one case that is called so.

    Raises:
        SystemExit: no case matches, or more than one.

    """
    paths = [row["case"] for row in store.read_index()]
    found = [path for path in paths if path == name.strip("/")] or [
        path for path in paths if f"/{path}".endswith(f"/{name}")
    ]
    if len(found) != 1:
        listed = "".join(f"\n    {path}" for path in found[:10])
        sys.exit(
            f"{name}: {len(found)} cases are called so; see python -m tests.corpus list{listed}"
        )
    return found[0]


def describe(folder: Path, row: dict[str, str]) -> str:
    """Return a case in words: its line of the index, what else its author says, and its files."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "case.json")
    note = json.dumps(store.read_note(folder) or {}, indent=1, ensure_ascii=False)
    told = [f"{column}: {value}" for column, value in row.items() if value]
    return "\n".join([*told, "", note, "", *(f"{p.stat().st_size:9,} {p}" for p in files)])


def differences() -> list[str]:
    """Return the archives, and the index, that are not what `pack` would write."""
    wrong = [
        path.relative_to(store.ROOT).as_posix()
        for path in sorted(store.ARCHIVES.rglob("*.tar.xz"))
        if store.archive_bytes(store.read_archive(path)) != path.read_bytes()
    ]
    return wrong + [store.INDEX.name] * (store.index(store.tree()) != store.INDEX.read_text("utf8"))


def main(arguments: list[str]) -> int:
    """Run one of the commands above."""
    match arguments:
        case ["list", *words]:
            print("\n".join("\t".join(row.values()) for row in matching_rows(words)))
        case ["show", name]:
            path = find_case(name)
            (row,) = (row for row in store.read_index() if row["case"] == path)
            print(describe(store.tree() / path, row))
        case ["pack"]:
            print("\n".join(store.pack()) or "nothing new")
        case ["check"]:
            wrong = differences()
            print("\n".join(wrong) or "every archive and the index are as they should be")
            return int(bool(wrong))
        case _:
            sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
