"""Classes that are made quickly are what Python's own would be."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import sys
import typing
from threading import Barrier, Thread
from typing import Any

import pytest

from unnest import light_classes


class Light(light_classes.NamedTuple):
    """A named tuple."""

    x: int
    y: str = "b"
    z: float = 2.0

    @property
    def both(self) -> str:
        """A property."""
        return f"{self.x}{self.y}"


class Usual(typing.NamedTuple):
    """A named tuple."""

    x: int
    y: str = "b"
    z: float = 2.0

    @property
    def both(self) -> str:
        """A property."""
        return f"{self.x}{self.y}"


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c(1),
        lambda c: repr(c(1, z=3)).replace(c.__name__, ""),
        lambda c: c(*"abc"),
        lambda c: c(x=1, z=0, y="c"),
        lambda c: c(1).both,
        lambda c: hash(c(1)),
        lambda c: c(1) == (1, "b", 2.0),
        lambda c: c(1)._replace(y="c"),
        lambda c: c(1)._replace(w=1),
        lambda c: c(1)._asdict(),
        lambda c: c._make([1, 2, 3]),
        lambda c: c._make([1, 2]),
        lambda c: (c._fields, c._field_defaults, c.__match_args__, c.__slots__),
        lambda c: (c.__doc__, c.__module__, typing.get_type_hints(c)),
        lambda c: copy.copy(c(1)),
        lambda c: copy.deepcopy(c([1])),
        lambda c: pickle.loads(pickle.dumps(c(1))),  # noqa: S301 - its own
        lambda c: setattr(c(1), "x", 2),
        lambda c: setattr(c(1), "other", 2),
        lambda c: c(),
        lambda c: c(1, q=2),
        lambda c: c(1, 2, 3, 4),
        lambda c: c(1, x=1),
    ],
)
def test_a_named_tuple(ask: Any) -> None:
    """Each answer, or that there is none, is the same."""

    def answer(cls: type) -> object:
        try:
            return ask(cls)
        except (TypeError, ValueError, AttributeError):  # not the same in every Python
            return "refused"

    assert answer(Light) == answer(Usual)


def test_a_missing_field_is_named() -> None:
    """The constructor's own names are the fields."""
    with pytest.raises(TypeError, match="'x'"):
        Light()  # type: ignore[call-arg]


LATE_DEFAULT = "class Wrong(NamedTuple):\n x: int = 1\n y: int"


def test_a_field_without_default_comes_first() -> None:
    """As Python has it."""
    with pytest.raises(TypeError, match="without a default"):
        exec(LATE_DEFAULT, vars(light_classes) | {"__name__": ""})  # noqa: S102 - of its own


def test_a_data_class() -> None:
    """Made at the first instance, with its bases; then it compares, hashes and shows as Python's own."""

    @light_classes.dataclass(frozen=True)
    class Base:
        """With a field."""

        x: int

    @light_classes.dataclass(frozen=True)
    class Derived(Base):
        """With another."""

        y: list[int] = dataclasses.field(default_factory=list, compare=False)

    assert not hasattr(Base, "__dataclass_fields__")
    first = Derived(1)
    assert (first, hash(first), first.y) == (Derived(1, [2]), hash(Derived(1, [3])), [])
    assert repr(first).endswith(".Derived(x=1, y=[])")
    assert [field.name for field in dataclasses.fields(first)] == ["x", "y"]
    assert dataclasses.replace(first, x=2).x == 2


def test_two_threads_make_the_first_instance() -> None:
    """Both get one."""
    made, interval = [], sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):

            @light_classes.dataclass
            class Waiting:
                """Not yet made."""

                x: int

            both = Barrier(2)

            def make(cls: Any = Waiting, both: Barrier = both) -> None:
                both.wait()
                made.append(cls(1).x)

            threads = [Thread(target=make) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert made == [1] * 100
