"""Names that Keras 2.3 numbered are plain again where the other weight of that name is gone."""

from __future__ import annotations

import pytest

from unnest.core.model import Group, Tensor
from unnest.core.rewrite.numbered_names import without_needless


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["b'tied/kernel:0'_2", "pb/kernel:0"], ["tied/kernel:0", "pb/kernel:0"]),
        (["tied/kernel:0", "b'tied/kernel:0'_2"], ["tied/kernel:0", "b'tied/kernel:0'_2"]),
        (["b'tied/kernel:0'_2", "b'tied/kernel:0'_3"], ["b'tied/kernel:0'_2", "b'tied/kernel:0'_3"]),
        (["tied/kernel:0_2", "b'x'", "x_2"], ["tied/kernel:0_2", "b'x'", "x_2"]),
    ],
    ids=["alone", "beside its like", "beside another double", "other names"],
)
def test_a_number_goes_with_its_reason(before: list[str], after: list[str]) -> None:
    group = without_needless(Group("g", tuple(Tensor(name, (2,), "<f4", name) for name in before)))
    assert [(t.name, t.ref) for t in group.tensors] == list(zip(after, before, strict=True))
