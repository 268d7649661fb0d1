"""Which masks the layers of an older model saw, and where today's would see others.

Keras 2's merge layers take what is unmasked in all inputs, Keras 3's (from 3.4 on, commit 603db8003c) what is unmasked
in any, and none where one input has no mask. A recurrent layer of Keras 3 heeds no mask of its input where it is given
an initial state. Layers that heed a mask get the old one as an argument then; what may read one, but takes none as an
argument, as somebody's own layers and models, gets a tensor that carries it. Where nobody knows it, they are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from unnest.budget import remembered, spend
from unnest.core import json_tree
from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import CallId, Graph, Layer
from unnest.core.keras3.call_order import in_order
from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.op_nodes import OpNode
from unnest.core.keras3.pieces import Expansion, GraphTensor, LayerArguments, LayerCall, NewLayer, Tree
from unnest.core.keras3.signatures import SIGNATURES
from unnest.core.keras_facts.layer_classes import OPERATION_LAYERS
from unnest.core.model import Json, JsonObject

NUMPY = "keras.src.ops.numpy"

MERGES = frozenset({"Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Merge", "Concatenate"})
#: Layers that compute otherwise where there is a mask, and take one as an argument.
HEEDING = frozenset({
    "LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "CuDNNLSTM", "CuDNNGRU",
    "Bidirectional", "GlobalAveragePooling1D",
})  # fmt: skip
PLAIN_RECURRENT = frozenset({"LSTM", "GRU", "SimpleRNN"})
#: Layers that do, and are not given one here.
OPAQUE = frozenset({"Attention", "AdditiveAttention", "MultiHeadAttention", "Softmax"})
#: Layers whose output has the mask of their (first) input. (Source: supports_masking in Keras 1.2.2 to 2.15.)
PASSING = frozenset({
    "Activation", "ActivityRegularization", "AdditiveAttention", "AlphaDropout", "Attention", "BatchNormalization",
    "Dense", "Dropout", "ELU", "GaussianDropout", "GaussianNoise", "GroupNormalization", "Highway",
    "LayerNormalization", "LeakyReLU", "MaxoutDense", "MultiHeadAttention", "PReLU", "ParametricSoftplus", "ReLU",
    "SReLU", "Softmax", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "ThresholdedReLU",
    "TimeDistributed", "TimeDistributedDense", "UnitNormalization",
})  # fmt: skip
#: Layers behind which there is none, beside all others that Keras 3 has too.
STOPPING = OPERATION_LAYERS | {"LocallyConnected1D", "LocallyConnected2D"}


class Mask(NamedTuple):
    """The mask that a tensor had. `tree` computes it, None where that is not known or there was none.

    `sources` tells it from others: the tensors that it is computed from, with the value that is masked where that is
    not 0. `today`: whether Keras 3 has the same one on that tensor. `sure`: whether there was one at all; a layer of
    somebody's own may have dropped it.
    """

    tree: Tree = None
    sources: frozenset[object] = frozenset()
    today: bool = True
    sure: bool = True


@dataclass
class Masks:
    """The masks of one graph's tensors, in the order in which its calls are placed."""

    context: Context
    of: dict[GraphTensor, Mask] = field(default_factory=dict)
    #: A name like that one which nothing has, nor gets.
    reserve: Callable[[str], str] = str

    def given(
        self, kind: str, layer: NewLayer, call: LayerArguments, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]
    ) -> tuple[tuple[Tree, ...], Mapping[str, Tree]]:
        """The arguments of a call, the old mask among them where today's is another. Raises CannotConvert."""
        heard = call.tensors[:1] if "initial_state" in kwargs else call.tensors  # a state's mask is not asked for
        told = [self.of[t] for t in heard if t in self.of]
        if told:
            self._check_masked_steps(kind, layer, kwargs)
            note_normalization(layer.entry, layer.name, self.context)
        if not told or kwargs.get("mask") is not None:
            return args, kwargs
        if self._was_heedless(kind, layer, call):
            self.context.note("no-mask", layer.name)
            return _with_tensors(args, kwargs, self._maskless)
        lost = "initial_state" in kwargs if kind in HEEDING else self._loses(layer)
        if all(mask.today for mask in told) and not lost:
            return args, kwargs
        if kind in HEEDING and len(told) == 1 and told[0].tree is not None:
            self.context.note("initial-state-mask" if told[0].today else "mask", layer.name)
            return args, {**kwargs, "mask": told[0].tree}
        may_read = kind in OPAQUE or layer.class_name in NESTED_MODELS or not self._is_known(kind)
        if kind in HEEDING or lost or (may_read and any(mask.tree is None for mask in told if not mask.today)):
            raise refused(layer.name, kind, "heeds a mask that Keras 3 would compute otherwise, and cannot be given it")
        if not may_read:
            return args, kwargs
        self.context.note("carried-mask", layer.name)

        def carried(tensor: GraphTensor) -> Tree:
            return self._carried(tensor, layer.name, call.dtype(tensor))

        return _with_tensors(args, kwargs, carried)

    def note_ends(self, outputs: Sequence[GraphTensor]) -> None:
        """The outputs whose loss sees a mask that counts otherwise today."""
        for tensor in outputs:
            mask = self.of.get(tensor)
            if mask is not None and mask.sure:
                note_end(tensor.layer, self.context, today=mask.today)

    def _was_heedless(self, kind: str, layer: NewLayer, call: LayerArguments) -> bool:
        """Whether a layer that heeds the mask of its input today did not then. Raises CannotConvert where it is open.

        (Source: Keras 2.9 and 2.10, multi_head_attention.py; TensorFlow 2.3 and 2.5, advanced_activations.py.)
        """
        if kind != "Softmax" or self.context.release != AMBIGUOUS:
            return kind == "MultiHeadAttention" and drops_mask(kind, {}, self.context)
        spec = call.spec(call.tensors[0])
        if spec is None or len(spec.shape) != 3 or None in spec.shape[1:] or spec.shape[1] == spec.shape[2]:  # noqa: PLR2004 - steps and features
            raise refused(layer.name, kind, NOT_TOLD)
        return True  # a later one would have failed

    def _loses(self, layer: NewLayer) -> bool:
        """Whether there is a layer in a model in a model that would not see the mask of its input as it did."""
        return layer.class_name in NESTED_MODELS and any(
            part.get("initial_state") is not None
            or (part.get("class_name") == "MultiHeadAttention" and drops_mask("MultiHeadAttention", {}, self.context))
            or (part.get("class_name") in OPEN and self.context.release == AMBIGUOUS)
            for part in json_tree.objects(layer.entry)
        )

    def _maskless(self, tensor: GraphTensor) -> Tree:
        """The same tensor, by an operation behind which there is no mask."""
        return _operation("Multiply", tensor, 1.0) if tensor in self.of else tensor

    def handed_on(self, kind: str, output: GraphTensor, dtype: str) -> Tree:
        """An output of a model in a model, of a layer of this kind, with the mask that it had. Raises CannotConvert."""
        mask = self.of.get(output)
        if mask is None or mask.today:
            return output
        if mask.tree is None:
            raise refused(output.layer, kind, "hands on a mask that Keras 3 would compute otherwise")
        self.context.note("carried-mask", output.layer)
        return self._carried(output, output.layer, dtype)

    def _carried(self, tensor: GraphTensor, reader: str, dtype: str) -> Tree:
        """The same tensor with the mask that it had, by a layer that does nothing but hand on the one it is given.

        (Source: Keras 3.12 to 3.15, layer.py: a mask that is given as an argument becomes the output's.)
        """
        mask = self.of.get(tensor)
        if mask is None or mask.today:
            return tensor
        name = self.reserve(f"{reader}_mask")
        settings: JsonObject = {"trainable": True, "dtype": dtype}
        linear = NewLayer(
            f"{name}_linear", "Activation", {**settings, "name": f"{name}_linear", "activation": "linear"}
        )
        carrier = NewLayer(name, "TimeDistributed", {**settings, "name": name, "layer": linear.entry})
        return LayerCall(carrier, (tensor,), {"mask": mask.tree})

    def _check_masked_steps(self, kind: str, layer: NewLayer, kwargs: Mapping[str, Tree]) -> None:
        """Raises CannotConvert where something else came out at masked steps than comes out today.

        There Keras of its own gave back the last output, at first the initial state, as TensorFlow's did from 1.13 on
        with zeros at first; Keras 3 gives zeros at first, and from a Bidirectional at every masked step.
        (Source: K.rnn of Keras 2.2.4 and of TensorFlow 1.13 to 2.2; zero_output_for_mask of Keras 3's Bidirectional.)
        """
        gave_last = not self.context.zeroes_masked and any(map(_gives_sequences, json_tree.objects(layer.entry)))
        if gave_last and not _can_be_two(layer, kwargs, self.context):
            raise refused(layer.name, kind, "at masked steps it gave back its last output, and gives zeros in Keras 3")
        is_known = kind in PLAIN_RECURRENT and not self.context.is_tf and self.context.backend == "tensorflow"
        if self._began_with_state(kind, layer, kwargs) and not is_known:
            why = "at masked first steps it gave back its initial state, and gives zeros in Keras 3"
            raise refused(layer.name, kind, why)

    def is_two(self, layer: NewLayer, call: LayerArguments, kwargs: Mapping[str, Tree]) -> bool:
        """Whether a Bidirectional is written as two layers, because of what it gave at masked steps."""
        is_masked = any(t in self.of for t in call.tensors)
        return is_masked and _gives_sequences(layer.entry) and _can_be_two(layer, kwargs, self.context)

    def _began_with_state(self, kind: str, layer: NewLayer, kwargs: Mapping[str, Tree]) -> bool:
        """Whether masked first steps gave the initial state.

        (Source: K.rnn of Keras 2.0 to 2.2.4 and of TensorFlow before 1.13, which Keras 2.3 calls; zeros if unrolled.)
        """
        is_of_then = self.context.release < ((2, 2, 4) if self.context.is_tf else (2, 3))
        return is_of_then and kind in HEEDING and "initial_state" in kwargs and not layer.config.get("unroll")

    def begun(self, kind: str, layer: NewLayer, kwargs: Mapping[str, Tree], given: GraphTensor) -> Tree:
        """What a recurrent layer gave where its first steps are masked: its initial state in the place of zeros.

        `given` is its output, (rows, units) or (rows, steps, units); `kwargs` are as `given` handed them on.
        """
        mask = kwargs.get("mask")
        if mask is None or not self._began_with_state(kind, layer, kwargs):
            return given
        self.context.note("masked-first-steps", layer.name)
        states = kwargs["initial_state"]
        state = states[0] if isinstance(states, Sequence) and not isinstance(states, str) else states
        if _sequences(layer.config):
            in_order = _operation("Flip", mask, axis=1) if layer.config.get("go_backwards") else mask
            unmasked = _operation("Cumsum", in_order, axis=1, dtype="int32")
            state = _operation("ExpandDims", state, axis=1)
        else:
            unmasked = _operation("Sum", mask, axis=1, keepdims=False)
        has_begun = _operation("ExpandDims", _operation("Greater", unmasked, 0), axis=-1)
        return _operation("Where", has_begun, given, state)

    def note(
        self, kind: str, config: JsonObject, call: LayerArguments, made: Sequence[Tree], *, today: bool = True
    ) -> None:
        """What comes out of a call of the old layer; `today`: whether what was made hands a mask on as it does."""
        outputs = [t for t in made if isinstance(t, GraphTensor)]
        mask = self._made(kind, config, call)
        if mask is not None and outputs:
            sources = mask.sources or frozenset({outputs[0]})
            self.of[outputs[0]] = mask._replace(sources=sources, today=mask.today and today)

    def _made(  # noqa: PLR0911 - one return a kind of layer
        self, kind: str, config: JsonObject, call: LayerArguments
    ) -> Mask | None:
        tensors = call.tensors
        source = tensors[0] if tensors else None
        if source is None:
            return None
        if kind == "Embedding" and config.get("mask_zero"):
            return Mask(_operation("NotEqual", source, 0), frozenset({source}))
        if kind == "Masking":
            value = config.get("mask_value", 0.0)
            differs = _operation("NotEqual", source, value)
            told = {(source, value) if value else source}
            return Mask(_operation("Any", differs, axis=-1, keepdims=False), frozenset(told))
        masks = [self.of.get(t) for t in tensors]
        present = [m for m in masks if m is not None]
        if not present:
            return Mask() if _makes_mask({"class_name": kind, "config": config}, self.context) else None
        if kind in MERGES:
            return _merged(kind, config, masks, present)
        if not self._is_known(kind):
            is_sure = any(m.sure for m in present) and _all_pass(config, self.context)
            return Mask(None, present[0].sources, sure=is_sure)  # it sees today what it saw: see `given`
        if not _passes(kind, config, self.context) or masks[0] is None:
            return None
        if self.context.release == AMBIGUOUS and kind in OPEN:
            is_kept = kind == "Softmax"
            return masks[0]._replace(
                tree=masks[0].tree if is_kept else None, today=False, sure=is_kept and masks[0].sure
            )
        return masks[0]._replace(today=True) if kind in OPAQUE else masks[0]

    def _is_known(self, kind: str) -> bool:
        """Whether a layer is one of Keras's own, of which it is known what becomes of a mask."""
        bare = _bare(kind)
        return bare in SIGNATURES or bare in PASSING or bare in STOPPING or bare in HEEDING


#: What becomes of a model in a model.
NESTED_MODELS = frozenset({"Functional", "Sequential"})
#: TensorFlow 2.3 and 2.4 both call themselves so, and the file does not tell them apart.
AMBIGUOUS = (2, 4, 0)
#: Layers that did something else with a mask in TensorFlow 2.3: Softmax did not heed it, ReLU did not hand it on.
OPEN = frozenset({"Softmax", "ReLU"})
NOT_TOLD = (
    "what became of its mask is not told: TensorFlow 2.3 and 2.4 both call themselves Keras 2.4.0, and differ in this"
)


def _with_tensors(
    args: tuple[Tree, ...], kwargs: Mapping[str, Tree], change: Callable[[GraphTensor], Tree]
) -> tuple[tuple[Tree, ...], Mapping[str, Tree]]:
    """The arguments of a call with their tensors changed."""
    return tuple(_of_tensors(a, change) for a in args), {k: _of_tensors(v, change) for k, v in kwargs.items()}


def _of_tensors(tree: Tree, change: Callable[[GraphTensor], Tree]) -> Tree:
    """An argument with its tensors changed, in whatever structure they stand."""
    if isinstance(tree, GraphTensor):
        return change(tree)
    if isinstance(tree, Mapping):
        return {k: _of_tensors(v, change) for k, v in tree.items()}
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        return [_of_tensors(v, change) for v in tree]
    return tree


def _bare(kind: str) -> str:
    return re.sub(r"V[12]$", "", kind)


def _passes(kind: str, config: JsonObject, context: Context) -> bool:
    """Whether the mask of a layer's input was that of its output."""
    if kind in HEEDING:
        return _sequences(config)
    return _bare(kind) in PASSING and not drops_mask(kind, config, context)


def _all_pass(model: JsonObject, context: Context) -> bool:
    """Whether every layer of a model in a model hands on the mask of its input; false for what is no model."""
    layers = model.get("layers")
    entries = [e for e in layers if isinstance(e, Mapping)] if isinstance(layers, Sequence) else []
    return bool(entries) and all(
        e.get("class_name") == "InputLayer" or _passes(str(e.get("class_name")), _settings(e), context) for e in entries
    )


def _makes_mask(entry: JsonObject, context: Context) -> bool:
    """Whether a model in a model gives its first output a mask that a layer in it makes."""
    return is_model(entry) and remembered(_model_makes_mask, entry, context)


def _model_makes_mask(model: JsonObject, context: Context) -> bool:
    graph = read(model)
    spend(len(graph.layers))
    if graph.sequential:
        chain = graph.layers.values()
        masked = False
        for layer in chain:
            masked = _masks_itself(layer, context) or (masked and _passes(layer.class_name, layer.settings, context))
        return masked
    masked_calls: set[CallId] = set()
    for at, call in in_order(graph):
        layer = graph.layers[at.layer]
        heard = [source.call in masked_calls for source in call.reads]
        passes = any(heard) if layer.class_name in MERGES else bool(heard) and heard[0]
        if _masks_itself(layer, context) or (
            passes and (layer.class_name in MERGES or _passes(layer.class_name, layer.settings, context))
        ):
            masked_calls.add(at)
    return bool(graph.outputs) and graph.outputs[0].call in masked_calls


def _masks_itself(layer: Layer, context: Context) -> bool:
    """Whether a layer's output has a mask whatever goes in."""
    is_masking = layer.class_name == "Masking" or layer.settings.get("mask_zero") is True
    return is_masking or _makes_mask(layer.stored, context)


def _settings(entry: JsonObject) -> JsonObject:
    config = entry.get("config")
    return config if isinstance(config, Mapping) else {}


def note_end(name: str, context: Context, *, today: bool = True) -> None:
    """The loss of this output saw a mask; `today`: whether it sees the same one in Keras 3.

    (Source: a step of each, recorded by its stack. The masked loss was divided by the number of all steps in
    Keras 2.3 and in tf.keras from 1.13 until 2.10, by that of the unmasked ones in Keras 1.2 to 2.2.4; Keras 2.11,
    losses.py: the first that asks for the mask of what was predicted.)
    """
    first = (2, 2, 4) if context.is_tf else (2, 3)
    if not today:
        context.masked_ends[name] = "it sees another mask in Keras 3, or none"
    elif first <= context.release < (2, 11):
        context.masked_ends[name] = BY_ALL


BY_ALL = "it was divided by the number of all steps, and is by that of the unmasked ones in Keras 3"


def note_normalization(entry: JsonObject, name: str, context: Context) -> None:
    """A layer behind a mask: BatchNormalization, itself or in it, counted the masked steps too in training.

    (Source: Keras 2.12, batch_normalization.py, the first whose call takes a mask.)
    """
    trained = (p for p in json_tree.objects(entry) if _settings(p).get("trainable") is not False)
    if () < context.release < (2, 12) and any(p.get("class_name") == "BatchNormalization" for p in trained):
        context.masked_norms.append(name)


def drops_mask(kind: str, config: JsonObject, context: Context) -> bool:
    """Whether a layer that hands on a mask today did not then.

    (Source: supports_masking of the classes in TensorFlow 1.13 to 2.15, of standalone Keras 2.2.4, and of Keras 3.15;
    TensorFlow 1.13, base_layer.py: where a layer gives back its very input, a copy takes its place, without the mask.)
    """
    if kind == "ReLU":
        return context.is_tf
    if kind == "MultiHeadAttention":
        return () < context.release < (2, 10)
    if kind == "ActivityRegularization" or (kind == "Activation" and config.get("activation") == "linear"):
        return context.is_tf and not context.half_pixels
    return kind in ("Identity", "Normalization")


def stopped(layer: NewLayer) -> Expansion:
    """A layer, and an operation behind which there is no mask."""

    def outputs(call: LayerArguments) -> Sequence[Tree]:
        return (_operation("Multiply", LayerCall(layer, call.args), 1.0),)

    return Expansion(outputs)


def _merged(kind: str, config: JsonObject, masks: Sequence[Mask | None], present: Sequence[Mask]) -> Mask:
    axis = config.get("axis", config.get("concat_axis", -1))
    if (kind == "Concatenate" or config.get("mode") == "concat") and axis not in (-1, 2):
        return Mask(None, today=all(m.today for m in present))  # one after the other, then as today
    if all(m is not None and m.sources == present[0].sources and m.today for m in masks):
        return present[0]
    sources = frozenset[object]().union(*(m.sources for m in present))
    if any(m.tree is None for m in present):
        return Mask(None, sources, today=False)
    tree = present[0].tree
    for other in present[1:]:
        tree = _operation("LogicalAnd", tree, other.tree)
    return Mask(tree, sources, today=False)


def check_chain(entries: Sequence[JsonObject], context: Context) -> None:
    """The same for a Sequential, in which one mask at most is handed on. Raises CannotConvert."""
    masked = told = False
    name = ""
    for entry in entries if context.masks else ():
        kind, settings = str(entry.get("class_name")), _settings(entry)
        name = str(settings.get("name"))
        if masked and not context.zeroes_masked and any(_gives_sequences(inner) for inner in json_tree.objects(entry)):
            raise refused(name, kind, "at masked steps it gave back its last output, and gives zeros in Keras 3")
        if masked and context.release == AMBIGUOUS and (kind == "Softmax" or (kind in HEEDING and not told)):
            raise refused(name, kind, NOT_TOLD)
        if told:
            note_normalization(entry, name, context)
        if kind == "Masking" or settings.get("mask_zero") or _makes_mask(entry, context):
            masked = told = True
        elif kind == "ReLU":
            told = False
        elif not _passes(kind, settings, context):
            masked = masked and _bare(kind) not in SIGNATURES and _bare(kind) not in STOPPING
            told = told and _all_pass(settings, context)
    # (What is somebody's own, or a model, may hand a mask on.)
    if told:
        note_end(name, context)


def is_graph_of_masks(graph: Graph, context: Context) -> bool:
    """Whether a Sequential holds a Bidirectional that may be written as two layers, because of the mask it heeds."""
    stored = [layer.stored for layer in graph.layers.values()]
    return context.masks and _repeated_last(context) and any(map(_gives_sequences, stored))


def _repeated_last(context: Context) -> bool:
    """Whether it is known that a Bidirectional gave its last output at masked steps.

    (Seen with Keras 1.2.2 to 2.3.1. TensorFlow 1.13 gave zeros, 2.0 what its layers' arguments made of it; files of
    1.14 and 2.1 may say the same as theirs.)
    """
    return not context.zeroes_masked and not context.is_tf and context.backend in (None, "tensorflow")


def _can_be_two(layer: NewLayer, kwargs: Mapping[str, Tree], context: Context) -> bool:
    """Whether a Bidirectional that repeated its last output may be two layers that give sequences, joined to one."""
    if not _repeated_last(context):
        return False
    if layer.class_name != "Bidirectional" or "initial_state" in kwargs or layer.config.get("merge_mode") is None:
        return False
    directions = [layer.config[key] for key in ("layer", "backward_layer") if layer.config.get(key)]
    configs = [d["config"] for d in directions if isinstance(d, Mapping) and d.get("class_name") in PLAIN_RECURRENT]
    return len(configs) == len(directions) and all(
        isinstance(c, Mapping) and c.get("return_sequences") and not c.get("return_state") and not c.get("stateful")
        for c in configs
    )


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
