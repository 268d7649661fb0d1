"""Tables: what is compressed comes back, and what could be listed twice is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.makebundle import table, varint
from unnest.budget import Budget, OverBudget, limited
from unnest.errors import Unreadable
from unnest.formats.tensorflow.read_sstable import entries, unsnap


@given(st.dictionaries(st.binary(max_size=5), st.binary(max_size=9), max_size=9))
def test_entries(pairs: dict[bytes, bytes]) -> None:
    """All of them, in order."""
    assert list(entries(table(pairs), "i").items()) == sorted(pairs.items())


@given(
    st.binary(min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(4, 11), st.integers(1, 40)), max_size=20),
)
def test_snappy_copies(start: bytes, copies: list[tuple[int, int]]) -> None:
    """A copy may overlap what it makes: byte by byte is the meaning."""
    out = bytearray(start)
    packed = bytes([(len(start) - 1) << 2]) + start
    for count, back in copies:
        offset = min(back, len(out))
        packed += bytes([(offset >> 8) << 5 | (count - 4) << 2 | 1, offset & 255])
        for _ in range(count):
            out.append(out[-offset])
    assert unsnap(varint(len(out)) + packed) == bytes(out)


@pytest.mark.parametrize(
    "packed", [b"\x05\x01\x01", b"\x05\x00a\x01\x09", b"\x02\x00a", b"\xff\xff\xff\x7f\x00a"]
)
def test_snappy_torn(packed: bytes) -> None:
    """Nothing to copy from, too far back, too short, too long."""
    with pytest.raises(IndexError):
        unsnap(packed)


def test_keys_that_do_not_ascend() -> None:
    """No writer makes them, and a block that is listed again would."""
    good = table({b"a": b"1", b"b": b"2"})
    with pytest.raises(Unreadable, match="damaged"):
        entries(_resealed(good, good.replace(b"\x01\x01b2", b"\x01\x01a2")), "i")


def _resealed(good: bytes, bad: bytes) -> bytes:
    """The same table with the data block's checksum made right."""
    from unnest.formats.tensorflow.read_sstable import masked_crc

    assert good != bad
    end = good.index((0).to_bytes(4, "little") + (1).to_bytes(4, "little") + b"\0") + 9
    return bad[:end] + masked_crc(bad[:end]).to_bytes(4, "little") + bad[end + 4 :]


def test_keys_are_memory() -> None:
    """However little of the file they take."""
    with limited(Budget("i", 1000, 500)), pytest.raises(OverBudget, match="memory"):
        entries(table({bytes([k]): b"" for k in range(9)}), "i")
