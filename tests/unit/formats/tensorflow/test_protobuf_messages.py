"""Protobuf has one error for bytes that are no message and one for a failed write; lack of memory is separate."""

from __future__ import annotations

from typing import NoReturn

import pytest
from google.protobuf.message import DecodeError, EncodeError

from unnest.errors import Unreadable
from unnest.formats.tensorflow import protobuf_messages


class Lacking:
    """A message for which there is no memory; what is said of that is protobuf's own."""

    def ParseFromString(self, _: bytes) -> NoReturn:  # noqa: N802 - as protobuf calls it
        """Bytes that are a message."""
        raise DecodeError(
            "Error parsing message with type 'unnest.wire.SavedModel': Arena alloc failed"
        )

    def SerializeToString(self, *, deterministic: bool) -> NoReturn:  # noqa: ARG002, N802 - the same
        """A message that can be written."""
        raise EncodeError("Failed to serialize proto")


def test_no_memory_to_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protobuf_messages, "new", lambda _: Lacking())
    with pytest.raises(MemoryError):
        protobuf_messages.parse("SavedModel", b"", "m")


def test_no_memory_to_write() -> None:
    with pytest.raises(MemoryError):
        protobuf_messages.dump(Lacking())


@pytest.mark.parametrize("damaged", [b"\xff", b"\x0a\x05ab", b"\x0b" * 200])
def test_damage_is_the_files(damaged: bytes) -> None:
    with pytest.raises(Unreadable, match="m: not a whole BundleHeader message"):
        protobuf_messages.parse("BundleHeader", damaged, "m")
