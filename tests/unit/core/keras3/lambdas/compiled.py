"""The functions of `fixtures/lambda_code`, compiled by ten Pythons."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import sys
from functools import cache
from importlib import import_module
from typing import Any

from tests.corpus.unpacked import FIXTURES
from unnest.core.byte_code import read_code_objects
from unnest.core.byte_code.instruction_decoder import FEWEST_WITH_ARGUMENT
from unnest.core.keras3.lambdas.translate_lambda import (
    LambdaCall,
    Translation,
    Untranslatable,
    translate,
)
from unnest.core.model import Json

FOLDER = FIXTURES / "lambda_code"
PYTHONS = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
GENERATED = 120


@cache
def module(name: str) -> Any:
    """`sources` or `in_python`, which run in Python 2.7 as well."""
    sys.path.insert(0, str(FOLDER))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


@cache
def functions() -> dict[str, dict[str, list[Any]]]:
    """Python -> source -> code, defaults, closure, and the trace of a run there."""
    return dict(json.loads(gzip.decompress((FOLDER / "compiled.json.gz").read_bytes())))


@cache
def mutants() -> dict[str, list[list[Any]]]:
    """Python -> source, the code with one byte changed, and the trace of a run there."""
    return dict(json.loads(gzip.decompress((FOLDER / "mutants.json.gz").read_bytes())))


def before_36(text: str) -> str | None:
    """A function of 3.6 as 3.5, which is not installed here, compiled it: the same instructions, laid out otherwise.

    None where the two Pythons' instructions differ: calls with keywords, jumps, inner functions, unpacking in calls.
    """
    code = read_code_objects.read(text)[0].code
    words = [(code[at], code[at + 1]) for at in range(0, len(code), 2)]
    if any(number in OTHERWISE_IN_36 for number, _ in words):
        return None
    wide = b"".join(
        bytes((number, low, 0)) if number >= FEWEST_WITH_ARGUMENT else bytes((number,))
        for number, low in words
    )
    marshalled = base64.b64decode(text)
    assert marshalled.count(_sized(code)) == 1
    return base64.b64encode(marshalled.replace(_sized(code), _sized(wide))).decode()


OTHERWISE_IN_36 = frozenset(
    {
        93,
        94,
        110,
        111,
        112,
        113,
        114,
        115,
        119,
        120,
        121,
        122,
        132,
        141,
        142,
        143,
        144,
        *range(149, 159),
    }
)
"""Jumps and blocks, 3.6's calls with keywords and unpacking, MAKE_FUNCTION, EXTENDED_ARG, and what 3.6 brought."""


def _sized(code: bytes) -> bytes:
    return struct.pack("<i", len(code)) + code


def inputs_of(source: str) -> int:
    """How many tensors a source is called on."""
    return 3 if source in module("sources").LISTS or source.startswith("lambda (a, b, c)") else 1


def translation(function: Json, inputs: int = 1, **config: Json) -> Translation | Untranslatable:
    """Of inputs of shape (batch, 3, 4), in a file of TensorFlow 2."""
    called = LambdaCall(inputs, shapes=[(None, 3, 4)] * inputs, keras_version="2.4.0-tf")
    return translate({"function": function, **config}, called)


def traced(expression: str, inputs: int) -> Any:
    """Return an expression's result, by a run on stand-ins."""
    in_python = module("in_python")
    return in_python.written(eval(expression, {**in_python.names(), "x": in_python.inputs(inputs)}))  # noqa: S307 - ours
