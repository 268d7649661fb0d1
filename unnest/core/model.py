"""What a container stores, and what shall become of it: the types everyone shares.

A `Stored` model is what any container reads and any container writes. Tensors are
handles: the core moves them about, and only the container that gave them out can
turn a handle into bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from unnest.findings import Finding

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

RELEASE = re.compile(r"\d{1,9}")


@lru_cache(maxsize=64)
def release_of(version: str | None) -> tuple[int, ...]:
    """The numbers of a Keras's version, three at most: (2, 4, 0) of "2.4.0-tf"; empty where it is not told."""
    return tuple(int(n) for n in RELEASE.findall(version or "")[:3])


Contents: TypeAlias = Literal["model", "weights", "architecture"]
Scope: TypeAlias = Literal["whole", "head", "embedded"]
Confidence: TypeAlias = Literal["proven", "likely"]
Verdict: TypeAlias = Literal["clean", "parallel"]


class Tensor(NamedTuple):
    """A stored array that stays where it is.

    `name` is what the file calls it (`dense_1/kernel:0`), `dtype` NumPy's spelling
    (`<f4`), `ref` the place where its container finds the bytes (an HDF5 path, a
    bundle key). To the core `ref` is only an identity. Where the container stores each weight
    under its own layer (object graphs, path-keyed files), `owner` is the path of layer names below
    the group, the layer's own last, and `trained` whether it is; elsewhere the flat list must tell.
    `recipe` is None for a tensor that is copied as it lies; another's bytes are computed when they are written.
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
        """Number of elements."""
        n = 1
        for d in self.shape:
            n *= d
        return n


class Recipe(NamedTuple):
    """How a tensor is computed from stored ones, as its bytes are written: one NumPy step.

    step            of                  arguments
    `scale`         one                 factors: the last axis is cut into as many equal blocks, each times its own
    `transpose`     one                 the axes
    `reshape`       one                 the new shape, row-major
    `flip`          one                 the axes that are reversed
    `part`          one                 axis, start, stop
    `power`         one                 the exponent, and a number that is added before
    `concatenate`   one or more         axis
    `add`           two, of one shape   none
    `constant`      none                the value of every element
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

    `architecture` is `{"class_name": ..., "config": ...}` with whatever else the writer
    put beside the two; `training` is Keras's training_config (or compile_config);
    `groups` are in file order and hold one entry per layer, weightless ones included;
    `optimizer` is the flat optimizer state in file order, None where there is none. `is_ours`: the file says that
    unnest wrote it, and that it holds a single-device model, where what is left of it would not tell.
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
        """Whether the version tells that Keras 1 or 2 wrote it, and not the Keras inside TensorFlow."""
        return () < self.release < (2, 4) and "-tf" not in str(self.keras_version)

    @property
    def is_keras_3(self) -> bool:
        """Whether Keras 3 wrote it; without a version its JSON tells, which says in which module each class is."""
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
    """How many there are; None where weights alone do not tell."""
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
    reason: str


class MixedRows(NearMiss):
    """One whose towers are known to weigh rows against each other: no other graph of the model can say otherwise."""

    __slots__ = ()


class Template(NamedTuple):
    """The innermost template model, as a report shows it; None is what the file does not tell."""

    class_name: str | None
    inputs: int | None
    outputs: int | None
    layers: int | None
    parameters: int | None


class Refusal(NamedTuple):
    """Why nothing can be written without doubt: one line, and what to do."""

    code: str
    message: str


class Choices(NamedTuple):
    """What the caller decides where the file does not.

    `keep_nested`: a template whose weights cannot be placed stays a nested model. `slice_layers`: classes of which the
    caller vouches that they cut the batch in order.
    """

    keep_nested: bool = False
    slice_layers: frozenset[str] = frozenset()


class Move(NamedTuple):
    """A sub-tree of a path-keyed file: the path of its group in the input, and in the output.

    `recursive` takes all below the group along, else its own `vars` alone. A layer without weights may have no group
    in the input, as a Sequential's input layer: `new_layer` is the name of one whose group is made.
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
    """What `fix` will do to one model: an immutable value, which a dry run prints and a container carries out.

    `stored` is the model as the file holds it, its weights layer by layer as far as the file or the architecture that
    was given tells. `output` is what a container writes: of a clean model the model as it is; None where it is
    refused. Every tensor of the input is in `output` or in `dropped`. `complete` is the whole model that weights make
    with the architecture that was given for them. `conversion_refusal` is why nobody can tell whose the weights of a
    clean model are: it stays as it is, and goes into no other container.
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
        """The model without its wrappers; None where there are none, or where it is refused."""
        return None if self.output is None or self.verdict == "clean" else self.output.model
