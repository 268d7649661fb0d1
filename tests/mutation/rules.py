"""The rules that are broken on purpose, and the tests that must notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Broken:
    """One rule, the code below `unnest/` that upholds it, what stands there instead, and the tests that must notice.

    `old` occurs once in the file; with `new` in its place the file still compiles.
    """

    rule: str
    file: str
    old: str
    new: str
    tests: str


RULES = [
    Broken(
        rule="a layer graph has no circles",
        file="core/architecture/models.py",
        old="    if done < len(waiting):\n",
        new="    if False:\n",
        tests="tests/unit/core/architecture/test_models.py",
    ),
    Broken(
        rule="calls of a nested model are ranked from 0 whatever the file calls the first",
        file="core/architecture/models.py",
        old="        return beyond if beyond > 0 else 0 if 0 in numbers else default\n",
        new="        return default\n",
        tests="tests/unit/core/architecture/test_models.py",
    ),
    Broken(
        rule="the tensors inside a call's arguments are read too",
        file="core/architecture/tensor_refs.py",
        old="        return [name, number, tensor, *(rewrite(rest, layers, change) for rest in node[3:])]\n",
        new="        return [name, number, tensor, *node[3:]]\n",
        tests="tests/unit/core/architecture/test_tensor_refs.py",
    ),
    Broken(
        rule="losses by output follow the new name of their output",
        file="core/architecture/compile_config.py",
        old="        return {outputs.get(k, k): ",
        new="        return {k: ",
        tests="tests/unit/core/architecture/test_compile_config.py",
    ),
    Broken(
        rule="optimizer state that fits two layouts is not guessed",
        file="core/architecture/compile_config.py",
        old="    return layouts[0] if layouts and all(layout == layouts[0] for layout in layouts) else None\n",
        new="    return layouts[0] if layouts else None\n",
        tests="tests/unit/core/architecture/test_compile_config.py",
    ),
    Broken(
        rule="a shared layer stands where its deepest call is",
        file="core/architecture/graph.py",
        old="        depth = max(depth_of_call.get(at, 0), depth_of_layer.get(at.layer, 0))\n",
        new="        depth = depth_of_call.get(at, 0)\n",
        tests="tests/unit/core/architecture/test_graph.py",
    ),
    Broken(
        rule="weights with more than one reading are refused",
        file="core/assign/flat_list.py",
        old="                if len(found) > 1:\n",
        new="                if False:\n",
        tests="tests/unit/core/assign/test_flat_list.py",
    ),
    Broken(
        rule="a layer's sizes must show in its weights' shapes",
        file="core/assign/flat_list.py",
        old="    return not shapes or all(any(d % unit == 0 for s in shapes for d in s) for unit in layer.units)\n",
        new="    return True\n",
        tests="tests/unit/core/assign/test_flat_list.py",
    ),
    Broken(
        rule="a frozen layer's weights are none that is trained",
        file="core/assign/flat_list.py",
        old=(
            '        if told and isinstance(config, Mapping) and config.get("trainable") is False:\n'
            "            return Expected(0, told.total)\n"
        ),
        new="",
        tests="tests/unit/core/assign/test_flat_list.py",
    ),
    Broken(
        rule="what a config switches off is not promised",
        file="core/keras_facts/weight_specs.py",
        old="if not any(part.get(switch) is False for switch in SWITCHES.get(s, ()))]\n        with",
        new="]\n        with",
        tests="tests/unit/core/keras_facts/test_weight_specs.py",
    ),
    Broken(
        rule="the order of weights is known for Keras's own layers only",
        file="core/keras_facts/weight_order.py",
        old="or any(today(kind) not in OWN | KERAS_1 for kind, _, _ in parts)",
        new="",
        tests="tests/unit/core/keras_facts/test_weight_order.py",
    ),
    Broken(
        rule="an operation whose module is not stored is not guessed",
        file="core/keras_facts/config_forms.py",
        old='if self.release >= (3,) and kind != "Sequential" and _is_operation(entry, config):',
        new="if False:",
        tests="tests/unit/core/keras_facts/test_config_forms.py",
    ),
    Broken(
        rule="layers that both models have do not become one",
        file="core/rewrite/extract.py",
        old='    return f"both models have a layer {both[0]}" if both else None\n',
        new="    return None\n",
        tests="tests/unit/core/rewrite/test_extract.py",
    ),
    Broken(
        rule="several levels of wrapping all go",
        file="core/rewrite/unwrap.py",
        old=(
            "        for name, layer in graph.layers.items():\n"
            "            level = self._clean_layer(level, layer, templates.get(name, depth))\n"
            "        return level\n"
        ),
        new="        return level\n",
        tests="tests/genuine/test_genuine_h5.py",
    ),
    Broken(
        rule="a shape that nothing tells is not guessed",
        file="core/rewrite/flatten.py",
        old=(
            "        if spec is None or call is None:\n"
            '            raise ShapesUnknown(f"the shapes after {layer.name!r}")\n'
        ),
        new=("        assert spec is not None\n        if call is None:\n            continue\n"),
        tests="tests/unit/core/rewrite/test_flatten.py",
    ),
]
