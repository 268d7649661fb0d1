"""One conversion: facts on the file that rules may ask for, and notes on what they did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from unnest.core import json_tree
from unnest.core.keras3.layer_replacements import Config, NewLayer, Piece, Weights
from unnest.core.keras3.rule_catalog import RULES
from unnest.core.keras3_op_node import GraphTensor
from unnest.core.layers.catalog import makes_masks
from unnest.core.model import Json, JsonObject, Stored, release_of
from unnest.findings import Finding

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import (
        SymbolicValue,  # loaded where a layer holds code
    )


class CannotConvert(Exception):
    """Keras 3 cannot hold this, or not without doubt; the message names the layer, its class and the reason."""


class WeightsDoNotFit(CannotConvert):
    """A layer's weights have other shapes than every Keras makes for its config and its input."""


class Conversion(NamedTuple):
    """One rule that changed something: its name, the layers that it touched, and what it does."""

    rule: str
    """Name of the rule."""
    layers: tuple[str, ...]
    """Names of the layers that it changed."""
    what: str
    """The change, in words."""


@dataclass(eq=False, repr=False)
class Notes:
    """Notes of a conversion for its report: rules that were applied, and findings."""

    #: Layers for which the order of axes is a guess: no layer of the model that says it.
    guessed: list[str] = field(default_factory=list)
    #: Activations that were custom code then, each with the function that it was taken for.
    assumed_functions: list[str] = field(default_factory=list)
    #: Layers of hard_sigmoid whose weights, which would be multiplied, the file does not hold.
    unscaled: list[str] = field(default_factory=list)
    #: Layers of losses and metrics that were added to the model, which are left out.
    added: list[str] = field(default_factory=list)
    #: Frozen BatchNormalization layers that normalized by the batch in training all the same.
    frozen: list[str] = field(default_factory=list)
    #: Layers whose penalty on their outputs was not divided by the rows of the batch.
    summed_penalties: list[str] = field(default_factory=list)
    #: BatchNormalization layers behind a mask that counted masked steps too in training.
    masked_norms: list[str] = field(default_factory=list)
    #: Layers that act in training and are called with training=False.
    called_at_inference: list[str] = field(default_factory=list)
    #: UpSampling2D layers of tf.keras whose interpolation the file does not store.
    without_interpolation: list[str] = field(default_factory=list)
    #: Class or function that the file does not hold -> where it is used.
    custom: dict[str, str] = field(default_factory=dict)
    #: Code of each function without a name, which custom_objects give by the one name that all of them have.
    nameless: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    #: (Rule, detail) -> the layers that it touched.
    applied: dict[tuple[str, str], list[str]] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class GraphNotes:
    """Notes of a conversion on the graph at hand: what its operations give, and its outputs."""

    #: Operation of TensorFlow in the graph -> what it gives: a tensor of known shape, a shape, or a number.
    results: dict[str, SymbolicValue] = field(default_factory=dict)
    #: Tensor that an operation reads -> its number among those with as many rows.
    rows: dict[GraphTensor, int] = field(default_factory=dict)
    #: Output layer -> the layer that gives this output in the result; read of the outermost model.
    output_names: dict[str, str] = field(default_factory=dict)
    #: Output layer of the result -> what its loss made of a mask that Keras 3 does not; of the outermost model.
    masked_ends: dict[str, str] = field(default_factory=dict)


class LayerConverter(Protocol):
    """The function that finds the rule for a layer, and follows it."""

    def __call__(
        self, entry: JsonObject, name: str, weights: Weights, context: Context, /
    ) -> Piece:
        """Return the replacement of a layer entry, of a model in a model too. Raises CannotConvert."""


def no_layers(entry: JsonObject, name: str, weights: Weights, context: Context, /) -> Piece:
    """Refuse every layer: for a conversion of an optimizer or of values alone."""
    del weights, context
    raise refused(name, str(entry.get("class_name")), "no rule for layers was given")


@dataclass(frozen=True, eq=False, repr=False)
class Context:
    """One conversion: the facts that the file stores of its writer and of its model, and the notes that rules make.

    `release` is the numbers of `version`, empty if the file stores none. `is_tf`: tf.keras, not Keras of its own, where
    the version shows it; from Keras 2.5 on there is only one.
    """

    release: tuple[int, ...] = ()
    is_tf: bool = False
    backend: str | None = None
    version: str | None = None
    #: Whether bilinear resizing had today's pixel centres; None where the file does not tell.
    half_pixels: bool | None = None
    #: Whether masked steps came out as they do today; before tf.keras 1.15 it was the last output.
    zeroes_masked: bool = True
    #: Whether any layer of the model makes a mask.
    masks: bool = False
    #: Whether the model at hand is one in another.
    is_nested: bool = False
    #: Of layers that do not say: the one that the model's other layers say.
    data_format: str = "channels_last"
    is_format_told: bool = True
    #: The conversion of a layer, for models and for rules of layers that hold layers.
    layer_converter: LayerConverter = no_layers
    notes: Notes = field(default_factory=Notes)
    graph: GraphNotes = field(default_factory=GraphNotes)

    @property
    def is_standalone(self) -> bool:
        """True if Keras 1 or 2 of its own wrote the file, as far as the version shows it."""
        return not self.is_tf and () < self.release < (2, 4)

    @classmethod
    def of(cls, version: str | None, backend: str | None) -> Context:
        """Return the context of a file, from its attributes `keras_version` and `backend`."""
        return cls(release_of(version), "-tf" in (version or ""), backend, version)

    @classmethod
    def of_writer(cls, stored: Stored, architecture: JsonObject) -> Context:
        """Return the facts on the writer of a model, and its masks, before any layer is converted."""
        writer = cls.of(stored.keras_version, stored.backend)
        half_pixels = is_tensorflow_1_15_or_later(
            architecture, writer.release, is_standalone=not writer.is_tf
        )
        return replace(
            writer,
            half_pixels=half_pixels,
            # (Source: what Bidirectional of TensorFlow 1.13 to 2.3 gave; that of 2.0 did not yet.)
            zeroes_masked=bool(half_pixels)
            and (writer.release >= (2, 3) or json_tree.has_key(architecture, "ragged")),
            masks=makes_masks(architecture),
        )

    def convert_layer(self, entry: JsonObject, name: str, weights: Weights = ()) -> Piece:
        """Return the replacement of a layer entry. Raises CannotConvert."""
        return self.layer_converter(entry, name, weights, self)

    def note(self, rule: str, layer_name: str, detail: str = "") -> None:
        """Note that `rule` changed `layer_name`; `detail` is added to the rule's sentence."""
        assert rule in RULES, rule
        layers = self.notes.applied.setdefault((rule, detail), [])
        if layer_name not in layers:
            layers.append(layer_name)

    def conversions(self) -> tuple[Conversion, ...]:
        """Return the conversions that were done, in the order in which each was first done."""
        return tuple(
            Conversion(rule, tuple(layers), RULES[rule].what + (f": {detail}" if detail else ""))
            for (rule, detail), layers in self.notes.applied.items()
        )


class OldLayer(NamedTuple):
    """A layer of an older model, as the rule of its class takes it; `name` is the one it has in the result."""

    kind: str
    config: Config
    name: str
    weights: Weights
    context: Context

    def with_changed_arguments(self, changes: Config) -> OldLayer:
        """Return the layer with these arguments in its config."""
        return self._replace(config={**self.config, **changes})

    def without(self, *arguments: str) -> OldLayer:
        """Return the layer without these arguments in its config."""
        return self._replace(config={k: v for k, v in self.config.items() if k not in arguments})

    def as_new(self, config: JsonObject, weights: Weights | None = None) -> NewLayer:
        """Return Keras 3's layer of this class and name; its weights are kept unless others are given."""
        return NewLayer(self.name, self.kind, config, self.weights if weights is None else weights)

    def misfit(self, why: str) -> WeightsDoNotFit:
        """Return the exception that refuses the layer for the shapes of its weights, with the reason."""
        return misfit(self.name, self.kind, why)

    def note(self, rule: str, detail: str = "") -> None:
        """Note that `rule` changed the layer; `detail` is added to the rule's sentence."""
        self.context.note(rule, self.name, detail)

    def refused(self, why: str) -> CannotConvert:
        """Return the exception that refuses the layer, with the reason."""
        return refused(self.name, self.kind, why)


def is_tensorflow_1_15_or_later(
    architecture: Json, release: tuple[int, ...], *, is_standalone: bool
) -> bool | None:
    """Return True if TensorFlow 1.15 or later wrote the architecture; None if its release is not known.

    Standalone Keras never had what came with 1.15, so it counts as earlier. `2.2.4-tf` is TensorFlow 1.13 to 2.1, of
    which 1.15 and later know ragged inputs. (Source: what TensorFlow 1.13, 1.15 and 2.0 write.)
    """
    if is_standalone and release and release < (2, 4):
        return False
    if release >= (2, 3) or json_tree.has_key(architecture, "ragged"):
        return True
    if release == (2, 2, 4) and has_initializer_dtypes(architecture) is False:
        return True
    return False if release < (2, 2, 4) and release else None


def has_initializer_dtypes(part: Json) -> bool | None:
    """Return True if an initializer within is stored with a dtype; None if no initializer has a config.

    Of the releases that all call themselves 2.2.4-tf, those of TensorFlow 1 store it with each initializer, 2.0 and 2.1
    with none. (Source: what TensorFlow 1.13, 1.15 and 2.0 write.)
    """
    stored = [
        value
        for entry in json_tree.objects(part)
        for key, value in entry.items()
        if key.endswith("_initializer") and isinstance(value, Mapping)
    ]
    configs = [config for value in stored if isinstance(config := value.get("config"), Mapping)]
    return any("dtype" in config for config in configs) if configs else None


def refused(name: str, kind: str, why: str) -> CannotConvert:
    """Return the exception that refuses a layer, with the reason."""
    return CannotConvert(f"{name!r} ({kind}): {why}")


def misfit(name: str, kind: str, why: str) -> WeightsDoNotFit:
    """Return the exception that refuses a layer for the shapes of its weights, with the reason."""
    return WeightsDoNotFit(f"{name!r} ({kind}): {why}")


def listed(values: Iterable[object]) -> str:
    """Join values with commas for a sentence."""
    return ", ".join(map(str, values))
