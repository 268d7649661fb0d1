"""Run many tasks over a Dask cluster (extra `dask`): results in the order of the tasks, lost workers made up for.

The workers see the same files under the same absolute paths (a shared file system, or URLs), and have the same
`unnest`. The tasks of a lost worker start again on another, as often as the cluster allows. Outputs are complete or
absent, and an existing one is left alone, so nothing is written twice or by half.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, Generic, TypeVar

from unnest.batch.workers import Work
from unnest.errors import UsageError

T = TypeVar("T")
R = TypeVar("R")

#: Seconds that a scheduler may take to answer.
PATIENCE = 10

#: Lots that are under way for each thread of the cluster, and for a cluster that has none yet.
LOTS_A_THREAD, LOTS = 4, 16


class _Lot(Generic[T, R]):
    """Tasks that a worker is given at once: a function call over the network takes as long as a small file."""

    def __init__(self, work: Work[T, R]) -> None:
        self.work = work

    def __call__(self, tasks: list[T]) -> list[R]:
        return [self.work(task, None) for task in tasks]


def map_in_order(
    tasks: Iterable[T], work: Work[T, R], address: str, *, lot: int = 1
) -> Generator[tuple[T, R], None, None]:
    """Yield each task with its result, in the order of the tasks.

    Raises:
        UsageError: no scheduler answers at the address.

    """
    client = _client(address)
    try:
        threads = sum(client.nthreads().values())
        coming = iter(tasks)
        under_way: deque[tuple[list[T], Any]] = deque()
        while True:
            while len(under_way) < max(LOTS, LOTS_A_THREAD * threads):
                some = list(itertools.islice(coming, lot))
                if not some:
                    break
                under_way.append((some, client.submit(_Lot(work), some, pure=False)))
            if not under_way:
                return
            some, future = under_way.popleft()
            yield from zip(some, _results(client, work, some, future), strict=True)
    finally:
        # Cancel queued lots; running ones finish.
        with contextlib.suppress(Exception):
            client.cancel([future for _, future in under_way])
        client.close(timeout=PATIENCE)


def _results(client: Any, work: Work[T, R], tasks: list[T], future: Any) -> list[R]:  # noqa: ANN401 - Dask has no types
    """Return the results of a lot; if its workers died, run each task alone, so that only the fatal one is lost."""
    try:
        results: list[R] = future.result()
    except Exception as e:  # noqa: BLE001 - whatever a cluster meets costs the tasks that it concerns
        if len(tasks) == 1:
            return [work.lost(tasks[0], _why(e))]
        singly = [(task, client.submit(_Lot(work), [task], pure=False)) for task in tasks]
        return [result for task, each in singly for result in _results(client, work, [task], each)]
    return results


def _why(error: Exception) -> str:
    name = type(error).__name__
    return "was lost again and again" if name == "KilledWorker" else f"raised {name}"


def _client(address: str) -> Any:  # noqa: ANN401 - Dask has no types
    """Return a Dask client of the scheduler. Raises UsageError without Dask, or if no scheduler answers."""
    try:
        from distributed import Client
    except ImportError as e:
        raise UsageError(
            "usage", f"--scheduler: needs Dask: pip install distributed ({e.name})"
        ) from e
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        connect: Callable[..., Any] = Client
        return connect(address, timeout=PATIENCE, set_as_default=False)
    except Exception as e:
        what = f"--scheduler {address}: no Dask scheduler answers there ({type(e).__name__})"
        raise UsageError("usage", f"{what}; start one with `dask scheduler`") from e
