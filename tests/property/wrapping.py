"""Changes that people make to a model before they save it, made to our small ones.

`Wrap` says how; `parallel` does it. `Place` says where the wrapper ends up: alone, under a head, inside a
larger model, inside a Sequential or TimeDistributed. `saved` makes of either the stored model that a
container would read, and of the same recipe without the wrapper what must come out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st

from tests.property.models import (
    Entry,
    Layer,
    Model,
    Shape,
    Sym,
    Weight,
    Wrapping,
    Writer,
    groups,
    input_layer,
)
from tests.property.strategies import TELLING, WRITERS, Kitchen, Naming, Recipe
from unnest.core.model import Stored, Tensor

CODE = "YwMAAAAAAAAABwAAAAUAAABTAAAA\n"

Slices: TypeAlias = Literal[
    "arguments", "closure", "defaults", "ratio", "class", "split", "split-ratio"
]
Where: TypeAlias = Literal["whole", "head", "gan", "inline", "sequential", "time", "outer", "twice"]


@dataclass(frozen=True)
class Wrap:
    """One level: its name, its towers, how they slice, what the merges are called."""

    name: str = "parallel"
    towers: int = 2
    slices: Slices = "arguments"
    ratios: tuple[int, ...] = (1,) * 8
    named_after_outputs: bool = True
    merge: str = "Concatenate"
    by_input: bool = False


@dataclass(frozen=True)
class Case:
    """A model, who writes it, how it was wrapped and where it stands."""

    recipe: Recipe
    writer: Writer
    naming: str
    wraps: tuple[Wrap, ...]
    where: Where
    optimizer: str
    by_name: bool

    def kitchen(self, namings: dict[str, Naming]) -> Kitchen:
        """A fresh one: equal models come out of equal recipes."""
        return Kitchen(self.writer, namings[self.naming])


def slice_layer(how: Wrap, writer: Writer, name: str, part: int, whole: Sym) -> Layer:
    """One slice, as the kind of wrapper in question writes it."""
    k, share = how.towers, how.ratios
    arguments: Entry = {"i": part, "parts": k}
    defaults: list[int] | None = None
    closure: list[int] | None = None
    if how.slices == "class":
        return Layer(name, "SliceBatch", {"index": part, "count": k})
    if how.slices == "closure":
        arguments, closure = {}, [part, k]
    if how.slices == "defaults":
        arguments, defaults = {}, [part, k]
    if how.slices == "ratio":
        arguments = {"share": share[part], "total": sum(share[:k]), "start": sum(share[:part])}
    function: Any = [CODE, defaults, closure]
    if writer.dialect == "keras3" and how.slices in ("arguments", "ratio"):
        function = {"module": "builtins", "class_name": "function", "config": "get_slice"}
        return Layer(name, "Lambda", {"function": function, "arguments": arguments})
    kind: Entry = {"function_type": "lambda", "output_shape_type": "raw", "arguments": arguments}
    kind["output_shape"] = [*whole.shape]
    return Layer(name, "Lambda", {"function": function, **kind})


def merge_layer(how: Wrap, name: str) -> Layer:
    """One merge, as the generation of Keras has it."""
    if how.merge == "Merge":
        return Layer(
            name, "Merge", {"mode": "concat", "mode_type": "raw", "concat_axis": 0, "arguments": {}}
        )
    return Layer(name, "Concatenate", {"axis": 0})


def towers(template: Model, reads: Sequence[Sym], how: Wrap, writer: Writer) -> list[Sym]:
    """Slices, towers and merges on `reads`: the merged outputs."""
    parts: list[list[Sym]]
    if how.slices in ("split", "split-ratio"):
        sizes: Entry = (
            {"shares": list(how.ratios[: how.towers])} if how.slices == "split-ratio" else {}
        )
        config = {"parts": how.towers, **sizes}
        split = [
            Layer(f"{how.name}_split{i}", "SplitBatch", config).call((s,), *[s.shape] * how.towers)
            for i, s in enumerate(reads)
        ]
        parts = [[outputs[part] for outputs in split] for part in range(how.towers)]
    else:
        order = [(p, i) for i in range(len(reads)) for p in range(how.towers)]
        if not how.by_input:
            order.sort()
        made = {
            (p, i): slice_layer(how, writer, f"{how.name}_slice{i}_{p}", p, reads[i])(reads[i])
            for p, i in order
        }
        parts = [[made[p, i] for i in range(len(reads))] for p in range(how.towers)]
    called = [template.on(*part) for part in parts]
    names = template.output_names()
    if not how.named_after_outputs:
        names = [f"{how.name}_concat{i}" for i in range(len(names))]
    return [
        merge_layer(how, name).call([outputs[i] for outputs in called], called[0][i].shape)[0]
        for i, name in enumerate(names)
    ]


def parallel(template: Model, how: Wrap, writer: Writer) -> Model:
    """The wrapped model: it reads the template's own input tensors."""
    outputs = towers(template, template.inputs, how, writer)
    return Model(how.name, "", inputs=template.inputs, outputs=tuple(outputs))


def _dense(kitchen: Kitchen, name: str, sym: Sym, units: int) -> Sym:
    """A layer of the larger model; its weights always bear their names."""
    shapes = (("kernel", (sym.shape[-1], units)), ("bias", (units,)))
    own = tuple(
        Weight(Tensor(f"{name}/{w}:0", s, "<f4", f"/{name}/{w}"), learns=True) for w, s in shapes
    )
    config: Entry = {"units": units, "activation": "linear", "use_bias": True}
    if kitchen.writer.dialect != "keras1":
        config |= {"kernel_initializer": {"class_name": "GlorotUniform", "config": {}}}
        config |= {"bias_initializer": {"class_name": "Zeros", "config": {}}}
    return Layer(name, "Dense", config, own).call((sym,), (*sym.shape[:-1], units))[0]


Inner: TypeAlias = Callable[[Kitchen], Model]
OnTensors: TypeAlias = Callable[[Model, Sequence[Sym]], Sequence[Sym]]


def _fed(kitchen: Kitchen, shapes: Sequence[Shape], name: str) -> tuple[list[Sym], list[Sym]]:
    """New inputs, and a Dense layer on each that fits what comes."""
    inputs = [input_layer(f"{name}{i}", (*s[:-1], 7)) for i, s in enumerate(shapes)]
    return inputs, [
        _dense(kitchen, f"{name}{i}_fit", x, s[-1])
        for i, (x, s) in enumerate(zip(inputs, shapes, strict=True))
    ]


def placed(case: Case, kitchen: Kitchen, *, wrapped: bool) -> Model:
    """The whole model that is saved: with the wrapper, or with the template where the wrapper was."""
    template = kitchen.build(case.recipe)
    model = template
    outermost = case.wraps[-1]
    for how in case.wraps[: len(case.wraps) if case.where != "inline" else -1]:
        model = parallel(model, how, case.writer) if wrapped else model
    if case.where == "whole":
        return model
    if case.where == "head":
        heads = [_dense(kitchen, f"head{i}", s, 2) for i, s in enumerate(model.outputs)]
        heads[0] = _dense(kitchen, "head_last", heads[0], 3)
        return Model("with_head", "", inputs=model.inputs, outputs=tuple(heads))
    if case.where == "sequential":
        inputs, fitted = _fed(kitchen, [s.shape for s in model.inputs], "before")
        last = _dense(kitchen, "after", model.on(*fitted)[0], 2)
        return Model("stack", "", inputs=tuple(inputs), outputs=(last,), sequential=True)
    if case.where == "time":
        frames = input_layer("frames", (3, *model.inputs[0].shape))
        every = Wrapping("every_frame", "TimeDistributed", inner=model)
        return Model(
            "film",
            "",
            inputs=(frames,),
            outputs=every.call((frames,), (3, *model.outputs[0].shape)),
        )
    if case.where == "outer":
        inputs = [input_layer(f"outer{i}", s.shape) for i, s in enumerate(model.inputs)]
        return Model("larger", "", inputs=tuple(inputs), outputs=model.on(*inputs))
    inputs, fitted = _fed(kitchen, [s.shape for s in model.inputs], "before")
    if case.where == "inline" and wrapped:
        outputs: Sequence[Sym] = towers(model, fitted, outermost, case.writer)
    else:
        outputs = model.on(*fitted)
    after = [_dense(kitchen, f"after{i}", s, 2) for i, s in enumerate(outputs)]
    if case.where == "twice":
        more, refitted = _fed(kitchen, [s.shape for s in model.inputs], "again")
        inputs += more
        after += [
            _dense(kitchen, f"after_again{i}", s, 2) for i, s in enumerate(model.on(*refitted))
        ]
    return Model("larger", "", inputs=tuple(inputs), outputs=tuple(after))


# What is saved beside the graph.

#: A release of each generation.
VERSIONS = {"keras1": "1.2.2", "keras2": "2.2.4", "tfkeras": "2.12.0", "keras3": "3.8.0"}

OPTIMIZERS: dict[str, tuple[str, int]] = {"none": ("", 0), "sgdm": ("SGD", 1), "adam": ("Adam", 2)}


def optimizer_state(case: Case, model: Model) -> tuple[Tensor, ...] | None:
    """The state after training, in the order of the stack: Keras 1 sorts by name, Keras 3 goes weight by weight."""
    kind, slots = OPTIMIZERS[case.optimizer]
    if not kind:
        return None
    trained = model.trained()
    if case.writer.dialect == "keras1":
        trained.sort(key=lambda t: t.name)
    counts = ["iter"] if case.writer.dialect != "keras3" else ["iteration", "learning_rate"]
    state = [Tensor(f"{kind}/{c}:0", (), "<i8", f"/{kind}/{c}") for c in counts]

    def slot(t: Tensor, s: int) -> Tensor:
        return Tensor(f"{kind}/{t.name}/{'mv'[s]}", t.shape, t.dtype, f"/{kind}{t.ref}/{'mv'[s]}")

    if case.writer.dialect == "keras3":
        return (*state, *(slot(t, s) for t in trained for s in range(slots)))
    return (*state, *(slot(t, s) for s in range(slots) for t in trained))


def training_config(case: Case, model: Model) -> Entry | None:
    """Return the arguments of `compile`; losses by output name if they were given so."""
    kind, _ = OPTIMIZERS[case.optimizer]
    if not kind:
        return None
    names = model.output_names()
    loss: Any = {n: ["mse", "mae"][i % 2] for i, n in enumerate(names)} if case.by_name else "mse"
    weights: Any = {n: float(i) for i, n in enumerate(names)} if case.by_name else None
    optimizer = {"class_name": kind, "config": {"lr": 0.01}}
    return {
        "optimizer_config": optimizer,
        "loss": loss,
        "metrics": ["acc"],
        "loss_weights": weights,
    }


def saved(case: Case, model: Model) -> Stored:
    """The stored model that a container reads."""
    return Stored(
        "model",
        architecture=case.writer.architecture(model),
        training=training_config(case, model),
        groups=groups(model),
        optimizer=optimizer_state(case, model),
        keras_version=VERSIONS[case.writer.dialect],
        backend="tensorflow",
    )


def both(case: Case, namings: dict[str, Naming] = TELLING) -> tuple[Stored, Stored]:
    """Return the model that was saved, and the one that should have been."""
    return tuple(  # type: ignore[return-value]
        saved(case, placed(case, case.kitchen(namings), wrapped=wrapped))
        for wrapped in (True, False)
    )


def wraps(level: int) -> st.SearchStrategy[Wrap]:
    """Any wrapper; the level is in its name, so that no two share one."""
    # A split into one part is a layer that passes everything on: nothing says that it slices.
    return st.builds(
        Wrap,
        name=st.just(f"parallel{level}"),
        towers=st.integers(1, 8),
        slices=st.sampled_from(
            ["arguments", "closure", "defaults", "ratio", "class", "split", "split-ratio"]
        ),
        ratios=st.tuples(*[st.integers(1, 5)] * 8),
        named_after_outputs=st.booleans(),
        by_input=st.booleans(),
    ).filter(lambda how: how.towers > 1 or not how.slices.startswith("split"))


@st.composite
def cases(
    draw: st.DrawFn,
    recipes: st.SearchStrategy[Recipe],
    where: Sequence[Where] = (
        "whole",
        "head",
        "gan",
        "inline",
        "sequential",
        "time",
        "outer",
        "twice",
    ),
    namings: Sequence[str] = tuple(TELLING),
    levels: int = 3,
) -> Case:
    """A wrapped model in its place."""
    recipe, writer = draw(recipes), draw(WRITERS)
    place = draw(st.sampled_from(where))
    if place in ("sequential", "time") and (len(recipe.inputs), recipe.outputs) != (1, 1):
        place = "gan"
    if place == "sequential" and writer.listed and recipe.sequential:
        place = "gan"  # its name would be lost
    if place == "head" and writer.dialect == "keras3" and recipe.sequential:
        place = "gan"  # it stays nested, and says so: a Sequential of Keras 3 does not note its tensors' shapes
    if (
        place == "head"
        and writer.dialect == "keras1"
        and recipe.sequential
        and recipe.steps[0].kind == "nested"
    ):
        place = "gan"  # Keras 1 takes a model that begins a Sequential apart: k122/kuza-seqnest-x2-sgd-head shows it
    merge = "Merge" if writer.dialect == "keras1" else "Concatenate"
    made = tuple(
        replace(draw(wraps(level)), merge=merge) for level in range(draw(st.integers(1, levels)))
    )
    return Case(
        recipe, writer, draw(st.sampled_from(namings)), made, place,
        draw(st.sampled_from(list(OPTIMIZERS))), draw(st.booleans()),
    )  # fmt: skip
