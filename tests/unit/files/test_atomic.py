"""What is written is on the disk before it gets its name."""

from __future__ import annotations

import _thread
from collections.abc import Callable
from pathlib import Path

import pytest

from unnest.files import system
from unnest.files.atomic import publish


def _no_room(*_: object) -> int:
    raise RuntimeError("can't start new thread")


def _dies_at_once(*_: object) -> int:
    return 0


def _fill(path: str) -> None:
    Path(path).write_bytes(b"new")


@pytest.mark.parametrize("start", [_no_room, _dies_at_once])
def test_where_no_thread_syncs_we_do(
    start: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be no room for a thread, or no memory for its first step."""
    synced: list[str] = []
    monkeypatch.setattr(_thread, "start_new_thread", start)
    monkeypatch.setattr(system, "sync", synced.append)
    target = tmp_path / "out.h5"
    publish(str(target), _fill, lambda _: None)
    assert target.read_bytes() == b"new"
    assert [Path(path).name for path in synced] == ["out.h5"]
