"""Verdicts on a stack's answers: equal, not verifiable for a known reason, or wrong."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

#: Relative to the largest output where that is above 1. A float32 carries 6e-8; sums of a few dozen products,
#: whose order depends on the batch size and on the kernels of the day, come to 2e-6 in these models. A mix-up
#: of two weights shows as 1e-2 and more: every fixture's weights are far from each other.
TOLERANCE = 1e-5
#: float16 carries 5e-4.
HALF_TOLERANCE = 1e-3

#: Why Keras cannot load a file that it wrote itself: (stack and Keras, part of the error, reason). The base fails
#: in the same words.
KNOWN: tuple[tuple[str, str, str], ...] = (
    (".*", "not tried: stored code of Python", "Lambda code is for the Python that wrote it"),
    (
        "k(216|224|231) .*",
        "axes don't match array",
        "Keras 2.1 to 2.3 does not restore Conv and BatchNorm in a model that is frozen or two deep (orders differ)",
    ),
    (
        "(py27)?k12[02] own",
        "Missing layer",
        "Keras 1 restores layers in stored order, and a shared one stands before its second input",
    ),
    (
        "(py27)?k12[02] today",
        "Unrecognized keyword arguments|missing . required positional argument",
        "Keras 2 does not read the configuration of Keras 1",
    ),
    (
        "k122 today",
        "Layer count mismatch",
        "Keras 1 lists the layers of a Sequential's models one by one",
    ),
)


#: The same for weights without an architecture, which are written as a flat model; the base is not.
FLAT = (
    (
        "layers into a model with|Layer count mismatch",
        "weights without an architecture are a flat model, and the template is nested",
    ),
    (
        r"/kernel:0: \(.*\) for \(",
        "only names say where, and today's Keras counts layers in another way",
    ),
)


@dataclass(frozen=True, slots=True)
class Case:
    """One fixture, fixed; what the stack-side script needs to know, and what the judge does."""

    id: str
    #: Its words, as cases.py has them.
    line: str
    #: A full save; else weights alone.
    model: bool
    #: No JSON was kept beside the weights, so what was written lists a flat model.
    flat: bool
    half: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one case in one Keras."""

    case: Case
    #: How it was loaded; None: it could not be.
    way: str | None = None
    #: Why not, or why not by load_model; known reasons only.
    reason: str | None = None
    #: What is wrong; empty: nothing.
    wrong: tuple[str, ...] = ()
    #: "equal" to the stored state; "fits", where Keras 3 does not restore it; "as base", where another Keras keeps
    #: another state; None: none is stored, or load_model is not possible.
    optimizer: str | None = None
    worst: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One stack's files in one Keras."""

    stack: str
    keras: str
    verdicts: tuple[Verdict, ...]


TABLE = pytest.StashKey[list[Run]]()


def judge(case: Case, line: dict[str, Any], *, own: bool) -> Verdict:
    """The fixed file must load as the base does, and predict what was recorded."""
    fixed, base = line["fixed"], line["base"]
    wrong: list[str] = []
    optimizer = None
    reason, unknown = _reason(case, fixed, base, "own" if own else "today")
    if unknown:
        wrong.append(unknown)
    if fixed["way"] != base["way"] and not _flat_for_nested(case, fixed, base):
        wrong.append(
            f"loads by {fixed['way']}, the base by {base['way']}: {fixed['tried']} / {base['tried']}"
        )
    limit = HALF_TOLERANCE if case.half else TOLERANCE
    worst = max([*fixed.get("worst", {}).values(), line.get("apart", 0.0)])
    if worst > limit:
        wrong.append(
            f"predicts something else: {fixed.get('worst')}, {line.get('apart')} from the base"
        )
    if fixed.get("compiled") != base.get("compiled"):
        wrong.append(f"compiled: {fixed.get('compiled')}, the base: {base.get('compiled')}")
    if line.get("states", "equal") != "equal":
        wrong.append(f"the optimizer's state is not the base's: {line['states']}")
    if "optimizer" in fixed:
        optimizer = fixed["optimizer"] if fixed["optimizer"] in ("equal", "fits") else "as base"
        if fixed["stored"] != "equal":
            wrong.append(
                f"the stored optimizer state is not the parallel file's: {fixed['stored']}"
            )
        if fixed["optimizer"] != base.get("optimizer") or (
            own and optimizer == "as base" and not _drops_its_own(case)
        ):
            wrong.append(
                f"the optimizer's state is not the stored one: {fixed['optimizer']}, {base.get('optimizer')}"
            )
    return Verdict(
        case, fixed["way"], reason, tuple(wrong), optimizer, worst if fixed["way"] else None
    )


def _flat_for_nested(case: Case, fixed: dict[str, Any], base: dict[str, Any]) -> bool:
    """Weights without an architecture list a flat model; a nested template takes them by their names."""
    return (
        case.flat and fixed["way"] == "by hand" and "load_weights" in fixed["tried"] and bool(base)
    )


def _drops_its_own(case: Case) -> bool:
    """Return True if Keras trains more weights after loading, and drops the state of its own file as well.

    What is frozen as a container, no config says so; a layer that two models share is loaded as two.
    """
    return any(word in case.line for word in ("frozensub", "gan", "tied"))


def _reason(
    case: Case, fixed: dict[str, Any], base: dict[str, Any], leg: str
) -> tuple[str | None, str | None]:
    """Return why Keras's own ways failed (known), or what is not understood (unknown)."""
    reasons = []
    for way, error in fixed["tried"].items():
        if case.flat:
            known = [r for part, r in FLAT if re.search(part, error)]
            if known:
                reasons.append(known[0])
                continue
        if _plain(base["tried"].get(way, "")) != _plain(error):
            return None, f"{way}: {error}; the base: {base['tried'].get(way)}"
        where = f"{case.id.split('/')[0]} {leg}"
        known = [
            r for stacks, part, r in KNOWN if re.fullmatch(stacks, where) and re.search(part, error)
        ]
        if not known:
            return None, f"{way} fails, also for the base, for no known reason: {error}"
        reasons.append(known[0])
    return "; ".join(dict.fromkeys(reasons)) or None, None


def _plain(error: str) -> str:
    """Without what differs from call to call."""
    return re.sub(r"0x[0-9a-f]+|/\S+\.h5", "...", error)


def table(runs: list[Run]) -> str:
    """A row per stack and Keras; then the reasons; then what is wrong."""
    head = [
        "stack",
        "Keras",
        "cases",
        "load_model",
        "load_weights",
        "by hand",
        "not verifiable",
        "wrong",
    ]
    lines = [[*head, "optimizer", "worst"]]
    lines += [_row(run) for run in runs]
    text = ["| " + " | ".join(row) + " |" for row in lines]
    text.insert(1, "|" + "---|" * len(lines[0]))
    verdicts = [(run.keras, v) for run in runs for v in run.verdicts]
    text += [
        f"{keras}: {v.case.id}: {v.way or 'not verifiable'}: {v.reason}"
        for keras, v in verdicts
        if v.reason
    ]
    text += [f"WRONG in {keras}: {v.case.id}: {w}" for keras, v in verdicts for w in v.wrong]
    return "\n".join(text)


def _row(run: Run) -> list[str]:
    ways = Counter(v.way for v in run.verdicts)
    states = Counter(v.optimizer for v in run.verdicts if v.optimizer)
    told = ", ".join(f"{count} {what}" for what, count in sorted(states.items())) or "none"
    worst = max((v.worst for v in run.verdicts if v.worst is not None), default=0.0)
    wrong = sum(bool(v.wrong) for v in run.verdicts)
    counts = (
        len(run.verdicts),
        *(ways[w] for w in ("load_model", "load_weights", "by hand", None)),
        wrong,
    )
    return [run.stack, run.keras, *map(str, counts), told, f"{worst:.0e}"]
