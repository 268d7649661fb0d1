"""Templates in which several layers hold one and the same: a nested model's list has its weights once."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import weights_by_layer
from unnest.core.make_plan import plan
from unnest.formats.open_container import open_container

FOLDER = FIXTURES / "shared_steps"
PARALLEL = sorted(FOLDER.glob("*-parallel.h5"))


@pytest.mark.parametrize("path", PARALLEL, ids=lambda path: str(path.stem))
def test_every_place_gets_them(path: Path, tmp_path: Path) -> None:
    """As the same stack saved the template itself."""
    done = unnest.fix(path, tmp_path / "out.h5")
    assert (done.error, done.action) == (None, "fixed")
    base = weights_by_layer(path.with_name(path.name.replace("parallel", "base")))
    assert weights_by_layer(tmp_path / "out.h5") == base
    assert {len(of_layer) for of_layer in base.values()} <= {2, 3}
    assert len(base) == 3


@pytest.mark.parametrize(
    "path", [p for p in PARALLEL if "own" not in p.name], ids=lambda path: str(path.stem)
)
def test_where_the_names_are_others_it_is_refused(path: Path) -> None:
    """Nothing else says that what stands once is of both."""
    with open_container(str(path)).open(str(path)) as source:
        stored = source.stored
    groups = tuple(
        group._replace(
            tensors=tuple(t._replace(name=f"other/{t.name.split('/')[-1]}") for t in group.tensors)
        )
        for group in stored.groups
    )
    refusal = plan(stored._replace(groups=groups)).refusal
    assert refusal is not None
    assert refusal.code == "weights-ambiguous"


ONCE = "weights in template that layers in it share, and that no Keras finds again in an .h5"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.h5")), ids=lambda path: str(path.stem))
def test_a_model_within_whose_list_has_them_once_is_not_said_to_load(path: Path) -> None:
    """Its own Keras refuses it for the length of the list; not the template itself, nor layers that share none."""
    report = unnest.inspect(path)
    is_refused = "parallel" in path.name and "own" not in path.name
    # Of Keras 3's, an operation that it does not find again is named first.
    if "tfkeras" in path.name:
        assert (ONCE in report.does_not_load_in.values()) is is_refused
    if is_refused:
        assert (report.loads_in, report.load) == ((), None)
    if "base" in path.name:
        assert report.loads_in
