"""Results of --keras 3 for every layer class and argument of every stack: docs/coverage, a page a stack.

python scripts/keras3_coverage.py             writes the pages, and their list in docs/keras3-measured.md
python scripts/keras3_coverage.py --check     exits 1 where the documents say something else
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import unnest  # noqa: E402 - the checkout's own
from tests.layer_cases import cases, stacks  # noqa: E402

DOCS = ROOT / "docs"
LIST, PAGES = DOCS / "keras3-measured.md", DOCS / "coverage"
BEGIN, END = "<!-- coverage: begin -->\n", "<!-- coverage: end -->\n"
#: What the stacks are called elsewhere.
NAMES = {
    "k122": "Keras 1.2.2", "k209": "Keras 2.0.9", "k224": "Keras 2.2.4", "k231": "Keras 2.3.1",
    "tfk113": "tf.keras 1.13", "tfk115": "tf.keras 1.15", "tf20": "tf.keras 2.0",
    "tf23": "tf.keras 2.3", "tf27": "tf.keras 2.7",
    "tf210": "tf.keras 2.10", "tf215": "tf.keras 2.15",
}  # fmt: skip
#: Rules that say nothing of one layer: an argument without meaning left out, a name of then written as today's.
PLAIN = {
    "arguments",
    "keras-1-arguments",
    "input-layer",
    "class-name",
    "dtype-policy",
    "defaults-of-then",
}


@dataclass
class Row:
    """The cases of a layer class: carried as they are, by the rules that changed them, and refused, by the reason."""

    unchanged: list[str] = field(default_factory=list)
    by_rules: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    by_refusal: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @property
    def carried(self) -> int:
        """How many cases are converted."""
        return len(self.unchanged) + sum(map(len, self.by_rules.values()))

    @property
    def refused(self) -> int:
        """How many are not."""
        return sum(map(len, self.by_refusal.values()))


def rows_of(stack: str) -> dict[str, Row]:
    """Every layer class of a stack."""
    rows: dict[str, Row] = defaultdict(Row)
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(stack):
            path = case.extract(Path(folder))
            result = unnest.fix(path, path.with_name("today.keras"), keras="3", dry_run=True)
            row, what = rows[case.note["class"]], case.name.removeprefix(f"{case.note['class']}-")
            rules = [c.rule for c in result.conversions if c.rule not in PLAIN]
            if any(f.code == "custom-objects" for f in result.findings):
                rules.append("custom_objects")
            if result.error is not None:
                reason = result.error.message.rpartition("): ")[2].removeprefix(f"{path}: ")
                row.by_refusal[reason].append(what)
            elif rules:
                row.by_rules[", ".join(rules)].append(what)
            else:
                row.unchanged.append(what)
    return rows


def page(stack: str, rows: Mapping[str, Row]) -> str:
    """The page of a stack: first what is not carried, then every class."""
    carried, refused = sum(r.carried for r in rows.values()), sum(r.refused for r in rows.values())
    return "\n".join(
        [
            *("---", "search:", "  boost: 0.2", "---", ""),
            f"# Keras 3: layers of {NAMES[stack]}",
            "",
            f"{carried} of {carried + refused} models can be carried into Keras 3. Each is one layer with an argument",
            "that is not the default, written by its own stack. A case is called after the argument and its value;",
            "the [rules](../keras3-rules.md#what-is-converted) are those of the report's `conversions[]`.",
            "`scripts/keras3_coverage.py` makes this page.",
            "",
            *_refusals(rows),
            *(line for kind in sorted(rows) for line in _section(kind, rows[kind])),
        ]
    )


def _refusals(rows: Mapping[str, Row]) -> Iterator[str]:
    yield from ("## What is not carried", "", "| class | case | why |", "|---|---|---|")
    for kind in sorted(rows):
        for reason, what in rows[kind].by_refusal.items():
            yield f"| {kind} | {_listed(what)} | {reason.replace('|', '/')} |"
    yield ""


def _section(kind: str, row: Row) -> Iterator[str]:
    yield from (f"## {kind}", "", f"{row.carried} of {row.carried + row.refused} cases.", "")
    lines = [
        ("as it is", row.unchanged),
        *((f"by `{rules}`", what) for rules, what in row.by_rules.items()),
    ]
    yield from (f"- {how}: {_listed(what)}" for how, what in lines if what)
    yield ""


def _listed(what: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in what)


def documents() -> dict[Path, str]:
    """Every document that is made here, as it should be."""
    made: dict[Path, str] = {}
    lines = ["| stack | carried | of |", "|---|---|---|"]
    for stack in sorted(stacks(), key=list(NAMES).index):
        rows = rows_of(stack)
        made[PAGES / f"{stack}.md"] = page(stack, rows)
        carried, refused = (
            sum(r.carried for r in rows.values()),
            sum(r.refused for r in rows.values()),
        )
        lines.append(f"| [{NAMES[stack]}](coverage/{stack}.md) | {carried} | {carried + refused} |")
    before, rest = LIST.read_text().split(BEGIN)
    _, after = rest.split(END)
    made[LIST] = f"{before}{BEGIN}" + "\n".join(lines) + f"\n{END}{after}"
    return made


def main() -> int:
    """Write, or check."""
    made = documents()
    if "--check" in sys.argv:
        return int(
            any(not path.exists() or path.read_text() != text for path, text in made.items())
        )
    PAGES.mkdir(exist_ok=True)
    for path, text in made.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
