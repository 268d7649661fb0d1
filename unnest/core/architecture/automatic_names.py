"""Names that Keras gives to layers: the class in snake case, and a number from the second layer on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: Classes that Keras stores under another name than the one in its code (source: api_export of Keras 3.15).
NAMES_IN_CODE = {"GroupQueryAttention": "GroupedQueryAttention"}


def snake_case(name: str) -> str:
    """Return a class name in snake case, spelled as Keras names layers and paths."""
    name = NAMES_IN_CODE.get(name, name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


STEM_AND_NUMBER = re.compile(r"(.*?)(?:_([1-9]\d{0,5}))?", re.DOTALL)


def stem_and_number(name: str) -> tuple[str, int]:
    """Return a name without Keras's number, and the number, 0 for none."""
    stem, number = STEM_AND_NUMBER.fullmatch(name).groups()  # type: ignore[union-attr] # any text is so
    return stem, int(number or 0)


def match_names_by_number(names: Iterable[str], other_names: Iterable[str]) -> Mapping[str, str]:
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
