"""Single layers with one call, and stored functions, as the recogniser is given them."""

from __future__ import annotations

import base64
import marshal
from collections.abc import Callable, Sequence
from typing import Any

from unnest.core.architecture.graph import Call, Layer
from unnest.core.model import Json, Ref
from unnest.core.wrappers.claims.stored_slice_numbers import Slice


def called(
    class_name: str,
    stored: Json = None,
    reads: Sequence[str] = ("x",),
    name: str = "l",
    **config: Any,
) -> tuple[Layer, Call]:
    """A layer and its call; without `stored` the call is in the form of Keras 2."""
    refs = tuple(Ref(read, 0, 0) for read in reads)
    call = Call(refs, [[*ref, {}] for ref in refs] if stored is None else stored)
    settings: dict[str, Json] = {"name": name, **config}
    entry: dict[str, Json] = {"class_name": class_name, "name": name, "config": settings}
    return Layer(name, class_name, settings, entry, (call,)), call


def function(source: Callable[..., Any], defaults: Json = None, closure: Json = None) -> list[Json]:
    """A function as Keras 2 stores it, compiled by the Python at hand."""
    return [base64.b64encode(marshal.dumps(source.__code__)).decode(), defaults, closure]


def code_lambda(
    source: Callable[..., Any], closure: Json = None, **arguments: Json
) -> tuple[Layer, Call]:
    """A Lambda layer of that function; its defaults are the function's own."""
    defaults = [*source.__defaults__] if source.__defaults__ else None
    return called("Lambda", function=function(source, defaults, closure), arguments=arguments)


def op_function(name: str, first: Json = None, **arguments: Json) -> tuple[Layer, Call]:
    """An operation of TensorFlow 2.4 to 2.15: its arguments are in the call."""
    node = [[*(first or ["x", 0, 0]), arguments]]  # type: ignore[misc]  # a list, if it is given
    return called("TFOpLambda", node, function=name, trainable=True)


def op_node(
    op: str, constants: dict[str, Json], inputs: int = 2, **attributes: Json
) -> tuple[Layer, Call]:
    """An operation of TensorFlow 2.0 to 2.3: a NodeDef, with constants by the number of the input."""
    node = {"op": op, "input": [f"i{n}" for n in range(inputs)], "attr": attributes}
    return called("TensorFlowOpLayer", node_def=node, constants=constants, trainable=True)


def op_keras_3(class_name: str, *args: Json, **config: Any) -> tuple[Layer, Call]:
    """An operation of Keras 3 on the tensor x."""
    tensor: Json = {
        "class_name": "__keras_tensor__",
        "config": {"shape": [None], "keras_history": ["x", 0, 0]},
    }
    return called(class_name, {"args": [tensor, *args], "kwargs": {}}, **config)


def lane(*layers: tuple[Layer, Call]) -> list[Slice]:
    """A slice per tower."""
    return [Slice(layer, call, 0) for layer, call in layers]
