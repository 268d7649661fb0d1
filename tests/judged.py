"""The engine's reasons for a model, for a test that fails: verdict, wrappers with evidence, near misses, errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

from unnest.core.recognition_results import NearMiss

TESTS = Path(__file__).parent


W_co = TypeVar("W_co", covariant=True)


class Judged(Protocol[W_co]):
    """A `Recognised`, `Unwrapped`, `Plan`, `Report` or `Result`."""

    @property
    def wrappers(self) -> tuple[W_co, ...]:
        """All wrappers."""

    @property
    def near_misses(self) -> tuple[NearMiss, ...]:
        """The candidates that are no wrappers."""


def only_wrapper(judged: Judged[W_co]) -> W_co:
    """Return the one wrapper of a `Recognised`, `Plan` or `Report`.

    Raises:
        AssertionError: for another number of wrappers, with what the engine said.

    """
    found = judged.wrappers
    assert len(found) == 1, f"{len(found)} wrappers instead of 1\n{describe(judged)}"
    return found[0]


def check_verdict(judged: Judged[object], verdict: str) -> None:
    """Compare the verdict of a `Recognised`, `Plan` or `Report`.

    Raises:
        AssertionError: for another verdict, with what the engine said.

    """
    assert verdict_of(judged) == verdict, (
        f"{verdict_of(judged)} instead of {verdict}\n{describe(judged)}"
    )


def verdict_of(judged: object) -> str:
    """Return the verdict; of what recognition alone gives, by its wrappers."""
    return str(getattr(judged, "verdict", None) or ("parallel" if _wrappers(judged) else "clean"))


def describe(judged: object) -> str:
    """Return what the engine said of a model, a line each."""
    return "\n".join(_lines(judged))


def _lines(judged: object) -> Iterator[str]:
    yield f"verdict: {verdict_of(judged)}"
    wrappers, near_misses = _wrappers(judged), getattr(judged, "near_misses", ())
    for wrapper in wrappers:
        towers = getattr(wrapper, "towers", None)
        number = len(towers) if isinstance(towers, tuple) else towers
        template, confidence = (getattr(wrapper, name, "?") for name in ("template", "confidence"))
        yield f"wrapper: {template}, {number} towers, {confidence}"
        yield from (f"  because {line}" for line in getattr(wrapper, "evidence", ()))
    for miss in near_misses:
        yield f"no wrapper at {miss.layer}: {miss.reason}"
    if not wrappers and not near_misses:
        yield "no near miss either: no candidate for joined towers"
    for name in ("error", "refusal", "conversion_refusal"):
        if (problem := getattr(judged, name, None)) is not None:
            yield f"{name}: {problem}"


def _wrappers(judged: object) -> tuple[object, ...]:
    """Return the wrappers; of a serving graph there is the first alone."""
    first = getattr(judged, "wrapper", None)
    return tuple(getattr(judged, "wrappers", () if first is None else (first,)))


def in_traceback(error: pytest.ExceptionInfo[BaseException]) -> Iterator[tuple[str, str]]:
    """Yield `function: variable` and what the engine said, for each model judged that a test's functions hold."""
    seen: set[int] = set()
    for entry in error.traceback:
        path = Path(entry.path)
        # This module's own messages say it.
        if path == Path(__file__) or not path.is_relative_to(TESTS):
            continue
        for name, value in entry.frame.f_locals.items():
            if _is_judged(value) and id(value) not in seen:
                seen.add(id(value))
                yield f"{entry.name}: {name}", describe(value)


def _is_judged(value: object) -> bool:
    names = dir(type(value))
    return "near_misses" in names and ("wrappers" in names or "wrapper" in names)
