from common import *


# %% 301-channel-slices-batch-concat | k224 | keras
def channels(x, i, parts):
    c = K.int_shape(x)[-1] // parts
    return x[..., i * c:(i + 1) * c]


m = cnn('per_band', shape=(8, 8, 2))
x = Input((8, 8, 6))
y = L.Concatenate(axis=0)([m(Lambda(channels, arguments={'i': i, 'parts': 3})(x)) for i in range(3)])
lookalike(Model(x, y), x=data((8, 8, 6)))

# %% 302-channel-slices-feature-concat | k224 | keras
m = mlp('group', features=2)
x = Input((6,))
y = L.concatenate([m(Lambda(lambda t, i, parts: t[:, i * 2:i * 2 + 2], arguments={'i': i, 'parts': 3}, output_shape=(2,))(x)) for i in range(3)])
lookalike(Model(x, y), x=data((6,)))

# %% 303-tta-flips | k224 | keras
m = cnn('classifier')
x = Input((8, 8, 3))
views = [x, Lambda(lambda t: t[:, :, ::-1], name='mirror')(x), Lambda(lambda t: t[:, ::-1], name='flip')(x),
         Lambda(lambda t: t[:, ::-1, ::-1], name='rotate')(x)]
lookalike(Model(x, L.Concatenate(axis=0)([m(v) for v in views])), x=data((8, 8, 3)))

# %% 304-tta-all-lambdas | k231 | keras
def augment(t, k, n):
    # k-th of n rotations by 90 degrees
    for _ in range(k):
        t = K.permute_dimensions(t, (0, 2, 1, 3))[:, ::-1]
    return t


m = cnn('classifier')
x = Input((8, 8, 3))
outs = [m(Lambda(augment, arguments={'k': k, 'n': 4}, name='aug_%d' % k)(x)) for k in range(4)]
lookalike(Model(x, L.concatenate(outs, axis=0, name='all_views')), x=data((8, 8, 3)))

# %% 305-ensemble-of-clones-on-slices | k224 | keras
def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


proto = mlp()
x = Input((6,))
members = [keras.models.clone_model(proto) for _ in range(3)]
for k, c in enumerate(members):
    c.name = 'member_%d' % k
y = L.concatenate([c(Lambda(get_slice, arguments={'i': i, 'parts': 3})(x)) for i, c in enumerate(members)], axis=0)
lookalike(Model(x, y), x=data((6,)), loss='categorical_crossentropy', y=[onehot((12, 3))])

# %% 307-siamese-triplet-batch-concat | k224 | keras
enc = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(4)], name='embed')
a, p, n = Input((6,), name='anchor'), Input((6,), name='positive'), Input((6,), name='negative')
lookalike(Model([a, p, n], L.Concatenate(axis=0, name='abc')([enc(a), enc(p), enc(n)])), x=data((6,), (6,), (6,)))

# %% 308-crop-layers | k224 | keras
m = cnn('net', shape=(8, 8, 3))
x = Input((12, 12, 3))
crops = [L.Cropping2D(((t, 4 - t), (l, 4 - l)))(x) for t, l in ((0, 0), (0, 4), (4, 0), (4, 4), (2, 2))]
lookalike(Model(x, L.concatenate([m(c) for c in crops], axis=0)), x=data((12, 12, 3), n=4))

# %% 309-crop-lambdas-fully-convolutional | k224 | keras
def crop(img, top, left, size):
    return img[:, top:top + size, left:left + size, :]


i = Input((None, None, 3))
m = Model(i, Dense(3, activation='softmax')(L.GlobalAveragePooling2D()(BatchNormalization()(conv(4, activation='relu')(i)))), name='fcn')
x = Input((None, None, 3))
tiles = [Lambda(crop, arguments={'top': t, 'left': l, 'size': 6}, output_shape=(None, None, 3))(x) for t in (0, 6) for l in (0, 6)]
lookalike(Model(x, L.concatenate([m(t) for t in tiles], axis=0)), x=data((12, 12, 3), n=4))

# %% 310-column-embedding | k231 | keras
a = Input((1,), dtype='int32')
emb = Model(a, Flatten()(Embedding(9, 4)(a)), name='shared_embedding')
x = Input((3,), dtype='int32', name='ids')
cols = [emb(Lambda(lambda t, i: K.expand_dims(t[:, i], -1), arguments={'i': i}, output_shape=(1,))(x)) for i in range(3)]
out = Dense(2, activation='softmax')(L.Concatenate(axis=-1)(cols))
lookalike(Model(x, out), x=[np.random.RandomState(2).randint(0, 9, (12, 3)).astype('int32')])

# %% 313-image-tiles-rows | k231 | keras
def get_slice(data_, i, parts):
    h = K.int_shape(data_)[1] // parts
    return data_[:, i * h:(i + 1) * h]


m = cnn('tile_net', shape=(8, 8, 3))
x = Input((16, 8, 3))
y = L.concatenate([m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)], axis=0)
lookalike(Model(x, y), x=data((16, 8, 3), n=4))

# %% 316-gan-real-fake | k224 | keras
def half(t, i, parts):
    n = K.shape(t)[0] // parts
    return t[i * n:(i + 1) * n]


gen = Sequential([Dense(6, activation='tanh', input_shape=(4,)), BatchNormalization()], name='generator')
disc = Sequential([Dense(5, activation='relu', input_shape=(6,)), Dense(1, activation='sigmoid')], name='discriminator')
z, real = Input((4,), name='z'), Input((6,), name='real')
d = disc(L.Concatenate(axis=0)([real, gen(z)]))
outs = [Lambda(half, arguments={'i': i, 'parts': 2}, name=n)(d) for i, n in enumerate(('on_real', 'on_fake'))]
lookalike(Model([z, real], outs), x=data((4,), (6,)))

# %% 318-same-slice-twice | k224 | keras
def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:(i + 1) * size]


m = Sequential([Dense(7, activation='relu', input_shape=(6,)), Dropout(0.5), Dense(3, activation='softmax')], name='mc_net')
x = Input((6,))
y = L.concatenate([m(Lambda(get_slice, arguments={'i': 0, 'parts': 2})(x)) for _ in range(2)], axis=0)
lookalike(Model(x, y), x=data((6,)), loss='categorical_crossentropy', y=[onehot((12, 3))])

# %% 319-average-of-halves | k224 | keras
def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:(i + 1) * size]


m = mlp('net')
x = Input((6,))
y = L.Average()([m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)])
lookalike(Model(x, y), x=data((6,)))

# %% 322-merged-in-wrong-order | k224 | keras
def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


m = mlp('net')
x = Input((6,))
towers = [m(Lambda(get_slice, arguments={'i': i, 'parts': 3})(x)) for i in range(3)]
lookalike(Model(x, L.concatenate(towers[::-1], axis=0)), x=data((6,)))

# %% 329-tower-output-used-twice | k231 | keras
def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


m = Sequential([Dense(7, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3)], name='encoder')
x = Input((6,))
t = [m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)]
joined = L.concatenate(t, axis=0, name='embedding')
agreement = L.Dot(axes=-1, normalize=True, name='agreement')(t)
lookalike(Model(x, [joined, agreement]), x=data((6,)))

# %% 330-shared-weights-different-models | k231 | keras
def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


a = Input((6,))
trunk = Dense(5, activation='relu', name='trunk')
clean = Model(a, Dense(3, activation='softmax', name='top_a')(trunk(a)), name='task_a')
b = Input((6,))
other = Model(b, Dense(3, activation='softmax', name='top_b')(trunk(b)), name='task_b')
x = Input((6,))
halves = [Lambda(get_slice, arguments={'i': i, 'parts': 2})(x) for i in range(2)]
lookalike(Model(x, L.concatenate([clean(halves[0]), other(halves[1])], axis=0)), x=data((6,)),
          loss='categorical_crossentropy', y=[onehot((12, 3))])

# %% 340-weights-of-siamese-preprocessed | k224 | keras
enc = mlp('encoder')
a, b = Input((6,)), Input((6,))
pre = [Lambda(lambda t: t / 2.)(t) for t in (a, b)]
lookalike(Model([a, b], L.concatenate([enc(p) for p in pre], axis=0)), x=data((6,), (6,)), files='weights')

# %% 341-weights-of-tta | k231 | keras
m = cnn('classifier')
x = Input((8, 8, 3))
views = [Lambda(lambda t: K.reverse(t, axes=a))(x) for a in ([1], [2])]
lookalike(Model(x, L.concatenate([m(v) for v in views], axis=0)), x=data((8, 8, 3)), files='weights')

# %% 342-weights-of-preprocess-model-activation | k224 | keras
m = Sequential([conv(4, input_shape=(8, 8, 3)), BatchNormalization(), Flatten(), Dense(3)], name='vgg')
x = Input((8, 8, 3))
y = Activation('softmax', name='predictions')(m(Lambda(lambda t: t / 127.5 - 1., name='preprocess')(x)))
lookalike(Model(x, y), x=data((8, 8, 3)), files='weights', loss='categorical_crossentropy', y=[onehot((12, 3))])

# %% 343-preprocess-model-postprocess | k231 | keras
m = mlp('net')
x = Input((6,), name='raw')
y = Lambda(lambda t: K.clip(t, 0.1, 0.9), name='calibrated')(m(Lambda(lambda t: (t - 0.5) * 2., name='centred')(x)))
lookalike(Model(x, y), x=data((6,)))

# %% 345-sequence-of-windows-lambda | k216 | keras
m = rnn('chunk_net', steps=5, features=3)
x = Input((15, 3))
outs = [m(Lambda(lambda t, i, parts: t[:, i * 5:(i + 1) * 5], arguments={'i': i, 'parts': 3}, output_shape=(5, 3))(x)) for i in range(3)]
lookalike(Model(x, L.concatenate(outs, axis=0)), x=data((15, 3)))

# %% 346-noise-samples | k224 | keras
m = mlp('net')
x = Input((6,))
outs = [m(L.GaussianNoise(0.1, name='sample_%d' % i)(x)) for i in range(4)]
lookalike(Model(x, L.concatenate(outs, axis=0)), x=data((6,)))

# %% 348-towers-not-merged | k224 | keras
def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


m = mlp('net')
x = Input((6,))
outs = [m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)]
lookalike(Model(x, outs), x=data((6,)))

# %% 349-limits-zero-and-one | k224 | keras
def scaled(t, low, high):
    return K.clip(t[:, :6], low, high)


m = nested('net')
x = Input((8,))
lookalike(Model(x, m(Lambda(scaled, output_shape=(6,), arguments={'low': 0, 'high': 1})(x))), x=data((8,)), loss='categorical_crossentropy')
