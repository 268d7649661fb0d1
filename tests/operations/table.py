"""The page docs/operations.md: every operation, and what of it was compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.operations.compare import Compared
from tests.operations.real import spellings
from unnest.core.ops.call import plain_name
from unnest.core.ops.registry import FUNCTIONS, OPERATIONS

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"

HEAD = """# Operations

What `core/ops` knows of TensorFlow's, Keras's and NumPy's operations, and what of it was held against the real
functions on random arguments. Made by `python -m tests.operations --write`, where TensorFlow, Keras 3 and tf_keras are
installed (`nox -s operations`). How to add one: [contributing](contributing.md#recipes).

- **NumPy**: calls that the entry's NumPy function computes as the real function does; "kind" where the entry has none,
  but a kind, which says on which rows its numbers depend.
- **Shape**: calls whose shape follows, and is the real one, with the batch known and unknown.
- **Keras 3**: of the functions that become nodes of Keras 3 in Lambdas and operation layers, those that were run: their
  nodes compute the same.

"""


def page(done: Sequence[Compared]) -> str:
    """The whole page."""
    by_value, by_shape = sum(each.kernel > 0 for each in done), sum(each.shape > 0 for each in done)
    numbers = (
        f"{len(done) - 1} operations: {by_value} compared by value, {by_shape} by shape; "
        f"{sum(len(each.nodes) for each in done)} of {len(FUNCTIONS)} functions by their nodes.\n\n"
    )
    return HEAD + numbers + "\n".join(_rows(done)) + "\n"


def _rows(done: Sequence[Compared]) -> Iterator[str]:
    yield "| operation | kind | held against | NumPy | shape | Keras 3 |"
    yield "|---|---|---|---|---|---|"
    for each in done[:-1]:
        operation = each.operation
        functions = [path for path in FUNCTIONS if OPERATIONS.get(plain_name(path)) is operation]
        kernel = str(each.kernel) if operation.compute is not None else "kind"
        nodes = f"{len(each.nodes)} of {len(functions)}" if functions else "-"
        names = ", ".join(f"`{name}`" for name in spellings()[operation.name])
        held = ", ".join(f"`{name}`" for name in each.references) or "-"
        yield f"| {names} | {operation.kind.name.lower()} | {held} | {kernel} | {each.shape or '-'} | {nodes} |"
    others = [path for path in FUNCTIONS if plain_name(path) not in OPERATIONS]
    names = ", ".join(f"`{path}`" for path in others)
    yield f"| functions of no registered operation: {names} | - | - | - | - | {len(done[-1].nodes)} of {len(others)} |"
