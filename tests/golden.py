"""Facts reported on every fixture and corpus case, one line a file, kept in `golden.json` beside this module.

    python -m tests.golden [FILE]      write it anew (default: golden.json); read the difference before it is kept

A line holds the verdict, the refusal's code where there is one, and of each wrapper its name, template, towers, scope,
merges, depth, confidence and evidence. Weights have a second line for each JSON that was kept beside them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import unnest
from tests.corpus.unpacked import TREE

GOLDEN = Path(__file__).with_name("golden.json")
CORPORA = ("fixtures", "tests/corpus/cases")
#: JSONs that belong to the weights beside them.
ARCHITECTURES = ("model.json", "template.json", "base_model.json")
SUFFIXES = (".h5", ".keras")

Line: TypeAlias = "list[object]"


def folders() -> list[Path]:
    """Every case of the fixtures and of the corpus."""
    return sorted({p.parent for corpus in CORPORA for p in (TREE / corpus).rglob("case.json")})


def lines(cases: Iterable[Path]) -> Iterator[tuple[str, Line]]:
    """Every model of these cases with what is said of it."""
    for case in cases:
        yield from _of_case(case)


def _of_case(folder: Path) -> Iterator[tuple[str, Line]]:
    given = [folder / name for name in ARCHITECTURES if (folder / name).exists()]
    for path in sorted({*_models(folder)}):
        name = path.relative_to(TREE).as_posix()
        made = unnest.fix(path, dry_run=True)
        yield name, _line(made)
        if made.contents == "weights" and made.container != "tfjs":
            for architecture in given:
                made = unnest.fix(path, architecture=architecture, dry_run=True)
                yield f"{name} + {architecture.name}", _line(made)


def _models(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.name == "saved_model.pb":
            yield path.parent
        elif path.suffix == ".index" and path.parent.name != "variables":
            yield path.with_suffix("")
        elif path.suffix in SUFFIXES or path.name in ARCHITECTURES:
            yield path


def _line(made: unnest.Result) -> Line:
    wrappers = [
        [w.name, w.template, w.towers, w.scope, [*w.merge], w.depth, w.confidence, [*w.evidence]]
        for w in made.wrappers
    ]
    return [made.verdict, made.error.code if made.error else None, *wrappers]


def written(table: Mapping[str, Line]) -> str:
    """One line a file, so that a difference shows which."""
    rows = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(line)}" for name, line in sorted(table.items())
    )
    return "{\n" + rows + "\n}\n"


if __name__ == "__main__":
    target = Path(sys.argv[1]) if sys.argv[1:] else GOLDEN
    target.write_text(written(dict(lines(folders()))))
