"""All readings of stored code: each layout and Python that its bytes may be of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from unnest.budget import memoize, memoize_across_files
from unnest.core.byte_code import read_code_objects
from unnest.core.byte_code.instruction_decoder import may_have_written
from unnest.core.byte_code.opcode_tables import PYTHONS, Python
from unnest.core.byte_code.read_code_objects import CodeObject

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
