"""Types shared by all: a stored model, and the plan for it.

A `Stored` model is what any container reads and any container writes. Tensors are handles: the core moves them around,
and only the container that made a handle can turn it into bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from unnest.findings import Finding

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]
Shape: TypeAlias = "tuple[int | None, ...]"
"""Sizes of a tensor's axes, None for one that a file does not store: the batch, as a rule."""


class Unknown(Exception):
    """The answer does not follow from the file; the message names what is not known, or says why."""


class DataDependent(Exception):
    """The contents of a tensor decide where its rows go, or are changed on the way."""


RELEASE = re.compile(r"\d{1,9}")


@lru_cache(maxsize=64)
def release_of(version: str | None) -> tuple[int, ...]:
    """Return the numbers of a Keras version, three at most: (2, 4, 0) of "2.4.0-tf"; empty if it is unknown."""
    return tuple(int(n) for n in RELEASE.findall(version or "")[:3])


Contents: TypeAlias = Literal["model", "weights", "architecture"]
Scope: TypeAlias = Literal["whole", "head", "embedded"]
Confidence: TypeAlias = Literal["proven", "likely"]
Verdict: TypeAlias = Literal["clean", "parallel"]


class Ref(NamedTuple):
    """One tensor: output number `tensor` of the `rank`-th call of `layer`."""

    layer: str
    rank: int
    tensor: int

    @property
    def call(self) -> CallId:
        """The call that makes this tensor."""
        return CallId(self.layer, self.rank)


class CallId(NamedTuple):
    """The `rank`-th call of `layer`."""

    layer: str
    rank: int


class Tensor(NamedTuple):
    """A stored array that stays where it is.

    `name`: its name in the file (`dense_1/kernel:0`). `dtype`: NumPy's spelling (`<f4`). `ref`: the place where its
    container finds the bytes (an HDF5 path, a bundle key), to the core only an identity. If the container stores each
    weight under its own layer (object graphs, path-keyed files), `owner` is the path of layer names below the group,
    the layer's own last, and `trained` is True if it is trained; elsewhere they follow from the flat list. `recipe`:
    None for a tensor that is copied as it is; the bytes of others are computed when they are written.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    ref: str
    owner: tuple[str, ...] = ()
    trained: bool = True
    recipe: Recipe | None = None

    @property
    def size(self) -> int:
        """The number of elements."""
        n = 1
        for d in self.shape:
            n *= d
        return n

    @property
    def nbytes(self) -> int:
        """Bytes of its elements: NumPy's spelling ends in the size of one; dtypes that NumPy lacks take two at most."""
        return self.size * (int(self.dtype[2:]) if self.dtype[:1] in "<>|=" else 2)


class Recipe(NamedTuple):
    """The computation of a tensor from stored ones, done as its bytes are written: one NumPy step.

    step of arguments `scale` one factors: the last axis is cut into as many equal blocks, each times its own
    `transpose` one the axes `reshape` one the new shape, row-major `flip` one the axes that are reversed `part` one
    axis, start, stop `power` one the exponent, and a number that is added before `concatenate` one or more axis `add`
    two, of one shape none `constant` none the value of every element
    """

    step: str
    of: tuple[Tensor, ...]
    arguments: tuple[int | float, ...] = ()


class Group(NamedTuple):
    """The weights of one layer of the outermost model, in the order they are stored in."""

    name: str
    tensors: tuple[Tensor, ...]


class Stored(NamedTuple):
    """A model as a container holds it; what is not stored is None or empty.

    `architecture`: `{"class_name": ..., "config": ...}` with whatever else the writer put beside the two. `training`:
    Keras's training_config (or compile_config). `groups`: in file order, one entry per layer, weightless ones included.
    `optimizer`: the flat optimizer state in file order, or None. `is_ours`: the file says that unnest
    wrote it, and that it holds a single-device model, in case the rest of it does not show that.
    """

    contents: Contents
    architecture: JsonObject | None = None
    training: JsonObject | None = None
    groups: tuple[Group, ...] = ()
    optimizer: tuple[Tensor, ...] | None = None
    keras_version: str | None = None
    backend: str | None = None
    is_ours: bool = False

    @property
    def release(self) -> tuple[int, ...]:
        """The numbers of the writer's version, as of `release_of`."""
        return release_of(self.keras_version)

    @property
    def is_standalone(self) -> bool:
        """True if the version shows that Keras 1 or 2 wrote it, not the Keras inside TensorFlow."""
        return () < self.release < (2, 4) and "-tf" not in str(self.keras_version)

    @property
    def is_keras_3(self) -> bool:
        """True if Keras 3 wrote it; without a version by its JSON, which has the module of each class."""
        if self.keras_version:
            return self.keras_version.startswith("3.")
        return "module" in (self.architecture or {})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor: the weights layer by layer, then the optimizer's state."""
        return (*(t for g in self.groups for t in g.tensors), *(self.optimizer or ()))

    @property
    def parameters(self) -> int:
        """Number of elements in all layer weights."""
        return sum(t.size for g in self.groups for t in g.tensors)


class Wrapper(NamedTuple):
    """One wrapper that was found: slices, towers and merges around a template.

    `name` is that of the model that it makes up, None where that is not stored.
    """

    name: str | None
    template: str
    """The name of the model that each tower calls."""
    towers: int | None
    """The number of towers; None if weights alone do not show it."""
    scope: Scope
    """`whole`: from the model's inputs to its outputs; `head`: layers follow; `embedded`: inside a larger model."""
    merge: tuple[str, ...]
    """The layers that join the towers, one for each output."""
    depth: int
    """0 is the outermost."""
    confidence: Confidence
    """`proven` or `likely`."""
    evidence: tuple[str, ...]
    """Sentences."""


class NearMiss(NamedTuple):
    """The layer that comes nearest to being a merge, and one sentence that says why there is no wrapper around it."""

    layer: str
    """Its name."""
    reason: str
    """One sentence."""


class MixedRows(NearMiss):
    """A near miss with towers that weigh rows against each other: no other graph of the model can contradict it."""

    __slots__ = ()


class Template(NamedTuple):
    """The innermost template model, as a report shows it; None for what the file does not store."""

    class_name: str | None
    """The class, as in `Sequential`."""
    inputs: int | None
    """Number of input tensors."""
    outputs: int | None
    """Number of output tensors."""
    layers: int | None
    """Number of layers; a nested model is one."""
    parameters: int | None
    """Number of scalars in its weights."""


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
    def result(self) -> Stored | None:
        """Return the model without its wrappers; None without a wrapper, or if the fix is refused."""
        return None if self.output is None or self.verdict == "clean" else self.output.model
