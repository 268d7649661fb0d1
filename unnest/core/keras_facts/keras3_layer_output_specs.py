"""The output of a Keras 3 layer, inferred from its class and config alone.

A functional model of Keras 3 notes the shape and dtype of every tensor that a call reads, and the arguments
that Keras filled in; a Sequential notes neither. Both follow from the layers' `call` and `compute_output_shape`
(source: Keras 3.15, where every rule here was compared with what Keras itself says). Whatever is not in the
tables, may carry a mask, or contradicts what the file does note is unknown: None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from unnest.core.architecture.graph_to_and_from_json import MODEL_CLASSES
from unnest.core.json_tree import is_list
from unnest.core.layers.catalog import layer_record, makes_masks, output_shape
from unnest.core.layers.read_config_values import integer, policy_name, settings, stored_shape
from unnest.core.model import Json, JsonObject, Shape, Unknown

TENSOR = "__keras_tensor__"


class Spec(NamedTuple):
    """The stored facts on one tensor."""

    shape: Shape
    dtype: str


class CallResult(NamedTuple):
    """A layer called on one tensor: the arguments that Keras fills in, and what comes out."""

    kwargs: JsonObject
    output: Spec


def input_spec(entry: JsonObject) -> Spec | None:
    """Return shape and dtype of an input layer's tensor; None if unknown."""
    config = settings(entry)
    dtype = config.get("dtype")
    if entry.get("class_name") != "InputLayer" or config.get("sparse") or config.get("ragged"):
        return None
    try:
        return (
            Spec(stored_shape(config.get("batch_shape")), dtype) if isinstance(dtype, str) else None
        )
    except Unknown:
        return None


def call_on(entry: JsonObject, given: Spec) -> CallResult | None:
    """Return what a call of this layer on that tensor stores and yields; None if it is unknown.

    What makes a mask is unknown: in the file the mask is operations and arguments of their own.
    """
    if makes_masks(entry):
        return None
    try:
        return CallResult(_filled_in(entry, given), _output(entry, given))
    except (Unknown, ArithmeticError, LookupError):
        return None


def output_spec(entry: JsonObject, given: Sequence[Spec]) -> Spec | None:
    """Return shape and dtype of a layer's output for such inputs; None if unknown."""
    try:
        return _merge_output(entry, given)
    except (Unknown, ArithmeticError, LookupError):
        return None


def casts_input(entry: JsonObject, given: Spec) -> bool:
    """Return True if the layer casts a floating tensor to its own dtype first.

    From Keras 3.10 on the call notes the tensor as it was given; before, a cast stands between the two.
    """
    try:
        return _is_float(given.dtype) and given.dtype != _input_dtype(entry, given)
    except Unknown:
        return False


def noted_specs(node: Json) -> Iterator[Spec]:
    """Yield shape and dtype of the tensors that a stored call notes; those of a mapping in the order of its keys."""
    if isinstance(node, Mapping):
        config = node.get("config")
        if node.get("class_name") == TENSOR and isinstance(config, Mapping):
            try:
                yield Spec(stored_shape(config.get("shape")), str(config.get("dtype")))
            except Unknown:
                return
        else:
            for key in sorted(node):
                yield from noted_specs(node[key])
    elif is_list(node):
        for part in node:
            yield from noted_specs(part)


# ---- a call ----


def _filled_in(entry: JsonObject, given: Spec) -> JsonObject:
    """Return the layer's entry with the arguments that the call notes beside its tensor in its config.

    Keras fills them into a copy where it has to convert the tensor, and they are lost (from 3.10 on).

    Raises Unknown.
    """
    name = str(entry.get("class_name"))
    record = layer_record(name)
    filled: dict[str, Json] = {}
    if record.training_argument:
        filled["training"] = False
    if record.mask_argument or name in MODEL_CLASSES:
        filled["mask"] = None
    if given.dtype == _input_dtype(entry, given):
        return filled
    if filled and not _is_float(given.dtype):
        raise Unknown  # no cast shows which Keras it was
    return {}


def _input_dtype(entry: JsonObject, given: Spec) -> str:
    """Return the dtype to which a layer casts its input. Raises Unknown."""
    config = settings(entry)
    if "output_layers" in config:
        return given.dtype  # a functional model takes what it gets
    if entry.get("class_name") == "Sequential":
        first = input_spec(_layers(config)[0])
        if first is None:
            raise Unknown("the input of a Sequential")
        return first.dtype
    return _compute_dtype(config)


def _compute_dtype(config: JsonObject) -> str:
    """Return the dtype in which a layer computes, by the name of its policy. Raises Unknown."""
    policy = config.get("dtype")
    name = policy_name(policy)
    if not isinstance(name, str) or (
        isinstance(policy, Mapping) and policy.get("class_name") != "DTypePolicy"
    ):
        raise Unknown("a dtype policy")
    return name.removeprefix("mixed_")


def _is_float(dtype: str) -> bool:
    return "float" in dtype


def hides_policy(entry: JsonObject) -> bool:
    """True if the layer stores the dtype of its (absent) weights in place of the policy that it computes with."""
    return str(entry.get("class_name")).startswith("SpatialDropout")


def _output(entry: JsonObject, given: Spec) -> Spec:
    """Return a layer's output for one input. Raises Unknown."""
    config = settings(entry)
    name = str(entry.get("class_name"))
    if str(entry.get("module", "keras")).partition(".")[0] != "keras":
        raise Unknown("the output of a custom layer")
    _agrees_with_build(entry, given.shape)
    if name in MODEL_CLASSES:
        return (
            _of_functional(config, given)
            if "output_layers" in config
            else _of_sequential(config, given)
        )
    own = _compute_dtype(config)
    if hides_policy(entry) and own != given.dtype:
        raise Unknown("the policy of a layer that does not store it")
    is_carrier = name == "TimeDistributed"
    shape = (
        _time_distributed(config, given.shape)
        if is_carrier
        else output_shape(name, config, given.shape)
    )
    return Spec(
        shape,
        given.dtype if layer_record(name).notes_input_dtype and not _is_float(given.dtype) else own,
    )


def _agrees_with_build(entry: JsonObject, shape: Shape) -> None:
    """Raise Unknown if the shape that a .keras file notes for the built layer contradicts this one."""
    build = entry.get("build_config")
    stored = build.get("input_shape") if isinstance(build, Mapping) else None
    if stored is not None and stored_shape(stored) != shape:
        raise Unknown("the shape that a layer was built for")


# ---- models ----


def _of_sequential(config: JsonObject, given: Spec) -> Spec:
    """Return the output that a nested model notes itself, if it is called on the shape it was built for.

    Raises Unknown.
    """
    first, *rest = _layers(config)
    spec = input_spec(first)
    if spec is None or spec.shape != given.shape:
        raise Unknown("a Sequential on another shape than its own")
    for layer in rest:
        spec = _output(layer, spec)
    return spec


def _of_functional(config: JsonObject, given: Spec) -> Spec:
    named = {str(settings(layer).get("name")): layer for layer in _layers(config)}
    spec = input_spec(named[_only(config["input_layers"])])
    last = named[_only(config["output_layers"])]
    if spec is None or spec.shape != given.shape:
        raise Unknown("a model on another shape than its own")
    calls = last.get("inbound_nodes")
    if not isinstance(calls, Sequence) or len(calls) != 1:
        raise Unknown("the calls of a model's last layer")
    return _merge_output(last, list(noted_specs(calls[0])))


def _only(ends: Json) -> str:
    """Return the name of the one layer in a list of inputs or outputs, `["a", 0, 0]` or `[["a", 0, 0]]`.

    Raises Unknown.
    """
    end = ends[0] if isinstance(ends, Sequence) and len(ends) == 1 else ends
    if not is_list(end) or not isinstance(end[0], str):
        raise Unknown("the one end of a model")
    return end[0]


def _merge_output(entry: JsonObject, given: Sequence[Spec]) -> Spec:
    """Return the output of a layer that may read several tensors. Raises Unknown."""
    config, shapes = settings(entry), [spec.shape for spec in given]
    record = layer_record(str(entry.get("class_name")))
    if record.is_elementwise and shapes:
        return Spec(_broadcast(of_equal_rank(shapes)), _compute_dtype(config))
    if record.concatenates and shapes:
        axis = integer(config.get("axis"))
        whole = list(shapes[0])
        sizes = [shape[axis] for shape in shapes]
        whole[axis] = None if None in sizes else sum(size or 0 for size in sizes)
        return Spec(tuple(whole), _compute_dtype(config))
    if len(given) != 1:
        raise Unknown("a layer that reads several tensors")
    return _output(entry, given[0])


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of all together. Raises Unknown."""
    if len(set(shapes)) == 1:
        return shapes[0]
    from unnest.core.ops.shape_arithmetic import broadcast  # with all operations

    return broadcast(shapes)


def of_equal_rank(shapes: Sequence[Shape]) -> list[Shape]:
    """Return the shapes as an elementwise merge broadcasts them: axes of one behind the batch make their ranks equal.

    (Source: keras/layers/merge.py of Keras 2.0 to 2.3.1, keras/src/layers/merging/base_merge.py of Keras 3.15.)
    """
    rank = max(map(len, shapes), default=0)
    return [(*shape[:1], *[1] * (rank - len(shape)), *shape[1:]) for shape in shapes]


def _time_distributed(config: JsonObject, shape: Shape) -> Shape:
    inner = config.get("layer")
    if not isinstance(inner, Mapping) or "layers" in settings(inner):
        raise Unknown("a model at each step")
    step = _output(inner, Spec((shape[0], *shape[2:]), _compute_dtype(settings(inner)))).shape
    return (step[0], shape[1], *step[1:])


def _layers(config: JsonObject) -> list[JsonObject]:
    layers = config.get("layers")
    found = (
        [entry for entry in layers if isinstance(entry, Mapping)]
        if isinstance(layers, Sequence)
        else []
    )
    if not found:
        raise Unknown("the layers of a model")
    return found
