"""Entries of the registry for control flow, and for the effect of layers and code on rows.

None is a function that computes a tensor: conditions and loops, what a layer or stored code does to the rows of a
batch (`over_steps`, `mixes`). The rows that opaque slices claim are in `claimed_rows`.
"""

from __future__ import annotations

from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import define, define_all

define_all(
    "merge switch if|stateless_if while|stateless_while exit sequence_mask", "*x", Kind.CONTROL
)
define_all("over_steps", "*x", Kind.WINDOW)
define_all("row_wise", "*x", Kind.ROWWISE)
define(
    "mirror_pad",
    "x paddings mode",
    Kind.OPAQUE,
    nodes={"MirrorPad": "x paddings @mode"},
    function_name="tf.pad",
)
define("identity_n", "*x", Kind.OPAQUE)
define("unknown", "", Kind.CONTROL)
define("batch_moments", "*x", Kind.OPAQUE)
define("takes", "*x", Kind.OPAQUE, reorders_rows=True)
define("mixes", "*x", Kind.OPAQUE, reorders_rows=True, mixes_rows=True)
define("time_major", "*x", Kind.OPAQUE, reorders_rows=True, mixes_rows=True)
