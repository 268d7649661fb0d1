"""The optimizers among the objects of TensorFlow's object graph: what each trains, and the state of a model's.

Until Keras 2.9 an optimizer's slots hang on it, each with the variable that it belongs to; later ones list all their
variables, and call a slot after what it belongs to. Keras 3's list what they train as well.
(Source: files written by TensorFlow 1.13 to 2.21, Keras 3.15 among them.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from unnest.core.keras_facts.optimizer_classes import COUNTER_NAMES, WEIGHT_BY_WEIGHT, slot_order
from unnest.core.model import Group, Tensor
from unnest.formats.tensorflow.object_graph import ObjectGraph

Message: TypeAlias = Any

#: The child of a `tf.train.Checkpoint` that counts how often it was saved.
SAVE_COUNTER = "save_counter"
#: Parts of a slot's name that are looked at.
MAX_SLOT_NAME_PARTS = 40


class Optimizers:
    """The optimizers of one object graph, by the number of their object."""

    def __init__(self, graph: ObjectGraph) -> None:
        self._graph = graph
        by_name = {name: n for n in range(len(graph.nodes)) for name in [graph.name(n)] if name}
        trained_by = {n: self._trained_by(n, by_name) for n in range(len(graph.nodes))}
        #: The variables that each optimizer trains; those that do not tell are left out.
        self.trained = {
            n: variables for n, variables in trained_by.items() if variables is not None
        }
        #: The variables that some optimizer trains.
        self.all_trained = {n for variables in self.trained.values() for n in variables}

    def other_keys(self) -> set[str]:
        """Return the keys of all variables that are no model's: slots, counters and settings of optimizers, metrics.

        Empty if the objects show no variable that is a model's.
        """
        graph = self._graph
        of_models = {*graph.variables(0)} - {graph.child(0, SAVE_COUNTER)}
        for optimizer, trained in self.trained.items():
            of_models -= graph.variables(optimizer).keys() - trained
        keys = {graph.key(n) for n in of_models}
        return {key for key in graph.names() if key not in keys} if keys else set()

    def _trained_by(self, node: int, by_name: dict[str, int]) -> set[int] | None:
        """Return the variables that an optimizer trains; None if the object is not one, or does not say."""
        graph = self._graph
        slots = graph.nodes[node].slot_variables
        if slots:
            return {int(s.original) for s in slots}
        listed, trained = graph.child(node, "_variables"), graph.child(node, "_trainable_variables")
        if listed is None or graph.child(node, "_iterations") is None:
            return None
        if trained is not None:  # Keras 3
            return set(graph.listed(trained))
        # Keras 2.10 and later: a slot is called after what it belongs to.
        state = set(graph.listed(listed))
        variables: set[int] = set()
        for slot in state:
            graph.step()
            parts = (graph.name(slot) or "").split("/")[-MAX_SLOT_NAME_PARTS:]
            tails = ("/".join(parts[k:]) for k in range(1, len(parts)))
            variables.update(
                next(([by_name[t]] for t in tails if by_name.get(t, slot) not in state), ())
            )
        return variables

    def state(self, model_node: int, groups: Iterable[Group]) -> tuple[Tensor, ...] | None:
        """Return the state of a model's optimizer in the order that Keras saves to `.h5`; None if unknown."""
        graph = self._graph
        order = [t.ref for g in groups for t in g.tensors]
        optimizer = self._of_model(model_node, order)
        if optimizer is None:
            return None
        modern = graph.is_modern(model_node)
        listed = graph.child(optimizer, "_variables")
        if listed is not None:  # Keras 2.10 and later: one list
            state = graph.listed(listed)
        else:
            slots = self._slots(optimizer, order)
            counts = [
                n for name in COUNTER_NAMES if (n := graph.child(optimizer, name)) is not None
            ]
            state = [*counts, *slots] if slots is not None else []
        return (
            tuple(graph.tensor(n, graph.key(n) or "", trained=False, modern=modern) for n in state)
            or None
        )

    def is_modern(self, model_node: int, groups: Iterable[Group]) -> bool:
        """Return True if a model's optimizer lists its variables, as those of Keras 2.10 and later do."""
        optimizer = self._of_model(model_node, [t.ref for g in groups for t in g.tensors])
        return optimizer is not None and self._graph.child(optimizer, "_variables") is not None

    def _of_model(self, model_node: int, order: Sequence[str]) -> int | None:
        """Return the optimizer attached to a model, or the only one that trains its weights, by their keys; or None."""
        of_model = self._graph.child(model_node, "optimizer")
        keys = {
            optimizer: {self._graph.key(n) for n in trained}
            for optimizer, trained in self.trained.items()
        }
        matching = [
            optimizer for optimizer in keys if keys[optimizer] and keys[optimizer] <= set(order)
        ]
        if of_model in matching or (not matching and of_model is not None):
            return of_model
        return matching[0] if len(matching) == 1 else None

    def trains(self, groups: Iterable[Group]) -> bool:
        """Return True if an optimizer has slots for one of these weights, in a known order or not."""
        trained_keys = {self._graph.key(n) for n in self.all_trained}
        return any(t.ref in trained_keys for g in groups for t in g.tensors)

    def _slots(self, optimizer: int, order: Sequence[str]) -> list[int] | None:
        """Return the slots in the order in which Keras saves them, weight by weight; None if that is not known.

        Plain SGD has no slots, and counts its steps all the same.
        """
        position = {key: k for k, key in enumerate(order)}
        slots = self._graph.nodes[optimizer].slot_variables
        kinds = slot_order({s.slot_name for s in slots})
        if kinds is None:
            return None

        def sort_key(slot: Message) -> tuple[int, int]:
            kind = kinds.index(slot.slot_name)
            weight = position.get(self._graph.key(int(slot.original)) or "", len(position))
            return (weight, kind) if kinds in WEIGHT_BY_WEIGHT else (kind, weight)

        return [int(s.variable) for s in sorted(slots, key=sort_key)]
