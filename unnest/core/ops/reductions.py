"""Operations along axes: those that reduce them, and those that keep them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unnest.core.ops.call import UnreadableCall, Value
from unnest.core.ops.elements import ELEMENT, Array, ByContents, axis_number, whole_numbers
from unnest.core.ops.registry import Kind, define, define_all, operation


def reduction(function: Callable[..., Any]) -> Callable[..., Array]:
    """A NumPy function along axes, of plain numbers alone. Raises ByContents for elements."""

    def compute(x: Value, axis: Value = None, keepdims: Value = False) -> Array:
        array = np.asarray(x)
        if array.dtype == ELEMENT:
            raise ByContents
        axes = None if axis is None else tuple(whole_numbers(axis))
        return np.asarray(function(array, axis=axes, keepdims=bool(keepdims)))

    return compute


REDUCED = "x axis|reduction_indices|axes|dim keepdims|keep_dims"
"""The arguments of sums, products and means."""


def _nodes(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "x axis @keep_dims:keepdims")


define("reduce_sum sum", REDUCED, Kind.REDUCTION, reduction(np.sum), nodes=_nodes("Sum"), function=np.sum)
define("reduce_mean mean", REDUCED, Kind.REDUCTION, reduction(np.mean), nodes=_nodes("Mean"), function=np.mean)
define("reduce_prod", REDUCED, Kind.REDUCTION, reduction(np.prod), nodes=_nodes("Prod"), function=np.prod)
define_all(
    "prod reduce_logsumexp|logsumexp "
    "reduce_variance|var reduce_std|std reduce_euclidean_norm|euclidean_norm median argmax argmin count_nonzero ptp "
    "nanmax nanmin nanmean nansum nanprod nanstd nanvar nanmedian l2_loss zero_fraction moments",
    REDUCED,
    Kind.REDUCTION,
)
define("reduce_max max amax", REDUCED, Kind.REDUCTION, nodes=_nodes("Max"))
define("reduce_min min amin", REDUCED, Kind.REDUCTION, nodes=_nodes("Min"))
define("reduce_all all", REDUCED, Kind.REDUCTION, nodes=_nodes("All"))
define("reduce_any any", REDUCED, Kind.REDUCTION, nodes=_nodes("Any"))
define("norm", "x ord axis keepdims|keep_dims", Kind.REDUCTION)

LAST, FIRST, BEFORE_LAST = -1, 0, -2
"""Axes that operations work along where their calls name none."""

define_all("softmax log_softmax sort argsort", "x axis|dim", Kind.ALONG, axis=LAST)
CUMULATIVE = "x axis exclusive reverse"
define("cumprod", CUMULATIVE, Kind.ALONG, axis=FIRST, nodes={"Cumprod": "x axis @exclusive @reverse"})
define("cumulative_logsumexp", CUMULATIVE, Kind.ALONG, axis=FIRST)
define_all("l2_normalize", "x axis|dim", Kind.ALONG)
define_all("normalize along_axis", "x axis", Kind.ALONG, axis=LAST)
define_all("normalizewhole", "x ord axis", Kind.ALONG)
define_all("tril triu", "x k", Kind.ALONG, axis=BEFORE_LAST)
define_all("band_part|matrix_band_part", "x num_lower num_upper", Kind.ALONG, axis=BEFORE_LAST)
define_all("clip_by_norm", "x clip_norm axis|axes", Kind.ALONG)
define_all("clip_by_average_norm", "x clip_norm", Kind.ALONG)
define("top_k top_k_v2", "x k sorted", Kind.FOLD, axis=LAST, nodes={"TopKV2": "x k @sorted"})
define_all("diff", "x n axis", Kind.FOLD, axis=LAST)
define_all("quantile percentile", "x q axis", Kind.FOLD)
define_all("clip_by_global_norm", "xs clip_norm", Kind.FOLD)
define_all("global_norm", "xs", Kind.FOLD)
define_all("fft ifft rfft irfft", "x n axis", Kind.FOLD, axis=LAST)


@operation("cumsum", "x axis exclusive reverse", Kind.ALONG, axis=FIRST, nodes={"Cumsum": "x axis @exclusive @reverse"})
def cumsum(x: Value, axis: Value = 0, exclusive: Value = False, reverse: Value = False) -> Array:
    """Sums of numbers so far along an axis. Raises ByContents for elements."""
    array = np.asarray(x)
    if array.dtype == ELEMENT:
        raise ByContents
    if reverse:
        raise UnreadableCall
    sums = np.cumsum(array, axis_number(axis))
    return sums - array if exclusive else sums


define_all(
    "segment_sum segment_max segment_min segment_prod segment_mean unsorted_segment_sum unsorted_segment_max "
    "unsorted_segment_min unsorted_segment_prod unsorted_segment_mean bincount histogram outer kron vdot cov corrcoef "
    "unique unique_with_counts associative_scan shuffle|random_shuffle histogram_fixed_width confusion_matrix scan "
    "foldl foldr non_max_suppression non_max_suppression_v3",
    "*x",
    Kind.SEGMENT,
)
