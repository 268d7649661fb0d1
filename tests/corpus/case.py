"""The loader of the corpus: a folder `cases/<container>/<name>/` as a `Case`. README.md says what its files are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import unnest
from tests.corpus.unpacked import CASES

#: `verdict`, `wrappers` (their number), `towers`, `scope`, `parameters` (of the template), `action`.
Facts: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Case:
    """One folder: what its author says of it (`case.json`), and its files by their part in the case."""

    folder: Path
    facts: dict[str, Any]

    @property
    def name(self) -> str:
        """`101-onebased-arguments`."""
        return self.folder.name

    @property
    def container(self) -> str:
        """`h5`, `keras`, `saved_model` or `checkpoint`."""
        return self.folder.parent.name

    @property
    def parallel(self) -> bool:
        """True if the author says that there is a wrapper."""
        return bool(self.facts["expected"] == "parallel")

    @property
    def sources(self) -> list[Path]:
        """The damaged or look-alike files, SavedModel folders, or the prefix of the checkpoint."""
        if self.container == "checkpoint":
            return [self.folder / str(self.facts["prefix"])]
        stem = "parallel" if self.parallel else "lookalike"
        return sorted([*self.folder.glob(f"{stem}*"), *self.folder.glob("weights.h5")])

    def base(self, source: Path) -> Path | None:
        """The template as its own software wrote it: a file of the container of `source`, or the tensors alone."""
        same = {"weights.h5": "base_weights.h5", "parallel": "base.npz"}.get(
            source.name, f"base{suffixes(source)}"
        )
        return next((p for n in (same, "base.npz") if (p := self.folder / n).exists()), None)

    def architecture(self, source: Path) -> Path | None:
        """The JSON that was kept beside weights and is to be given: of the parallel model, or else of the template."""
        if source.suffix == ".keras" or (
            "architecture" in self.facts and not self.facts["architecture"]
        ):
            return None
        return next(
            (p for n in ("model.json", "template.json") if (p := self.folder / n).exists()), None
        )

    def wanted(self) -> Facts:
        """The facts and actions that the author expects, as far as he names them."""
        if not self.parallel:
            return {"verdict": "clean", "wrappers": 0, "action": "unchanged"}
        keys = {
            "wrappers": "wrappers",
            "towers": "towers",
            "scope": "scope",
            "parameters": "template_parameters",
        }
        facts = {
            key: self.facts[name] for key, name in keys.items() if self.facts.get(name) is not None
        }
        return {"verdict": "parallel", "action": "fixed", **facts}


@cache
def cases(*containers: str) -> list[Case]:
    """Every case of these containers, in the order of names."""
    folders = sorted(p.parent for c in containers for p in (CASES / c).glob("*/case.json"))
    return [Case(folder, json.loads((folder / "case.json").read_text())) for folder in folders]


def each(chosen: list[Case]) -> pytest.MarkDecorator:
    """A test of each of these cases, its parameter `case`."""
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case.name)


def each_source(chosen: list[Case]) -> pytest.MarkDecorator:
    """A test of each file of these cases, its parameters `case` and `source`."""
    pairs = [(case, source) for case in chosen for source in case.sources]
    return pytest.mark.parametrize(
        ("case", "source"), pairs, ids=[f"{c.name}/{s.name}" for c, s in pairs]
    )


def limited(case: Case, limits: dict[str, str], request: pytest.FixtureRequest) -> None:
    """A case that is not reached must fail: when it no longer does, its line goes."""
    if case.name in limits:
        request.applymarker(pytest.mark.xfail(reason=limits[case.name], strict=True))


def said(seen: unnest.Report, made: unnest.Result) -> Facts:
    """Return what was said and done, in the words of `Case.wanted`; facts that differ among wrappers are a set."""
    towers, scopes = {w.towers for w in seen.wrappers}, {w.scope for w in seen.wrappers}
    return {
        "verdict": seen.verdict,
        "wrappers": len(seen.wrappers),
        "towers": next(iter(towers), None) if len(towers) < 2 else towers,
        "scope": next(iter(scopes), None) if len(scopes) < 2 else scopes,
        "parameters": seen.template.parameters if seen.template else None,
        "action": made.action,
    }


def suffixes(path: Path) -> str:
    """`.h5`, `.keras`, `.weights.h5`; of a folder nothing."""
    return path.name[path.name.index(".") :] if "." in path.name else ""


def contents(path: Path) -> dict[str, bytes]:
    """Every file of a folder by its name within, or the one file."""
    return dict(_contents(path))


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            yield file.relative_to(path).as_posix(), file.read_bytes()
