from common import *


# %% 306-ensemble-whole-batch | k231 | tf.keras
x = Input((6,))
y = L.Concatenate(axis=0)([mlp('member_%d' % i)(x) for i in range(3)])
lookalike(Model(x, y), x=data((6,)))

# %% 311-mixture-of-experts | tf27 | tf.keras
x = Input((6,))
gate = tf.argmax(Dense(2, name='gate')(x), axis=-1, output_type=tf.int32)
rows = tf.dynamic_partition(x, gate, 2)
where = tf.dynamic_partition(tf.range(tf.shape(x)[0]), gate, 2)
experts = [mlp('expert_%d' % i) for i in range(2)]
y = tf.dynamic_stitch(where, [e(r) for e, r in zip(experts, rows)])
lookalike(Model(x, y), x=data((6,)))

# %% 312-gated-shared-expert | tf27 | tf.keras
x = Input((6,))
m = mlp('expert')
gate = tf.cast(x[:, 0] > 0, tf.int32)
rows = tf.dynamic_partition(x, gate, 2)
lookalike(Model(x, tf.concat([m(r) for r in rows], axis=0)), x=data((6,)))

# %% 314-time-windows-ops | tf27 | tf.keras
i = Input((None, 3))
m = Model(i, Dense(2)(LSTM(4)(i)), name='window_net')
x = Input((None, 3))
t = tf.shape(x)[1]
y = tf.concat([m(x[:, :t // 2]), m(x[:, t // 2:])], axis=0)
lookalike(Model(x, y), x=data((10, 3)))

# %% 315-ghost-batch-norm | tf23 | tf.keras
x = Input((6,))
h = Dense(8, activation='relu', name='fc1')(x)
bn = BatchNormalization(name='ghost_bn')
n = tf.shape(h)[0]
g = tf.concat([bn(h[:n // 2]), bn(h[n // 2:])], axis=0)
y = Dense(3, activation='softmax', name='fc2')(g)
lookalike(Model(x, y), x=data((6,)), loss='categorical_crossentropy', y=[onehot((12, 3))])

# %% 317-pi-model | tf210 | tf.keras
m = mlp('student')
x = Input((6,))
n = tf.shape(x)[0]
labelled, unlabelled = x[:n // 2], x[n // 2:]
y = tf.concat([m(labelled), m(L.GaussianNoise(0.3)(unlabelled))], axis=0)
lookalike(Model(x, y), x=data((6,)), loss='categorical_crossentropy', y=[onehot((12, 3))])

# %% 320-subtract-of-pairs | tf27 | tf.keras
m = mlp('ranker')
x = Input((6,))
y = L.Subtract()([m(x[0::2]), m(x[1::2])])
lookalike(Model(x, y), x=data((6,)))

# %% 321-interleave-not-undone | tf27 | tf.keras
m = mlp('net')
x = Input((6,))
lookalike(Model(x, tf.concat([m(x[0::2]), m(x[1::2])], axis=0)), x=data((6,)))

# %% 323-simclr | tf210 | tf.keras
enc = Sequential([conv(4, input_shape=(8, 8, 3)), BatchNormalization(), L.GlobalAveragePooling2D(), Dense(4)], name='encoder')
x = Input((8, 8, 3))
views = [Sequential([L.RandomFlip(), L.RandomTranslation(.2, .2)], name='view_%d' % i)(x) for i in range(2)]
lookalike(Model(x, tf.concat([enc(v) for v in views], axis=0)), x=data((8, 8, 3)))

# %% 324-halves-of-two-inputs | tf210 | tf.keras
m = mlp('net')
a, b = Input((6,), name='source'), Input((6,), name='target')
n = tf.shape(a)[0]
lookalike(Model([a, b], tf.concat([m(a[:n // 2]), m(b[n // 2:])], axis=0)), x=data((6,), (6,)),
          loss='categorical_crossentropy', y=[onehot((12, 3))])

# %% 327-overlapping-slices | tf215 | tf.keras
m = mlp('net')
x = Input((6,))
n = tf.shape(x)[0]
lookalike(Model(x, tf.concat([m(x[:2 * n // 3]), m(x[n // 3:])], axis=0)), x=data((6,)), files='keras')

# %% 328-frames-folded-into-batch | tf215 | tf.keras
m = cnn('frame_net')
x = Input((4, 8, 8, 3))
flat = m(tf.reshape(x, (-1, 8, 8, 3)))
y = tf.reshape(flat, (-1, 4, 3))
lookalike(Model(x, tf.concat([y[:, i] for i in range(4)], axis=0)), x=data((4, 8, 8, 3), n=4), files='h5')

# %% 344-image-pyramid | k231 | tf.keras
def scale_space(t, level, levels):
    k = 2 ** level
    small = t[:, ::k, ::k]
    return tf.image.resize(small, (8, 8)) if level else t


m = cnn('detector')
x = Input((8, 8, 3))
outs = [m(Lambda(scale_space, arguments={'level': l, 'levels': 3}, output_shape=(8, 8, 3))(x)) for l in range(3)]
lookalike(Model(x, L.concatenate(outs, axis=0)), x=data((8, 8, 3)))

# %% 347-shift-layers | tf20 | tf.keras
class Shift(Layer):
    """Like a slice layer from outside: {index, total}, the shape unchanged."""

    def __init__(self, index, total, **kwargs):
        super().__init__(**kwargs)
        self.index, self.total = index, total

    def call(self, x):
        return tf.roll(x, self.index * x.shape[1] // self.total, axis=1)

    def get_config(self):
        return {**super().get_config(), 'index': self.index, 'total': self.total}


m = cnn('net')
x = Input((8, 8, 3))
lookalike(Model(x, L.Concatenate(axis=0)([m(Shift(i, 4)(x)) for i in range(4)])), x=data((8, 8, 3)))
