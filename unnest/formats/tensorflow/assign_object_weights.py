"""Assign the weights in one model's objects to the layers of an architecture."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.architecture import children, is_input, read
from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.stored_class_names import record_of
from unnest.core.keras_facts.weight_counts_by_config import (
    fits_unit_sizes,
    initialized_weight_counts,
    switched_off_weights,
    trained_count,
)
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Group, JsonObject, Tensor
from unnest.core.weight_assignment.layer_weights_record import trained_first
from unnest.errors import Refused
from unnest.formats.tensorflow.object_graph import NUMBER, AttributePath, ObjectGraph
from unnest.formats.tensorflow.object_optimizers import Optimizers


class WeightsByLayer:
    """One attempt to find the weights of an architecture's layers among the objects.

    `open_orders` says, layer by layer, why the order of its weights is open; those stand as the objects list them.
    """

    def __init__(self, graph: ObjectGraph, optimizers: Optimizers) -> None:
        self._graph, self._optimizers = graph, optimizers
        self.open_orders: list[str] = []

    def groups(self, architecture: JsonObject, node: int) -> tuple[Group, ...]:
        """Return the weights of the model at a node, layer by layer. Raises Unreadable, Refused."""
        return tuple(Group(name, tensors) for name, tensors in self._model(architecture, node))

    def _model(self, entry: JsonObject, node: int) -> list[tuple[str, tuple[Tensor, ...]]]:
        """Return (layer name, weights) of the model at a node. Raises Unreadable, Refused."""
        self._graph.step()
        graph, nodes = read(entry), self._graph.layers(node)
        layers = list(graph.layers.values())
        modern = self._graph.is_modern(node)
        count = max(nodes, default=-1) + 1
        if graph.sequential:
            layers, nodes = self._with_or_without_input(layers, nodes, modern=modern)
        if (
            (max(nodes, default=-1) >= len(layers))
            if modern
            else (sorted(nodes) != list(range(len(layers))))
        ):
            raise Refused(
                "architecture-mismatch",
                f"{self._graph.where}: {graph.name!r} has {count} layers here and {len(layers)} in the architecture; "
                "pass that of the model that was saved",
            )
        return [
            (
                layer.name,
                self._layer(layer, nodes[k], modern=modern)
                if k in nodes
                else self._operation(layer),
            )
            for k, layer in enumerate(layers)
        ]

    def _with_or_without_input(
        self, layers: list[Layer], nodes: dict[int, int], *, modern: bool
    ) -> tuple[list[Layer], dict[int, int]]:
        """Return a Sequential's layers and objects without an InputLayer that only one of them has.

        It may be in the config and not among the objects, or the other way round.
        """
        count = max(nodes, default=-1) + 1
        begins_with_input = bool(layers) and is_input(layers[0].stored)
        if count == len(layers) + 1 and not begins_with_input:
            return layers, {k - 1: n for k, n in nodes.items() if k}
        has_no_input = count + 1 == len(layers) or bool(
            0 in nodes and self._graph.variables(nodes[0])
        )
        if begins_with_input and has_no_input and not (modern and 0 in nodes):
            return layers[1:], nodes
        return layers, nodes

    def _operation(self, layer: Layer) -> tuple[Tensor, ...]:
        """Return () for an operation of Keras 3, which is no object and has no weights."""
        expected_weights = initialized_weight_counts(layer.config)
        if layer.is_model or (expected_weights is not None and expected_weights.total):
            raise self._unfit(layer, 0)
        return ()

    def _unfit(self, layer: Layer, count: int) -> Refused:
        activation = layer.settings.get("activation")
        kind = str(activation.get("class_name")) if isinstance(activation, Mapping) else ""
        if layer_record(kind).weights:
            what = f"a {layer.class_name} with a {kind} as its activation, whose weights are told apart in .h5 alone"
            return Refused(
                "architecture-mismatch", f"{self._graph.where}: {layer.name!r} is {what}; save one"
            )
        return Refused(
            "architecture-mismatch",
            f"{self._graph.where}: {count} weights do not fit {layer.name!r}, a {layer.class_name}; "
            "pass the architecture of the model that was saved",
        )

    def _layer(self, layer: Layer, node: int, *, modern: bool) -> tuple[Tensor, ...]:
        """Return a layer's weights, the trained ones first; those of a nested model bear their layers' names."""
        within = self._model_within(layer, node)
        if within is None:
            return self._layer_variables(layer, node, modern=modern)
        flat = [
            t._replace(owner=(name, *t.owner))
            for name, tensors in self._model(*within)
            for t in tensors
        ]
        stored_lists = self._graph.stored_lists(node)
        if stored_lists is not None:
            flat = [t._replace(trained=t.ref in stored_lists.trained) for t in flat]
        return trained_first(flat)

    def _model_within(self, layer: Layer, node: int) -> tuple[JsonObject, int] | None:
        """Return the model that a layer is, or the only one that it holds, and its object, or None."""
        if layer.is_model:
            return layer.stored, node
        held_models = [child for _, child in children(layer.stored)]
        inner_layer = self._graph.child(node, "layer")
        if len(held_models) == 1 and inner_layer is not None and self._graph.layers(inner_layer):
            return held_models[0], inner_layer
        return None

    def _layer_variables(self, layer: Layer, node: int, *, modern: bool) -> tuple[Tensor, ...]:
        """Return a layer's variables in Keras's order, by stored lists or by their classes. Raises Refused."""
        variables = self._graph.variables(node)
        self._check_fits(layer, node, variables)
        by_key = {self._graph.key(n): n for n in variables}

        def tensor(n: int, *, trained: bool) -> Tensor:
            return self._graph.tensor(
                n, "/".join((layer.name, *variables[n])), trained=trained, modern=modern
            )

        stored_lists = self._graph.stored_lists(node)
        if stored_lists is not None:
            listed_keys = [key for key in stored_lists.order if key in by_key]
            return tuple(
                tensor(by_key[key], trained=key in stored_lists.trained) for key in listed_keys
            )
        listed = (
            list(variables)
            if record_of(layer.class_name, layer.config).exported
            else self._as_code_lists(layer, node, variables)
        )
        flags = self._trained(layer, listed)
        tensors = [tensor(n, trained=flag) for n, flag in zip(listed, flags, strict=True)]
        return trained_first(tensors)

    def _as_code_lists(
        self, layer: Layer, node: int, variables: Mapping[int, AttributePath]
    ) -> list[int]:
        """Return a custom layer's variables as Keras lists them: its own first, then each sub-layer's.

        Sub-layers are listed as they were made, but those in a dictionary by their keys, which looks the same here.
        """
        order: list[int] = []
        pending: list[tuple[int, bool]] = [(node, True)]
        while pending:
            current, is_layer = pending.pop()
            self._graph.step()
            children_of = {n: name for name, n in self._graph.attributes(current).items()}
            own_variables = [n for n in children_of if n in variables and n not in order]
            order += own_variables
            sub_layers = [
                n
                for n in children_of
                if n not in variables and self._graph.variables(n).keys() - {*order}
            ]
            names = [children_of[n] for n in sub_layers]
            are_numbered = all(map(NUMBER.fullmatch, names))
            if not is_layer and not own_variables and not are_numbered and names != sorted(names):
                self.open_orders.append(
                    f"the order of the weights of {layer.name!r} is known to the code of {layer.class_name} alone"
                )
            pending += [(n, False) for n in reversed(sub_layers)]
        return order

    def _check_fits(self, layer: Layer, node: int, variables: Mapping[int, AttributePath]) -> None:
        """Raise Refused if these variables cannot be this layer's."""
        absent = switched_off_weights(layer.config) & {
            path[-1] for path in variables.values() if len(path) == 1
        }
        if absent and record_of(layer.class_name, layer.config).is_plain:
            raise Refused(
                "architecture-mismatch",
                f"{self._graph.where}: the config of {layer.name!r} switches off its weight {min(absent)!r}; "
                "pass the architecture of the model that was saved",
            )
        entries = [self._graph.bundle.entries.get(self._graph.key(n) or "") for n in variables]
        expected_weights, record = (
            initialized_weight_counts(layer.config),
            record_of(layer.class_name, layer.config),
        )
        does_not_fit = (
            (record.exported and bool(self._graph.layers(node)))
            or (expected_weights is not None and len(entries) < expected_weights.total)
            or (record.is_plain and any(len(path) > 1 for path in variables.values()))
            or (
                expected_weights is not None
                and not fits_unit_sizes(layer.settings, [e.shape for e in entries if e is not None])
            )
            or (is_input(layer.stored) and bool(entries))
        )
        if does_not_fit:
            raise self._unfit(layer, len(entries))

    def _trained(self, layer: Layer, nodes: list[int]) -> list[bool]:
        """Return for each of a layer's variables, nodes of the object graph, whether it is trained.

        Evidence, the strongest first: a frozen layer; variables with a state in an optimizer; the number of trained
        weights that the layer's class and config give; a config that mentions no statistics; an optimizer that trains
        other layers alone. Without any of these all count as trained, and of several weights the order is noted as
        open.
        """
        in_optimizers = self._optimizers.all_trained
        count, expected_weights = (
            trained_count(layer, len(nodes)),
            initialized_weight_counts(layer.config),
        )
        numbers_words = record_of(layer.class_name, layer.config).adapted_argument == "vocabulary"
        if count == 0 or numbers_words:
            return [False] * len(nodes)
        if in_optimizers & set(nodes):
            return [n in in_optimizers for n in nodes]
        if count is not None:
            return [k < count for k in range(len(nodes))]
        if expected_weights is not None and not expected_weights.statistics:
            return [True] * len(nodes)
        if in_optimizers:
            return [False] * len(nodes)
        if len(nodes) > 1:
            self.open_orders.append(
                f"which weights of {layer.name!r} are trained is not stored, so their order is open"
            )
        return [True] * len(nodes)
