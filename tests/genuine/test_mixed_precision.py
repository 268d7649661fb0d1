"""A SavedModel whose layers compute in half precision: each slice casts the input for itself."""

from __future__ import annotations

from pathlib import Path

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.formats.open_container import open_container

PARALLEL = FIXTURES / "mixed_precision" / "tf27"


def test_the_serving_graph_is_cut(tmp_path: Path) -> None:
    """One tower is left, with every weight."""
    done = unnest.fix(PARALLEL, tmp_path / "out")
    assert (done.error, done.action, done.checks) == (
        None,
        "fixed",
        ("graph", "signatures", "weights"),
    )
    with open_container(str(tmp_path / "out")).open(str(tmp_path / "out")) as source:
        _, meta = source.serving()  # type: ignore[attr-defined] # of a SavedModel's
        kinds = [node.op for function in meta.graph.library.function for node in function.node_def]
    assert not {"ConcatV2", "Slice", "Shape"} & set(kinds)
    assert kinds.count("MatMul") == 2
