"""The record of a Keras layer class: one place for what recognition, weights, shapes, masks and Keras 3 know of it.

A field's default is what holds for most classes, so that a record says only what is special about its class. Where a
fact follows from a config alone (`units` of a Dense), the record holds the function that works it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from unnest.core.layers.weight_rules import PartialShape
from unnest.core.model import Json, JsonObject, Shape

Release: TypeAlias = "tuple[int, ...]"
LayerShapeRule: TypeAlias = Callable[[JsonObject, Shape], Shape]
"""A layer's config and the shape of its input -> the shape of its output; raises Unknown."""


class Parts(Enum):
    """The place where a layer keeps its weights."""

    OWN = "in itself"
    CELL = "in a cell that it makes"
    LAYERS = "in other layers that it holds, beside its own"


class Rows(Enum):
    """The effect of a layer along axis 1 and behind, if the entries of axis 0, the batch, are rows."""

    APART = "works on each row by itself"
    OVER_STEPS = (
        "puts together what lies on axis 1: time steps, pixels, or rows that were turned there"
    )
    ALONG_AXIS = "works along the axis that its config names"


class MaskUse(Enum):
    """The effect of a layer on the mask of its input."""

    UNKNOWN = "not known"
    STOPS = "neither reads it nor hands it on"
    PASSES = "hands it on, and computes the same with it"
    MAKES = "makes one of its input"
    MERGES = "makes one of those of its inputs"
    HEEDS = "computes otherwise with it, and hands it on if it gives an output at every step"
    HEEDS_AND_PASSES = "computes otherwise with it, and hands it on"


@dataclass(eq=False, repr=False, match_args=False)
class Weight:
    """One weight of a layer.

    `argument` is the stem of its arguments (`recurrent` of `recurrent_initializer`), `switch` the boolean argument that
    leaves the weight out if it is false, `keras_1` its name in Keras 1.
    """

    name: str
    argument: str = ""
    trained: bool = True
    switch: str = ""
    keras_1: str = ""

    @property
    def stem(self) -> str:
        """The prefix of the weight's arguments, and of its name in a file."""
        return self.argument or self.name


ANY_VALUE = ("*",)
"""In `KerasLayer.idle`: the argument changes nothing that is computed, whatever it holds."""


@dataclass(eq=False, repr=False, match_args=False)
class KerasLayer:
    """A layer class of Keras.

    Which Keras has it:
        name: the class, as files store it.
        keras: the generations of Keras that have a class of this name.
        exported: whether `keras.layers` of tf_keras 2.21 or of Keras 3.15 shows it.
        missing_in_tf_keras: whether a Keras 1 or 2 had it, and tf_keras 2.21 has no class of this name.
        found_if_given: its place below `keras` in a Keras 2 whose loaders find it only if `custom_objects` gives it.
        in_tensorflow_since: the first release of Keras inside TensorFlow that may have it, where Keras of its own never
            had one; before, a layer of this name is a custom class.
        always_stored: arguments that its config never lacks; without one of them it is a custom class of that name.
        other_names: names of the same class, which convert to this one.
        renamed_to: the class that is the same under another name today.
        successor: another class that has the same weights, in another form.
        gone: the reason why Keras 3 has nothing to compute it with.

    Its arguments:
        arguments: those of Keras 3's constructor beside `name`, `dtype` and `trainable`; None if no older class of this
            name is converted to it.
        takes_trainable: whether that constructor takes `trainable`.
        renamed_arguments: argument of Keras 2 -> its name in Keras 3.
        idle: argument that Keras 3 has not -> the values with which Keras 3 computes the same, or `ANY_VALUE`.
        defaults_of_then: argument -> its value in a config that lacks it, where today's default is another.
        refused_arguments: arguments that Keras 2 always writes and Keras 3's constructor raises for.
        data_format_of_backend: whether a config without `data_format` means the setting of the machine.
        keras_1_arguments: argument of Keras 1 -> its name in Keras 2.
        keras_1_idle: arguments of Keras 1 that change nothing that is computed.
        keras_1_bias: whether it has a bias in Keras 1, whose configs need not say so.
        keras_1_omits_data_format: whether Keras 1 does not store `dim_ordering`.
        functions: arguments that may hold a Python function.
        own_initializers: names that its initializer may have beside those of Keras.

    Its weights:
        parts: where they are.
        holds: arguments that hold a layer, or a list of layers.
        weights: its own, in the order in which it makes them; None where no release was looked at, or code decides.
        weight_count: their number by the config, where its initializers do not say.
        weight_shapes: shapes of the first weights by the config, None for a size that depends on the input.
        weight_shapes_of_input: shapes of all weights by the config and the input's shape, where `features_axis` is not
            enough.
        built_axes: axes of an input of that rank whose sizes the weights are made for.
        features_axis: the axis of the first weight that is as long as the one axis of the input that it is built for;
            of a convolution in groups, as each group's part of it.
        gates: the gates of a recurrent layer, in the order of its kernel's last axis.
        keras_1_gates: the same in the order in which Keras 1 stores three arrays for each gate.
        keras_1_rules: whether its config in Keras 1 has a regularizer or constraint for every trained weight.
        loads_these_alone: whether Keras 3 loads its own weights, and none that a subclass adds.
        adapted_argument: the argument that holds all that `adapt` found.
        states: number of states of a recurrent cell.

    What it computes:
        output_shape: the rule for the shape of its output; None if unknown.
        input_axes: number of axes of its input, the batch and the channels included; None for any.
        rows: what it does to the entries of the batch.
        merges: the operation of `core.ops` that merges its inputs.
        merge_mode: the `mode` of Keras 1's Merge that computes the same.
        is_elementwise: whether it merges tensors number by number.
        applies_activation: whether its `activation` is applied to its output alone.
        in_training_only: whether it gives its input, except in training.
        keeps_dtype: whether it hands on numbers that are not floats as they are.
        index_dtype: dtype of the indices that it gives with the `output_mode` "int"; its other modes give floats.
        notes_input_dtype: whether Keras 3 notes the input's dtype for its output, in place of the layer's own.
        adds_loss: whether it notes what `add_loss` or `add_metric` added, and gives its input.

    How Keras 3 calls it:
        mask: what it does with a mask.
        passes_mask_in_keras_3: whether it hands a mask on in Keras 3, where it ended one in tf.keras. (Source:
            supports_masking in Keras 3.15.)
        mask_argument: whether its `call` takes `mask`.
        training_argument: whether its `call` takes `training`, False by default.
        takes_states: whether its first argument was once a list of the input and the states.
    """

    name: str
    keras: tuple[int, ...] = (2, 3)
    exported: bool = True
    missing_in_tf_keras: bool = False
    found_if_given: str = ""
    in_tensorflow_since: Release = ()
    always_stored: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    renamed_to: str = ""
    successor: str = ""
    gone: str = ""

    arguments: tuple[str, ...] | None = None
    takes_trainable: bool = True
    renamed_arguments: Mapping[str, str] = field(default_factory=dict)
    idle: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    defaults_of_then: Mapping[str, Json] = field(default_factory=dict)
    refused_arguments: tuple[str, ...] = ()
    data_format_of_backend: bool = False
    keras_1_arguments: Mapping[str, str] = field(default_factory=dict)
    keras_1_idle: tuple[str, ...] = ()
    keras_1_bias: bool = False
    keras_1_omits_data_format: bool = False
    functions: tuple[str, ...] = ()
    own_initializers: tuple[str, ...] = ()

    parts: Parts = Parts.OWN
    holds: tuple[str, ...] = ()
    weights: tuple[Weight, ...] | None = None
    weight_count: Callable[[JsonObject], int] | None = None
    weight_shapes: Callable[[JsonObject], list[PartialShape] | None] | None = None
    weight_shapes_of_input: Callable[[JsonObject, Shape], list[PartialShape] | None] | None = None
    built_axes: Callable[[JsonObject, int], list[int]] | None = None
    features_axis: int | None = None
    gates: str = ""
    keras_1_gates: str = ""
    keras_1_rules: bool = False
    loads_these_alone: bool = False
    adapted_argument: str = ""
    states: int = 0

    output_shape: LayerShapeRule | None = None
    input_axes: int | None = None
    rows: Rows = Rows.APART
    merges: str = ""
    merge_mode: str = ""
    is_elementwise: bool = False
    applies_activation: bool = False
    in_training_only: bool = False
    keeps_dtype: bool = False
    index_dtype: str = ""
    notes_input_dtype: bool = False
    adds_loss: bool = False

    mask: MaskUse = MaskUse.STOPS
    passes_mask_in_keras_3: bool = False
    mask_argument: bool = False
    training_argument: bool = False
    takes_states: bool = False

    @property
    def is_in_keras_2(self) -> bool:
        """True for a class that some Keras 2 has, under this name or another."""
        return {2} <= {*self.keras} or bool(self.renamed_to)

    @property
    def is_missing_in_keras_3(self) -> bool:
        """True for a class of Keras 2, or of Keras 1 with a name of today, that Keras 3 does not know by this name."""
        return self.is_in_keras_2 and not {3} <= {*self.keras}

    @property
    def is_in_keras_3(self) -> bool:
        """True for a class of Keras 3 that a layer of an older Keras may become."""
        return self.arguments is not None

    @property
    def is_plain(self) -> bool:
        """True for a class that Keras exports and that holds no other layer, nor a cell."""
        return self.exported and self.parts is Parts.OWN

    @property
    def is_recurrent(self) -> bool:
        """True for a layer that makes its cell and reads (batch, steps, features): LSTM, GRU, SimpleRNN."""
        return self.parts is Parts.CELL and self.input_axes is None

    @property
    def combines(self) -> bool:
        """True for a layer that makes numbers of those of several tensors, in place of lining them up."""
        return self.is_elementwise or self.merge_mode == "dot"

    @property
    def concatenates(self) -> bool:
        """True for a layer that lines tensors up along an axis."""
        return self.merges == "concat"

    @property
    def may_join_rows(self) -> bool:
        """True for a layer that may put rows together: it lines up, adds rows between zeros, or runs a function."""
        return self.concatenates or self.merges == "addn" or bool(self.functions)

    @property
    def is_weightless(self) -> bool:
        """True for a layer that no release of Keras gave weights."""
        return self.weights == () and self.parts is Parts.OWN

    @property
    def has_silent_weights(self) -> bool:
        """True for a layer that may have weights, its own or those of layers in it, without an initializer for them."""
        return bool(self.holds) or self.weight_count is not None

    @property
    def window_axes(self) -> int:
        """Number of axes that a convolution slides over; 0 if it has no input of one rank."""
        return 0 if self.input_axes is None else self.input_axes - 2 - (self.parts is Parts.CELL)


# ---- weights that several layers have, in the order in which they make them ----
# (Source: the `build` methods of Keras 1.2.2 to 3.15.)

KERNEL_WEIGHT = Weight("kernel", keras_1="W")
BIAS_WEIGHT = Weight("bias", switch="use_bias", keras_1="b")
DEPTHWISE_KERNEL = Weight("depthwise_kernel", argument="depthwise")
GAMMA = Weight("gamma", switch="scale")
BETA = Weight("beta", switch="center")

KERNEL_AND_BIAS_WEIGHTS = (KERNEL_WEIGHT, BIAS_WEIGHT)
DEPTHWISE_WEIGHTS = (DEPTHWISE_KERNEL, BIAS_WEIGHT)
SEPARABLE_WEIGHTS = (
    DEPTHWISE_KERNEL,
    Weight("pointwise_kernel", argument="pointwise"),
    BIAS_WEIGHT,
)
RECURRENT_WEIGHTS = (
    KERNEL_WEIGHT,
    Weight("recurrent_kernel", argument="recurrent", keras_1="U"),
    BIAS_WEIGHT,
)
MOVING_STATISTICS = (
    Weight("moving_mean", trained=False, keras_1="running_mean"),
    Weight("moving_variance", trained=False, keras_1="running_std"),
)
ATTENTION_PARTS = {
    "query": "query_dense", "key": "key_dense", "value": "value_dense", "attention_output": "output_dense"
}  # fmt: skip
"""Layers in a MultiHeadAttention -> the attribute that each is; tf_keras puts an underscore before it."""

ATTENTION_WEIGHTS = tuple(
    Weight(f"{part}/{weight.name}", argument=weight.name, switch=weight.switch)
    for part in ATTENTION_PARTS
    for weight in KERNEL_AND_BIAS_WEIGHTS
)
"""Kernel and bias of each layer in a MultiHeadAttention."""
