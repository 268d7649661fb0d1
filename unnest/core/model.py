"""The stored model: architecture, weights as handles and settings, as every container reads and writes it.

A `Stored` model is what any container reads and any container writes. Tensors are handles: the core moves them around,
and only the container that made a handle can turn it into bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

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
Verdict: TypeAlias = Literal["clean", "parallel"]


class Ref(NamedTuple):
    """One tensor: output number `tensor` of call number `call_index` (from 0) of `layer`."""

    layer: str
    call_index: int
    tensor: int

    @property
    def call(self) -> CallId:
        """The call that makes this tensor; made at once, for nothing is asked more often."""
        return tuple.__new__(CallId, self[:2])


class CallId(NamedTuple):
    """Call number `call_index` (from 0) of `layer`."""

    layer: str
    call_index: int


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
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Size in bytes; NumPy's dtype names end in the item size, dtypes that NumPy lacks take two bytes at most."""
        return self.size * (int(self.dtype[2:]) if self.dtype[:1] in "<>|=" else 2)


class Recipe(NamedTuple):
    """The computation of a tensor from stored ones, done as its bytes are written: one NumPy step.

    | step          | of              | arguments                                                              |
    |---------------|-----------------|------------------------------------------------------------------------|
    | `scale`       | one             | factors: the last axis has as many equal blocks, each times its factor |
    | `transpose`   | one             | the axes                                                               |
    | `reshape`     | one             | the new shape, row-major                                               |
    | `flip`        | one             | the axes that are reversed                                             |
    | `part`        | one             | axis, start, stop                                                      |
    | `power`       | one             | the exponent, and a number that is added before                        |
    | `concatenate` | one or more     | the axis                                                               |
    | `add`         | two of a shape  | -                                                                      |
    | `constant`    | none            | the value of every element                                             |
    """

    step: str
    of: tuple[Tensor, ...]
    arguments: tuple[int | float, ...] = ()


class Group(NamedTuple):
    """The weights of one layer of the outermost model, in the order they are stored in.

    The name is empty where nothing in the file says of which layers the weights are: then they are one group.
    """

    name: str
    tensors: tuple[Tensor, ...]


class Stored(NamedTuple):
    """A model as a container holds it; what is not stored is None or empty.

    `architecture`: `{"class_name": ..., "config": ...}` with whatever else the writer put beside the two. `training`:
    Keras's training_config (or compile_config). `groups`: in file order, one entry per layer, weightless ones included.
    `optimizer`: the flat optimizer state in file order, or None. `is_ours`: the file says that unnest
    wrote it, and that it holds a single-device model, in case the rest of it does not show that. `is_of_windows`: the
    weights lie under paths of Windows, where a Keras on another system does not find them. `has_traced_calls`: a
    SavedModel keeps the calls of a subclassed model as functions, by which Keras 2 runs it without the class.
    """

    contents: Contents
    architecture: JsonObject | None = None
    training: JsonObject | None = None
    groups: tuple[Group, ...] = ()
    optimizer: tuple[Tensor, ...] | None = None
    keras_version: str | None = None
    backend: str | None = None
    is_ours: bool = False
    is_of_windows: bool = False
    has_traced_calls: bool = False

    @property
    def release(self) -> tuple[int, ...]:
        """The writer's version as numbers, from `release_of`."""
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
    def layers(self) -> int:
        """Number of layers of the outermost model; 0 where the file does not say of which layers its weights are."""
        return sum(bool(group.name) for group in self.groups)

    @property
    def parameters(self) -> int:
        """Number of elements in all layer weights."""
        return sum(t.size for g in self.groups for t in g.tensors)
