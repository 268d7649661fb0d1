"""Keras in small: layers, calls and models, and what each generation of Keras writes of them.

Written from what genuine files hold (`fixtures/`), without a look at the code that reads them. A model is
made by calling layers on tensors, as in Keras, so that layer order, call numbers, weight order and optimizer
order follow from the same few rules that Keras has:

- layers stand deepest first, ties as a walk back from the outputs meets them;
- calls are numbered among those that a model uses; a nested model's own graph is call 0 up to Keras 2;
- weights of a model are those trained, layer by layer, then all others, layer by layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from unnest.core.model import Group, Tensor

Dialect: TypeAlias = Literal["keras1", "keras2", "tfkeras", "keras3"]
Shape: TypeAlias = tuple[int, ...]
#: JSON on its way into a file.
Entry: TypeAlias = dict[str, Any]


class Weight(NamedTuple):
    """One weight of a layer, and whether training would change it if the layer were not frozen."""

    tensor: Tensor
    learns: bool


class Sym(NamedTuple):
    """A symbolic tensor: output `number` of call `call` of `layer`."""

    layer: Layer
    call: int
    number: int
    shape: Shape


@dataclass(eq=False)
class Layer:
    """One layer; `config` is what it writes beside its name and whether it is trainable."""

    name: str
    class_name: str
    config: Entry = field(default_factory=dict)
    own: tuple[Weight, ...] = ()
    trainable: bool = True
    calls: list[tuple[Sym, ...]] = field(default_factory=list)

    def call(self, reads: Sequence[Sym], *shapes: Shape) -> tuple[Sym, ...]:
        """Another call; `shapes` are those of its outputs."""
        self.calls.append(tuple(reads))
        return tuple(Sym(self, len(self.calls) - 1, i, s) for i, s in enumerate(shapes))

    def __call__(self, *reads: Sym) -> Sym:
        """A call that keeps the shape of what it reads."""
        return self.call(reads, reads[0].shape)[0]

    def trained(self) -> list[Tensor]:
        """Return the weights that an optimizer would change."""
        return [w.tensor for w in self.own if w.learns] if self.trainable else []

    def untrained(self) -> list[Tensor]:
        """The rest: in a frozen layer everything, the learnable first."""
        still = [w.tensor for w in self.own if not w.learns]
        return still if self.trainable else [w.tensor for w in self.own if w.learns] + still

    def weights(self) -> list[Tensor]:
        """As one flat list."""
        return self.trained() + self.untrained()


def input_layer(name: str, shape: Shape) -> Sym:
    """The tensor of a new InputLayer."""
    return Layer(name, "InputLayer", {"shape": shape}).call((), shape)[0]


@dataclass(eq=False)
class Model(Layer):
    """A model, which is a layer. A model's own frozen flag is in memory alone: no file stores it."""

    inputs: tuple[Sym, ...] = ()
    outputs: tuple[Sym, ...] = ()
    sequential: bool = False
    layers: list[Layer] = field(default_factory=list)
    used: list[Called] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.calls.append(())  # its own graph
        met, self.used = _walk_back(self.outputs)
        self.layers = _ordered(met, self.used, self.inputs)

    def on(self, *reads: Sym) -> tuple[Sym, ...]:
        """The outputs of the model called on `reads`."""
        return self.call(reads, *(s.shape for s in self.outputs))

    def trained(self) -> list[Tensor]:
        return [t for layer in self.layers for t in layer.trained()] if self.trainable else []

    def untrained(self) -> list[Tensor]:
        still = [t for layer in self.layers for t in layer.untrained()]
        return (
            still
            if self.trainable
            else [t for layer in self.layers for t in layer.trained()] + still
        )

    def output_names(self) -> list[str]:
        """Return Keras's names of the outputs: their layers' names, numbered if one repeats."""
        names: list[str] = []
        for sym in self.outputs:
            same = sum(o.layer is sym.layer for o in self.outputs[: len(names)])
            names.append(f"{sym.layer.name}_{same}" if same else sym.layer.name)
        return names


@dataclass(eq=False)
class Wrapping(Layer):
    """A layer around another one (TimeDistributed), which owns its weights."""

    inner: Layer = field(default_factory=lambda: Layer("", ""))

    def trained(self) -> list[Tensor]:
        return self.inner.trained()

    def untrained(self) -> list[Tensor]:
        return self.inner.untrained()


Called: TypeAlias = tuple[Layer, int]


def _walk_back(outputs: Iterable[Sym]) -> tuple[list[Layer], list[Called]]:
    """The layers as a walk back from the outputs meets them, and the calls as it leaves them."""
    met: dict[Layer, None] = {}
    entered: set[Called] = set()
    left: list[Called] = []

    def walk(sym: Sym) -> None:
        at = (sym.layer, sym.call)
        if at not in entered:
            entered.add(at)
            met.setdefault(sym.layer)
            for read in sym.layer.calls[sym.call]:
                walk(read)
            left.append(at)

    for sym in outputs:
        walk(sym)
    return list(met), left


def _ordered(met: list[Layer], used: list[Called], inputs: Iterable[Sym]) -> list[Layer]:
    """The layers, deepest first."""
    depths: dict[Called, int] = {}
    depth_of: dict[Layer, int] = {}
    for at in reversed(used):
        layer, call = at
        depths[at] = depth_of[layer] = depth = max(depths.get(at, 0), depth_of.get(layer, 0))
        for read in layer.calls[call]:
            before = (read.layer, read.call)
            depths[before] = max(depth + 1, depths.get(before, 0))
    unread = [s.layer for s in inputs if s.layer not in depth_of]
    return sorted(met, key=lambda layer: (-depth_of[layer], met.index(layer))) + unread


# What is written: the architecture.


@dataclass(frozen=True)
class Writer:
    """One generation of Keras. `listed`: a nested Sequential's config is a bare list (Keras 1 to 2.2.2)."""

    dialect: Dialect
    listed: bool = False

    @property
    def class_of_models(self) -> str:
        return "Model" if self.dialect in ("keras1", "keras2") else "Functional"

    def architecture(self, model: Model) -> Entry:
        """The model as it stands in `model_config`."""
        return {"class_name": self._class_name(model), "config": self._config(model)}

    def _class_name(self, layer: Layer) -> str:
        if isinstance(layer, Model):
            return layer.class_name or ("Sequential" if layer.sequential else self.class_of_models)
        return layer.class_name

    def _config(self, layer: Layer) -> Any:  # noqa: ANN401 - JSON is any
        if isinstance(layer, Model):
            return self._sequence(layer) if layer.sequential else self._graph(layer)
        if layer.class_name == "InputLayer":
            return self._input(layer)
        own = {"name": layer.name, "trainable": layer.trainable, **layer.config}
        if isinstance(layer, Wrapping):
            own["layer"] = {
                "class_name": self._class_name(layer.inner),
                "config": self._config(layer.inner),
            }
        return own

    def _input(self, layer: Layer) -> Entry:
        shape = "batch_shape" if self.dialect == "keras3" else "batch_input_shape"
        kind = "input_dtype" if self.dialect == "keras1" else "dtype"
        return {
            shape: [None, *layer.config["shape"]],
            kind: "float32",
            "sparse": False,
            "name": layer.name,
        }

    def _sequence(self, model: Model) -> Any:  # noqa: ANN401 - JSON is any
        """A Sequential; newer ones list their InputLayer."""
        told = self.dialect in ("tfkeras", "keras3")
        layers = [
            {"class_name": self._class_name(layer), "config": self._config(layer)}
            for layer in model.layers
            if told or layer.class_name != "InputLayer"
        ]
        return layers if self.listed else {"name": model.name, "layers": layers}

    def _graph(self, model: Model) -> Entry:
        numbers = self._numbers(model)
        return {
            "name": model.name,
            "layers": [self._entry(layer, model, numbers) for layer in model.layers],
            "input_layers": self._ends(model.inputs, numbers),
            "output_layers": self._ends(model.outputs, numbers),
        }

    def _numbers(self, model: Model) -> dict[Called, int]:
        """Calls that the model uses, numbered per layer."""
        used = set(model.used)
        numbers: dict[Called, int] = {}
        for layer in model.layers:
            first = 1 if isinstance(layer, Model) and self.dialect != "keras3" else 0
            kept = [call for call in range(len(layer.calls)) if (layer, call) in used]
            numbers.update({(layer, call): first + rank for rank, call in enumerate(kept)})
        return numbers

    def _entry(self, layer: Layer, model: Model, numbers: dict[Called, int]) -> Entry:
        kept = [call for call in range(len(layer.calls)) if (layer, call) in model.used]
        nodes = [
            self._node(layer, layer.calls[call], numbers) for call in kept if layer.calls[call]
        ]
        return {
            "name": layer.name,
            "class_name": self._class_name(layer),
            "config": self._config(layer),
            "inbound_nodes": nodes,
        }

    def _node(self, layer: Layer, reads: tuple[Sym, ...], numbers: dict[Called, int]) -> Any:  # noqa: ANN401
        if self.dialect == "keras3":
            tensors = [
                {
                    "class_name": "__keras_tensor__",
                    "config": {
                        "shape": [None, *r.shape],
                        "dtype": "float32",
                        "keras_history": [r.layer.name, numbers[r.layer, r.call], r.number],
                    },
                }
                for r in reads
            ]
            many = len(tensors) > 1 or layer.class_name == "Concatenate"
            return {"args": [tensors] if many else tensors, "kwargs": {}}
        last: list[Entry] = [] if self.dialect == "keras1" else [{}]
        return [[r.layer.name, numbers[r.layer, r.call], r.number, *last] for r in reads]

    def _ends(self, syms: tuple[Sym, ...], numbers: dict[Called, int]) -> list[Any]:
        ends = [[s.layer.name, numbers.get((s.layer, s.call), 0), s.number] for s in syms]
        return ends[0] if self.dialect == "keras3" and len(ends) == 1 else ends


# What is written: the weights.


def groups(model: Model) -> tuple[Group, ...]:
    """The layers' weights, as `model_weights` holds them: a Sequential does not count its InputLayer."""
    return tuple(
        Group(layer.name, tuple(layer.weights()))
        for layer in model.layers
        if not (model.sequential and layer.class_name == "InputLayer")
    )
