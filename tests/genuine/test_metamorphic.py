"""Over every genuine graph: names, arguments and code say nothing that the structure does not; the structure says all.

Each file is read once and changed in memory. What stays a wrapper must come out the same; what is no longer
one (another axis, another template, another source) must be left alone.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.corpus.unpacked import FIXTURES
from tests.property.renaming import Renaming, lambdas, shuffled_slices, told
from unnest.core.make_plan import plan
from unnest.core.model import Stored
from unnest.core.plan import Plan
from unnest.formats.hdf5.legacy_h5_reader import H5Source

NAMES = ("parallel.h5", "lookalike.h5", "clean.h5")


def _graphs() -> list[str]:
    found = [p for name in NAMES for p in FIXTURES.glob(f"*/*/{name}")]
    return sorted(str(p.relative_to(FIXTURES)) for p in found)


GRAPHS = _graphs()
PARALLEL = [g for g in GRAPHS if g.endswith("parallel.h5")]


@functools.cache
def read(name: str) -> Stored:
    """One file, without its tensors' bytes."""
    with H5Source(str(FIXTURES / name)) as source:
        return source.stored


@functools.cache
def planned(name: str) -> Plan:
    """Return the plan for the unchanged file."""
    return plan(read(name))


def slices_of(name: str) -> set[str]:
    """The Lambdas that go with the wrapper, but those that merge: only their code says that they do."""
    before, made = read(name), planned(name)
    after = lambdas(made.result.architecture) if made.result else lambdas(before.architecture)
    return lambdas(before.architecture) - after - _merges(name)


@pytest.mark.parametrize("name", GRAPHS)
def test_renamed_consistently_the_same_comes_out(name: str) -> None:
    """Layers, models and their weights under other names."""
    renaming = Renaming("genuine", classes=False)
    made, wanted = plan(told(read(name), renaming)), planned(name)
    assert made.verdict == wanted.verdict
    assert made.result == (told(wanted.result, renaming, read(name)) if wanted.result else None)


@pytest.mark.parametrize("name", GRAPHS)
def test_classes_renamed_the_same_comes_out(name: str) -> None:
    """Classes of layers too."""
    renaming = Renaming("classes")
    made, wanted = plan(told(read(name), renaming)), planned(name)
    assert made.verdict == wanted.verdict
    if "stays-nested" in [f.code for f in made.findings]:
        pytest.skip(
            "a Keras 3 Sequential under a head: the shapes to note follow from Keras's own classes alone"
        )
    assert made.result == (told(wanted.result, renaming) if wanted.result else None)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", ["one", "two"])
def test_code_does_not_matter(name: str, seed: str) -> None:
    """It is evidence only, beside the arguments of the slices."""
    before, wanted = read(name), planned(name)
    changed = plan(
        before._replace(architecture=shuffled_slices(before.architecture, seed, slices_of(name)))
    )
    assert (changed.verdict, changed.result) == (wanted.verdict, wanted.result)


@pytest.mark.parametrize("name", PARALLEL)
def test_merged_along_another_axis_it_is_left_alone(name: str) -> None:
    """Then it joins features."""
    before = copy.deepcopy(_json(read(name)))
    changed = [_other_axis(layer) for layer in _layers(before) if layer["name"] in _merges(name)]
    if not any(changed):
        pytest.skip("its merge is no layer with an axis: a Lambda or an operation")
    if any(len(template["inbound_nodes"]) == 1 for _, template in _wrappers(name, before)):
        pytest.skip("one tower's output, joined along whatever axis, is itself")
    left_alone(name, before)


@pytest.mark.parametrize("name", PARALLEL)
def test_with_one_tower_of_another_model_it_is_left_alone(name: str) -> None:
    """Then it is an ensemble."""
    before = copy.deepcopy(_json(read(name)))
    # A copy must not hold an intact wrapper.
    for config, template in reversed(_wrappers(name, before)):
        other = copy.deepcopy(template)
        other["name"] = "somebody_else"
        nodes = template["inbound_nodes"]
        if len(nodes) < 2:
            pytest.skip("one tower is the whole wrapper")
        other["inbound_nodes"] = [nodes.pop()]
        last = _first(config, template) + len(nodes)
        config["layers"].insert(config["layers"].index(template) + 1, other)
        for ref in _refs(config):
            if ref[0] == template["name"] and ref[1] == last:
                ref[0], ref[1] = "somebody_else", last - len(nodes)
    left_alone(name, before)


@pytest.mark.parametrize("name", PARALLEL)
def test_with_one_slice_of_another_source_it_is_left_alone(name: str) -> None:
    """Then its inputs are not one batch."""
    before = copy.deepcopy(_json(read(name)))
    for config, template in _wrappers(name, before):
        nodes = template["inbound_nodes"]
        if len(nodes) < 2:
            pytest.skip("one tower is the whole wrapper")
        reads = list(_refs({"layers": [{"inbound_nodes": [nodes[-1]]}]}))
        layer = next(x for x in config["layers"] if x["name"] == reads[0][0])
        users = list(_refs({"layers": [x for x in config["layers"] if x is not layer]}))
        if sum(ref[0] == layer["name"] for ref in users) > 1:
            pytest.skip("one layer cuts all slices")
        sources = list(_refs({"layers": [layer]}))
        if len(sources) != 1:
            pytest.skip("its slices are chains of operations")
        entry = next(x for x in config["layers"] if x["class_name"] == "InputLayer")
        new = copy.deepcopy(entry)
        new["name"] = new["config"]["name"] = "elsewhere"
        new["inbound_nodes"] = []
        config["layers"].insert(0, new)
        sources[0][0], sources[0][1], sources[0][2] = "elsewhere", 0, 0
        ends = config["input_layers"]
        config["input_layers"] = [
            *(ends if isinstance(ends[0], list) else [ends]),
            ["elsewhere", 0, 0],
        ]
    left_alone(name, before)


def left_alone(name: str, architecture: Any) -> None:  # noqa: ANN401 - JSON is any
    """Every wrapper was changed, so none is found."""
    stored = read(name)
    groups = tuple(g for g in stored.groups if g.tensors)
    made = plan(stored._replace(architecture=architecture, groups=groups))
    assert (made.verdict, made.wrappers, made.result) == ("clean", (), None)


def _json(stored: Stored) -> Any:  # noqa: ANN401 - JSON is any
    if stored.architecture is None:
        pytest.skip("weights alone: there is no graph to change")
    return stored.architecture


def _merges(name: str) -> set[str]:
    return {m for w in planned(name).wrappers for m in w.merge}


def _configs(value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON is any
    """Every functional model's config, outermost first."""
    if isinstance(value, dict):
        if isinstance(value.get("layers"), list) and "output_layers" in value:
            yield value
        for v in value.values():
            yield from _configs(v)
    elif isinstance(value, list):
        for v in value:
            yield from _configs(v)


def _layers(value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON is any
    for config in _configs(value):
        yield from config["layers"]


def _other_axis(layer: Any) -> bool:  # noqa: ANN401 - JSON is any
    config = layer["config"] if isinstance(layer["config"], dict) else {}
    axis = next((k for k in ("axis", "concat_axis") if config.get(k) == 0), None)
    if axis is not None:
        config[axis] = -1
    return axis is not None


def _wrappers(name: str, architecture: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - JSON is any
    """Each wrapper's config and its template's entry: the model that the merges read."""
    found = []
    for config in _configs(architecture):
        entries = {layer["name"]: layer for layer in config["layers"]}
        for merge in [entries[m] for m in entries if m in _merges(name)]:
            read_by = {ref[0] for ref in _refs({"layers": [merge]})}
            if len(read_by) == 1:
                template = entries[read_by.pop()]
                if (
                    template["class_name"] in ("Model", "Functional", "Sequential")
                    and (config, template) not in found
                ):
                    found.append((config, template))
    if not found:
        pytest.skip("its merge is an operation that reads towers through others")
    return found


def _first(config: Any, template: Any) -> int:  # noqa: ANN401 - JSON is any
    """The number of the first call."""
    return min(int(ref[1]) for ref in _refs(config) if ref[0] == template["name"])


def _refs(value: Any) -> Iterator[list[Any]]:  # noqa: ANN401 - JSON is any
    """Every reference to a tensor among the nodes of a model's own layers, to be changed in place."""
    for layer in value["layers"]:
        yield from _in_node(layer.get("inbound_nodes", []))


def _in_node(value: Any) -> Iterator[list[Any]]:  # noqa: ANN401 - JSON is any
    if isinstance(value, list):
        if (
            len(value) in (3, 4)
            and isinstance(value[0], str)
            and type(value[1]) is type(value[2]) is int
        ):
            yield value
        for v in value:
            yield from _in_node(v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from _in_node(v)
