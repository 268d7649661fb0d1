"""Translate exceptions of libraries, and of code that met an unforeseen file, into one line and an exit code.

`reading` surrounds everything that reads a file, `writing` everything that writes one: an exception that gets so far is
the file's fault while it is read, the machine's while it is written.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from unnest.core.architecture import NotAGraph
from unnest.errors import Failed, UnnestError, Unreadable
from unnest.files.interrupts import raised_by_signal_handler

#: What the system says when it, and not the file, is in trouble.
MACHINE = frozenset(
    getattr(errno, name)
    for name in (
        "ENOMEM",
        "ENOSPC",
        "EDQUOT",
        "EMFILE",
        "ENFILE",
        "EIO",
        "EROFS",
        "EACCES",
        "EPERM",
        "ESTALE",
        "EFBIG",
    )
    if hasattr(errno, name)
)


#: HDF5 puts the system's error into the middle of a sentence, among times and descriptors.
SYSTEM_SAID = re.compile(r"\berrno = (\d+)")


#: How Python begins where a file's or a thread's lock cannot be had, for want of memory.
NO_LOCK = "can't allocate"

#: How the system's loader ends where there is no room for a library. (Source: glibc's `_dl_map_segments`.)
NO_ROOM = "failed to map segment from shared object"


def blames_system(error: BaseException) -> bool:
    """Return True if an error of HDF5 comes from a system call, not from the content of a file."""
    return bool(getattr(error, "errno", None) or SYSTEM_SAID.search(str(error)))


def oneline(error: BaseException) -> str:
    """Return a library's message without line breaks, at most 200 characters; of system errors only their names."""
    if isinstance(error, UnicodeError):
        return "a name or a text is no Unicode"
    text = " ".join(str(error).split())
    number = SYSTEM_SAID.search(text)
    is_quoted = text[:1] in ("'", '"') and text[-1:] == text[:1]
    return os.strerror(int(number[1])) if number else (text[1:-1] if is_quoted else text)[:200]


def out_of_memory(error: BaseException) -> bool:
    """Return True if memory ran out, or an exception was made of that: libraries wrap what they meet.

    SystemError is Python's report of C code that failed without a reason: no file causes that, lack of memory does. A
    missing lock is reported by a RuntimeError, a library that cannot be loaded by an ImportError.
    """
    causes = [error]
    while (
        cause := causes[-1].__cause__ or causes[-1].__context__
    ) is not None and cause not in causes:
        causes.append(cause)  # two of h5py's may be the cause of one another
    return any(
        isinstance(cause, MemoryError | SystemError)
        or (isinstance(cause, OSError) and cause.errno == errno.ENOMEM)
        or (isinstance(cause, RuntimeError) and str(cause).startswith(NO_LOCK))
        or (isinstance(cause, ImportError) and str(cause).endswith(NO_ROOM))
        for cause in causes
    )


def describe_defect(error: BaseException) -> str:
    """Describe a defect in one line: what was raised, and where in this package."""
    text = " ".join(str(error).split())[:200]
    where, trace = "", error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.partition(".")[0] == "unnest":
            where = f" at {module}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"internal error ({type(error).__name__}: {text}{where}); please report it"


def raise_callers_own(error: BaseException) -> None:
    """Raise again what a signal handler raised, such as a timeout: it does not concern the file."""
    own = raised_by_signal_handler(error)
    if own is not None:
        raise own


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Translate any exception of the block to Unreadable (the file's fault) or Failed (the machine's)."""
    why_too_deep = "nests too deep to be a model; do not trust this file"
    try:
        yield
    except Exception as e:
        _raise_known(e, path, "read it", why_too_deep)
        if isinstance(e, NotAGraph):
            raise not_a_graph(path, e) from e
        if isinstance(e, OSError) and e.errno in MACHINE:
            raise Failed("read", f"{path}: cannot be read ({os.strerror(e.errno or 0)})") from e
        if isinstance(e, ImportError):
            why = f"a library cannot be loaded: {oneline(e)}"
            raise Failed(
                "read", f"{path}: cannot be read ({why}); run again, or install unnest again"
            ) from e
        raise _damaged(path, e) from e


def _raise_known(error: Exception, path: str, todo: str, why_too_deep: str) -> None:
    """Raise what is meant for the caller as it is, and the errors for too little memory and too deep a structure."""
    raise_callers_own(error)
    if out_of_memory(error):
        raise no_memory(path, todo) from error
    if isinstance(error, UnnestError):
        raise error
    if isinstance(error, RecursionError):
        raise Unreadable("too-deep", f"{path}: {why_too_deep}") from error


def no_memory(path: str, todo: str) -> Failed:
    """Return the error for a machine without memory left."""
    message = f"{path}: the machine has not enough memory left to {todo}; end other programs, or use a larger machine"
    return Failed("memory", message)


def not_a_graph(path: str, error: NotAGraph) -> Unreadable:
    """Return the error for an architecture, the layers of which cannot be connected."""
    return Unreadable("not-a-graph", f"{path}: the stored architecture does not add up ({error})")


def _damaged(path: str, error: Exception) -> Unreadable:
    reason = f"{type(error).__name__}: {oneline(error)}".removesuffix(": ")
    return Unreadable(
        "damaged",
        f"{path}: is not stored as its writer would have stored it ({reason}); "
        "copy it again, or report it if the software that wrote it still loads it",
    )


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Translate any exception of the block to Failed; those of reading the input are let through. Raises Unreadable."""
    why_too_deep = "what is to be written nests too deep to be a model"
    try:
        yield
    except Exception as e:
        _raise_known(e, path, "write it", why_too_deep)
        if isinstance(e, OSError):
            why = oneline(e) if e.errno is None else os.strerror(e.errno)
            raise Failed("write", f"{path}: cannot be written ({why})") from e
        what = oneline(e) if isinstance(e, UnicodeError) else f"{type(e).__name__}: {oneline(e)}"
        raise Failed("write", f"{path}: cannot be written ({what}); please report it") from e


@contextmanager
def writing_file(path: str) -> Iterator[None]:
    """Translate what writing one file raises, of the system or of HDF5, to Failed, with advice."""
    from unnest.files.write_errors import write_failed  # an inspect writes nothing

    try:
        yield
    except (OSError, RuntimeError) as e:
        raise write_failed(path, e) from e
    except (ValueError, KeyError) as e:
        raise Failed("write", f"{path}: cannot be written ({oneline(e)})") from e


__all__ = [
    "blames_system",
    "describe_defect",
    "no_memory",
    "not_a_graph",
    "oneline",
    "out_of_memory",
    "reading",
    "writing",
    "writing_file",
]
