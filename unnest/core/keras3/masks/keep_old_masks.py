"""Masks that the layers of an older model saw, and places where today's layers would see others.

Keras 2's merge layers take what is unmasked in all inputs, Keras 3's (from 3.4 on, commit 603db8003c) what is unmasked
in any, and none where one input has no mask. A recurrent layer of Keras 3 heeds no mask of its input where it is given
an initial state. Layers that heed a mask get the old one as an argument then; what may read one, but takes none as an
argument, as custom layers and models, gets a tensor that carries it. Where that is unknown, they are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from unnest.core import json_tree
from unnest.core.architecture import is_model
from unnest.core.keras3.conversion_context import CannotConvert, Context, refused
from unnest.core.keras3.layer_replacements import (
    Expansion,
    LayerArguments,
    LayerCall,
    NewLayer,
    NodeTree,
    numpy_operation,
    with_tensors,
)
from unnest.core.keras3.masks.layer_mask_behaviour import (
    AMBIGUOUS,
    NESTED_MODELS,
    NOT_TOLD,
    all_pass,
    drops_mask,
    drops_steps_mask,
    gives_masks_to_steps,
    heeds_mask,
    is_ambiguous,
    is_batch_reshaped,
    is_known,
    layer_at_each_step,
    makes_mask,
    masks_itself,
    may_pass_unknown_mask,
    note_masked_output,
    note_normalization,
    passes_mask,
)
from unnest.core.keras3.masks.outputs_at_masked_steps import (
    check_masked_steps,
    last_output_refusal,
    repeats_last_output,
)
from unnest.core.keras3_op_node import GraphTensor
from unnest.core.layers.catalog import layer_record, merging_record
from unnest.core.layers.read_config_values import settings
from unnest.core.layers.record import MaskUse
from unnest.core.model import JsonObject


class OldMask(NamedTuple):
    """The mask that a tensor had. `tree` computes it, None where that is not known or there was none.

    `sources` identifies it: the tensors that it is computed from, with the value that is masked where that is
    not 0. `today`: whether Keras 3 has the same one on that tensor. `sure`: whether there was one at all; a layer of
    a custom layer may have dropped it. `rank`: the number of its axes, None if unknown.
    """

    tree: NodeTree = None
    sources: frozenset[object] = frozenset()
    today: bool = True
    sure: bool = True
    rank: int | None = None


@dataclass(eq=False, repr=False)
class OldMasks:
    """The masks of one graph's tensors, in the order in which its calls are placed."""

    context: Context
    #: A tensor's mask; of the tensors alone that had one then, or have one today.
    of: dict[GraphTensor, OldMask] = field(default_factory=dict)
    #: A name like that one which nothing has, nor gets.
    reserve: Callable[[str], str] = str

    # What a call reads

    def meets(self, call: LayerArguments) -> bool:
        """Return True if any tensor of a call has a mask."""
        return any(tensor in self.of for tensor in call.tensors)

    def call_with_masks(
        self,
        kind: str,
        layer: NewLayer,
        call: LayerArguments,
        args: tuple[NodeTree, ...],
        kwargs: Mapping[str, NodeTree],
    ) -> tuple[tuple[NodeTree, ...], Mapping[str, NodeTree]]:
        """Return a call's arguments, with the old mask among them if today's differs. Raises CannotConvert."""
        # A state's mask is not asked for.
        heard = call.tensors[:1] if "initial_state" in kwargs else call.tensors
        masks = [self.of[t] for t in heard if t in self.of]
        if masks:
            check_masked_steps(kind, layer, kwargs, self.context)
            note_normalization(layer.entry, layer.name, self.context)
        if not masks or kwargs.get("mask") is not None:
            return args, kwargs
        if self._was_heedless(kind, layer, call):
            self.context.note("no-mask", layer.name)
            return _with_tensors(args, kwargs, self._maskless)
        is_lost = (
            "initial_state" in kwargs
            if layer_record(kind).mask is MaskUse.HEEDS
            else self._loses(layer)
        )
        if all(mask.today for mask in masks) and not is_lost:
            return args, kwargs
        is_told = layer_record(kind).mask is MaskUse.HEEDS
        if is_told or (kind == "TimeDistributed" and heeds_mask(layer.entry)):
            return args, {**kwargs, "mask": self._as_argument(kind, layer, masks)}
        may_read = (
            layer_record(kind).mask is MaskUse.HEEDS_AND_PASSES
            or layer.class_name in NESTED_MODELS
            or not is_known(kind)
        )
        if is_lost or (may_read and any(mask.tree is None for mask in masks if not mask.today)):
            raise _cannot_be_given(layer.name, kind)
        if may_read:
            self.context.note("carried-mask", layer.name)
            return _with_tensors(
                args,
                kwargs,
                lambda tensor: self._with_old_mask(tensor, layer.name, call.dtype(tensor)),
            )
        return args, kwargs

    def _as_argument(self, kind: str, layer: NewLayer, masks: Sequence[OldMask]) -> NodeTree:
        """Return the old mask for a layer that takes one as an argument. Raises CannotConvert."""
        if len(masks) != 1 or masks[0].tree is None:
            raise _cannot_be_given(layer.name, kind)
        self.context.note("initial-state-mask" if masks[0].today else "mask", layer.name)
        return masks[0].tree

    def _was_heedless(self, kind: str, layer: NewLayer, call: LayerArguments) -> bool:
        """True if a layer that heeds the mask of its input today did not then. Raises CannotConvert where it is open.

        (Source: Keras 2.9 and 2.10, multi_head_attention.py; TensorFlow 2.3 and 2.5, advanced_activations.py.)
        """
        if kind == "TimeDistributed":
            held, _ = layer_at_each_step(layer.entry)
            return heeds_mask(layer.entry) and not self._asks_each_step(held, call)
        if kind != "Softmax" or not is_ambiguous(kind, self.context):
            return kind == "MultiHeadAttention" and drops_mask(kind, {}, self.context)
        spec = call.spec(call.tensors[0])
        if (
            spec is None
            or len(spec.shape) != 3  # noqa: PLR2004 - steps and features
            or None in spec.shape[1:]
            or spec.shape[1] == spec.shape[2]
        ):
            raise refused(layer.name, kind, NOT_TOLD)
        return True  # a later one would have failed

    def _loses(self, layer: NewLayer) -> bool:
        """Return True if there is a layer in a model in a model that would not see the mask of its input as it did."""
        return layer.class_name in NESTED_MODELS and any(
            part.get("initial_state") is not None
            or (
                part.get("class_name") == "MultiHeadAttention"
                and drops_mask("MultiHeadAttention", {}, self.context)
            )
            or is_ambiguous(str(part.get("class_name")), self.context)
            for part in json_tree.objects(layer.entry)
        )

    def _maskless(self, tensor: GraphTensor) -> NodeTree:
        """Return a tensor without the mask that it carries today, if it carries one."""
        return without_mask(tensor) if tensor in self.of else tensor

    def _with_old_mask(self, tensor: GraphTensor, reader: str, dtype: str) -> NodeTree:
        """Return a tensor with the mask it had in the older Keras, by a layer that only hands on the mask it is given.

        (Source: Keras 3.12 to 3.15, layer.py: a mask that is given as an argument becomes the output's.)
        """
        mask = self.of.get(tensor)
        if mask is None or mask.today:
            return tensor
        name = self.reserve(f"{reader}_mask")
        base: JsonObject = {"trainable": True, "dtype": dtype}
        linear = NewLayer(
            f"{name}_linear",
            "Activation",
            {**base, "name": f"{name}_linear", "activation": "linear"},
        )
        carrier = NewLayer(name, "TimeDistributed", {**base, "name": name, "layer": linear.entry})
        return LayerCall(carrier, (tensor,), {"mask": mask.tree})

    # What comes out of a call

    def behind(self, kind: str, config: JsonObject, call: LayerArguments) -> OldMask | None:
        """Return the mask of the first output of an old layer, None if it had none."""
        tensors = call.tensors
        if kind == "TimeDistributed" and tensors:
            return self._mask_of_steps(config, call)
        computed = _computed(kind, config, tensors[0], _rank(call)) if tensors else None
        masks = [self.of.get(t) for t in tensors]
        present = [m for m in masks if m is not None]
        if computed is not None or not present:
            is_made = tensors and makes_mask({"class_name": kind, "config": config}, self.context)
            return computed or (OldMask() if is_made else None)
        if layer_record(kind).mask is MaskUse.MERGES:
            return _merged(kind, config, masks, present)
        if may_pass_unknown_mask(kind, config):
            is_sure = any(m.sure for m in present) and all_pass(config, self.context)
            # It sees today what it saw: see `call_with_masks`.
            return OldMask(None, present[0].sources, sure=is_sure)
        return self._passed(kind, masks[0]) if passes_mask(kind, config, self.context) else None

    def note(self, mask: OldMask | None, made: Sequence[NodeTree], *, today: bool = True) -> None:
        """Note the mask of what was made of a layer; `today`: True if its replacement hands a mask on as it does."""
        outputs = [t for t in made if isinstance(t, GraphTensor)]
        if mask is not None and outputs:
            sources = mask.sources or frozenset({outputs[0]})
            self.of[outputs[0]] = mask._replace(sources=sources, today=mask.today and today)

    def _mask_of_steps(self, config: JsonObject, call: LayerArguments) -> OldMask | None:
        """Return the mask behind a TimeDistributed that asked its layer at each step.

        Where the layer gave none there, a step is masked if its parts all are. Keras 3 hands on the mask that it has.
        """
        source, (held, depth) = call.tensors[0], _layer_at_each_step(config)
        mask = self.of.get(source)
        if not self._asks_each_step(held, call):
            # What heeds a mask today, and did not then, is called without one: `call_with_masks`.
            is_lost = mask is not None and heeds_mask(held)
            return mask._replace(today=False) if mask is not None and is_lost else mask
        computed = _computed(str(held.get("class_name")), settings(held), source, _rank(call))
        if computed is not None:
            return computed._replace(today=False)
        if makes_mask(held, self.context):
            return OldMask(today=False)
        return None if mask is None else self._handed_on_by_steps(mask, held, depth)

    def _handed_on_by_steps(self, mask: OldMask, held: JsonObject, depth: int) -> OldMask:
        """Return the mask behind `depth` TimeDistributed around a layer, each part of which may be masked."""
        is_dropped = drops_steps_mask(held, self.context)
        is_kept = is_dropped is False and (
            not is_model(held) or all_pass(settings(held), self.context)
        )
        if is_kept or mask.rank == depth + 1:
            return mask
        if not is_dropped or mask.tree is None or mask.rank is None:
            return mask._replace(tree=None, today=False, rank=None)
        tree = mask.tree
        for _ in range(mask.rank - depth - 1):
            tree = numpy_operation("Any", tree, axis=-1, keepdims=False)
        return mask._replace(tree=tree, today=False, rank=depth + 1)

    def _asks_each_step(self, held: JsonObject, call: LayerArguments) -> bool:
        """Return True if a TimeDistributed gave masks to the layer in it: not for some batches of a fixed size."""
        spec = call.spec(call.tensors[0])
        is_fixed = spec is not None and spec.shape[:1] not in ((), (None,))
        return gives_masks_to_steps(self.context) and (
            not is_fixed or is_batch_reshaped(held, self.context)
        )

    def is_replaced(self, kind: str, call: LayerArguments, mask: OldMask | None) -> bool:
        """Return True if Keras 3 hands on the mask of a TimeDistributed's input, and its output had another, `mask`."""
        return (
            kind == "TimeDistributed"
            and mask is not None
            and self.meets(call)
            and mask is not self.of[call.tensors[0]]
        )

    def _passed(self, kind: str, mask: OldMask | None) -> OldMask | None:
        """Return the input's mask behind a Keras layer that hands it on."""
        if mask is None:
            return None
        if is_ambiguous(kind, self.context):
            is_kept = kind == "Softmax"
            return mask._replace(
                tree=mask.tree if is_kept else None, today=False, sure=is_kept and mask.sure
            )
        return (
            mask._replace(today=True)
            if layer_record(kind).mask is MaskUse.HEEDS_AND_PASSES
            else mask
        )

    # The ends of the model

    def handed_on(self, kind: str, output: GraphTensor, dtype: str) -> NodeTree:
        """Return a nested model's output with the mask that it had in the older Keras. Raises CannotConvert."""
        mask = self.of.get(output)
        if mask is None or mask.today:
            return output
        if mask.tree is None:
            raise _hands_on_another(output.layer, kind)
        self.context.note("carried-mask", output.layer)
        return self._with_old_mask(output, output.layer, dtype)

    def note_ends(self, outputs: Sequence[GraphTensor]) -> None:
        """Note the outputs whose loss sees a mask that counts otherwise today."""
        for tensor in outputs:
            mask = self.of.get(tensor)
            if mask is not None and mask.sure:
                note_masked_output(tensor.layer, self.context, today=mask.today)


def check_chain(entries: Sequence[JsonObject], context: Context) -> None:
    """Check the masks of a Sequential, which hands on one mask at most. Raises CannotConvert."""
    masked = sure = is_otherwise = False
    name = kind = ""
    for entry in entries if context.masks else ():
        kind, config = str(entry.get("class_name")), settings(entry)
        name = str(config.get("name"))
        if masked and repeats_last_output(entry, context):
            raise last_output_refusal(name, kind)
        if masked and heeds_mask(entry):
            if is_otherwise or (kind == "TimeDistributed" and not gives_masks_to_steps(context)):
                raise _cannot_be_given(name, kind)
            is_otherwise = kind == "TimeDistributed"
        if (
            masked
            and context.release == AMBIGUOUS
            and (kind == "Softmax" or (layer_record(kind).mask is MaskUse.HEEDS and not sure))
        ):
            raise refused(name, kind, NOT_TOLD)
        if sure:
            note_normalization(entry, name, context)
        if masks_itself(entry, context):
            masked = sure = True
            is_otherwise = kind == "TimeDistributed"
        elif kind == "ReLU":
            sure = False
        elif not passes_mask(kind, config, context):
            # A custom layer, or a model, may hand a mask on.
            masked = masked and may_pass_unknown_mask(kind, config)
            sure = sure and all_pass(config, context)
    if masked and is_otherwise and context.is_nested:
        raise _hands_on_another(name, kind)
    if sure:
        note_masked_output(name, context, today=not is_otherwise)


def without_output_mask(layer: NewLayer) -> Expansion:
    """Return a layer followed by an operation that drops its mask."""

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        return (without_mask(LayerCall(layer, call.args)),)

    return Expansion(outputs)


def without_mask(tree: NodeTree) -> NodeTree:
    """Return a tensor times 1.0: the numbers are unchanged, and an operation hands on no mask."""
    return numpy_operation("Multiply", tree, 1.0)


def _cannot_be_given(name: str, kind: str) -> CannotConvert:
    return refused(
        name, kind, "heeds a mask that Keras 3 would compute otherwise, and cannot be given it"
    )


def _hands_on_another(name: str, kind: str) -> CannotConvert:
    return refused(name, kind, "hands on a mask that Keras 3 would compute otherwise")


def _computed(
    kind: str, config: JsonObject, source: GraphTensor, rank: int | None
) -> OldMask | None:
    """Return the mask that a layer computes from `source`, a tensor of that rank."""
    if kind == "Embedding" and config.get("mask_zero"):
        return OldMask(numpy_operation("NotEqual", source, 0), frozenset({source}), rank=rank)
    if kind == "Masking":
        value = config.get("mask_value", 0.0)
        differs = numpy_operation("NotEqual", source, value)
        told = {(source, value) if value else source}
        tree = numpy_operation("Any", differs, axis=-1, keepdims=False)
        return OldMask(tree, frozenset(told), rank=None if rank is None else rank - 1)
    return None


def _rank(call: LayerArguments) -> int | None:
    """Return the number of axes of the first tensor that a call reads; None if unknown."""
    spec = call.spec(call.tensors[0])
    return None if spec is None else len(spec.shape)


def _layer_at_each_step(config: JsonObject) -> tuple[JsonObject, int]:
    """Return `layer_at_each_step` of a TimeDistributed with that config."""
    return layer_at_each_step({"class_name": "TimeDistributed", "config": config})


def _merged(
    kind: str, config: JsonObject, masks: Sequence[OldMask | None], present: Sequence[OldMask]
) -> OldMask:
    """Return the mask behind a merge layer: what none of its inputs masks."""
    axis = config.get("axis", config.get("concat_axis", -1))
    if merging_record(kind, config).concatenates and axis not in (-1, 2):
        # One after the other, then as today.
        return OldMask(None, today=all(m.today for m in present))
    if all(m is not None and m.sources == present[0].sources and m.today for m in masks):
        return present[0]
    sources = frozenset[object]().union(*(m.sources for m in present))
    if any(m.tree is None for m in present):
        return OldMask(None, sources, today=False)
    tree = present[0].tree
    for other in present[1:]:
        tree = numpy_operation("LogicalAnd", tree, other.tree)
    return OldMask(tree, sources, today=False)


def _with_tensors(
    args: tuple[NodeTree, ...],
    kwargs: Mapping[str, NodeTree],
    change: Callable[[GraphTensor], NodeTree],
) -> tuple[tuple[NodeTree, ...], Mapping[str, NodeTree]]:
    """Return the arguments of a call with their tensors changed."""
    return tuple(with_tensors(a, change) for a in args), {
        k: with_tensors(v, change) for k, v in kwargs.items()
    }
