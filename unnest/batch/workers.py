"""Work on many tasks in processes of their own: results in the order of the tasks, whatever becomes of a process.

A process that dies (a fault in a C library, the kernel out of memory, `kill -9`) costs the one task that it was at; a
new one goes on with the rest. At most WINDOW tasks are under way or waiting for their turn, so memory does not grow
with their number. Whoever stops asking, an interrupt included, ends every process, which cleans up after itself.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

from unnest.errors import UsageError
from unnest.files.interrupts import SIGNALS, DeferredSignals
from unnest.files.portable_file_operations import NO_WORKING_FOLDER, has_working_folder
from unnest.options import Phase, PhaseMeter

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

#: Tasks whose results wait for that of an earlier one, at most.
MAX_WAITING_RESULTS = 1000

#: Open files that Python needs to begin with processes at all, and for each of them.
FILES_TO_BEGIN, FILES_A_PROCESS = 24, 3

#: Seconds that a process has to clean up when all is over; it may be in the middle of a long call of a C library.
PATIENCE = 20.0

PERCENT = 100

#: What a process needs for any task, loaded before it is forked.
PRELOADED_MODULES = ["unnest.batch.fix_many", "unnest.formats.hdf5.legacy_h5_writer"]


class Work(Protocol[T_contra, R_co]):
    """Work on one task; pickled once for each process."""

    def __call__(self, task: T_contra, meter: PhaseMeter | None) -> R_co:
        """Return the result of a task."""

    def lost(self, task: T_contra, why: str) -> R_co:
        """Return the result of a task, the process of which died; called in the main process."""


def map_in_order(
    tasks: Iterable[T],
    work: Work[T, R],
    processes: int,
    meters: Callable[[T], PhaseMeter | None] = lambda _: None,
    *,
    ahead: int = 1,
) -> Generator[tuple[T, R], None, None]:
    """Yield each task with its result, in the order of the tasks, which are drawn as there is room for them.

    `meters` makes the function that receives a task's progress, in the main process. `ahead`: how many tasks a process
    is given at once.
    """
    pool: _Pool[T, R] = _Pool(work, processes, meters, ahead)
    coming, waiting = enumerate(tasks), deque[tuple[int, T]]()
    done: dict[int, tuple[T, R]] = {}
    turn = 0
    try:
        while True:
            while pool.has_room(len(waiting)) and len(done) + pool.busy < MAX_WAITING_RESULTS:
                numbered = next(coming, None)
                if numbered is None:
                    break
                waiting.append(numbered)
            while waiting and pool.has_room(0):
                pool.hand_out(waiting.popleft())
            if not pool.busy and not waiting:
                return
            for number, task, result in pool.results(waiting):
                done[number] = task, result
            while turn in done:
                yield done.pop(turn)
                turn += 1
    finally:
        with DeferredSignals():
            pool.end(waiting)


class _Process(Generic[T]):
    """One process, and the tasks that it has not answered yet."""

    def __init__(
        self,
        context: BaseContext,
        work: Work[T, Any],
        siblings: Sequence[_Process[T]],
        *,
        metered: bool,
    ) -> None:
        self.connection, theirs = context.Pipe()
        forked = context.get_start_method() == "fork"
        inherited = [self.connection, *(p.connection for p in siblings)] if forked else []
        self.process: BaseProcess = context.Process(  # type: ignore[attr-defined] # of each kind of context, by no common name
            target=_serve,
            args=(theirs, work, metered, inherited),
            name="unnest-worker",
            daemon=True,
        )
        with _blocked():
            self.process.start()
        theirs.close()
        self.tasks: deque[tuple[int, T]] = deque()
        self.meter: PhaseMeter | None = None

    def end_in_words(self) -> str:
        """Return how the process ended, as the end of a sentence."""
        self.process.join(PATIENCE)
        code = self.process.exitcode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"


class _Pool(Generic[T, R]):
    """The processes, made as they are needed."""

    def __init__(
        self, work: Work[T, R], processes: int, meters: Callable[[T], PhaseMeter | None], ahead: int
    ) -> None:
        self.work, self.most, self.meters, self.ahead = work, _affordable(processes), meters, ahead
        self.processes: list[_Process[T]] = []
        self.context = _context()

    @property
    def busy(self) -> int:
        """The number of tasks that are handed out and not answered."""
        return sum(len(p.tasks) for p in self.processes)

    def has_room(self, waiting: int) -> bool:
        """Return True if another task can be given once the waiting ones have been."""
        return self.busy + waiting < self.most * self.ahead

    def hand_out(self, task: tuple[int, T]) -> None:
        """Hand a task to the process that has least to do."""
        while True:
            process = min(self.processes, key=lambda p: len(p.tasks), default=None)
            if len(self.processes) < self.most and (process is None or process.tasks):
                process = self._started(task[1]) or process
            assert process is not None
            try:
                process.connection.send(task[1])
            except OSError:  # it has died without work; work that it had is seen from its pipe
                if process.tasks:
                    process.tasks.append(task)
                    return
                self.processes.remove(process)
                continue
            process.tasks.append(task)
            return

    def _started(self, task: T) -> _Process[T] | None:
        """Start one more process; None if the system has no room for another. Raises UsageError."""
        try:
            metered = self.meters(task) is not None
            process = _Process(self.context, self.work, self.processes, metered=metered)
        except OSError as e:
            if not self.processes:
                why = e.strerror if has_working_folder() else NO_WORKING_FOLDER
                raise UsageError(
                    "usage", f"--jobs: no process can be started ({why}); leave it out"
                ) from e
            self.most = len(self.processes)
            return None
        self.processes.append(process)
        return process

    def results(self, again: deque[tuple[int, T]]) -> Iterator[tuple[int, T, R]]:
        """Yield the results that have arrived, after waiting for one; tasks of a dead process go to `again`."""
        ready = set(wait([p.connection for p in self.processes]))
        for process in [p for p in self.processes if p.connection in ready]:
            try:
                what, value = process.connection.recv()
            except (EOFError, OSError):
                self.processes.remove(process)
                process.connection.close()
                again.extendleft(reversed(list(process.tasks)[1:]))
                if process.tasks:
                    number, task = process.tasks[0]
                    yield number, task, self.work.lost(task, process.end_in_words())
                continue
            if what == "moved":
                process.meter = process.meter or self.meters(process.tasks[0][1])
                if process.meter is not None:
                    process.meter(*value)
                continue
            number, task = process.tasks.popleft()
            process.meter = None
            yield number, task, value

    def end(self, again: deque[tuple[int, T]]) -> None:
        """End every process: at once where it has nothing to do, else by the signal that lets it clean up."""
        for process in self.processes:
            if process.tasks:
                process.process.terminate()
            process.connection.close()
        for process in self.processes:
            process.process.join(PATIENCE)
            if process.process.exitcode is None:
                process.process.kill()
                process.process.join()
            if process.tasks and process.process.exitcode:
                self.work.lost(process.tasks[0][1], process.end_in_words())
        self.processes.clear()
        again.clear()


def _affordable(processes: int) -> int:
    """Return `processes`, or as many as the limit of open files allows.

    Beyond that limit, the server that forks the processes fails with a traceback of its own.

    Raises:
        UsageError: not even one process can be started.

    """
    if sys.platform == "win32":
        return processes
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return processes
    most = (limit - FILES_TO_BEGIN) // FILES_A_PROCESS
    if most < 1:
        what = (
            f"no process can be started with {limit} open files at most (ulimit -n); leave it out"
        )
        raise UsageError("usage", f"--jobs: {what}")
    return min(processes, most)


def _context() -> BaseContext:
    """Return the way to start processes.

    They are forked from this process if it has no other thread, which might hold a lock: so they have its modules, and
    start in some milliseconds. Else, where the system can, they are forked from a process that has all modules loaded.
    """
    if _has_one_thread():
        for module in PRELOADED_MODULES:
            importlib.import_module(module)
        if _has_one_thread():
            return multiprocessing.get_context("fork")
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED_MODULES)
    return context


def _has_one_thread() -> bool:
    """Return True if this process surely has no other thread, those of C libraries included; False where unknown."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:  # not Linux
        return False


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """Block SIGINT, SIGTERM and SIGHUP in the block, so that a process that is forked in it inherits the mask."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


#: The signals that came to this process.
_received: list[int] = []


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a handler is given
    _received.append(number)
    raise KeyboardInterrupt


def _serve(
    connection: Connection, work: Work[T, R], metered: bool, inherited: Sequence[Connection]
) -> None:
    """Answer tasks until the pipe is closed or an interrupt arrives.

    `inherited`: the main process's ends of pipes, which a forked process has as well. It closes them, so that a pipe
    ends with the main process.
    """
    for pipe in inherited:
        pipe.close()
    # An interrupt within a callback of Python's own cannot come through; `_received` has it.
    sys.unraisablehook = callable  # in C: it takes no memory to be called
    try:
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _interrupt)
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        while not _received:
            result = work(connection.recv(), _progress_reporter(connection) if metered else None)
            if not _received:  # and swallowed by a library
                connection.send(("result", result))
    except (EOFError, KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        pass
    except Exception:  # noqa: BLE001 - a task's result says what was wrong; a traceback of ours would not help
        sys.exit(1)
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def _progress_reporter(connection: Connection) -> PhaseMeter:
    """Return a meter that reports a task's progress to the main process, at most a hundred times."""
    last = -1

    def report_progress(done: int, total: int, phase: Phase) -> None:
        nonlocal last
        percent = PERCENT * done // max(total, 1)
        if percent != last:
            last = percent
            connection.send(("moved", (done, total, phase)))

    return report_progress
