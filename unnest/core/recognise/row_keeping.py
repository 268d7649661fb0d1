"""Which operations leave every row where it is."""

from __future__ import annotations

from unnest.core.recognise.op_kinds import ALONG, SLICES
from unnest.core.recognise.op_shapes import BROADCASTING, KEEPING_SHAPE

TAKING = SLICES | {"reverse", "reversev2", "flip", "roll"}
"""Operations that give some rows of a tensor, or all in another order."""

OVER_STEPS = frozenset({
    "conv", "conv1d", "conv2d", "conv3d", "convtranspose", "depthwiseconv", "depthwiseconv2d", "depthwiseconv2dnative",
    "separableconv", "separableconv2d", "maxpool", "maxpool2d", "maxpool3d", "avgpool", "avgpool2d", "avgpool3d",
    "averagepool", "maxpool1d", "avgpool1d", "pool", "pool2d", "pool3d", "resize", "resizebilinear",
    "resizenearestneighbor", "extractpatches",
    "depthtospace", "spacetodepth", "dotproductattention", "oversteps",
})  # fmt: skip
"""Operations that leave every row where it is, if it lies on the first axis, and put together what lies on others."""

NUMBER_BY_NUMBER = (KEEPING_SHAPE - ALONG.keys() - TAKING) | BROADCASTING | frozenset({
    "addn", "accumulaten", "accumulatenv2", "average", "multiplyn", "maximumn", "minimumn",
})  # fmt: skip
"""Operations each of whose numbers is made of those that stand in the same place."""

KEEPING = NUMBER_BY_NUMBER | OVER_STEPS | frozenset({
    "biasadd", "batchnormalization", "fusedbatchnorm", "fusedbatchnormv2", "fusedbatchnormv3", "rgbtograyscale",
    "rgbtohsv", "hsvtorgb", "onehot", "rowwise",
})  # fmt: skip
"""Operations that leave every row where it is."""
