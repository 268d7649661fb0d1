"""The one loop over candidates: which attempt is asked, which answer counts, which reason is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.unit.core.wrappers.inline import Tensor, Writer
from unnest.core.model import CallId, Ref
from unnest.core.recognition_results import NearMiss
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.wrapper_records import MixesRows, NotAWrapper
from unnest.core.wrappers.search.batch_trials import Joined
from unnest.core.wrappers.search.match_towers import Copies, Unlike
from unnest.core.wrappers.search.operation_slice_towers import find_towers
from unnest.core.wrappers.search.tower_search import Candidate, TowerSet, find, with_rows_kept


class Answer(Candidate):
    """A candidate that one layer joins, with the reasons against its towers, or its rows."""

    def __init__(
        self,
        layer: str,
        unlike: str | None = None,
        reason: str | None = None,
        *,
        near: bool = True,
        of: str = "",
    ) -> None:
        root = Ref(layer, 0, 0)
        self.joins: Sequence[Joined] = (
            Joined(root, (), frozenset({root.call, CallId(of or layer, 0)})),
        )
        self.unlike, self.reason, self.near = unlike, reason, near
        self.asked = 0

    def is_near(self, reason: NotAWrapper) -> bool:
        """Answer as it was set up."""
        del reason
        return self.near

    def towers(self) -> Copies:
        """No towers, or none alike."""
        self.asked += 1
        if self.unlike is not None:
            raise Unlike(self.unlike, 0)
        return Copies()

    def judge(self, copies: Copies) -> TowerSet:
        """The towers, or none."""
        if self.reason is not None:
            raise NotAWrapper(self.reason)
        return TowerSet(copies, tuple(self.joins), frozenset(), ())


def attempts(*candidates: Sequence[Candidate]) -> list[Iterator[Candidate]]:
    return [iter(each) for each in candidates]


def test_the_first_candidate_with_an_answer_counts() -> None:
    first, second, third = Answer("m", reason="why"), Answer("m"), Answer("m")
    (found,), misses = find(attempts([first, second, third]))
    assert (found.joins, misses) == (second.joins, [])
    assert [each.asked for each in (first, second, third)] == [1, 1, 0]


@pytest.mark.parametrize(
    ("candidates", "reason"),
    [
        ([Answer("m", reason="a"), Answer("m", reason="b")], "b"),
        ([Answer("m", unlike="a"), Answer("m", unlike="b")], "a"),
        ([Answer("m", unlike="a"), Answer("m", reason="b")], "b"),
        ([Answer("m", reason="a"), Answer("m", unlike="b")], "a"),
        ([Answer("m", unlike="a", near=False), Answer("m", unlike="b")], "b"),
        ([Answer("m", reason="a", near=False)], None),
        ([], None),
    ],
)
def test_the_reason_that_is_reported(candidates: Sequence[Candidate], reason: str | None) -> None:
    """The last of towers that are alike, else the first why they are not."""
    expected = [] if reason is None else [NearMiss("m", reason)]
    assert find(attempts(candidates)) == ([], expected)


def test_a_layer_joins_one_set_of_towers() -> None:
    """Also where it is a join within another one, or was found before."""
    outer, inner = Answer("outer", of="inner"), Answer("inner")
    found, _ = find(attempts([outer], [inner], [Answer("other")]), used=[CallId("other", 0)])
    assert [towers.joins[0].root.layer for towers in found] == ["outer"]
    assert inner.asked == 0


def _towers(writer: Writer, *ends: Tensor) -> tuple[LayerTensors, TowerSet]:
    tensors = LayerTensors(writer.graph(writer.join(ends)))
    (towers,), _ = find_towers(tensors)
    return tensors, towers._replace(keeps_rows=False)


def test_towers_that_keep_their_rows() -> None:
    writer = Writer()
    tensors, towers = _towers(writer, *writer.dense(*writer.split()))
    assert with_rows_kept(tensors, towers).keeps_rows


def test_towers_that_mix_their_rows() -> None:
    writer = Writer()
    ends = [writer.call("math.cumsum", part, axis=0) for part in writer.dense(*writer.split())]
    tensors = LayerTensors(writer.graph(writer.join(ends)))
    parts = {tuple(Ref("op_1", 0, part) for part in (0, 1)): Ref("x", 0, 0)}
    joined = Joined(
        Ref("joined", 0, 0), tuple(Ref(*end) for end in ends), frozenset({CallId("joined", 0)})
    )
    with pytest.raises(MixesRows, match=r"works along the batch$"):
        with_rows_kept(tensors, TowerSet(Copies(parts), (joined,), frozenset(), ()))
