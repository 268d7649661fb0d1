"""Names that Keras gives to layers: the class in snake case, and a number from the second layer on."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping

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


def names_counted_on(
    names: Iterable[str], other_names: Iterable[str], stems: Container[str]
) -> Mapping[str, str]:
    """Return the other name of each automatic name, where all of a class differ by one number.

    `stems`: Keras's names of unnamed layers, without numbers. Empty if the names of a class differ by several numbers,
    or are not as many.
    """
    by_stem, others = _by_stem(names), _by_stem(other_names)
    renamed: dict[str, str] = {}
    for stem, own in by_stem.items():
        if stem not in others or stem not in stems:
            continue
        pairs = list(zip(own, others[stem], strict=False))
        shifts = {stem_and_number(other)[1] - stem_and_number(name)[1] for name, other in pairs}
        if len(own) != len(others[stem]) or len(shifts) > 1:
            return {}
        renamed.update(pairs)
    return renamed


#: Classes of models, which releases call otherwise: `Model` is `Functional` since TensorFlow 2.3, which names it so.
MODEL_STEMS = {"model", "functional"}


class CountedOn:
    """A check that two lists of automatic names differ by where Keras began to count, as in another process.

    Then the numbers of all layers of a stem differ by the same, as `dense_1` and `dense_2` for `dense` and `dense_1`.
    Layers that exchanged their names differ by one more and one less.
    """

    def __init__(self) -> None:
        self._shifts: dict[str, int] = {}

    def takes(self, class_name: str, name: str, other_name: str) -> bool:
        """Return True if the other name may be the layer's automatic one too, as those before it show."""
        (stem, number), (other_stem, other_number) = map(stem_and_number, (name, other_name))
        shift = other_number - number
        if not _same_stem(stem, other_stem) or not _same_stem(
            stem, snake_case(class_name.rpartition(">")[2])
        ):
            return name == other_name
        return self._shifts.setdefault(stem, shift) == shift


def _same_stem(stem: str, other: str) -> bool:
    """Return True for equal stems; Keras 1 writes `batchnormalization`."""
    return stem.replace("_", "") == other.replace("_", "") or {stem, other} <= MODEL_STEMS
