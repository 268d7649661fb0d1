"""The plan for one model: what `fix` writes, moves and drops, or the reason why it writes nothing.

`make_plan` makes it, a dry run prints it, and a container applies it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from unnest.core.model import Stored, Tensor, Verdict
from unnest.core.recognition_results import NearMiss, Template, Wrapper
from unnest.findings import Finding


class Refusal(NamedTuple):
    """The reason why nothing can be written without doubt: one line, with what to do."""

    code: str
    message: str


class Choices(NamedTuple):
    """Decisions of the caller for what the file does not show.

    `keep_nested`: a template, the weights of which cannot be placed, stays a nested model. `slice_layers`: classes
    that, as the caller guarantees, cut the batch in order.
    """

    keep_nested: bool = False
    slice_layers: frozenset[str] = frozenset()


class Move(NamedTuple):
    """A move of a sub-tree of a path-keyed file: the path of its group in the input, and in the output.

    `recursive`: everything below the group moves along, else its own `vars` alone. A layer without weights may have no
    group in the input, as a Sequential's input layer: `new_layer` is the name of one whose group is made.
    """

    source: str
    target: str
    recursive: bool = True
    new_layer: str | None = None


class Rewritten(NamedTuple):
    """An output that is written tensor by tensor, layer by layer: `model`."""

    model: Stored


class Rearranged(NamedTuple):
    """An output that is the input's own tree of weights, its sub-trees moved; `model` is what it then holds.

    `optimizer_group` is the path of the input's group that holds the optimizer's state; `stores_layer_names` whether
    groups that are made hold their layers' names, as those of the input do.
    """

    model: Stored
    moves: tuple[Move, ...]
    optimizer_group: str
    stores_layer_names: bool


class GraphCut(NamedTuple):
    """An output that is the input's serving graph, of which one tower of each wrapper is left.

    `model` is what Keras's own records say of it: of a bare graph nothing.
    """

    model: Stored


#: What is written, and by which way.
Output: TypeAlias = Rewritten | Rearranged | GraphCut


class Plan(NamedTuple):
    """The changes that `fix` makes to one model: an immutable value that a dry run prints and a container applies.

    `stored`: the model as the file holds it, its weights layer by layer as far as the file or the given architecture
    shows their owners. `output`: what a container writes; of a clean model the model as it is; None if it is refused.
    Every tensor of the input is in `output` or in `dropped`. `complete`: the whole model that weights make with the
    given architecture. `conversion_refusal`: why the owners of a clean model's weights are in doubt: it stays as it is,
    and cannot be written to another container.
    """

    verdict: Verdict
    stored: Stored
    output: Output | None = None
    complete: Stored | None = None
    wrappers: tuple[Wrapper, ...] = ()
    template: Template | None = None
    optimizer: str | None = None
    findings: tuple[Finding, ...] = ()
    refusal: Refusal | None = None
    conversion_refusal: Refusal | None = None
    dropped: tuple[Tensor, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()

    @property
    def model_to_write(self) -> Stored:
        """Return the model that is written, in any container. A refused plan has none, and is not asked."""
        assert self.output is not None
        return self.output.model

    @property
    def result(self) -> Stored | None:
        """Return the model without its wrappers; None without a wrapper, or if the fix is refused."""
        return None if self.output is None or self.verdict == "clean" else self.output.model


def clean_plan(stored: Stored) -> Plan:
    """Return the plan for a model that stays as it is."""
    return Plan(verdict="clean", stored=stored, output=Rewritten(stored))
