"""Names and tensors of a call."""

from __future__ import annotations

import pytest

from unnest.core.model import Ref
from unnest.core.ops.call import plain_name, refs_in


@pytest.mark.parametrize(
    ("name", "plain"),
    [("tf.strided_slice", "stridedslice"), ("StridedSlice", "stridedslice"), ("__operators__.getitem", "getitem"),
     ("linalg.normalize", "normalizewhole"), ("math.l2_normalize", "l2normalize")],
)  # fmt: skip
def test_plain_names(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_tensors_in_lists_and_slices() -> None:
    x, n = Ref("x", 0, 0), Ref("n", 0, 0)
    assert [*refs_in([x, 2, [n, (x,)], slice(None, n)])] == [x, n, x, n]
