"""Run by a stack's own Python, with OUT and the stack's name: layers of stored code around slices and towers."""
from __future__ import print_function

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
sys.dont_write_bytecode = True

import numpy as np
import tensorflow as tf

OUT, STACK = sys.argv[1:]
if STACK.startswith("tf") or STACK == "k216":
    keras = tf.keras
else:
    import keras
K, L = keras.backend, keras.layers
Model, Input = keras.models.Model, keras.layers.Input
KERAS_1 = STACK in ("k122", "py27k108")
ROWS, FEATURES = 8, 5


def code(function, arguments=None, width=FEATURES, **config):
    return L.Lambda(function, output_shape=(width,), arguments=arguments or {}, **config)


def joined(tensors):
    if KERAS_1:
        return L.merge(tensors, mode="concat", concat_axis=0)
    return L.Concatenate(axis=0)(tensors)


def template(rows=None):
    x = Input(batch_shape=(rows, FEATURES), name="features")
    y = L.Dense(4, activation="tanh", name="hidden")(x)
    return Model(x, L.Dense(2, name="score")(y), name="template")


def part(t, i, parts):
    size = K.shape(t)[0] // parts
    return t[size * i :] if i == parts - 1 else t[size * i : size * (i + 1)]


def halves(x):
    return [code(part, {"i": i, "parts": 2})(x) for i in range(2)]


def centered(t):
    return t - K.mean(t, axis=1, keepdims=True)


def rows():
    return Input((FEATURES,), name="rows")


def whole(x, y):
    """The parallel model, or what should come out, which has its name."""
    return Model(x, y, name="whole")


def preprocessed_in_each_tower():
    base, x, alone = template(), rows(), rows()
    outputs = [base(code(centered, name="center_%d" % i)(half)) for i, half in enumerate(halves(x))]
    return whole(x, joined(outputs)), whole(alone, base(code(centered, name="center_0")(alone))), None


def preprocessed_by_one_layer():
    base, x, alone, layer = template(), rows(), rows(), code(centered, name="center")
    return whole(x, joined([base(layer(half)) for half in halves(x)])), whole(alone, base(layer(alone))), None


def halves_mixed_before_the_model():
    base, x = template(), Input((FEATURES,))
    a, b = halves(x)
    mix = [code(lambda t: 0.7 * t[0] + 0.3 * t[1])([one, other]) for one, other in ((a, b), (b, a))]
    return Model(x, joined([base(each) for each in mix])), None, "each tower sees a mixture of both halves"


def one_of_both_halves():
    base, x = template(), Input((FEATURES,))
    both = halves(x)
    picked = [code(lambda t, i: t[i] - t[1 - i], {"i": i})(both) for i in range(2)]
    return Model(x, joined([base(each) for each in picked])), None, "each tower sees the difference of the halves"


def scaled_behind_the_model():
    base, x = template(), Input((FEATURES,))
    outputs = [
        code(lambda t, i, parts: t * (i + 1.0) / parts, {"i": i, "parts": 2}, 2)(base(half))
        for i, half in enumerate(halves(x))
    ]
    return Model(x, joined(outputs)), None, "the outputs of the towers are scaled by numbers of their own"


def a_batch_in_the_closure():
    base, x, mini = template(), Input((FEATURES,)), ROWS // 2

    def cut(t, idx, parts):
        return t[idx * mini : (idx + 1) * mini, :]

    return Model(x, joined([base(code(cut, {"idx": i, "parts": 2})(x)) for i in range(2)])), base, None


def bounds_in_defaults_of_a_fixed_batch():
    base, x, outputs = template(), Input(batch_shape=(ROWS, FEATURES)), []
    for k in range(2):

        def cut(t, k=k, size=ROWS // 2):
            return tf.slice(t, [k * size, 0], [size, 5])

        outputs.append(base(code(cut)(x)))
    return Model(x, joined(outputs)), base, None


def a_batch_of_their_own():
    base, x = template(ROWS // 2), Input(batch_shape=(ROWS, FEATURES))
    outputs = [base(code(lambda t, a: t[a : a + 4], {"a": a})(x)) for a in (0, 4)]
    return Model(x, joined(outputs)), base, None


def joined_by_code():
    base, x = template(), Input((FEATURES,))
    outputs = [base(half) for half in halves(x)]
    return Model(x, code(lambda t: tf.concat([t[0], t[1]], 0), None, 2)(outputs)), base, None


def dealt_out_and_gathered():
    base, x = template(), Input((FEATURES,))
    outputs = [base(code(lambda t: t[::2])(x)), base(code(lambda t: t[1::2])(x))]

    def in_order(t):
        rows = tf.concat(t, 0)
        count = tf.shape(rows)[0]
        k = tf.range(count)
        return tf.gather(rows, k // 2 + (k % 2) * ((count + 1) // 2))

    return Model(x, code(in_order, None, 2)(outputs)), base, None


def merges_within_the_towers():
    x, alone = rows(), rows()
    first, second, last = L.Dense(4, name="first"), L.Dense(4, name="second"), L.Dense(2, name="last")

    def tower(t, number):
        both, name = [first(t), second(t)], "sum_%d" % number
        return last(L.merge(both, mode="sum", name=name) if KERAS_1 else L.Add(name=name)(both))

    outputs = [tower(half, i) for i, half in enumerate(halves(x))]
    return whole(x, joined(outputs)), whole(alone, tower(alone, 0)), None


def wide():
    """Twice as many features as the model takes."""
    x = Input((FEATURES,))
    return x, L.Dense(2 * FEATURES, name="wide")(x)


def cut_by_code_alone():
    base, x = template(), Input((FEATURES,))
    cuts = [lambda t: t[: K.shape(t)[0] // 2], lambda t: t[K.shape(t)[0] // 2 :]]
    return Model(x, joined([base(code(cut)(x)) for cut in cuts])), base, None


def every_second_row():
    base, x = template(), Input((FEATURES,))
    cuts = [code(lambda t, idx, parts: t[idx::parts], {"idx": i, "parts": 2})(x) for i in range(2)]
    return Model(x, joined([base(each) for each in cuts])), None, "the rows are dealt out, and joined end to end"


def heads_by_a_split():
    base, (x, h) = template(), wide()
    heads = [code(lambda t, i, n: tf.split(t, n, -1)[i], {"i": i, "n": 2})(h) for i in range(2)]
    return Model(x, joined([base(each) for each in heads])), None, "each tower takes half of the features of all rows"


def bounds(i, parts, size):
    return size // parts * i, size // parts * (i + 1)


def features_between_bounds():
    def cut(t, i, parts):
        first, last = bounds(i, parts, 10)
        return t[:, first:last]

    base, (x, h) = template(), wide()
    outputs = [base(code(cut, {"i": i, "parts": 2})(h)) for i in range(2)]
    return Model(x, joined(outputs)), None, "each tower takes half of the features of all rows"


def features_moved_round():
    base, x = template(), Input((FEATURES,))
    moved = [code(lambda t, i, n: K.concatenate([t[:, i:], t[:, :i]], axis=1), {"i": i, "n": 2})(x) for i in range(2)]
    return Model(x, joined([base(each) for each in moved])), None, "each tower takes all rows"


def own_layers(x):
    """Two towers of one layer of the model's own."""
    layer = L.Dense(2, name="score")
    return [layer(half) for half in halves(x)]


def one_half_twice():
    x = Input((FEATURES,))
    return Model(x, code(lambda t: tf.concat([t[0], t[0]], 0), None, 2)(own_layers(x))), None, "the other half is lost"


def stacked_side_by_side():
    base, x = template(), Input((FEATURES,))
    outputs = [base(half) for half in halves(x)]
    merge = code(lambda t: tf.reshape(tf.stack(t, axis=1), [-1, 2]), None, 2)
    return Model(x, merge(outputs)), None, "the rows of both halves take turns"


def swapped_by_operations():
    base, x = template(), Input((FEATURES,))
    cuts = [lambda t: t[ops.shape(t)[0] // 2 :], lambda t: t[: ops.shape(t)[0] // 2]]
    return Model(x, joined([base(code(cut)(x)) for cut in cuts])), None, "the second half comes first"


def scaled_by_operations():
    base, x = template(), Input((FEATURES,))
    cuts = [lambda t: t[: ops.shape(t)[0] // 2], lambda t: t[ops.shape(t)[0] // 2 :] * 2.0]
    return Model(x, joined([base(code(cut)(x)) for cut in cuts])), None, "the second half is doubled"


def cut_by_operations():
    base, x = template(), Input((FEATURES,))
    cuts = [lambda t: t[: ops.shape(t)[0] // 2], lambda t: t[ops.shape(t)[0] // 2 :]]
    return Model(x, joined([base(code(cut)(x)) for cut in cuts])), base, None


def pairs_by_a_reshape():
    base, x = template(), Input((FEATURES,))
    pairs = [code(lambda t: tf.reshape(t, (-1, 2, 5))[:, 0])(x), code(lambda t: tf.reshape(t, (-1, 2, 5))[:, 1])(x)]
    return Model(x, joined([base(each) for each in pairs])), None, "every other row, joined end to end"


def chosen_by_their_values():
    base, x = template(), Input((FEATURES,))
    cuts = [lambda t: tf.boolean_mask(t, t[:, 0] > 0.5), lambda t: tf.boolean_mask(t, t[:, 0] <= 0.5)]
    return Model(x, joined([base(code(cut)(x)) for cut in cuts])), None, "rows go by what is in them"


def one_feature_hidden():
    def hidden(t, i, n):
        return tf.concat([t[:, :i], tf.zeros_like(t[:, i : i + 1]), t[:, i + 1 :]], 1)

    base, x = template(), Input((FEATURES,))
    outputs = [base(code(hidden, {"i": i, "n": FEATURES})(x)) for i in range(FEATURES)]
    return Model(x, joined(outputs)), None, "each tower reads all rows, without one feature"


def towers_that_end_in(step):
    """Two towers of one layer of the model's own and a step of stored code."""
    x = Input((FEATURES,))
    return Model(x, joined([code(step, None, 2)(score) for score in own_layers(x)]))


def attention_within_each_half():
    def attend(t):
        return tf.matmul(tf.nn.softmax(tf.matmul(t, tf.transpose(t))), t)

    return towers_that_end_in(attend), None, "a row's result depends on the other rows of its half"


def softmax_over_each_half():
    return towers_that_end_in(lambda t: tf.nn.softmax(t, axis=0)), None, "the rows of a half add up to 1"


def doubled_behind_each_tower():
    return towers_that_end_in(lambda t: tf.concat([t, t], 0)), None, "the rows of each half come twice"


def doubled_behind_the_merge():
    base, x, twice = template(), rows(), code(lambda t: tf.concat([t, -t], 0), None, 2, name="twice")
    parallel = whole(x, twice(joined([base(half) for half in halves(x)])))
    return parallel, whole(base.inputs[0], twice(base.outputs[0])), None


def halves_by_operations(step):
    """Two towers of one layer of the model's own and a step of operations."""
    x, score = Input((FEATURES,)), L.Dense(2, name="score")
    size = tf.shape(x)[0] // 2
    return Model(x, joined([step(score(half)) for half in (x[:size], x[size:])]))


def frozen_first_half():
    """A Sequential that is frozen before another one, with layers of one shape and Keras's names."""
    first, second = (keras.models.Sequential([L.Dense(4, input_shape=(4,)), L.Dense(4)]) for _ in range(2))
    first.trainable = False
    entry, x = Input((4,)), Input((4,))
    base = Model(entry, second(first(entry)))
    outputs = [base(code(part, {"i": i, "parts": 2}, 4)(x)) for i in range(2)]
    return Model(x, joined(outputs)), base, None


def attention_by_operations():
    def attend(t):
        return tf.matmul(tf.nn.softmax(tf.matmul(t, tf.transpose(t))), t)

    return halves_by_operations(attend), None, "a row's result depends on the other rows of its half"


def divided_by_their_number():
    def share(t):
        return t / tf.cast(tf.shape(t)[0], "float32")

    return halves_by_operations(share), None, "half as many rows, twice the result"


def compared_with_the_first():
    return halves_by_operations(lambda t: t - t[:1]), None, "each half has a first row of its own"


def doubled_by_operations():
    return halves_by_operations(lambda t: tf.concat([t, t], 0)), None, "the rows of each half come twice"


CASES = [
    (951, preprocessed_in_each_tower), (952, preprocessed_by_one_layer), (953, halves_mixed_before_the_model),
    (954, one_of_both_halves), (955, scaled_behind_the_model), (956, a_batch_in_the_closure),
    (957, bounds_in_defaults_of_a_fixed_batch), (958, a_batch_of_their_own), (959, joined_by_code),
    (960, dealt_out_and_gathered), (961, merges_within_the_towers),
]
LATER = [
    (983, cut_by_code_alone), (984, every_second_row), (985, heads_by_a_split), (986, features_between_bounds),
    (987, features_moved_round), (988, one_half_twice), (989, stacked_side_by_side),
]
OF_TOWERS = [
    (993, pairs_by_a_reshape), (994, chosen_by_their_values), (995, one_feature_hidden),
    (996, attention_within_each_half), (997, softmax_over_each_half), (998, doubled_behind_each_tower),
    (999, doubled_behind_the_merge),
]
OF_OPERATIONS = [
    (1001, attention_by_operations), (1002, divided_by_their_number), (1003, compared_with_the_first),
    (1004, doubled_by_operations),
]
OF_KERAS_3 = [(990, swapped_by_operations), (991, scaled_by_operations), (992, cut_by_operations)]
OF_KERAS_1 = {preprocessed_in_each_tower, halves_mixed_before_the_model, scaled_behind_the_model, merges_within_the_towers}


def case(number, build):
    K.clear_session()
    np.random.seed(number)
    parallel, base, reason = build()
    parallel.set_weights([np.random.rand(*weight.shape).astype("f4") for weight in parallel.get_weights()])
    parallel.compile("sgd", "mse")
    folder = os.path.join(OUT, "%d-around-slices-%s-%s" % (number, build.__name__.replace("_", "-"), STACK))
    os.makedirs(folder)
    parallel.save(os.path.join(folder, "source.h5"))
    if base is not None:
        x = np.random.rand(ROWS, *base.input_shape[1:]).astype("f4")
        result = parallel.predict_on_batch(x)
        base.compile(parallel.optimizer if STACK == "keras3" else "sgd", "mse")
        base.save(os.path.join(folder, "expected.h5"))
        doubles = build is doubled_behind_the_merge
        same = base.predict_on_batch(x) if doubles else base.predict(x, batch_size=ROWS // 2)
        assert np.allclose(result, same, atol=1e-6), build
    facts = {
        "stack": STACK, "expected": "clean" if reason else "parallel", "how": build.__name__.replace("_", " "),
        "reason": reason or "", "towers": None if reason else 2, "also_acceptable": [],
    }
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump(facts, file, indent=1, sort_keys=True)


if STACK == "keras3":
    from keras import ops

    for each in OF_KERAS_3:
        case(*each)
elif STACK == "py27k108":
    case(*LATER[0])
    case(*LATER[1])
elif STACK == "k216":
    case(1006, frozen_first_half)
elif STACK == "tf215":
    for each in OF_OPERATIONS:
        case(*each)
else:
    for each in CASES:
        if not KERAS_1 or each[1] in OF_KERAS_1:
            case(*each)
    if not KERAS_1:
        for each in LATER + (OF_TOWERS if STACK == "k224" else OF_OPERATIONS):
            case(*each)
