"""Hold operations against TensorFlow and Keras, and write what was compared.

python -m tests.operations NAME...   each difference, and what was compared, of some operations or of all
python -m tests.operations --write   docs/operations.md anew; exit 1 if anything differs
"""

from __future__ import annotations

import sys

from tests.operations.compare import compare, compare_all
from tests.operations.table import PAGE, page
from unnest.core.ops.call import plain_name
from unnest.core.ops.registry import OPERATIONS


def main(arguments: list[str]) -> int:
    """Run one of the commands above."""
    names = [argument for argument in arguments if argument != "--write"]
    if names and "--write" in arguments:
        sys.exit("--write takes no names: the page holds all operations")
    done = [compare(OPERATIONS[plain_name(name)]) for name in names] if names else compare_all()
    for each in done:
        for difference in each.differences:
            print(f"{each.operation.name}: {difference}")
        if names:
            print(
                f"{each.operation.name}: {each.references}; NumPy {each.kernel}, rows {each.rows}, "
                f"shape {each.shape}, {each.nodes}"
            )
    if "--write" in arguments:
        PAGE.write_text(page(done), encoding="utf-8")
    return int(any(each.differences for each in done))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
