"""Versions and platform for a bug report, without anything on the machine's owner."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib import metadata

from unnest import __version__
from unnest.cli.streams import print_stderr

#: Distributions that decide what a run does, in the order of their weight.
NEEDED = ("h5py", "numpy", "typer", "rich", "protobuf", "google-crc32c", "zlib-ng", "PyYAML")
OPTIONAL = ("tensorflow", "keras", "tf_keras", "jax", "torch")


def versions() -> Iterator[str]:
    """Yield `name version` lines; only h5py is imported for it, which alone knows its HDF5."""
    yield f"unnest {__version__}"
    yield f"Python {platform.python_version()} ({platform.python_implementation()})"
    yield f"{platform.system()} {platform.release()} {platform.machine()}"
    yield f"encodings: stdout {sys.stdout.encoding}, files {sys.getfilesystemencoding()}"
    for name in NEEDED:
        yield f"{name} {_version(name) or 'is missing'}"
    yield f"HDF5 {_hdf5()}"
    for name in OPTIONAL:
        version = _version(name)
        if version is not None:
            yield f"{name} {version}"


def tell_what_to_paste() -> None:
    """Print what an issue on an internal error needs beside its message."""
    print_stderr(
        "\n".join(
            [
                "Please paste the line above and these into the issue:",
                *(f"    {line}" for line in versions()),
            ]
        )
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _hdf5() -> str:
    try:
        from h5py import version
    except ImportError as e:
        return f"cannot be loaded ({e})"
    return str(version.hdf5_version)
