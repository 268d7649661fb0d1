"""Names of layers that differ by Keras's counting alone: `dense_4` of one program, and `dense` of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

NUMBERED = re.compile(r"(.*?)(?:_([1-9]\d{0,5}))?", re.DOTALL)


def stem_and_number(name: str) -> tuple[str, int]:
    """Return a name without Keras's number, and the number, 0 for none."""
    stem, number = NUMBERED.fullmatch(name).groups()  # type: ignore[union-attr] # any text is so
    return stem, int(number or 0)


def renumbered(names: Iterable[str], other_names: Iterable[str]) -> Mapping[str, str]:
    """Return the other name of each name that differs by Keras's number at most, in the order of the numbers.

    Names of a stem that has more or fewer names on the other side have none.
    """
    by_stem, others = _by_stem(names), _by_stem(other_names)
    return {
        name: other
        for stem, own in by_stem.items()
        if len(own) == len(others.get(stem, ()))
        for name, other in zip(own, others[stem], strict=True)
    }


def _by_stem(names: Iterable[str]) -> dict[str, list[str]]:
    by_stem: dict[str, list[str]] = {}
    for name in sorted(dict.fromkeys(names), key=lambda name: stem_and_number(name)[1]):
        by_stem.setdefault(stem_and_number(name)[0], []).append(name)
    return by_stem
