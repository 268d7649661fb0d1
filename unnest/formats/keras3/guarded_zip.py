"""Guards of a `.keras`: its zip directory is looked through before anything is read.

Names that climb out, links, duplicates, encryption, overlaps and sizes are refused; nothing is extracted.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from typing import IO

from unnest.budget import charge_memory, charge_steps
from unnest.errors import Unreadable
from unnest.files.portable_file_operations import pread
from unnest.formats.translate_errors import oneline

#: Deflate's best is 1032 to 1; weights never come near. Small members may be what they like.
MAX_EXPANSION, SMALL = 200, 64 << 20
#: What a member costs, beside its content.
STEPS_A_MEMBER, BYTES_A_MEMBER = 60, 600
#: The flag of a member that wants a password.
ENCRYPTED = 1
#: Bytes before the name in a member's local header.
LOCAL_HEADER = 30


def open_file(path: str) -> IO[bytes]:
    """Open a file unbuffered, for reading. Raises Unreadable."""
    try:
        return open(path, "rb", buffering=0)
    except OSError as e:
        raise Unreadable(
            "cannot-open", f"{path}: cannot be opened ({e.strerror}); check its permissions"
        ) from e


def checked_archive(file: IO[bytes], path: str) -> zipfile.ZipFile:
    """Return a zip whose directory holds only what Keras would write. Raises Unreadable."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as e:
        raise Unreadable(
            "damaged-zip", f"{path}: not a whole zip file ({oneline(e)}); copy or download it again"
        ) from e
    _check_directory(archive, path, os.fstat(file.fileno()).st_size)
    return archive


def _check_directory(archive: zipfile.ZipFile, path: str, size: int) -> None:
    """Check the zip's directory before anything is read.

    Raises:
        Unreadable: Keras would not write such a member, or two members share bytes.

    """
    names: set[str] = set()
    end = unpacked = 0
    for info in sorted(archive.infolist(), key=lambda i: i.header_offset):
        charge_steps(STEPS_A_MEMBER)
        charge_memory(BYTES_A_MEMBER + len(info.filename))
        reason = _forbidden(info)
        if info.filename in names:
            reason = "is there twice"
        elif info.header_offset < end:
            reason = "shares bytes with another member"
        if info.flag_bits & ENCRYPTED:
            raise Unreadable(
                "bad-member",
                f"{path}: is password-protected; unzip it with its password, and zip it again",
            )
        if reason is not None:
            raise Unreadable(
                "bad-member",
                f"{path}: {info.filename!r} {reason} (crafted or damaged); do not trust this file",
            )
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Unreadable(
                "compression",
                f"{path}: {info.filename} is packed in an unusual way; zip it again, without compression",
            )
        names.add(info.filename)
        end = info.header_offset + LOCAL_HEADER + info.compress_size
        unpacked += info.file_size
    if unpacked > max(SMALL, size * MAX_EXPANSION):
        raise Unreadable(
            "absurd-size",
            f"{path}: claims {unpacked} bytes in {size} (crafted or damaged); do not trust this file",
        )


def _forbidden(info: zipfile.ZipInfo) -> str | None:
    """Return what is wrong with a member by itself, as the end of a sentence; None if nothing is."""
    name = info.filename
    if (
        not name
        or name.startswith(("/", "\\"))
        or ":" in name.split("/")[0]
        or ".." in re.split(r"[/\\]", name)
    ):
        return "climbs out of its folder"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    if info.compress_type == zipfile.ZIP_STORED and info.file_size != info.compress_size:
        return "has two sizes"
    return None


def broken_member(path: str, member: str, error: Exception) -> Unreadable:
    """Return the error for a member that cannot be read."""
    return Unreadable(
        "damaged-zip", f"{path}: {member} cannot be read ({oneline(error)}); copy it again"
    )


def data_start(file: IO[bytes], info: zipfile.ZipInfo, path: str) -> int:
    """Return the offset of a member's data; its local header may have another name and extra field.

    Raises Unreadable.
    """
    header = pread(file.fileno(), LOCAL_HEADER, info.header_offset)
    if len(header) < LOCAL_HEADER or header[:4] != b"PK\3\4":
        raise Unreadable(
            "damaged-zip", f"{path}: the zip directory points beside {info.filename}; copy it again"
        )
    name, extra = (int.from_bytes(header[k : k + 2], "little") for k in (26, 28))
    start = info.header_offset + LOCAL_HEADER + name + extra
    if start + info.file_size > os.fstat(file.fileno()).st_size:
        raise Unreadable(
            "truncated", f"{path}: cut short inside {info.filename}; copy or download it again"
        )
    return start
