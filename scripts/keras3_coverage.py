"""The tables of docs/keras3.md: what becomes of every layer class and argument of every stack under --keras 3.

python scripts/keras3_coverage.py             writes them into docs/keras3.md
python scripts/keras3_coverage.py --check     exits 1 where the document has others
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import unnest  # noqa: E402 - the checkout's own
from tests.layer_cases import cases, stacks  # noqa: E402

DOCUMENT = ROOT / "docs" / "keras3.md"
BEGIN, END = "<!-- coverage: begin -->\n", "<!-- coverage: end -->\n"
#: Rules that say nothing of one layer: an argument without meaning left out, a name of then written as today's.
PLAIN = {"arguments", "keras-1-arguments", "input-layer", "class-name", "dtype-policy", "defaults-of-then"}


def tables() -> str:
    """One table a stack: class, arguments carried, changed by a rule, not carried and why."""
    return "\n".join(_table(stack) for stack in stacks())


def _table(stack: str) -> str:
    rows: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    total = carried = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(stack):
            path = case.extract(Path(folder))
            result = unnest.fix(path, path.with_name("today.keras"), keras="3", dry_run=True)
            what = case.name.removeprefix(f"{case.note['class']}-")
            total += 1
            if result.error is not None:
                reason = result.error.message.rpartition("): ")[2].removeprefix(f"{path}: ").replace("|", "/")
                rows[case.note["class"]]["not"].append(f"{what} ({reason})")
                continue
            carried += 1
            rules = [c.rule for c in result.conversions if c.rule not in PLAIN]
            if any(f.code == "custom-objects" for f in result.findings):
                rules.append("custom_objects")
            rows[case.note["class"]]["rule" if rules else "as"].append(
                what + (f" ({', '.join(rules)})" if rules else "")
            )
    lines = [
        f"### {stack}: {carried} of {total}",
        "",
        "| class | as it is | by a rule | not carried |",
        "|---|---|---|---|",
    ]
    for kind in sorted(rows):
        row = rows[kind]
        lines.append(f"| {kind} | {len(row['as'])} | {'; '.join(row['rule'])} | {'; '.join(row['not'])} |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Write, or check."""
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    new = f"{before}{BEGIN}{tables()}{END}{after}"
    if "--check" in sys.argv:
        return int(new != text)
    DOCUMENT.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
