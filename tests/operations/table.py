"""The page docs/operations.md: every operation, and what of it was compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.operations.compare import Compared
from tests.operations.real import spellings
from tests.operations.samples import NOT_COMPARED
from unnest.core.ops.call import plain_name
from unnest.core.ops.keras3_nodes.function_registry import known_functions
from unnest.core.ops.registry import OPERATIONS

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"

HEAD = """# Operations

What `core/ops` knows of TensorFlow's, Keras's and NumPy's operations, and what of it was held against the real
functions on random arguments. Made by `python -m tests.operations --write`, where TensorFlow, Keras 3 and tf_keras are
installed (`nox -s operations`). How to add one: [contributing](contributing.md#recipes).

- **NumPy**: calls that the entry's NumPy function computes as the real function does; "kind" where the entry has none,
  but a kind, which says on which rows its numbers depend.
- **Rows**: calls of which the core says on which rows of the batch each row of the result depends, as the real function
  does: rows of its batch were changed one by one.
- **Shape**: calls whose shape follows, and is the real one, with the batch known and unknown.
- **Keras 3**: of the functions that become nodes of Keras 3 in Lambdas and operation layers, those that were run: their
  nodes compute the same.

"""


def page(done: Sequence[Compared]) -> str:
    """The whole page."""
    by_value, by_rows, by_shape = (
        sum(getattr(each, what) > 0 for each in done) for what in ("kernel", "rows", "shape")
    )
    numbers = (
        f"{len(done) - 1} operations: {by_value} compared by value, {by_rows} by rows, {by_shape} by shape; "
        f"{sum(len(each.nodes) for each in done)} of {len(known_functions())} functions by their nodes.\n\n"
    )
    return HEAD + numbers + "\n".join(_rows(done)) + "\n"


def _rows(done: Sequence[Compared]) -> Iterator[str]:
    yield "| operation | kind | held against | NumPy | rows | shape | Keras 3 |"
    yield "|---|---|---|---|---|---|---|"
    for each in done[:-1]:
        operation = each.operation
        functions = [
            path for path in known_functions() if OPERATIONS.get(plain_name(path)) is operation
        ]
        nodes = f"{len(each.nodes)} of {len(functions)}" if functions else "-"
        cells = (
            ", ".join(f"`{name}`" for name in spellings()[operation.name]),
            operation.kind.name.lower(),
            ", ".join(f"`{name}`" for name in each.references)
            or NOT_COMPARED.get(operation.name, "-"),
            each.kernel or "-" if operation.compute is not None else "kind",
            each.rows or "-",
            each.shape or "-",
            nodes,
        )
        yield f"| {' | '.join(map(str, cells))} |"
    others = sorted(path for path in known_functions() if plain_name(path) not in OPERATIONS)
    names = ", ".join(f"`{path}`" for path in others)
    nodes = f"{len(done[-1].nodes)} of {len(others)}"
    yield f"| functions of no registered operation: {names} | - | - | - | - | - | {nodes} |"
    yield ""
    alone = sorted(path for path in known_functions() if path in NOT_COMPARED)
    yield f"Functions that are not compared: {', '.join(f'`{path}` ({NOT_COMPARED[path]})' for path in alone)}."
