"""Whatever a library raises while a file is read or written: one line, and whose fault it is."""

from __future__ import annotations

import bz2
import errno
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import unnest
from unnest import open_and_plan
from unnest.core.make_plan import NotAGraph
from unnest.errors import Failed, Refused, UnnestError, Unreadable
from unnest.files.interrupts import caused_by_interrupt
from unnest.formats.translate_errors import oneline, reading, writing
from unnest.outputs import apply_plan
from unnest.report.result import Report


def raised(call: str) -> BaseException:
    """Return the exception that a library itself raises."""
    bad: dict[str, Callable[[], object]] = {
        "zlib": lambda: zlib.decompress(b"no"),
        "lzma": lambda: lzma.decompress(b"no"),
        "bz2": lambda: bz2.decompress(b"no"),
        "zip": lambda: zipfile.ZipFile(os.devnull),
    }
    with pytest.raises((zlib.error, lzma.LZMAError, OSError, zipfile.BadZipFile)) as info:
        bad[call]()
    return info.value


FILES_FAULT = [
    raised("zlib"), raised("lzma"), raised("bz2"), raised("zip"), EOFError(), IndexError("list index out of range"),
    KeyError("x"), TypeError("'int' object is not iterable"), AttributeError("'NoneType' object has no attribute 'x'"),
    ValueError("a\nb"), OverflowError("too large"), OSError("Unable to open attribute"), AssertionError(),
]  # fmt: skip


@pytest.mark.parametrize("error", FILES_FAULT, ids=repr)
def test_the_files_fault(error: BaseException) -> None:
    """While it is read."""
    with pytest.raises(Unreadable) as info, reading("m.h5"):
        raise error
    assert info.value.code == "damaged"
    assert info.value.message.startswith("m.h5: is not stored as its writer would have stored it")
    assert "\n" not in info.value.message


def test_a_library_that_cannot_be_loaded() -> None:
    """Is the machine's fault."""
    with pytest.raises(Failed, match="install unnest again"), reading("m.h5"):
        raise ImportError("libhdf5.so: failed to map segment")


def test_too_deep() -> None:
    """Python's own limit is the file's fault, since no model comes near it."""
    with pytest.raises(Unreadable) as info, reading("m.h5"):
        raise RecursionError
    assert info.value.code == "too-deep"


def made_of(cause: BaseException) -> Exception:
    """An error of a library that met another one."""
    error = ValueError("cannot be read")
    error.__context__ = cause
    return error


SHORT_OF_MEMORY = [
    MemoryError(), OSError(errno.ENOMEM, "x"), SystemError(), RuntimeError("can't allocate read lock"),
    made_of(MemoryError()), ImportError("lib.so: failed to map segment from shared object"),
]  # fmt: skip


@pytest.mark.parametrize("boundary", [reading, writing])
@pytest.mark.parametrize("error", SHORT_OF_MEMORY, ids=repr)
def test_too_little_memory_is_no_fault_of_the_file(error: Exception, boundary: Any) -> None:
    """Nor a defect of ours."""
    with pytest.raises(Failed) as info, boundary("m.h5"):
        raise error
    assert info.value.code == "memory"


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "x"), OSError(errno.ENOMEM, "x"), MemoryError()], ids=repr
)
def test_the_machines_fault(error: Exception) -> None:
    """Errors of the system are the machine's fault."""
    with pytest.raises(Failed), reading("m.h5"):
        raise error
    with pytest.raises(Failed), writing("m.h5"):
        raise error


def test_errors_that_are_the_causes_of_one_another() -> None:
    """Such come out of h5py where a disk is full: none of them is the first."""
    one, other = OSError(errno.ENOSPC, "x"), RuntimeError("while it was closed")
    one.__cause__, other.__cause__ = other, one
    with pytest.raises(Failed, match=os.strerror(errno.ENOSPC)) as info, writing("m.h5"):
        raise one
    assert not caused_by_interrupt(info.value)


@pytest.mark.parametrize(
    "error", [Unreadable("a", "b"), Refused("a", "b"), Failed("a", "b")], ids=repr
)
def test_what_has_been_said_already(error: UnnestError) -> None:
    """Stays as it is."""
    for boundary in (reading, writing):
        with pytest.raises(type(error)) as info, boundary("m.h5"):
            raise error
        assert info.value is error


@pytest.mark.parametrize("error", [*FILES_FAULT, RecursionError(), MemoryError()], ids=repr)
def test_nothing_gets_out(error: Exception, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of either call, wherever it was raised."""

    def fails(*_: object, **__: object) -> None:
        raise error

    steps: list[tuple[ModuleType, str, list[Callable[[Path], Report]]]] = [
        (open_and_plan, "open_for_inspection", [unnest.inspect]),
        (open_and_plan, "open_container", [unnest.fix]),
        (open_and_plan, "plan_source", [unnest.inspect, unnest.fix]),
        (apply_plan, "target_format", [unnest.fix]),
    ]
    for module, name, calls in steps:
        with monkeypatch.context() as patch:
            patch.setattr(module, name, fails)
            results = [call(bad) for call in calls]
        for result in results:
            assert result.error
            assert result.error.code in ("damaged", "too-deep", "memory", "write")
            assert "\n" not in result.error.message
    assert os.listdir(bad.parent) == [bad.name]


HDF5_SAID = (
    "Set slist enabled failed (file write failed: time = Sun Nov 22 07:52:30 2026 , filename = 'm.h5', "
    "file descriptor = 5, errno = {}, error message = 'whatever')"
)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError(HDF5_SAID.format(errno.EFBIG)), os.strerror(errno.EFBIG)),
        (OSError(HDF5_SAID.format(errno.EIO)), os.strerror(errno.EIO)),
        (
            UnicodeDecodeError("utf-8", b"x", 0, 1, "invalid start byte"),
            "a name or a text is no Unicode",
        ),
        (KeyError("no  such\nthing"), "no such\\nthing"),
    ],
    ids=["size", "disk", "text", "key"],
)
def test_what_libraries_say(error: Exception, told: str) -> None:
    """The system's word for it, and nothing that only a programmer could use."""
    assert oneline(error) == told


def test_layers_that_do_not_add_up() -> None:
    """Wherever that comes out: with its words, without its class."""
    with pytest.raises(Unreadable) as caught, reading("m.h5"):
        raise NotAGraph("'a' reads itself")
    assert (caught.value.code, "NotAGraph" in caught.value.message) == ("not-a-graph", False)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("'name'", "name"),
        ("'int' object is not callable", "'int' object is not callable"),
        ("it's \n so", "it's so"),
    ],
)
def test_quotes_around_all_of_it_go(said: str, told: str) -> None:
    """KeyError's; others are part of the sentence."""
    assert oneline(ValueError(said)) == told
