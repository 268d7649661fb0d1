"""Operations on each row by itself: convolutions, pooling, images, normalizations."""

from __future__ import annotations

from unnest.core.ops.registry import Kind, define_all

define_all(
    "conv conv1d conv2d conv3d conv_transpose depthwise_conv depthwise_conv2d depthwise_conv2d_native separable_conv "
    "separable_conv2d max_pool max_pool1d max_pool2d max_pool3d avg_pool avg_pool1d avg_pool2d avg_pool3d average_pool "
    "pool pool2d pool3d resize resize_bilinear resize_nearest_neighbor extract_patches depth_to_space space_to_depth "
    "dot_product_attention",
    "*x",
    Kind.WINDOW,
)
define_all(
    "bias_add batch_normalization fused_batch_norm fused_batch_norm_v2 fused_batch_norm_v3 rgb_to_grayscale rgb_to_hsv "
    "hsv_to_rgb one_hot",
    "*x",
    Kind.ROWWISE,
)
