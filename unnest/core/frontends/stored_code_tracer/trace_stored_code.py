"""Follow stored Python code, instruction by instruction, and never run it: a function in, answers on its traces out.

The machine of `core/byte_code` has on its stack what Python has (numbers, lists), tensors of a `Trace`, and UNKNOWN.
Functions of TensorFlow, Keras and NumPy are the operations of the registry (`core/ops`), by their names there.
Branches are followed where their condition is known. What is not known ends it without an answer. What each kind of
instruction means is in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import TypeVar

from unnest.core.byte_code.argument_binding import arguments_of
from unnest.core.byte_code.candidate_decodings import readings
from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible, Stopped
from unnest.core.frontends.python_values import (
    PythonValue,
    stored_value,
)
from unnest.core.frontends.stored_code_tracer.trace_attributes_and_subscripts import (
    AttributesAndSubscripts,
)
from unnest.core.frontends.stored_code_tracer.trace_containers_and_iterators import (
    ContainersAndIterators,
)
from unnest.core.frontends.stored_code_tracer.trace_function_calls import FunctionCalls
from unnest.core.frontends.stored_code_tracer.trace_operators_and_texts import OperatorsAndTexts
from unnest.core.interpreters.trace import (
    OtherSizes,
    Trace,
    TracedInput,
)
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json, Unknown

Answer = TypeVar("Answer")


def follow(
    function: Json,
    values: Mapping[str, Json],
    inputs: Callable[[int], Sequence[TracedInput]],
    ranks: Sequence[int],
    answer: Callable[[Trace], Answer | None],
    *,
    assumes_imports: bool = False,
) -> Answer | None:
    """Return the answer to a question about the traces of a stored function, None if it cannot be followed.

    `function` is `[code, defaults, closure]`, or what Keras 3 makes of it; `values` are the layer's arguments. The code
    is given `inputs(rank)`, in a list if there are several, for the first rank with an answer. Where several Pythons
    may have written it, they must agree. `assumes_imports`: bare names of operations are taken for TensorFlow's.

    Raises:
        OtherSizes: If it may be followed with other sizes of the inputs.

    """
    text, defaults, closure = function_parts(function)
    if text is None:
        return None
    for has_dynamic_shape, rank in product((False, True), ranks):
        answers = []
        try:
            free = _stored_list(closure)
            for code, python in readings(text):
                trace = Trace(inputs(rank), assumed=set() if assumes_imports else None)
                given = (
                    trace.input_tensors[0] if len(trace.input_tensors) == 1 else trace.input_tensors
                )
                stored = {name: stored_value(value) for name, value in values.items()}
                local = arguments_of(code, given, _stored_list(defaults), stored)
                meaning = Tracer(
                    trace, [*local.values(), *free], python, has_dynamic_shape=has_dynamic_shape
                )
                with suppress(Impossible):
                    trace.result = Machine(python, code, meaning, local, free).run()
                    answers.append(answer(trace))
        except OtherSizes:
            raise
        except Stopped:
            return None
        except Unknown:
            pass
        if answers and answers[0] is not None and all(each == answers[0] for each in answers):
            return answers[0]
    return None


def _stored_list(stored: Json) -> list[PythonValue]:
    """Return the values of a stored list; [] for null. Raises Unknown for anything else."""
    values = stored_value(stored) if stored is not None else []
    if not isinstance(values, list):
        raise Unknown("no list")
    return values


class Tracer(ContainersAndIterators, OperatorsAndTexts, AttributesAndSubscripts, FunctionCalls):
    """The meaning of byte code for one run, which `trace` keeps."""
