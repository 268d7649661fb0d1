"""A disk that fails: every call that changes it is counted, and at one of them something happens.

`child` runs our command in a forked process in which a fault is armed. That of a `Disk` watches the calls of `os`,
`open` and `h5py`. What can happen at the n-th of them: `kill` (SIGKILL), `power` (SIGKILL, and files that were written
and not synced since are empty), `term` (SIGTERM), `ENOSPC`, `EIO` and `memory` (the call fails).
"""

from __future__ import annotations

import builtins
import errno
import faulthandler
import importlib
import io
import os
import pkgutil
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import google_crc32c  # noqa: F401 - loaded before it forks
import h5py
import numpy.random  # noqa: F401 - the same

from tests.faults.fault import Fault
from unnest import __main__, batch, cli, core, files, formats, report  # noqa: F401 - loaded before it forks
from unnest.files import portable_file_operations

# All that a run loads is loaded before it forks: what Python reads and writes then is not counted.
for package in (cli, core, files, formats, report):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)

#: The os functions that change what is on the disk. `open` is looked at by its flags.
CHANGING = (
    "mkdir", "rmdir", "unlink", "remove", "rename", "replace", "link", "symlink", "chmod", "chown", "fsync",
    "ftruncate", "truncate", "copy_file_range", "setxattr", "utime",
)  # fmt: skip
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

#: What a child leaves with when the call never came.
NEVER = 99
#: Seconds of the processor after which a child hangs; it ends by SIGPROF.
HANGS = 10


class Disk:
    """Counts the calls, and does what is to be done at the n-th."""

    def __init__(self, kind: str, point: int, folder: Path) -> None:
        self.kind, self.point, self.folder = kind, point, folder
        self.calls: list[str] = []
        self.hit: str | None = "counting" if kind == "count" else None
        self.unsynced: set[int] = set()

    def arm(self) -> None:
        """Watch every call."""
        _watch(self)

    def disarm(self) -> None:
        """Tell which there were, where they are counted."""
        if self.kind == "count":
            (self.folder.parent / "calls.txt").write_text("\n".join(self.calls))

    def step(self, name: str) -> None:
        """One call is about to change the disk."""
        self.calls.append(name)
        if len(self.calls) != self.point:
            return
        self.hit = name
        if self.kind == "power":
            self._lose()
        if self.kind in ("kill", "power"):
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.kind == "term":
            signal.raise_signal(signal.SIGTERM)
        elif self.kind == "memory":
            raise MemoryError
        elif self.kind != "count":
            number = getattr(errno, self.kind)
            raise OSError(number, os.strerror(number))

    def written(self, descriptor: int) -> None:
        """Write to an open file bytes that are not on the disk yet."""
        self.unsynced.add(os.fstat(descriptor).st_ino)

    def synced(self, descriptor: int) -> None:
        """And now they are."""
        self.unsynced.discard(os.fstat(descriptor).st_ino)

    def _lose(self) -> None:
        for path in self.folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_ino in self.unsynced:
                path.write_bytes(b"")


def child(args: Sequence[str], folder: Path, fault: Fault, *, plain: bool = False) -> int:
    """The exit code of `unnest ARGS` in the folder; negative for a signal. `plain`: no links, no renameat2.

    A fault that never came is NEVER. What the run said is in `said.txt` beside the folder.
    """
    process = os.fork()
    if process == 0:
        code = 98
        try:
            code = _run(args, folder, fault, plain=plain)
        except BaseException:  # noqa: BLE001 - whatever it is, it is a traceback
            traceback.print_exc()
        finally:  # also where there is no memory for that: a child that goes on would be a second pytest
            os._exit(code if fault.hit else NEVER)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


def _run(args: Sequence[str], folder: Path, fault: Fault, *, plain: bool) -> int:
    os.chdir(folder)
    said = os.open(folder.parent / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for number in (1, 2):
        os.dup2(said, number)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115 - likewise
    faulthandler.disable()  # pytest's: a library in C that dies leaves no report of that
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    sys.argv = ["unnest", *args]
    __main__._leave = sys.exit  # type: ignore[assignment]  # noqa: SLF001 - pytest's own ends are not this process's
    if plain:
        os.link = _impossible
        portable_file_operations._renameat2 = lambda: None  # type: ignore[assignment]  # noqa: SLF001 - the system call is what is replaced
    code = None
    signal.setitimer(signal.ITIMER_PROF, HANGS)
    fault.arm()
    try:
        __main__.main()
    except SystemExit as e:
        code = e.code
    finally:
        fault.disarm()
    sys.stdout.flush()
    return int(code or 0)


def _impossible(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def _watch(disk: Disk) -> None:
    """Put the counting in front of everything that changes the disk."""
    _watch_os(disk)
    _watch_files(disk)
    _watch_hdf5(disk)
    rename = portable_file_operations._renameat2()  # noqa: SLF001 - the system call is what is replaced
    if rename is not None:
        counted = _counted(disk, "renameat2", rename)
        portable_file_operations._renameat2 = lambda: counted  # type: ignore[assignment]  # noqa: SLF001 - the system call is what is replaced


def _counted(disk: Disk, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        disk.step(name)
        result = call(*args, **kwargs)
        if name == "fsync":
            disk.synced(args[0])
        return result

    return counted


def _watch_os(disk: Disk) -> None:
    os_open = os.open
    for name in CHANGING:
        setattr(os, name, _counted(disk, name, getattr(os, name)))

    def opened(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:  # noqa: ANN401
        if flags & WRITES:
            disk.step("open")
        descriptor = os_open(path, flags, *args, **kwargs)
        if flags & WRITES:
            disk.written(descriptor)
        return descriptor

    os.open = opened


def _watch_files(disk: Disk) -> None:
    open_file: Callable[..., Any] = builtins.open

    class Watched(io.FileIO):
        """A file whose every write counts."""

        def write(self, data: Any) -> int:  # noqa: ANN401
            disk.step("write")
            disk.written(self.fileno())
            return super().write(data)

    def opened(path: Any, mode: str = "r", buffering: int = -1, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if (
            isinstance(path, int)
            or kwargs.get("opener")
            or not set(mode) & set("wxa+")
            or "b" not in mode
        ):
            return open_file(path, mode, buffering, *args, **kwargs)
        disk.step("open")
        raw = Watched(path, mode.replace("b", ""))
        disk.written(raw.fileno())
        if buffering == 0:
            return raw
        return io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)

    builtins.open = io.open = opened  # type: ignore[assignment]


def _watch_hdf5(disk: Disk) -> None:
    h5py.h5o.copy = _counted(disk, "h5o.copy", h5py.h5o.copy)
    make, close = h5py.File.__init__, h5py.File.close

    def made(self: h5py.File, name: Any, mode: str = "r", **kwargs: Any) -> None:  # noqa: ANN401
        if mode != "r":
            disk.step("h5py.File")
        make(self, name, mode, **kwargs)
        vars(self)["changes"] = mode != "r"
        if mode != "r" and isinstance(name, str):
            disk.unsynced.add(os.stat(name).st_ino)

    def closed(self: h5py.File) -> None:
        # `self.mode` of a file that is half closed ends the process.
        if vars(self).pop("changes", False):
            disk.step("h5py.close")
        close(self)

    h5py.File.__init__, h5py.File.close = made, closed
