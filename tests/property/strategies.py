"""Any model, as a recipe: a value that is built anew wherever it is needed.

A recipe is what someone wrote down in Keras; `build` is what Keras makes of it. The same recipe
built twice gives equal models, so that one can be wrapped and the other stay what is expected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.property.models import Entry, Layer, Model, Shape, Sym, Weight, Writer, input_layer
from unnest.core.model import Tensor

SETTINGS = settings(
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)

#: A weight's name in the file: from its layer's, its own, and a number that no other weight has.
Naming = Callable[[str, str, int], str]

#: Names that lead to their layer.
TELLING: dict[str, Naming] = {
    "layer": lambda layer, weight, _: f"{layer}/{weight}:0",
    "scope": lambda layer, weight, _: f"classifier/{layer}/{weight}:0",
    "replica": lambda layer, weight, _: f"replica_0/tower/{layer}/{weight}:0",
    "no-number": lambda layer, weight, _: f"{layer}/{weight}",
    "underscore": lambda layer, weight, _: f"{layer}_{weight}:0",
    "suffix": lambda layer, weight, _: f"{layer}_1/{weight}:0",
}

#: Names that lead nowhere.
ARBITRARY: dict[str, Naming] = {
    "variable": lambda _, __, n: f"Variable_{n}:0",
    "hash": lambda _, __, n: f"w{n * 7919 % 10007:x}",
    "scrambled": lambda _, weight, n: f"{'abcdefghij'[n % 10]}{n}/{weight}:0",
}


@dataclass(frozen=True)
class Step:
    """One layer of a recipe, called on what `picks` points at; `again` calls it once more elsewhere."""

    kind: str
    name: str
    picks: tuple[int, ...] = (0,)
    units: int = 3
    flags: tuple[bool, bool] = (True, True)
    frozen: bool = False
    again: bool = False
    inner: Recipe | None = None
    custom: tuple[tuple[Shape, bool], ...] = ()


@dataclass(frozen=True)
class Recipe:
    """A model: its inputs' shapes, its layers in the order they were called in, how many outputs."""

    name: str
    steps: tuple[Step, ...]
    inputs: tuple[Shape, ...] = ((4,),)
    outputs: int = 1
    sequential: bool = False
    frozen: bool = False


@dataclass
class Kitchen:
    """Builder of models from recipes: one writer's configs, one way to name weights."""

    writer: Writer
    naming: Naming
    count: int = 0
    scopes: dict[str, int] = field(default_factory=dict)

    def build(self, recipe: Recipe) -> Model:
        """The model."""
        inputs = [input_layer(self._input_name(recipe, i), s) for i, s in enumerate(recipe.inputs)]
        outputs = (
            self._sequence(recipe, inputs[0]) if recipe.sequential else self._graph(recipe, inputs)
        )
        return Model(
            recipe.name, "", trainable=not recipe.frozen, inputs=tuple(inputs), outputs=tuple(outputs),
            sequential=recipe.sequential,
        )  # fmt: skip

    @staticmethod
    def _input_name(recipe: Recipe, i: int) -> str:
        """A Sequential makes its InputLayer itself, and calls it after its first layer."""
        first = recipe.steps[0]
        if recipe.sequential and first.inner is None:
            return f"{first.name}_input"
        return f"{recipe.name}_in{i}"

    def _sequence(self, recipe: Recipe, sym: Sym) -> list[Sym]:
        first = sym
        for step in recipe.steps:
            sym = self.serve(step, [sym], shared=False)[-1]
            for layer in (sym.layer, *(r.layer for r in sym.layer.calls[-1])):
                self._tell_shape(first, layer)
        return [sym]

    def _tell_shape(self, first: Sym, layer: Layer) -> None:
        """Up to Keras 2 a Sequential's first layer keeps the input's shape in its config, wherever it goes."""
        if (
            self.writer.dialect != "keras3"
            and layer.calls[-1] == (first,)
            and layer is not first.layer
            and not isinstance(layer, Model)
        ):
            layer.config["batch_input_shape"] = [None, *first.shape]

    def _graph(self, recipe: Recipe, inputs: list[Sym]) -> list[Sym]:
        """Every step reads what is there; what nothing has read by the end becomes an output or is summed into one."""
        made: list[Sym] = list(inputs)
        unread: list[Sym] = list(inputs)
        for step in recipe.steps:
            picks = [made[-1 - p % len(made)] for p in step.picks]
            new = self.serve(step, picks, shared=True)
            read = {r for s in _behind(new) for r in s}
            unread = [s for s in (*unread, *new) if s not in read]
            made += new
        while len(unread) > recipe.outputs or any(s in inputs for s in unread):
            unread.append(self._join(unread[:2], f"{recipe.name}_join{len(made)}"))
            unread = unread[2:] if len(unread) > 2 else unread[-1:]
            made.append(unread[-1])
        return unread

    def _join(self, syms: Sequence[Sym], name: str) -> Sym:
        flat = [self._flat(s, f"{name}_flat{i}") for i, s in enumerate(syms)]
        if len(flat) == 1:
            return Layer(f"{name}_out", "Activation", {"activation": "relu"})(flat[0])
        shape = (sum(s.shape[-1] for s in flat),)
        return Layer(name, "Concatenate", {"axis": -1}).call(flat, shape)[0]

    @staticmethod
    def _flat(sym: Sym, name: str) -> Sym:
        size = 1
        for d in sym.shape:
            size *= d
        return sym if len(sym.shape) == 1 else Layer(name, "Flatten").call((sym,), (size,))[0]

    def serve(self, step: Step, picks: list[Sym], *, shared: bool) -> list[Sym]:
        """The outputs of one step; those of a layer that is called twice, twice."""
        if step.inner is not None:
            return self._nested(step, picks, shared=shared)
        sym = picks[0]
        layer, shape = self._layer(step, sym.shape)
        first = layer.call((sym,), shape)[0]
        again = step.again and shared and shape == sym.shape
        return [first, layer.call((first,), shape)[0]] if again else [first]

    def _nested(self, step: Step, picks: list[Sym], *, shared: bool) -> list[Sym]:
        """A sub-model, called on what it fits: each of its inputs gets a tensor through a Dense layer where it must."""
        assert step.inner is not None
        # A Sequential of the oldest kind keeps no name, and one that holds it forgets what it is called.
        nameless = self.writer.listed and not shared
        model = self.build(replace(step.inner, sequential=step.inner.sequential and not nameless))
        reads = [
            self._fit(picks[i % len(picks)], s.shape, f"{step.inner.name}_fit{i}")
            for i, s in enumerate(model.inputs)
        ]
        outputs = list(model.on(*reads))
        if step.again and shared:
            outputs += (
                model.on(*reads[::-1]) if len({r.shape for r in reads}) == 1 else model.on(*reads)
            )
        return outputs

    def _fit(self, sym: Sym, shape: Shape, name: str) -> Sym:
        if sym.shape == shape:
            return sym
        return Layer(name, "Reshape", {"target_shape": [*shape]}).call((sym,), shape)[0]

    def _layer(self, step: Step, shape: Shape) -> tuple[Layer, Shape]:
        made = KINDS[step.kind](self.writer.dialect == "keras1", step, shape)
        # A scope that is taken is numbered: no two weights of a file share a name.
        times = self.scopes[step.name] = self.scopes.get(step.name, 0) + 1
        scope = step.name if times == 1 else f"{step.name}_{times - 1}"
        weights = tuple(self._weight(scope, name, s, learns) for name, s, learns in made.weights)
        return Layer(step.name, made.class_name, made.config, weights, not step.frozen), made.shape

    def _weight(self, layer: str, name: str, shape: Shape, learns: bool) -> Weight:
        self.count += 1
        called = self.naming(layer, name, self.count)
        return Weight(Tensor(called, shape, "<f4", f"/{self.count}/{called}"), learns)


def _behind(syms: Sequence[Sym]) -> list[tuple[Sym, ...]]:
    """Return the tensors that the calls behind `syms` read, and those before reshapes."""
    reads = [s.layer.calls[s.call] for s in syms]
    return reads + [
        r.layer.calls[r.call] for read in reads for r in read if r.layer.class_name == "Reshape"
    ]


@dataclass(frozen=True)
class Made:
    """Weights and output of a layer on a given shape."""

    class_name: str
    config: Entry
    shape: Shape
    weights: tuple[tuple[str, Shape, bool], ...] = ()


GLOROT = {"class_name": "GlorotUniform", "config": {"seed": None}}
ZEROS: Entry = {"class_name": "Zeros", "config": {}}
ONES: Entry = {"class_name": "Ones", "config": {}}


def _dense(old: bool, step: Step, shape: Shape) -> Made:
    bias, units = step.flags[0], step.units
    config: Entry = {
        "units": units,
        "activation": "linear",
        "use_bias": bias,
        "kernel_initializer": GLOROT,
    }
    config |= {"bias_initializer": ZEROS, "kernel_regularizer": None, "bias_constraint": None}
    if old:
        config = {
            "output_dim": units,
            "init": "glorot_uniform",
            "activation": "linear",
            "bias": bias,
        }
    k, b = ("W", "b") if old else ("kernel", "bias")
    weights = ((k, (shape[-1], units), True), *(((b, (units,), True),) if bias else ()))
    return Made("Dense", config, (*shape[:-1], units), weights)


def _conv(old: bool, step: Step, shape: Shape) -> Made:
    if len(shape) != 3:
        return _dense(old, step, shape)
    bias, n = step.flags[0], step.units
    config: Entry = {"filters": n, "kernel_size": [3, 3], "padding": "same", "use_bias": bias}
    config |= {"kernel_initializer": GLOROT, "bias_initializer": ZEROS}
    if old:
        config = {
            "nb_filter": n,
            "nb_row": 3,
            "nb_col": 3,
            "init": "uniform",
            "border_mode": "same",
            "bias": bias,
        }
    k, b = ("W", "b") if old else ("kernel", "bias")
    weights = ((k, (3, 3, shape[-1], n), True), *(((b, (n,), True),) if bias else ()))
    return Made("Convolution2D" if old else "Conv2D", config, (*shape[:-1], n), weights)


def _norm(old: bool, step: Step, shape: Shape) -> Made:
    center, scale = (True, True) if old else step.flags
    each = (shape[-1],)
    config: Entry = {"axis": -1, "momentum": 0.99, "epsilon": 0.001}
    if not old:
        config |= {
            "center": center,
            "scale": scale,
            "beta_initializer": ZEROS,
            "gamma_initializer": ONES,
        }
        config |= {"moving_mean_initializer": ZEROS, "moving_variance_initializer": ONES}
        config |= {"beta_regularizer": None, "gamma_regularizer": None}
    mean, var = ("running_mean", "running_std") if old else ("moving_mean", "moving_variance")
    weights = [("gamma", each, True)] if scale else []
    weights += [("beta", each, True)] if center else []
    weights += [(mean, each, False), (var, each, False)]
    return Made("BatchNormalization", config, shape, tuple(weights))


def _lstm(old: bool, step: Step, shape: Shape) -> Made:
    if len(shape) != 2:
        return _dense(old, step, shape)
    n = step.units
    config: Entry = {
        "units": n,
        "use_bias": True,
        "kernel_initializer": GLOROT,
        "bias_initializer": ZEROS,
    }
    config |= {"recurrent_initializer": GLOROT}
    if old:
        config = {
            "output_dim": n,
            "init": "glorot_uniform",
            "inner_init": "orthogonal",
            "forget_bias_init": "one",
        }
    names = ("W", "U", "b") if old else ("kernel", "recurrent_kernel", "bias")
    shapes = ((shape[-1], 4 * n), (n, 4 * n), (4 * n,))
    return Made(
        "LSTM", config, (n,), tuple((w, s, True) for w, s in zip(names, shapes, strict=True))
    )


def _activation(_: bool, __: Step, shape: Shape) -> Made:
    return Made("Activation", {"activation": "relu"}, shape)


def _custom(_: bool, step: Step, shape: Shape) -> Made:
    """An unknown class, the config of which does not show its weights."""
    config: Entry = {"strength": step.units}
    weights = tuple((f"part_{i}", s, learns) for i, (s, learns) in enumerate(step.custom))
    return Made("Gated", config, shape, weights)


def _lambda(old: bool, _: Step, shape: Shape) -> Made:
    """A Lambda of the model's own, which is no slice."""
    config: Entry = {
        "function": ["YwEAAAAAAAAA", None, None],
        "function_type": "lambda",
        "arguments": {},
    }
    return Made("Lambda", config if not old else {**config, "output_shape": [*shape]}, shape)


KINDS: dict[str, Callable[[bool, Step, Shape], Made]] = {
    "dense": _dense,
    "conv": _conv,
    "norm": _norm,
    "lstm": _lstm,
    "activation": _activation,
    "custom": _custom,
    "lambda": _lambda,
}

#: Kinds whose config shows which weights they have, in every dialect with initializers.
TELLTALE = ("dense", "conv", "norm", "lstm", "activation")

SHAPES = st.sampled_from([(4,), (3,), (5, 4), (6, 6, 2)])
WEIGHTS = st.lists(
    st.tuples(st.sampled_from([(3,), (4,), (3, 3), (1,), ()]), st.booleans()), max_size=3
).map(lambda ws: tuple(sorted(ws, key=lambda w: not w[1])))


@st.composite
def recipes(  # noqa: PLR0913 - all but one are passed by name
    draw: st.DrawFn,
    *,
    name: str = "m",
    depth: int = 2,
    kinds: Sequence[str] = tuple(KINDS),
    prefix: str = "",
    freeze: bool = True,
    flags_in_memory: bool = False,
) -> Recipe:
    """A model with sub-models up to `depth` levels down; every layer of it has a name of its own."""
    sequential = draw(st.booleans())
    steps: list[Step] = []
    for i in range(draw(st.integers(1, 5))):
        called = f"{prefix}{draw(st.sampled_from(['dense', 'body', 'x', 'norm']))}_{chr(97 + i)}"
        frozen = freeze and draw(st.integers(0, 4)) == 0
        if depth and draw(st.integers(0, 3)) == 0:
            inner = draw(
                recipes(
                    name=f"{called}_sub", depth=depth - 1, kinds=kinds, prefix=f"{called}_", freeze=freeze,
                    flags_in_memory=flags_in_memory,
                )
            )  # fmt: skip
            if sequential and (len(inner.inputs), inner.outputs) != (1, 1):
                continue
            steps.append(
                Step(
                    "nested", called, _picks(draw), again=draw(st.integers(0, 3)) == 0, inner=inner
                )
            )
            continue
        kind = draw(st.sampled_from(kinds))
        custom = draw(WEIGHTS) if kind == "custom" else ()
        flags = (draw(st.booleans()), draw(st.booleans()))
        again = draw(st.integers(0, 4)) == 0
        steps.append(
            Step(
                kind,
                called,
                _picks(draw),
                draw(st.integers(2, 4)),
                flags,
                frozen,
                again,
                None,
                custom,
            )
        )
    # Parts of a batch are normalized on purpose: that is no wrapper.
    if not steps or _only_normalizes(steps):
        steps.append(Step("dense", f"{prefix}only"))
    inputs = (
        (draw(SHAPES),) if sequential else tuple(draw(st.lists(SHAPES, min_size=1, max_size=3)))
    )
    outputs = 1 if sequential else draw(st.integers(1, 3))
    by_flag = flags_in_memory and draw(st.integers(0, 3)) == 0
    return Recipe(name, tuple(steps), inputs, outputs, sequential, by_flag)


def _only_normalizes(steps: Sequence[Step]) -> bool:
    """Return True if all weights of some layers, nested models included, are those of normalizations."""
    leaves, pending = set[str](), [*steps]
    for step in pending:
        pending += step.inner.steps if step.inner is not None else ()
        leaves |= {step.kind} if step.inner is None else set()
    return "norm" in leaves and leaves <= {"norm", "activation", "lambda"}


def _picks(draw: st.DrawFn) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))


WRITERS: st.SearchStrategy[Writer] = st.sampled_from(
    [
        Writer("keras1", listed=True),
        Writer("keras2"),
        Writer("keras2", listed=True),
        Writer("tfkeras"),
        Writer("keras3"),
    ]
)
