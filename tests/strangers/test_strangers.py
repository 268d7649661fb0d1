"""Wrappers and look-alikes by people who never saw the recogniser: what comes out, case by case.

`expected` in a case's `case.json` is the aim, `also_acceptable` the limit, `must_not` never happens.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.h5compare import differences
from unnest.core.model import Json
from unnest.formats.detect import open_container

HERE = Path(__file__).parent
CASES = sorted(p.parent for folder in ("files", "second") for p in (HERE / folder).glob("*/case.json"))

#: What the recogniser does not reach, and why. Everything else is what a user would want, or harmless.
LIMITS = {
    "214-negative-axis": "that axis -2 is the batch axis shows only in the rank of the template's output",
}

#: Results that are as good as the base, by the case's own words, and differ from it.
AS_GOOD = {
    "154-fp16-casts": "the cast after the merge is kept",
    "220-slices-of-inner-input": "an outer input stays, as the design says of what is embedded: base_embedded.h5",
}


@dataclass(frozen=True)
class Case:
    """One folder."""

    folder: Path
    told: dict[str, Any]

    @property
    def name(self) -> str:
        """`101-onebased-arguments`."""
        return self.folder.name

    def one(self, *names: str) -> Path | None:
        """The first of these files that is there."""
        return next((p for n in names if (p := self.folder / n).exists()), None)


def case(folder: Path) -> Case:
    """A case with what its maker says of it."""
    return Case(folder, json.loads((folder / "case.json").read_text()))


def outcome(made: unnest.Result) -> str:
    """`clean`, `refused` or `fixed`."""
    if made.error is not None:
        return made.action
    return "clean" if made.verdict == "clean" else "fixed"


@pytest.mark.parametrize("folder", CASES, ids=lambda p: p.name)
def test_what_comes_out(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The base of a wrapper, bit for bit; nothing of a look-alike."""
    this = case(folder)
    if this.name in LIMITS:
        request.applymarker(pytest.mark.xfail(reason=LIMITS[this.name], strict=True))
    source = this.one("parallel.h5", "parallel.keras", "parallel.weights.h5", "weights.h5", *LOOKALIKES)
    assert source is not None
    output = tmp_path / ("out" + "".join(source.suffixes))
    made = unnest.fix(source, output, architecture=this.one("model.json", "template.json"))
    came = outcome(made)
    wanted = "fixed" if this.told["expected"] == "parallel" else "clean"
    if came != wanted:
        assert came in harmless(this)
    elif came == "fixed" and this.name not in AS_GOOD:
        base = this.one("base.h5", "base.keras", "base.weights.h5", "base_weights.h5")
        assert base is not None
        without_graph = source.name == "weights.h5" and this.one("model.json", "template.json") is None
        assert (unlike(output, base) if without_graph else different(output, base)) == []
        assert unnest.inspect(base).verdict == "clean"


LOOKALIKES = ("lookalike.h5", "lookalike.keras", "lookalike.weights.h5", "lookalike_weights.h5", "clean.h5")


def harmless(this: Case) -> set[str]:
    """The outcomes that do no harm: `refused`, `clean`, `parallel, likely`."""
    told = {word.split(",")[0] for word in this.told.get("also_acceptable", [])}
    return {"fixed" if word.startswith("parallel") else word for word in told}


def different(found: Path, wanted: Path) -> list[str]:
    """What distinguishes two files of one container."""
    if found.suffixes[-2:] != [".weights", ".h5"] and found.suffix == ".h5":
        return differences(found, wanted)
    with open_container(str(found)).open(str(found)) as a, open_container(str(wanted)).open(str(wanted)) as b:
        groups = [
            [(g.name, t.name, b"".join(source.blocks(t))) for g in source.stored.groups for t in g.tensors]
            for source in (a, b)
        ]
        same = settled(a.stored.architecture) == settled(b.stored.architecture)
    return [*(["weights"] if groups[0] != groups[1] else []), *([] if same else ["architecture"])]


def unlike(found: Path, wanted: Path) -> list[str]:
    """Layers whose weights differ: read from names alone they come in order of first appearance, frozen ones last."""
    with open_container(str(found)).open(str(found)) as a, open_container(str(wanted)).open(str(wanted)) as b:
        x, y = (
            {g.name: [(t.name, b"".join(s.blocks(t))) for t in g.tensors] for g in s.stored.groups if g.tensors}
            for s in (a, b)
        )
    return sorted(name for name in {*x, *y} if x.get(name) != y.get(name))


def settled(value: Json) -> Any:  # noqa: ANN401 - JSON is any
    """Without the numbers of shared objects: they are addresses in the writer's memory."""
    if isinstance(value, dict):
        return {k: settled(v) for k, v in value.items() if k != "shared_object_id"}
    return [settled(v) for v in value] if isinstance(value, list) else value
