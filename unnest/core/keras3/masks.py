"""Which masks the layers of an older model saw, and where today's would see others.

Keras 2's merge layers take what is unmasked in all inputs, Keras 3's (from 3.4 on, commit 603db8003c) what is unmasked
in any, and none where one input has no mask. Layers that heed a mask get the old
one as an argument then, or are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unnest.core import json_tree
from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.op_nodes import OpNode
from unnest.core.keras3.pieces import Arguments, Known, NewLayer, Tree
from unnest.core.model import Json, JsonObject

NUMPY = "keras.src.ops.numpy"

MERGES = frozenset({"Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Merge", "Concatenate"})
#: Layers that compute otherwise where there is a mask, and take one as an argument.
HEEDING = frozenset({
    "LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "CuDNNLSTM", "CuDNNGRU",
    "Bidirectional", "GlobalAveragePooling1D",
})  # fmt: skip
#: Layers that do, and are not given one here.
OPAQUE = frozenset({"Attention", "AdditiveAttention", "MultiHeadAttention", "Softmax"})
#: Layers behind which there is no mask.
STOPPING = frozenset({"Lambda", "Flatten", "GlobalMaxPooling1D", "GlobalAveragePooling1D", "Dot", "Rescaling",
                      "TFOpLambda", "SlicingOpLambda", "TensorFlowOpLayer"})  # fmt: skip


@dataclass(frozen=True)
class Mask:
    """The mask that a tensor had. `tree` computes it, None where that is not known or there was none.

    `today`: whether Keras 3 has the same one on that tensor.
    """

    tree: Tree = None
    sources: frozenset[Known] = frozenset()
    today: bool = True


@dataclass
class Masks:
    """The masks of one graph's tensors, in the order in which its calls are placed."""

    context: Context
    of: dict[Known, Mask] = field(default_factory=dict)

    def given(self, kind: str, layer: NewLayer, call: Arguments, kwargs: Mapping[str, Tree]) -> Mapping[str, Tree]:
        """The arguments of a call, the old mask among them where today's is another. Raises CannotConvert."""
        told = [self.of[t] for t in call.tensors if t in self.of]
        if told and (not self.context.zeroes_masked or self.context.release < (2, 3)):
            self._check_masked_steps(kind, layer, kwargs)
        if all(mask.today for mask in told) or kwargs.get("mask") is not None:
            return kwargs
        if kind in HEEDING and len(told) == 1 and told[0].tree is not None:
            self.context.note("mask", layer.name)
            return {**kwargs, "mask": told[0].tree}
        if kind in HEEDING or kind in OPAQUE or layer.class_name in ("Functional", "Sequential"):
            raise refused(layer.name, kind, "heeds a mask that Keras 3 would compute otherwise, and cannot be given it")
        return kwargs

    def _check_masked_steps(self, kind: str, layer: NewLayer, kwargs: Mapping[str, Tree]) -> None:
        """Raises CannotConvert where Keras of its own gave back something else at masked steps than today's.

        There it is the last output, or the initial state; Keras 3 gives zeros (source: K.rnn of Keras 2.2.4, and
        zero_output_for_mask of Keras 3's Bidirectional).
        """
        if not self.context.zeroes_masked and any(_gives_sequences(entry) for entry in json_tree.objects(layer.entry)):
            raise refused(layer.name, kind, "at masked steps it gave back its last output, and gives zeros in Keras 3")
        if kind in HEEDING and "initial_state" in kwargs:
            raise refused(
                layer.name, kind, "at masked steps it gave back its initial state, and gives zeros in Keras 3"
            )

    def note(self, kind: str, config: JsonObject, call: Arguments, made: Sequence[Tree]) -> None:
        """What comes out of a call of the old layer."""
        outputs = [t for t in made if isinstance(t, Known)]
        mask = self._made(kind, config, call)
        if mask is not None and outputs:
            self.of[outputs[0]] = mask

    def _made(  # noqa: PLR0911 - one return a kind of layer
        self, kind: str, config: JsonObject, call: Arguments
    ) -> Mask | None:
        tensors = call.tensors
        source = tensors[0] if tensors else None
        if source is None:
            return None
        if kind == "Embedding" and config.get("mask_zero"):
            return Mask(_operation("NotEqual", source, 0), frozenset({source}))
        if kind == "Masking":
            differs = _operation("NotEqual", source, config.get("mask_value", 0.0))
            return Mask(_operation("Any", differs, axis=-1, keepdims=False), frozenset({source}))
        masks = [self.of.get(t) for t in tensors]
        present = [m for m in masks if m is not None]
        if not present:
            return None
        if kind in MERGES:
            return _merged(kind, config, masks, present)
        if kind in STOPPING or (kind in HEEDING and not _sequences(config)):
            return None
        return present[0]


def _merged(kind: str, config: JsonObject, masks: Sequence[Mask | None], present: Sequence[Mask]) -> Mask:
    axis = config.get("axis", config.get("concat_axis", -1))
    if (kind == "Concatenate" or config.get("mode") == "concat") and axis not in (-1, 2):
        return Mask(None, today=all(m.today for m in present))  # one after the other, then as today
    if all(m is not None and m.sources == present[0].sources and m.today for m in masks):
        return present[0]
    sources = frozenset[Known]().union(*(m.sources for m in present))
    if any(m.tree is None for m in present):
        return Mask(None, sources, today=False)
    tree = present[0].tree
    for other in present[1:]:
        tree = _operation("LogicalAnd", tree, other.tree)
    return Mask(tree, sources, today=False)


def check_chain(entries: Sequence[JsonObject], context: Context) -> None:
    """The same for a Sequential, in which one mask at most is handed on. Raises CannotConvert."""
    masked = False
    for entry in entries if context.masks and not context.zeroes_masked else ():
        kind, config = str(entry.get("class_name")), entry.get("config")
        settings = config if isinstance(config, Mapping) else {}
        if masked and any(_gives_sequences(inner) for inner in json_tree.objects(entry)):
            name = str(settings.get("name"))
            raise refused(name, kind, "at masked steps it gave back its last output, and gives zeros in Keras 3")
        if kind == "Masking" or settings.get("mask_zero"):
            masked = True
        elif kind in STOPPING or (kind in HEEDING and not _sequences(settings)):
            masked = False


def _gives_sequences(entry: JsonObject) -> bool:
    config = entry.get("config")
    return entry.get("class_name") == "Bidirectional" and isinstance(config, Mapping) and _sequences(config)


def _sequences(config: JsonObject) -> bool:
    inner = config.get("layer")
    if isinstance(inner, Mapping) and isinstance(inner.get("config"), Mapping):
        config = inner["config"]  # type: ignore[assignment]  # a mapping, as asked
    return bool(config.get("return_sequences"))


def _operation(kind: str, *args: Tree, **config: Json) -> OpNode:
    return OpNode(NUMPY, kind, config, args)  # type: ignore[arg-type]  # trees of the builder are operands
