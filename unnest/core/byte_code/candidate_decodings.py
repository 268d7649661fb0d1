"""All readings of stored code: each layout and Python that its bytes may be of, and the names and constants in them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from unnest.budget import memoize, memoize_across_files
from unnest.core.byte_code import read_code_objects
from unnest.core.byte_code.instruction_decoder import instructions, may_have_written
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible, entry
from unnest.core.byte_code.opcode_tables import PYTHONS, Python
from unnest.core.byte_code.read_code_objects import CodeObject, Constant, constants_within

ResultT = TypeVar("ResultT")


def readings(text: str) -> Sequence[tuple[CodeObject, Python]]:
    """Return all readings of a stored function's text: each code layout, with each Python that may have written it."""
    return memoize(across_files, _readings, text)


def across_files(work_out: Callable[[str], ResultT], text: str) -> ResultT:
    """Return an answer that stored code alone decides: other files have the same wrappers."""
    if len(text) > MAX_CODE_KEPT:
        return work_out(text)
    return memoize_across_files((work_out, text), partial(work_out, text))


MAX_CODE_KEPT = 1 << 16
"""Characters of stored code that are kept for later files; a Lambda of a wrapper has 300 to 3,000."""


def _readings(text: str) -> Sequence[tuple[CodeObject, Python]]:
    return tuple(
        (code, python) for code in read_code_objects.read(text) for python in writers(code)
    )


def writers(code: CodeObject) -> Iterator[Python]:
    """Yield the Pythons that may have written a function, as far as its beginning and its end show."""
    return (python for python in PYTHONS[code.layout] if may_have_written(python, code))


USES_A_NAME = frozenset({"LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD", "IMPORT_NAME", "IMPORT_FROM"})
"""Instructions whose argument is the number of a name."""


WITH_A_BIT = {"LOAD_GLOBAL": (3, 11), "LOAD_ATTR": (3, 12)}
"""Those of them whose argument holds that number above its lowest bit, since which Python."""


def names_used(python: Python, code: CodeObject) -> tuple[set[str], set[str]]:
    """Return the names that a function reads as globals, and those of attributes and imports, as one Python reads it.

    Raises:
        Impossible: that Python has not written the code.

    """
    as_global, otherwise = set[str](), set[str]()
    bits = {name for name, since in WITH_A_BIT.items() if python.release >= since}
    for instruction in instructions(python, code.code):
        if instruction is not None and instruction.name in USES_A_NAME:
            index = instruction.argument >> (instruction.name in bits)
            (as_global if instruction.name == "LOAD_GLOBAL" else otherwise).add(
                entry(code.names, index)
            )
    return as_global, otherwise


def every_constant(code: CodeObject) -> Iterator[Constant]:
    """Yield the constants of a function as `constants_within` does, and integers that 3.14 keeps in instructions."""
    yield from constants_within(code.constants)
    for python in writers(code):
        with suppress(Impossible):
            steps = list(instructions(python, code.code))
            yield from (step.argument for step in steps if step and step.name == "LOAD_SMALL_INT")


BUILTINS = frozenset(dir(builtins))
"""The builtins of this Python 3; others have nearly the same."""

PYTHON_2_BUILTINS = BUILTINS | {
    "StandardError", "apply", "basestring", "buffer", "cmp", "coerce", "execfile", "file", "intern", "long",
    "raw_input", "reduce", "reload", "unichr", "unicode", "xrange",
}  # fmt: skip
"""Those of Python 2.7. (Source: dir(__builtin__) there.)"""


def global_names(text: str) -> frozenset[str]:
    """Return the names that stored code, and the functions in it, read as globals, but for its Python's builtins.

    `text`: the code as Keras keeps it. Empty if its Pythons disagree, or if it cannot be read.
    """
    return memoize(across_files, _names_in_all_readings, text)


def _names_in_all_readings(text: str) -> frozenset[str]:
    by_reading = []
    for code, python in readings(text):
        with suppress(Impossible):
            own = PYTHON_2_BUILTINS if python.version == "2.7" else BUILTINS
            by_reading.append(_global_names(python, code) - own)
    return frozenset.intersection(*by_reading) if by_reading else frozenset()


def _global_names(python: Python, code: CodeObject) -> frozenset[str]:
    names, _ = names_used(python, code)
    inner = (value for value in constants_within(code.constants) if isinstance(value, CodeObject))
    return frozenset(names).union(*(_global_names(python, each) for each in inner))
