"""The budget of one file (work in steps, and memory in bytes, in proportion to its size), and memoized results.

A file from a stranger may ask for anything: a few bytes that stand for a billion operations, a header that claims
gigabytes. So code that reads, decodes or walks a file announces its cost, with `charge_steps` for work and
`charge_memory` for memory, before it starts; beyond the file's budget that raises `OverBudget`. The budget is opened
once per file, by `limited`, and lives in a context variable, so that the pure core need not pass it around. Without one
nothing is limited.

Results are memoized in the budget: `memoize` for the file, `memoize_across_files` for every file of a batch, where a
cached result is charged like the work that it saves.

A step is one or two microseconds of Python on today's machines; C code handles `BYTES_A_STEP` bytes in one. Of 1,307
genuine files (below 1 MB) none takes more than 112,000 steps and 7 MB.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple, TypeVar, cast

from unnest.errors import Unreadable

#: Steps that any file may take, and how many bytes of a file allow one more.
STEPS, BYTES_FOR_A_STEP = 1_500_000, 10
#: Bytes of memory that any file may take, and how many more for each byte that it has.
MEMORY, MEMORY_FOR_A_BYTE = 128 << 20, 4
#: By how much --trust raises both.
TRUSTED = 100
#: Bytes that are inflated, copied or compared in the time of one step.
BYTES_A_STEP = 512

#: Results that `memoize` keeps while a file is worked on; of each layer there are about four.
RESULTS_KEPT_FOR_A_FILE = 65_536
#: Results that `memoize_across_files` keeps for later files.
ANSWERS_KEPT_ACROSS_FILES = 4096

ResultT = TypeVar("ResultT")


class OverBudget(Unreadable):
    """The file asks for more work or memory than one of its size should."""


class Answers:
    """Cache, across files, of question -> (answer, cost): the last ANSWERS_KEPT_ACROSS_FILES."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, tuple[object, Cost]] = OrderedDict()
        self._lock = Lock()

    def get(self, question: Hashable) -> tuple[object, Cost] | None:
        """Return the answer and its cost; None if it is not, or no longer, known."""
        with self._lock:
            if question in self._known:
                self._known.move_to_end(question)
            return self._known.get(question)

    def keep(self, question: Hashable, answer: tuple[object, Cost]) -> None:
        """Keep an answer in place of the one that was asked for the longest time ago."""
        with self._lock:
            self._known[question] = answer
            while len(self._known) > ANSWERS_KEPT_ACROSS_FILES:
                self._known.popitem(last=False)


class Cost(NamedTuple):
    """The cost of some work: steps, memory that it keeps, and the most memory that it had at any moment."""

    steps: int
    memory: int
    needed: int


@dataclass(eq=False, repr=False)
class Budget:
    """The rest of one file's allowance: `steps` of work, `memory` in bytes."""

    path: str
    steps: int
    memory: int
    #: (Function, ids of its arguments) -> (the arguments, its result); see `memoize`.
    known: dict[tuple[object, ...], tuple[object, Any]] = field(default_factory=dict)
    #: Results that hold for every file; see `memoize_across_files`.
    answers: Answers = field(default_factory=Answers)
    #: The least memory that was left at any moment since `measure_cost` began.
    least: int = field(init=False)

    def __post_init__(self) -> None:
        self.least = self.memory

    @classmethod
    def of(cls, path: str, size: int, *, trust: bool = False) -> Budget:
        """The allowance of a file (all parts of a model together) of `size` bytes."""
        factor = TRUSTED if trust else 1
        return cls(
            path,
            factor * (STEPS + size // BYTES_FOR_A_STEP),
            factor * (MEMORY + MEMORY_FOR_A_BYTE * size),
        )

    def refuse(self, what: str) -> OverBudget:
        """Return the exception that says that the budget does not suffice for `what`."""
        return OverBudget(
            "over-budget",
            f"{self.path}: asks for more {what} than a file of its size should; "
            "if you know where it comes from, pass --trust",
        )


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def limited(budget: Budget) -> Iterator[Budget]:
    """Make `budget` the one that all within spend from."""
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


@contextmanager
def limited_separately(budget: Budget) -> Iterator[Budget]:
    """Make `budget` the one that all within spend from; it shares the memoized results of the budget around it."""
    before = _current.get()
    if before is not None:
        budget.known, budget.answers = before.known, before.answers
    with limited(budget):
        yield budget


@contextmanager
def memoizing() -> Iterator[None]:
    """Memoize results in the block; where no budget is open, by one that limits nothing."""
    if _current.get() is not None:
        yield
        return
    with limited(Budget("", steps=sys.maxsize, memory=sys.maxsize)):
        yield


def charge_steps(steps: int = 1) -> None:
    """Take `steps` of work. Raises OverBudget, now and on every later call, once they are used up."""
    budget = _current.get()
    if budget is not None:
        budget.steps -= steps
        if budget.steps < 0:
            raise budget.refuse("work")


def charge_bytes(count: int) -> None:
    """Charge the work of inflating, copying or comparing `count` bytes. Raises OverBudget."""
    charge_steps(1 + count // BYTES_A_STEP)


def charge_memory(count: int) -> None:
    """Take `count` bytes of memory for good: what is read stays while the file is open. Raises OverBudget."""
    budget = _current.get()
    if budget is not None:
        budget.memory -= count
        budget.least = min(budget.least, budget.memory)
        if budget.memory < 0:
            raise budget.refuse("memory")


def check_memory(count: int) -> None:
    """Raise OverBudget if `count` bytes, held for a moment, are more than is left."""
    budget = _current.get()
    if budget is not None:
        budget.least = min(budget.least, budget.memory - count)
        if count > budget.memory:
            raise budget.refuse("memory")


@contextmanager
def refund_on(attempt_failed: type[Exception]) -> Iterator[None]:
    """Give back the steps and memory charged in the block, if it raises `attempt_failed`: another way is tried then."""
    budget = _current.get()
    steps, memory = (budget.steps, budget.memory) if budget is not None else (0, 0)
    try:
        yield
    except attempt_failed:
        if budget is not None:
            budget.steps, budget.memory = steps, memory
        raise


def measure_cost(work_out: Callable[[], ResultT]) -> tuple[ResultT, Cost]:
    """Return the result of `work_out`, and its cost."""
    budget = _current.get()
    if budget is None:
        return work_out(), Cost(0, 0, 0)
    steps, memory, least = budget.steps, budget.memory, budget.least
    budget.least = memory
    result = work_out()
    cost = Cost(steps - budget.steps, memory - budget.memory, memory - budget.least)
    budget.least = min(least, budget.least)
    return result, cost


def charge_again(cost: Cost) -> bool:
    """Charge the cost of cached work; return False, and charge nothing, where the budget is too small for it."""
    budget = _current.get()
    if budget is None:
        return True
    if cost.steps > budget.steps or cost.needed > budget.memory:
        return False
    budget.least = min(budget.least, budget.memory - cost.needed)
    budget.steps -= cost.steps
    budget.memory -= cost.memory
    return True


def memoize(work_out: Callable[..., ResultT], *values: object) -> ResultT:
    """Return the result of `work_out`, a module's function, on immutable values, computed once a file.

    Up to RESULTS_KEPT_FOR_A_FILE results are kept, by the identity of the values: to compare them would cost more.
    """
    budget = _current.get()
    if budget is None:
        return work_out(*values)
    key = (work_out, *map(id, values))
    known = budget.known.get(key)
    if known is None:
        known = values, work_out(*values)
        if len(budget.known) >= RESULTS_KEPT_FOR_A_FILE:
            del budget.known[next(iter(budget.known))]
        budget.known[key] = known
    result: ResultT = known[1]
    return result


def memoize_across_files(question: Hashable, work_out: Callable[[], ResultT]) -> ResultT:
    """Return the result of `work_out`, which must follow from the question alone, and must be immutable.

    It is computed once for all files with budgets that share their `answers`, and charged each time.
    """
    budget = _current.get()
    if budget is None:
        return work_out()
    known = budget.answers.get(question)
    if known is not None and charge_again(known[1]):
        return cast(ResultT, known[0])
    answer = measure_cost(work_out)
    budget.answers.keep(question, answer)
    return answer[0]


def check() -> None:
    """Raise OverBudget if the budget was used up, even if the first exception was caught."""
    charge_steps(0)
