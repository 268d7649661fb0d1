"""The Keras models among the objects of TensorFlow's object graph.

The model may be the root or hang anywhere, among others: it is the one whose layers and weights are the architecture's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from unnest.core.model import Group, JsonObject, Tensor
from unnest.errors import Refused
from unnest.formats.tensorflow.assign_object_weights import WeightsByLayer
from unnest.formats.tensorflow.object_graph import ObjectGraph
from unnest.formats.tensorflow.object_optimizers import Optimizers


class PlacedModel(NamedTuple):
    """A model in the object graph, and the weights of its layers.

    `within`: the models around it, of which it is a layer, the outermost first: (node, index of the layer, how many).
    `doubt`: why the order of a layer's weights is unknown; these then stand as the objects list them.
    """

    node: int
    groups: tuple[Group, ...]
    within: tuple[tuple[int, int, int], ...]
    doubt: Refused | None = None


class ObjectWeights(NamedTuple):
    """The weights of a Keras model, and its optimizer's state, in an object graph."""

    groups: tuple[Group, ...]
    optimizer: tuple[Tensor, ...] | None


class ObjectModels:
    """The models that an object graph holds, and what each optimizer trains."""

    def __init__(self, graph: ObjectGraph) -> None:
        self.graph = graph
        self.optimizers = Optimizers(graph)

    def weights(self, architecture: JsonObject) -> ObjectWeights:
        """Return the weights of a Keras model and its optimizer's state. Raises Unreadable, Refused."""
        placed = self.find(architecture)
        if placed.doubt is not None:
            raise placed.doubt
        return ObjectWeights(placed.groups, self.optimizers.state(placed.node, placed.groups))

    def find(self, architecture: JsonObject) -> PlacedModel:
        """Find the model of this architecture anywhere in the graph, preferably one with all weights in order.

        Raises:
            Unreadable: the object graph is damaged.
            Refused: there is no such model, or more than one.

        """
        models = self.graph.models()
        if not models:
            raise Refused(
                "architecture-mismatch",
                f"{self.graph.where}: has no layers; pass a checkpoint of a Keras model",
            )
        tried = [self._placed_or_refusal(architecture, node) for node in models]
        placed = [each for each in tried if isinstance(each, PlacedModel)]
        if not placed:
            raise next(each for each in tried if isinstance(each, Refused))
        fitting = [each for each in placed if each.doubt is None] or placed
        distinct = _distinct(fitting)
        if len(distinct) > 1:
            fitting = [each for each in fitting if _bear_layer_names(each.groups)]
            if len(_distinct(fitting)) != 1:
                raise Refused(
                    "weights-ambiguous",
                    f"{self.graph.where}: holds {len(distinct)} models that fit the architecture; "
                    "save the one you want alone",
                )
        return fitting[0]._replace(within=self._models_around(fitting[0].node, models))

    def _placed_or_refusal(self, architecture: JsonObject, node: int) -> PlacedModel | Refused:
        """Return the model at a node, without the models around it; or why it has another architecture."""
        weights = WeightsByLayer(self.graph, self.optimizers)
        try:
            groups = weights.groups(architecture, node)
        except Refused as refusal:
            return refusal
        if not weights.open_orders:
            return PlacedModel(node, groups, ())
        why = f"{self.graph.where}: {weights.open_orders[0]}; {self._restoring(node)}"
        return PlacedModel(node, groups, (), Refused("weights-ambiguous", why))

    def _restoring(self, node: int) -> str:
        """Return advice for a user with the model's code: loading a node's weights into it needs no order."""
        loading = "MODEL"
        for name in reversed(self.graph.way_to(node)):
            given = f"{name}={loading}" if name.isidentifier() else f"**{{{name!r}: {loading}}}"
            loading = f"tf.train.Checkpoint({given})"
        prefix = repr(self.graph.bundle.prefix)
        load = (
            f"MODEL.load_weights({prefix})"
            if loading == "MODEL"
            else f"{loading}.restore({prefix})"
        )
        return f"load it into the MODEL that your code makes, {load}, and save that as .h5"

    def _models_around(self, node: int, models: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
        """Return the models that contain one as a layer, the outermost first."""
        holder_of: dict[int, tuple[int, int, int]] = {}
        for model in models:
            layers = self.graph.layers(model)
            for k, n in enumerate(layers.values()):
                holder_of.setdefault(n, (model, k, len(layers)))
        holders_outermost_first: list[tuple[int, int, int]] = []
        while node in holder_of and len(holders_outermost_first) <= len(models):
            holders_outermost_first.insert(0, holder_of[node])
            node = holder_of[node][0]
        return tuple(holders_outermost_first)


def _distinct(placed: Iterable[PlacedModel]) -> set[tuple[str, ...]]:
    """Return the sets of tensors that the models consist of, each once."""
    return {tuple(t.ref for g in each.groups for t in g.tensors) for each in placed}


def _bear_layer_names(groups: Iterable[Group]) -> bool:
    """Return True if every weight's name contains the name of its layer."""
    return all({g.name, *t.owner} & set(t.name.split("/")) for g in groups for t in g.tensors)
