"""Where exceptions of libraries, and of code that met a file like no other, become one line and a fault.

`reading` stands around everything that reads a file, `writing` around everything that writes one: whatever gets as
far as there is the file's fault while it is read, the machine's while it is written, and says so.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from unnest.errors import Failed, UnnestError, Unreadable

#: What the system says when it, and not the file, is in trouble.
MACHINE = frozenset(
    getattr(errno, name)
    for name in ("ENOMEM", "ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EIO", "EROFS", "EACCES", "EPERM", "ESTALE", "EFBIG")
    if hasattr(errno, name)
)


def oneline(error: BaseException) -> str:
    """What a library said, without line breaks: at most 200 characters."""
    return " ".join(str(error).split())[:200]


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Raises Unreadable (the file's fault) or Failed (the machine's) for whatever is raised within."""
    try:
        yield
    except UnnestError:
        raise
    except RecursionError as e:
        raise Unreadable("too-deep", f"{path}: nests too deep to be a model; do not trust this file") from e
    except MemoryError as e:
        raise Failed("memory", f"{path}: the machine has not enough memory left to read it") from e
    except OSError as e:
        if e.errno in MACHINE:
            raise Failed("read", f"{path}: cannot be read ({os.strerror(e.errno or 0)})") from e
        raise _damaged(path, e) from e
    except Exception as e:
        raise _damaged(path, e) from e


def _damaged(path: str, error: Exception) -> Unreadable:
    told = f"{type(error).__name__}: {oneline(error)}".removesuffix(": ")
    return Unreadable(
        "damaged",
        f"{path}: is not stored as its writer would have stored it ({told}); "
        "copy it again, or report it if the software that wrote it still loads it",
    )


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Raises Failed for whatever is raised within; what reading the input raised is let through."""
    try:
        yield
    except UnnestError:
        raise
    except MemoryError as e:
        raise Failed("memory", f"{path}: the machine has not enough memory left to write it") from e
    except RecursionError as e:
        raise Unreadable("too-deep", f"{path}: what is to be written nests too deep to be a model") from e
    except OSError as e:
        if e.errno is not None:
            raise Failed("write", f"{path}: cannot be written ({os.strerror(e.errno)})") from e
        raise Failed("write", f"{path}: cannot be written ({oneline(e)})") from e
    except Exception as e:
        raise Failed("write", f"{path}: cannot be written ({type(e).__name__}: {oneline(e)}); please report it") from e


__all__ = ["oneline", "reading", "writing"]
