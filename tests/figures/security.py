"""SECURITY.md and its pages on the site, from `security.md` and the figures: `python -m tests.figures.security`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from tests.figures import FOLDER, recorded

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "SECURITY.md"
TESTED = "## How it is tested\n"
#: Of pages for developers, which the search of the site lists after those of users.
LOW = "---\nsearch:\n  boost: 0.2\n---\n\n"


def page() -> str:
    """The text of SECURITY.md."""
    text = (FOLDER / "security.md").read_text("utf8")
    made = {"{faults}": _faults, "{fuzz}": _fuzz, "{guided}": _guided, "{mutants}": _mutants}
    for place, write in made.items():
        text = text.replace(place, write(recorded(place.strip("{}"))))
    return text


def pages() -> dict[Path, str]:
    """SECURITY.md, and the same on the site: what is promised for users, how it is tested for developers."""
    promised, _, tested = page().replace("](docs/", "](").partition(TESTED)
    return {
        PAGE: page(),
        ROOT
        / "docs"
        / "security.md": f"{promised}How it is tested: [measurements](security-tested.md).\n",
        ROOT
        / "docs"
        / "security-tested.md": f"{LOW}# Measurements: how the promises of security are tested\n{tested}",
    }


def _faults(figures: dict[str, Any]) -> str:
    """How every case ended when it was last run, since the figures are kept."""
    days: dict[str, Counter[bool]] = {}
    for told in figures.values():
        days.setdefault(told["day"], Counter())[told["passed"]] += 1
    runs = [
        f"{ends.total()} cases on {day}, of which {ends[True]} passed"
        for day, ends in sorted(days.items())
    ]
    return f"So far, the last time each:\n  {'; '.join(runs)}."


def _fuzz(figures: dict[str, Any]) -> str:
    readers = {name: told for name, told in figures.items() if isinstance(told, dict)}
    counts = ", ".join(f"{name} {told['mutants']:,}" for name, told in readers.items())
    mutants, minutes, broken = (
        sum(told[key] for told in readers.values())
        for key in ("mutants", "processor_minutes", "broken")
    )
    return (
        f"So far (last on {figures['day']}; {figures['machine']}): {mutants:,} mutants in {minutes:.0f} minutes of\n"
        f"  the processor ({counts});\n  {broken} broke a promise; what they found is mended and has a test."
    )


def _guided(figures: dict[str, Any]) -> str:
    targets = {name: told for name, told in figures.items() if isinstance(told, dict)}
    counts = ", ".join(f"{name} {told['runs']:,}" for name, told in targets.items())
    runs, minutes, broken = (
        sum(told[key] for told in targets.values())
        for key in ("runs", "processor_minutes", "broken")
    )
    return (
        f"So far (last on {figures['day']}; {figures['machine']}): {runs:,} inputs in {minutes:.0f} minutes\n"
        f"  of the processor ({counts});\n  {broken} broke a promise."
    )


def _mutants(figures: dict[str, Any]) -> str:
    ends: Counter[str] = Counter()
    for told in figures["kinds"].values():
        ends.update(told)
    ran = figures["tf_keras"]
    shares = ", ".join(f"{count:,} {end}" for end, count in ends.most_common())
    unlike = f"{ran['differs']} not; {ran['not run']} could not be run there"
    pairs = (
        f"\n  In tf_keras {ran['same']} pairs gave the same, {unlike}." if any(ran.values()) else ""
    )
    return (
        f"The last whole run ({figures['day']}; {figures['machine']}): {ends.total():,} mutants\n"
        f"  of {figures['files']} files: {shares}.{pairs}"
    )


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, "utf8")
