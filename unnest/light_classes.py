"""NamedTuple and dataclass, whose classes are made in a tenth of the time: a short run makes 130 of them.

Python's own compile the text of the methods of each class when it is made: 0.1 ms for a named tuple, 0.2 to 0.6 ms for
a data class, and all of them were a tenth of `unnest inspect`. To a type checker they are Python's own.
"""

from __future__ import annotations

__all__ = ["NamedTuple", "dataclass"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass
    from typing import NamedTuple
else:
    import operator
    from _thread import RLock
    from functools import cache
    from types import CodeType, FunctionType

    try:
        from _collections import _tuplegetter as field_getter
    except ImportError:  # another Python than CPython

        def field_getter(index: int, doc: str) -> property:
            """Return the descriptor of a field."""
            return property(operator.itemgetter(index), doc=doc)

    #: What the constructors of named tuples see.
    GLOBALS = {"_new": tuple.__new__, "__builtins__": {}}

    @cache
    def constructor(count: int) -> CodeType:
        """Return the code of a `__new__` with so many fields."""
        fields = "".join(f"_{k}, " for k in range(count))
        made = {}
        exec(f"def __new__(_cls, {fields}): return _new(_cls, ({fields}))", GLOBALS, made)  # noqa: S102 - of numbers alone
        return made["__new__"].__code__

    class TupleWithNames(tuple):
        """The methods of a named tuple, as Python's own have them."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):  # noqa: ANN001, ANN206 - as below: type checkers see Python's own
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes):  # noqa: ANN003, ANN202
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self):  # noqa: ANN202
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):  # noqa: ANN204
            return tuple(self)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in self._asdict().items())})"

    class NamedTupleMaker(type):
        """Makes named tuples out of class statements: a constructor for each count of fields, its names replaced."""

        def __new__(cls, name: str, _: tuple[type, ...], namespace: dict) -> type:
            """Return the class, of this class no longer."""
            fields = tuple(namespace["__annotations__"])
            defaults = {field: namespace[field] for field in fields if field in namespace}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"{name}: a field without a default follows one that has one")
            code = constructor(len(fields)).replace(co_varnames=("_cls", *fields))
            for index, field in enumerate(fields):
                namespace[field] = field_getter(index, "")
            namespace |= {
                "__slots__": (),
                "__new__": FunctionType(code, GLOBALS, "__new__", tuple(defaults.values())),
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": defaults,
            }
            return type(name, (TupleWithNames,), namespace)

    NamedTuple = type.__new__(NamedTupleMaker, "NamedTuple", (), {})

    #: Data classes of which there is no instance yet, and their options.
    WAITING: dict[type, dict[str, bool]] = {}
    LOCK = RLock()

    def dataclass(cls: type | None = None, /, **options: bool):  # noqa: ANN201
        """Make a data class when its first instance is made.

        Python's own makes another class, whose methods this one takes over; so there is no option `slots`. That none is
        changed that is `frozen`, only the type checker sees to. Not for a class with instances that another process may
        be sent: they come to be without `__init__`.
        """
        if cls is None:
            return lambda marked: dataclass(marked, **options)
        WAITING[cls] = options

        def make_first(self, *args, **values) -> None:  # noqa: ANN001, ANN002, ANN003
            with LOCK:
                for base in reversed(cls.__mro__):
                    if base in WAITING:
                        complete(base, WAITING[base])
                        del WAITING[base]
            cls.__init__(self, *args, **values)

        cls.__init__ = make_first
        return cls

    def complete(cls: type, options: dict[str, bool]) -> None:
        """Give a class the methods of a data class, the one that makes instances last: other threads wait for it."""
        import dataclasses

        is_frozen, eq = options.pop("frozen", False), options.get("eq", True)
        if options.get("repr", True) and "__repr__" not in vars(cls):
            cls.__repr__ = show
        attributes = {k: v for k, v in vars(cls).items() if k not in NOT_COPIED}
        options |= {"repr": False, "unsafe_hash": is_frozen and eq}
        model = dataclasses.dataclass(**options)(type(cls.__name__, cls.__bases__, attributes))
        made = dict(vars(model))
        for name in vars(cls).keys() - made.keys() - NOT_COPIED:  # fields without a default
            delattr(cls, name)
        init = made.pop("__init__")
        for name, value in made.items():
            if name not in NOT_COPIED and value is not attributes.get(name):
                setattr(cls, name, value)
        cls.__init__ = init

    def show(self: object) -> str:
        """Show a data class with its fields."""
        fields = [f.name for f in vars(type(self))["__dataclass_fields__"].values() if f.repr]
        return (
            f"{type(self).__qualname__}({', '.join(f'{n}={getattr(self, n)!r}' for n in fields)})"
        )

    NOT_COPIED = {"__dict__", "__weakref__", "__init__"}
