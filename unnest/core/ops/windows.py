"""Operations on each row by itself: convolutions, pooling, images, normalizations."""

from __future__ import annotations

from unnest.core.ops.registry import Kind, define, define_all

define_all(
    "conv conv1d conv2d conv3d conv_transpose depthwise_conv depthwise_conv2d depthwise_conv2d_native separable_conv "
    "separable_conv2d max_pool max_pool1d max_pool3d avg_pool avg_pool1d avg_pool3d average_pool "
    "pool pool2d pool3d resize resize_images resize_volumes temporal_padding spatial_2d_padding spatial_3d_padding "
    "dot_product_attention",
    "*x",
    Kind.WINDOW,
)
define_all(
    "batch_normalization fused_batch_norm fused_batch_norm_v2 fused_batch_norm_v3 rgb_to_grayscale rgb_to_hsv "
    "hsv_to_rgb",
    "*x",
    Kind.ROWWISE,
)
define("bias_add", "x bias data_format", Kind.ROWWISE, nodes={"BiasAdd": "x bias @data_format"})
define(
    "one_hot",
    "x|indices depth on_value off_value axis dtype",
    Kind.ROWWISE,
    nodes={"OneHot": "x depth on_value off_value @axis"},
)

POOLED, POOL_NODE = "x ksize strides padding data_format", "x @ksize @strides @padding @data_format"
define("max_pool2d", POOLED, Kind.WINDOW, nodes={"MaxPool": POOL_NODE})
define("avg_pool2d", POOLED, Kind.WINDOW, nodes={"AvgPool": POOL_NODE})

BLOCKS, BLOCK_NODE = "x block_size data_format", "x @block_size @data_format"
define("depth_to_space", BLOCKS, Kind.WINDOW, nodes={"DepthToSpace": BLOCK_NODE})
define("space_to_depth", BLOCKS, Kind.WINDOW, nodes={"SpaceToDepth": BLOCK_NODE})

RESIZED = "x|images size align_corners half_pixel_centers"
RESIZE_NODE = "x size @align_corners @half_pixel_centers"
define("resize_bilinear", RESIZED, Kind.WINDOW, nodes={"ResizeBilinear": RESIZE_NODE})
define("resize_nearest_neighbor", RESIZED, Kind.WINDOW, nodes={"ResizeNearestNeighbor": RESIZE_NODE})
define("adjust_contrast adjust_contrast_v2", "x|images contrast_factor", Kind.WINDOW)
define(
    "extract_patches",
    "x|images sizes strides rates padding",
    Kind.WINDOW,
    nodes={"ExtractImagePatches": "x @ksizes:sizes @strides @rates @padding"},
)
define(
    "local_response_normalization",
    "x depth_radius bias alpha beta",
    Kind.WINDOW,
    nodes={"LRN": "x @depth_radius @bias @alpha @beta"},
)
