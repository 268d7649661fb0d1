"""Functions of source lines, compiled here, as a Lambda stores them: they are followed, and never called."""

from __future__ import annotations

import base64
import marshal
from contextlib import suppress
from types import CodeType
from typing import Any

import numpy as np

from unnest.core.frontends.stored_code_tracer.trace_stored_code import follow
from unnest.core.interpreters.trace import OtherSizes, Trace, TracedInput
from unnest.core.model import Json

ROWS, SIZES = 6, (4,)


def stored(*lines: str, parameters: str = "x", closure: Json = None) -> list[Json]:
    """A function of these lines as Keras keeps it."""
    source = "\n ".join([f"def f({parameters}):", *lines])
    code = next(
        each for each in compile(source, "f", "exec").co_consts if isinstance(each, CodeType)
    )
    return [base64.b64encode(marshal.dumps(code)).decode(), None, closure]


def inputs(count: int = 1) -> list[TracedInput]:
    """Batches of six rows of four numbers, numbered on."""
    return [
        TracedInput(np.arange(k * ROWS, (k + 1) * ROWS, dtype=np.int32), SIZES)
        for k in range(count)
    ]


def traced(*lines: str, count: int = 1) -> Trace | None:
    """The trace of a function of these lines, None if it cannot be followed."""
    traces: list[Trace] = []

    def keep(trace: Trace) -> bool:
        traces.append(trace)
        return True

    with suppress(OtherSizes):
        follow(stored(*lines), {}, lambda _: inputs(count), [2], keep)
    return traces[0] if traces else None


def result(*lines: str, count: int = 1) -> Any:
    """Return the result of a function of these lines; "nothing" if it cannot be followed."""
    trace = traced(*lines, count=count)
    return "nothing" if trace is None else trace.result
