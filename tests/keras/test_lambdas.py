"""Results of translated Lambdas against TensorFlow's and Keras 2's own functions, in one process.

Every function of the table has a line here; the model that holds the operations is saved, and loaded in safe mode.
"""

from __future__ import annotations

import base64
import marshal
import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.operations.run_op_nodes import run_node
from unnest.core.frontends.operation_layers_as_op_calls import keras3_call, plain_argument
from unnest.core.interpreters.op_shapes import result_shape
from unnest.core.keras3.lambdas.translate_lambda import LambdaCall, Translation, translate
from unnest.core.keras3_op_node import Input, OpNode, Part
from unnest.core.ops.keras3_nodes.function_registry import known_functions
from unnest.core.ops.shape_arithmetic import Sized

VERSION = "2.15.0-tf"

SHAPES: dict[str, list[tuple[int, ...]]] = {
    "cube": [(3, 4)],
    "row": [(4,)],
    "unit": [(3, 1)],
    "image": [(4, 6, 8)],
    "pair": [(3, 4), (3, 4)],
    "rows": [(4,), (4,)],
    "photo": [(4, 5, 3)],
    "matrices": [(3, 4), (4, 5)],
    "video": [(2, 3, 4, 2)],
}

#: What it is called on, a line, and the functions that `f` stands for.
LINES: tuple[tuple[str, str, str], ...] = (
    ("cube", "f(x, K.constant([1.0, 2.0, 3.0, 4.0]), data_format='channels_last')", "K.bias_add"),
    ("cube", "x / (f(np.array([1, 2, 3, 4])) * 2)", "K.cast_to_floatx"),
    ("cube", "x * (f([1.0, 2.0, 3.0, 4.0]) / 3.0)", "tf.convert_to_tensor"),
    ("cube", "x - f([1.0, 2.0, 3.0, 4.0], shape=(1, 4))", "K.constant tf.constant"),
    ("cube", "x - f([1.0, 2.0, 3.0, 4.0])[::-1] / 3", "np.array np.asarray"),
    ("cube", "f(x, tf.constant([[1.0], [2.0], [3.0], [4.0]]))", "tf.matmul"),
    (
        "cube",
        "f(x, tf.constant([[1.0], [2.0], [3.0], [4.0]]), 1)",
        "tf.tensordot tf.linalg.tensordot",
    ),
    (
        "cube",
        "f(x)",
        "K.exp tf.exp tf.math.exp K.square tf.square tf.math.square K.abs tf.abs tf.math.abs abs K.sign",
    ),
    (
        "cube",
        "f(x)",
        "tf.sign tf.math.sign K.sin tf.sin tf.math.sin K.cos tf.cos tf.math.cos tf.tan tf.math.tan",
    ),
    (
        "cube",
        "f(x)",
        "tf.atan tf.math.atan K.tanh tf.tanh tf.nn.tanh tf.math.tanh keras.activations.tanh tf.floor",
    ),
    (
        "cube",
        "f(x)",
        "tf.math.floor tf.ceil tf.math.ceil K.round tf.round tf.math.round tf.negative tf.math.negative",
    ),
    (
        "cube",
        "f(x)",
        "K.sigmoid tf.sigmoid tf.nn.sigmoid tf.math.sigmoid keras.activations.sigmoid K.softplus",
    ),
    (
        "cube",
        "f(x)",
        "tf.nn.softplus tf.math.softplus keras.activations.softplus K.softsign tf.nn.softsign",
    ),
    (
        "cube",
        "f(x)",
        "tf.math.softsign keras.activations.softsign tf.nn.relu keras.activations.relu tf.nn.relu6",
    ),
    (
        "cube",
        "f(x)",
        "tf.nn.selu keras.activations.selu tf.nn.elu tf.nn.swish tf.nn.silu keras.activations.swish",
    ),
    (
        "cube",
        "f(x)",
        "K.hard_sigmoid keras.activations.hard_sigmoid K.relu K.sqrt tf.nn.leaky_relu K.elu tf.nn.gelu",
    ),
    (
        "cube",
        "f(x)",
        "keras.activations.elu K.softmax tf.nn.softmax keras.activations.softmax tf.nn.log_softmax",
    ),
    (
        "cube",
        "f(x)",
        "tf.math.log_softmax K.stop_gradient tf.stop_gradient tf.identity tf.expm1 tf.math.expm1",
    ),
    (
        "cube",
        "f(x)",
        "tf.reciprocal tf.math.reciprocal K.sum tf.reduce_sum K.l2_normalize K.flatten K.batch_flatten",
    ),
    (
        "cube",
        "f(x)",
        "K.zeros_like tf.zeros_like K.ones_like tf.ones_like K.cumsum tf.cumsum tf.math.cumsum K.cumprod",
    ),
    (
        "cube",
        "f(x)",
        "tf.cumprod tf.math.cumprod tf.norm tf.linalg.norm K.argmax tf.argmax tf.math.argmax K.argmin",
    ),
    ("cube", "f(x)", "tf.argmin tf.math.argmin"),
    (
        "cube",
        "f(x + 20.5)",
        "K.log tf.log tf.math.log tf.log1p tf.math.log1p tf.sqrt tf.math.sqrt tf.rsqrt tf.math.rsqrt",
    ),
    (
        "cube",
        "f(x, 1)",
        "K.sum tf.reduce_sum tf.math.reduce_sum K.mean tf.reduce_mean tf.math.reduce_mean K.max K.min",
    ),
    (
        "cube",
        "f(x, 1)",
        "tf.reduce_max tf.math.reduce_max tf.reduce_min tf.math.reduce_min K.prod tf.reduce_prod",
    ),
    (
        "cube",
        "f(x, 1)",
        "tf.math.reduce_prod K.std tf.math.reduce_std K.var tf.math.reduce_variance",
    ),
    ("cube", "f(x, 1)", "tf.reduce_logsumexp tf.math.reduce_logsumexp"),
    (
        "cube",
        "f(x, axis=-1, keepdims=True)",
        "K.sum tf.reduce_mean K.max tf.reduce_min K.prod K.std K.var tf.reduce_logsumexp",
    ),
    (
        "cube",
        "f(x, [1, -1])",
        "K.sum tf.reduce_mean K.max tf.reduce_min K.prod K.std K.var tf.reduce_logsumexp",
    ),
    (
        "cube",
        "f(x, axis=None)",
        "K.sum tf.reduce_mean K.max tf.reduce_min K.prod K.std K.var tf.reduce_logsumexp",
    ),
    (
        "cube",
        "f(x > 0, axis=1)",
        "K.all K.any tf.reduce_all tf.math.reduce_all tf.reduce_any tf.math.reduce_any",
    ),
    (
        "cube",
        "f(x, 1)",
        "K.l2_normalize tf.nn.l2_normalize tf.math.l2_normalize tf.linalg.l2_normalize",
    ),
    ("cube", "f(x, axis=None)", "K.l2_normalize tf.nn.l2_normalize"),
    ("cube", "f(x * 1e-8, axis=-1)", "K.l2_normalize tf.nn.l2_normalize"),
    ("cube", "f(x, [1, 2])", "K.l2_normalize tf.nn.l2_normalize"),
    ("cube", "f(x * 1e-2, 1, 1e-3)", "tf.nn.l2_normalize"),
    (
        "cube",
        "f(x, axis=1)",
        "K.cumsum tf.cumsum K.cumprod tf.math.cumprod K.argmax tf.argmin tf.nn.softmax K.softmax",
    ),
    ("cube", "f(x, axis=1)", "tf.nn.log_softmax tf.norm"),
    ("cube", "f(x, axis=-1, keepdims=True)", "tf.norm tf.linalg.norm"),
    (
        "cube",
        "f(x, 0.5)",
        "K.maximum tf.maximum tf.math.maximum K.minimum tf.minimum tf.math.minimum tf.add tf.math.add",
    ),
    (
        "cube",
        "f(x, 0.5)",
        "tf.subtract tf.math.subtract tf.multiply tf.math.multiply tf.divide tf.math.divide tf.div",
    ),
    (
        "cube",
        "f(x, 0.5)",
        "tf.truediv tf.math.truediv tf.floormod tf.math.floormod tf.math.mod tf.mod K.equal tf.equal",
    ),
    (
        "cube",
        "f(x, 0.5)",
        "tf.math.equal K.not_equal tf.not_equal tf.math.not_equal K.greater tf.greater tf.math.greater",
    ),
    (
        "cube",
        "f(x, 0.5)",
        "K.greater_equal tf.greater_equal tf.math.greater_equal K.less tf.less tf.math.less",
    ),
    (
        "cube",
        "f(x, 0.5)",
        "K.less_equal tf.less_equal tf.math.less_equal tf.squared_difference tf.math.squared_difference",
    ),
    ("cube", "f(x, [0.5, 1, 2, 3])", "tf.maximum tf.subtract tf.multiply"),
    ("cube", "f(x, 2)", "K.pow tf.pow tf.math.pow pow"),
    (
        "cube",
        "f(x > 0, x < 0.5)",
        "tf.logical_and tf.math.logical_and tf.logical_or tf.math.logical_or",
    ),
    ("cube", "f(x > 0)", "tf.logical_not tf.math.logical_not"),
    ("cube", "f(x, alpha=0.3)", "K.relu tf.nn.leaky_relu K.elu keras.activations.elu"),
    ("cube", "f(x, max_value=1.5)", "K.relu keras.activations.relu"),
    ("cube", "f(x, approximate=True)", "tf.nn.gelu"),
    ("cube", "f(x, -0.5, 0.5)", "K.clip tf.clip_by_value"),
    ("cube", "f(x, 1)", "K.expand_dims tf.expand_dims"),
    ("cube", "f(x)", "K.expand_dims"),
    ("cube", "f(x, (-1, 6, 2))", "K.reshape tf.reshape"),
    ("cube", "f(x, [0, 2, 1])", "K.permute_dimensions tf.transpose"),
    (
        "cube",
        "f([x, x + 1])",
        "K.concatenate keras.layers.concatenate K.stack tf.stack tf.add_n tf.math.add_n sum",
    ),
    (
        "cube",
        "f([x, x + 1], axis=1)",
        "K.concatenate keras.layers.concatenate tf.concat K.stack tf.stack",
    ),
    ("cube", "f([x])", "tf.add_n"),
    ("cube", "f(x, [1, 2, 3])", "K.tile tf.tile"),
    ("cube", "f(x, 3, axis=1)", "K.repeat_elements tf.repeat"),
    ("cube", "f(x, [1, 2])", "K.reverse tf.reverse"),
    ("cube", "f(x, 1)", "K.reverse"),
    ("cube", "f(x, [[0, 0], [1, 2], [0, 1]])", "tf.pad"),
    ("cube", "f(x, [[0, 0], [1, 2], [1, 1]], 'REFLECT')", "tf.pad"),
    ("cube", "f(x, [[0, 0], [1, 2], [1, 1]], mode='SYMMETRIC')", "tf.pad"),
    ("cube", "f(x, [[0, 0], [1, 2], [1, 1]], constant_values=0.25)", "tf.pad"),
    ("cube", "f(x, (2, 1))", "K.temporal_padding"),
    ("cube", "f(x)", "K.temporal_padding"),
    ("image", "f(x)", "K.spatial_2d_padding"),
    ("image", "f(x, ((1, 2), (0, 3)))", "K.spatial_2d_padding"),
    (
        "image",
        "f(x, padding=((1, 2), (0, 3)), data_format='channels_first')",
        "K.spatial_2d_padding",
    ),
    ("video", "f(x)", "K.spatial_3d_padding"),
    ("video", "f(x, ((1, 2), (0, 3), (1, 0)), 'channels_last')", "K.spatial_3d_padding"),
    ("image", "f(x, (2, 3))", "K.pool2d"),
    (
        "image",
        "f(x, (2, 2), strides=(2, 3), padding='same', data_format='channels_last', pool_mode='avg')",
        "K.pool2d",
    ),
    ("cube", "f(x, tf.ones((4, 2)))", "K.dot"),
    ("cube", "f(x, K.constant([[1, 2], [3, 4], [5, 6], [7, 8]]))", "K.dot"),
    ("matrices", "f(x[0], x[1])", "K.dot"),
    ("matrices", "f(x[0], x[1][:, :, 0])", "tf.linalg.matvec"),
    ("cube", "x * f((3, 4)) * 2", "tf.ones np.ones tf.zeros np.zeros"),
    ("cube", "x * f((3, 4), 2.0)", "tf.fill"),
    ("cube", "x * f(tf.constant([[1.0, 2, 3, 4]]), (tf.shape(x)[0], 3, 4))", "tf.broadcast_to"),
    ("cube", "x + K.cast(f(4), 'float32')", "K.arange tf.range"),
    ("cube", "x + f(1, 9, 2)", "np.arange"),
    ("cube", "x + tf.cast(f(4, 0, -1), tf.float32)", "K.arange tf.range"),
    ("cube", "K.gather(x, f(2))", "K.arange"),
    ("cube", "f('bij->bji', x)", "tf.einsum"),
    ("pair", "f('bij,bkj,bkl->bil', x[0], x[1], x[0])", "tf.einsum"),
    ("cube", "f(x, 2, axis=2)[1]", "tf.split"),
    ("cube", "f(x, 2, axis=2)", "tf.split"),
    ("cube", "f(x, [1, 2, 1], -1)[1]", "tf.split"),
    ("cube", "f(x, 0)", "K.gather"),
    ("cube", "f(x, [1, 0])", "K.gather"),
    ("cube", "f(x, [2, 0, 2], axis=1)", "tf.gather"),
    ("cube", "f(x * 3, 'int32')", "K.cast tf.cast"),
    ("cube", "f(x > 0, K.floatx()) * x", "K.cast tf.cast"),
    ("cube", "f(x > 0, tf.float32) * x", "K.cast tf.cast"),
    ("cube", "f(x > 0) * x", "tf.to_float"),
    ("cube", "f(K.cast(abs(x), 'int32'), 3)", "K.one_hot tf.one_hot"),
    ("cube", "f(tf.cast(abs(x), 'uint8'), 3)", "K.one_hot tf.one_hot"),
    ("cube", "f(K.argmax(x), 4)", "K.one_hot tf.one_hot"),
    ("cube", "f(x, x, transpose_b=True)", "tf.matmul tf.linalg.matmul"),
    ("cube", "f(x, x, transpose_a=True)", "tf.matmul"),
    (
        "cube",
        "x * f(2)",
        "math.sqrt np.sqrt math.log np.log math.exp np.exp float int np.float32 np.float64",
    ),
    ("cube", "x * f([1, 2, 3, 4])", "np.array np.asarray K.constant len"),
    ("cube", "x * f([1, 2, 3.5, 4])", "tf.constant"),
    ("cube", "x * f(2, tf.float32)", "tf.constant"),
    ("cube", "x * f()", "K.epsilon"),
    ("cube", "x * np.pi - math.e", ""),
    ("cube", "x[:, :, 0]", ""),
    ("cube", "x[:, ::-1]", ""),
    ("cube", "x[:, -1, None]", ""),
    ("cube", "x[..., 1:3]", ""),
    ("cube", "x[..., tf.newaxis]", ""),
    ("cube", "x[:, np.newaxis, 1:, ::2]", ""),
    ("cube", "x[1:]", ""),
    ("cube", "x[0]", ""),
    ("cube", "x", ""),
    ("cube", "x / 127.5 - 1", ""),
    ("cube", "3 + 2 * x", ""),
    ("cube", "(x - 0.5) * 2", ""),
    ("cube", "2 - x * 3", ""),
    ("cube", "1 / (x + 10)", ""),
    ("cube", "x // 0.3 + x % 0.7", ""),
    ("cube", "-x ** 2 + 2 ** x", ""),
    ("cube", "x @ K.permute_dimensions(x, [0, 2, 1])", ""),
    ("cube", "(x > 0) & ~(x > 1) | (x <= -1)", ""),
    ("cube", "f(x, (-1, K.int_shape(x)[1] * x.shape[2]))", "K.reshape"),
    ("cube", "tf.reshape(x, [f(x)[0], 12])", "K.shape tf.shape"),
    ("cube", "tf.reshape(x, [tf.shape(x)[0], -1])", ""),
    ("cube", "tf.reshape(x, tf.stack([tf.shape(x)[0], 4, 3]))", ""),
    ("cube", "K.reshape(x, (K.shape(x)[0], K.int_shape(x)[2], -1))", ""),
    ("cube", "K.reshape(x, (-1, f(K.int_shape(x)[1:])))", "np.prod"),
    ("cube", "f(x, [None, 3, 4]) * 2", "tf.ensure_shape"),
    ("cube", "tf.reshape(x, [-1] + x.shape.as_list()[1:][::-1])", ""),
    ("cube", "tf.reshape(tf.reshape(x, [-1, 2, 6]) * 3, [tf.shape(x)[0], -1])", ""),
    ("cube", "x * len(x.shape)", ""),
    ("pair", "tf.reshape(x[0] * 2, tf.shape(x[1]))", ""),
    ("pair", "tf.reshape(x[0] + x[1], [tf.shape(x[1])[0], 12])", ""),
    ("image", "tf.image.resize(x[:, ::2], tf.shape(x)[1:3])", ""),
    ("cube", "x * K.ndim(x) + x.get_shape().as_list()[-1]", ""),
    ("cube", "[x, x + 1]", ""),
    ("cube", "tf.keras.backend.mean(x, axis=1)", ""),
    ("cube", "keras.backend.mean(x, axis=1)", ""),
    ("row", "K.repeat(x, 3)", ""),
    ("row", "x - [1, 2, 3, 4]", ""),
    ("row", "K.softmax(x)", ""),
    ("unit", "f(x, -1)", "K.squeeze tf.squeeze"),
    ("unit", "f(x, axis=[2])", "tf.squeeze"),
    ("image", "f(x, (8, 9))", "tf.image.resize"),
    ("image", "f(x, [2, 3], method='bilinear')", "tf.image.resize"),
    ("image", "f(x, (7, 5), method=tf.image.ResizeMethod.BILINEAR)", "tf.image.resize"),
    ("image", "f(x, 2, 3, 'channels_last')", "K.resize_images"),
    ("image", "f(x, 2, 3, data_format='channels_first')", "K.resize_images"),
    ("photo", "f(x)", "tf.image.rgb_to_grayscale"),
    ("image", "f(x)", "tf.image.flip_left_right tf.image.flip_up_down"),
    (
        "image",
        "f(x, 2)",
        "tf.depth_to_space tf.nn.depth_to_space tf.space_to_depth tf.nn.space_to_depth",
    ),
    ("image", "K.mean(x, axis=[1, 2])", ""),
    ("image", "x[..., ::-1] - [103.939, 116.779, 123.68, 1, 2, 3, 4, 5]", ""),
    ("pair", "x[0] - x[1]", ""),
    ("pair", "abs(x[0] - x[1])", ""),
    ("pair", "f(x, axis=-1)", "K.concatenate"),
    ("pair", "sum(x) / len(x)", ""),
    ("pair", "K.sqrt(K.sum(K.square(x[0] - x[1]), axis=1, keepdims=True))", ""),
    ("pair", "x[::-1]", ""),
    ("pair", "K.batch_dot(x[0], x[1], axes=[2, 2])", ""),
    ("pair", "K.batch_dot(x[0], x[1], axes=(1, 1))", ""),
    ("pair", "K.batch_dot(x[0], x[1], axes=2)", ""),
    ("pair", "K.batch_dot(K.softmax(K.batch_dot(x[0], x[1], axes=[2, 2])), x[1], axes=[2, 1])", ""),
    ("pair", "K.batch_dot(x[0], K.permute_dimensions(x[1], (0, 2, 1)))", ""),
    ("pair", "K.batch_dot(K.expand_dims(K.sum(x[0], 2), 1), x[1])", ""),
    ("pair", "f('bij,bkj->bik', x[0], x[1])", "tf.einsum"),
    ("pair", "f(x[0] > 0, x[0], x[1])", "tf.where"),
    ("cube", "f(x > 0, x, tf.zeros_like(x))", "tf.where K.switch"),
    ("cube", "f(x, axis=1)[-1]", "tf.unstack"),
    (
        "cube",
        "f(x)",
        "tf.sinh tf.math.sinh tf.cosh tf.math.cosh tf.asinh tf.math.asinh tf.erf tf.math.erf tf.nn.crelu",
    ),
    (
        "cube",
        "f(x)",
        "tf.log_sigmoid tf.math.log_sigmoid tf.sort tf.linalg.diag_part tf.matrix_diag_part",
    ),
    ("cube", "f(tf.tanh(x))", "tf.asin tf.math.asin tf.acos tf.math.acos tf.atanh tf.math.atanh"),
    ("cube", "f(tf.abs(x) + 1.5)", "tf.acosh tf.math.acosh"),
    (
        "cube",
        "tf.where(f(x / tf.nn.relu(x)), x, 0.5)",
        "tf.is_nan tf.math.is_nan tf.is_inf tf.math.is_inf",
    ),
    ("cube", "tf.where(f(x / tf.nn.relu(x)), x, 0.5)", "tf.is_finite tf.math.is_finite"),
    ("pair", "f(x[0], x[1])", "tf.floordiv tf.math.floordiv tf.floor_div tf.atan2 tf.math.atan2"),
    ("pair", "f(x[0], tf.nn.relu(x[1]))", "tf.div_no_nan tf.math.divide_no_nan"),
    ("pair", "f(x[0], x[1], [[2], [2]])", "tf.tensordot tf.linalg.tensordot"),
    ("cube", "f(x, [1.0, 2.0, 3.0, 4.0])", "tf.nn.bias_add"),
    ("cube", "f(x, ord=1, axis=1)", "tf.norm"),
    ("cube", "f(x)", "tf.linalg.matrix_transpose tf.matrix_transpose tf.linalg.adjoint"),
    ("photo", "f(x, x * x + 1.0)", "tf.linalg.cross tf.cross"),
    ("cube", "f(labels=x, logits=x * 2.0)", "tf.nn.sigmoid_cross_entropy_with_logits"),
    ("cube", "f(x, 1, exclusive=True)", "tf.cumsum tf.cumprod"),
    ("cube", "f(x, axis=-1, exclusive=True, reverse=True)", "tf.cumsum tf.cumprod"),
    ("cube", "f(x, axis=1, direction='DESCENDING')", "tf.sort"),
    ("cube", "tf.cast(f(x, axis=1), 'float32')", "tf.argsort"),
    ("cube", "tf.cast(f(x, direction='DESCENDING'), 'float32')", "tf.argsort"),
    (
        "cube",
        "f(x, 2)[0] + tf.cast(tf.math.top_k(x, 2)[1], 'float32')",
        "tf.math.top_k tf.nn.top_k",
    ),
    ("cube", "f(x, 1, 1)", "tf.roll tf.linalg.band_part tf.matrix_band_part"),
    ("cube", "f(x, -1, 0)", "tf.linalg.band_part"),
    ("cube", "f(x, 0, -1)", "tf.linalg.band_part"),
    ("cube", "f(x, [0, 1, 0], [-1, 2, 3])", "tf.slice"),
    ("cube", "f(x, tf.cast(x[0, 0] > 0, 'int32'), axis=1)", "tf.gather"),
    ("cube", "f(tf.argmax(x, -1), 4, on_value=2.0, off_value=0.5)", "tf.one_hot"),
    ("cube", "x / tf.sqrt(tf.cast(tf.shape(x)[-1], tf.float32))", ""),
    ("image", "f(x, (8, 9), method='nearest')", "tf.image.resize"),
    (
        "image",
        "f(x, (7, 9))",
        "tf.image.resize_bilinear tf.compat.v1.image.resize_bilinear tf.image.resize_images",
    ),
    (
        "image",
        "f(x, (3, 4))",
        "tf.image.resize_nearest_neighbor tf.compat.v1.image.resize_nearest_neighbor",
    ),
    (
        "image",
        "f(x, (5, 11), align_corners=True)",
        "tf.image.resize_bilinear tf.compat.v1.image.resize_images",
    ),
    ("image", "f(x, (9, 13), method=1)", "tf.compat.v1.image.resize"),
    ("image", "f(x, 1, 2, 3, 4)", "tf.image.crop_to_bounding_box"),
    ("image", "f(x, 1, 2, 7, 9)", "tf.image.pad_to_bounding_box"),
    (
        "image",
        "f(x, 0.6)",
        "tf.image.central_crop tf.image.adjust_contrast tf.image.adjust_brightness",
    ),
    ("photo", "f(x)", "tf.image.per_image_standardization"),
    ("photo", "f(x[..., :1])", "tf.image.grayscale_to_rgb"),
    (
        "image",
        "f(x, 2, [2, 1], 'SAME')",
        "tf.nn.max_pool2d tf.nn.max_pool tf.nn.avg_pool2d tf.nn.avg_pool",
    ),
    ("image", "f(x, [1, 2, 3, 1], [1, 1, 2, 1], [1, 1, 1, 1], 'SAME')", "tf.image.extract_patches"),
    ("image", "f(x, 2, 1.0, 0.5, 0.75)", "tf.nn.local_response_normalization tf.nn.lrn"),
    ("cube", "f(2.0, x)", "tf.scalar_mul tf.math.scalar_mul"),
    ("cube", "x * f(2, 3.5)", "max min"),
    ("cube", "x - 100000000000", ""),
    ("cube", "x * 4294967296", ""),
    ("cube", "x * np.array([1.0, 2.0, 3.0, 4.0], dtype='float32')", ""),
    ("rows", "K.batch_dot(x[0], x[1], axes=1)", ""),
    ("rows", "K.batch_dot(x[0], x[1], [1, 1])", ""),
)

CASES = [
    (kind, line.replace("f(", f"{name}(", 1) if name else line)
    for kind, line, names in LINES
    for name in names.split() or [""]
]

#: What TensorFlow 2 has under another name.
RENAMED = {
    "log": "math.log",
    "log1p": "math.log1p",
    "expm1": "math.expm1",
    "rsqrt": "math.rsqrt",
    "ceil": "math.ceil",
    "reciprocal": "math.reciprocal",
    "div": "divide",
    "floormod": "math.floormod",
    "mod": "math.floormod",
    "squared_difference": "math.squared_difference",
    "cumprod": "math.cumprod",
    "to_float": "compat.v1.to_float",
    "erf": "math.erf",
    "log_sigmoid": "math.log_sigmoid",
    "is_nan": "math.is_nan",
    "is_inf": "math.is_inf",
    "is_finite": "math.is_finite",
    "floordiv": "math.floordiv",
    "floor_div": "math.floordiv",
    "div_no_nan": "math.divide_no_nan",
    "matrix_band_part": "linalg.band_part",
    "matrix_diag_part": "linalg.diag_part",
    "matrix_transpose": "linalg.matrix_transpose",
    "cross": "linalg.cross",
    "depth_to_space": "nn.depth_to_space",
    "space_to_depth": "nn.space_to_depth",
}


#: Only Keras of its own had these: they are among the genuine Lambdas.
GONE = ["K.identity", "K.logsumexp", "K.slice"]

#: Of labels and lengths, or of two vectors: held against what old stacks computed, in test_keras3_checks.py and
#: test_counted_rows.py.
GENUINE = ["K.ctc_batch_cost", "tf.meshgrid", "tf.sequence_mask"]


def test_every_function_has_a_line() -> None:
    lines = " ".join(line for _, line in CASES)
    assert {name for name in known_functions() if f"{name}(" not in lines} == {*GONE, *GENUINE}


@pytest.fixture(scope="module")
def names(tf: Any) -> dict[str, Any]:
    """Return the names that the lines call: today's TensorFlow under its first names, and the last Keras 2."""
    old = {name: _attribute(tf, path) for name, path in RENAMED.items()}
    tf_keras = import_module("tf_keras")
    everything = {name: getattr(tf, name) for name in dir(tf) if not name.startswith("_")}
    images = SimpleNamespace(**{**vars(tf.compat.v1.image), **vars(tf.image)})
    tensorflow = SimpleNamespace(**{**everything, **old, "image": images, "keras": tf_keras})
    return {"tf": tensorflow, "K": tf_keras.backend, "keras": tf_keras, "np": np, "math": math}


def _attribute(of: Any, path: str) -> Any:
    for name in path.split("."):
        of = getattr(of, name)
    return of


@pytest.mark.parametrize(("kind", "line"), CASES)
def test_as_tensorflow_and_keras_2(
    kind: str, line: str, names: dict[str, Any], tf: Any, tmp_path: Path
) -> None:
    shapes = SHAPES[kind]
    arrays = [
        np.random.default_rng(seed).normal(0, 2, (2, *shape)).astype("float32")
        for seed, shape in enumerate(shapes)
    ]
    function = eval(f"lambda x: {line}", names)  # noqa: S307 - lines of this file
    assert isinstance(function, FunctionType)
    code = base64.b64encode(marshal.dumps(function.__code__)).decode("ascii")
    called = LambdaCall(
        len(shapes),
        shapes=[(None, *shape) for shape in shapes],
        keras_version=VERSION,
        data_format="channels_last",
    )
    translation = translate({"function": [code, None, None]}, called)
    assert isinstance(translation, Translation), translation
    tensors = [tf.constant(array) for array in arrays]
    expected = function(tensors if len(tensors) > 1 else tensors[0])
    wanted = expected if isinstance(expected, list) else [expected]
    computed = list(_predicted(translation, arrays, tmp_path))
    assert translation.several == isinstance(expected, list)
    for ours, theirs in zip(computed, wanted, strict=True):
        assert ours.shape == tuple(theirs.shape)
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=2e-6, atol=2e-6)


def _predicted(
    translation: Translation, arrays: list[np.ndarray], folder: Path
) -> Iterator[np.ndarray]:
    """The outputs of the model that holds the operations, after it went through a file."""
    keras = import_module("keras")
    inputs = [keras.Input(array.shape[1:]) for array in arrays]
    outputs = [run_node(output, inputs, {}, check_shape) for output in translation.outputs]
    keras.Model(inputs, outputs).save(folder / "model.keras")
    model = keras.saving.load_model(folder / "model.keras", compile=False)
    # Not predict(): a Lambda that folds the batch gives fewer rows than come in.
    results = model(arrays)
    for result in results if isinstance(results, list | tuple) else [results]:
        yield np.asarray(result)


def check_shape(node: OpNode, args: list[Any], result: Any) -> None:
    """That Keras 3 says the same of the result's shape, where one is stated; the batch's size is not known to it."""

    def sized(given: Any, stored: Any) -> Any:
        if isinstance(given, list | tuple) and isinstance(stored, list | tuple):
            return [sized(each, one) for each, one in zip(given, stored, strict=True)]
        return (
            Sized(tuple(given.shape))
            if isinstance(stored, Input | Part | OpNode)
            else plain_argument(stored)
        )

    is_operation = node.module.startswith("keras.src.ops")
    call = keras3_call(node.class_name, sized(args, list(node.args)), node.config)
    told = result_shape(call) if is_operation else None
    assert told is None or told == tuple(result.shape), (node.class_name, told, result.shape)
