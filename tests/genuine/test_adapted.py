"""Templates with a Discretization that was adapted: tf.keras lists its summary among the weights, Keras 3 does not."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import weights_by_layer
from unnest.core.make_plan import plan
from unnest.formats.open_container import open_container

FOLDER = FIXTURES / "adapted"


@pytest.mark.parametrize(("stack", "count"), [("tfkeras", 4), ("keras3", 3)])
def test_every_layer_gets_its_own(stack: str, count: int, tmp_path: Path) -> None:
    """As the same stack saved the template itself."""
    done = unnest.fix(FOLDER / f"{stack}-discretization-parallel.h5", tmp_path / "out.h5")
    assert (done.error, done.action) == (None, "fixed")
    base = weights_by_layer(FOLDER / f"{stack}-discretization-base.h5")
    assert weights_by_layer(tmp_path / "out.h5") == base
    assert len(base) == count


def test_without_its_summary_it_is_refused() -> None:
    """The config says that it was adapted: a weight under another name is not its own."""
    path = str(FOLDER / "tfkeras-discretization-parallel.h5")
    with open_container(path).open(path) as source:
        stored = source.stored
    groups = tuple(
        group._replace(tensors=tuple(t for t in group.tensors if not t.name.startswith("summary")))
        for group in stored.groups
    )
    refusal = plan(stored._replace(groups=groups)).refusal
    assert refusal is not None
    assert refusal.code == "weights-ambiguous"
