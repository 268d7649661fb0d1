"""Lambda layers: written as what their stored code computes, or kept as named functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from unnest.core.keras3 import convert_config_values
from unnest.core.keras3.conversion_context import Context, OldLayer
from unnest.core.keras3.lambdas.translate_lambda import (
    LambdaCall,
    Translation,
    Untranslatable,
    translate,
)
from unnest.core.keras3.layer_replacements import (
    Choice,
    Expansion,
    LayerArguments,
    NewLayer,
    NodeTree,
    Piece,
    with_inputs_filled_in,
)
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json, JsonObject
from unnest.findings import Code


def rule(old: OldLayer) -> Piece:
    """Convert a Lambda; its result may depend on its input's shape, and on whether that has a mask."""

    def resolved(specs: Sequence[Spec | None], dtypes: Sequence[str]) -> Piece:
        called = LambdaCall(
            inputs=len(specs), shapes=[None if s is None else s.shape for s in specs],
            dtypes=dtypes, masked=old.context.masks,
            keras_version=old.context.version, backend=old.context.backend,
            data_format=old.context.data_format if old.context.is_format_told else None,
        )  # fmt: skip
        read = translate(old.config, called)
        if isinstance(read, Untranslatable):
            return _keep_function(old, read)
        return _translated(old, read)

    return Choice(resolved)


def _translated(old: OldLayer, read: Translation) -> Expansion:
    taken = ", ".join(f"{word} for {meant}" for word, meant in read.taken.items())
    old.note("lambda", read.expression + (f" ({taken})" if taken else ""))

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        tensors = call.tensors
        made = [with_inputs_filled_in(operand, tensors, {}) for operand in read.outputs]
        return [made] if read.several and len(made) == 1 else made

    return Expansion(outputs)


def _keep_function(old: OldLayer, why: Untranslatable) -> NewLayer:
    """Keep a Lambda, its function by name, which the loader must be given."""
    kind, config, name, context = old.kind, old.config, old.name, old.context
    stored, module = config.get("function"), config.get("module")
    if isinstance(stored, Mapping) and stored.get("class_name") == "function":
        stored = stored.get("config")
    called = re.sub(r"\W", "_", name)
    is_named = isinstance(stored, str) and function_parts(stored)[0] is None
    function = str(stored) if is_named else f"{called}_function"
    read = [
        f"{what} {', '.join(values)}"
        for what, values in (("names", why.names), ("constants", why.constants))
        if values
    ]
    if why.expression:
        read.append(f"read so far: {why.expression}")
    reason = (why.reason, "; ".join(read) or f"stored by name, of module {module}")
    new = dict(
        named_function(kind, name, function, config.get("arguments") or {}, reason, context).config
    )
    new["dtype"] = convert_config_values.dtype(config.get("dtype"), name, context) or "float32"
    if (
        config.get("output_shape_type", "raw") == "raw"
        and isinstance(config.get("output_shape"), Sequence)
        and not isinstance(config["output_shape"], str)
    ):
        new["output_shape"] = config["output_shape"]
    return old.as_new(new, ())


def named_function(
    kind: str,
    name: str,
    function_name: str,
    arguments: Json,
    reason: tuple[str, str],
    context: Context,
) -> NewLayer:
    """Return a float32 Lambda with a function that the loader is given; the finding that asks for it is noted.

    `kind` is what the file has in its place; `reason` says why that was not converted, and what could be read of it.
    """
    context.notes.custom[function_name] = f"function of {kind} {name!r}"
    why, read = reason
    context.notes.findings.append(
        Code.LAMBDA_KEPT(kind=kind, name=name, why=why, read=read, function=function_name)
    )
    new: JsonObject = {
        "name": name, "trainable": True, "dtype": "float32", "function": function_name, "arguments": arguments,
    }  # fmt: skip
    return NewLayer(name, "Lambda", new)
