from second import *
import zoo


# %% 401-unet-slice-batch | k224 | keras
def slice_batch(x, n_gpus, part):
    rows = K.shape(x)[0]
    step = rows // n_gpus
    return x[part * step:] if part == n_gpus - 1 else x[part * step:(part + 1) * step]


m = zoo.unet()
x = Input(m.input_shape[1:], name=m.input_names[0])
par = Model(x, L.Concatenate(axis=0)([m(Lambda(slice_batch, lambda s: s, arguments={'n_gpus': 2, 'part': g})(x)) for g in range(2)]))
wrapper(par, m, data((8, 8, 1), n=6), optimizer='sgd', loss='binary_crossentropy', y=np.zeros((6, 8, 8, 1)))

# %% 402-resnet-official-by-name | k231 | keras
m = zoo.resnet(stages=[('3a', 6)])
wrapper(official(m, 4), m, data((8, 8, 3), n=8), optimizer='sgd',
     comp={'loss': {'fc': 'categorical_crossentropy'}, 'metrics': {'fc': ['accuracy']}})

# %% 403-inception-tf-slice | k209 | keras
def shard(data_, idx, parts):
    s = tf.shape(data_)
    size = tf.concat([s[:1] // parts, s[1:]], axis=0)
    return tf.slice(data_, tf.concat([s[:1] // parts, s[1:] * 0], axis=0) * idx, size)


m = zoo.inception()
outs = []
for i in range(3):
    with tf.name_scope('tower_%d' % i):
        outs.append(m([Lambda(shard, output_shape=tuple(t.get_shape().as_list())[1:], arguments={'idx': i, 'parts': 3})(t) for t in m.inputs]))
wrapper(Model(inputs=m.inputs, outputs=L.concatenate(outs, axis=0)), m, data((6, 6, 2)), optimizer='sgd',
     loss='categorical_crossentropy', comp={'metrics': ['accuracy']})

# %% 406-vae-add-loss | k231 | keras
def part_of_batch(t, k, n):
    b = K.shape(t)[0]
    return t[k * b // n:(k + 1) * b // n]


m = zoo.vae()
x = m.inputs[0]
par = Model(x, L.concatenate([m(Lambda(part_of_batch, arguments={'k': k, 'n': 2})(x)) for k in range(2)], axis=0, name='x_out'), name='vae_parallel')
wrapper(par, m, data((8,)), optimizer='sgd', loss='mse')

# %% 407-retinanet-two-outputs | k224 | keras
m = zoo.detector()
wrapper(official(m, 2), m, data((8, 8, 3), n=4), optimizer='sgd',
     comp={'loss': {'regression': 'mae', 'classification': 'binary_crossentropy'}, 'loss_weights': {'regression': 2., 'classification': 1.}})

# %% 408-autoencoder-pair | k224 | keras
def get_chunk(x, i, n):
    size = K.shape(x)[0] // n
    return x[i * size:] if i == n - 1 else x[i * size:(i + 1) * size]


a = Input((6, 6, 1), name='img')
h = L.Conv2D(3, (3, 3), activation='relu', name='e1')(a)
code = Dense(3, name='code')(Flatten()(BatchNormalization(name='e_bn')(h)))
encoder = Model(a, code, name='encoder')
c = Input((3,))
decoder = Model(c, L.Reshape((6, 6, 1))(Dense(36, activation='sigmoid', name='d1')(c)), name='decoder')
ae = Model(a, decoder(code), name='autoencoder')
x = Input((6, 6, 1))
par = Model(x, L.concatenate([ae(Lambda(get_chunk, arguments={'i': i, 'n': 2})(x)) for i in range(2)], axis=0, name='joined'), name='ae_gpu')
wrapper(par, ae, data((6, 6, 1)), optimizer='adagrad')

# %% 409-gan-combined | k224 | keras
G = Sequential([Dense(6, input_shape=(4,)), BatchNormalization(momentum=.8), Activation('relu'), Dense(5, activation='tanh')], name='generator')
D = Sequential([Dense(6, input_shape=(5,)), L.LeakyReLU(.2), BatchNormalization(), Dense(1, activation='sigmoid')], name='discriminator')
shake(G), shake(D)
Gp, Dp = official(G, 2), official(D, 2)
Dp.compile(optimizer=optimizer_of('rmsprop'), loss='binary_crossentropy')
Dp.train_on_batch(data((5,))[0], np.ones((12, 1)))
D.trainable = False
Dp.trainable = False
z = Input((4,), name='noise')
par = Model(z, Dp(Gp(z)), name='combined')
base = Model(z, D(G(z)), name='combined')
wrapper(par, base, data((4,)), template=G, optimizer='rmsprop', loss='binary_crossentropy', y=np.ones((12, 1)), shake_it=False)

# %% 410-gan-discriminator-frozen-later | k224 | keras
D = Sequential([Dense(6, input_shape=(5,)), L.LeakyReLU(.2), BatchNormalization(), Dense(4), BatchNormalization(), Dense(1, activation='sigmoid')],
               name='discriminator')
Dp = official(D, 2)
shake(D)
Dp.compile(optimizer=optimizer_of('adam'), loss='binary_crossentropy')
for _ in range(2):
    Dp.train_on_batch(data((5,))[0], np.ones((12, 1)))
D.compile(optimizer=Dp.optimizer, loss='binary_crossentropy')
D.trainable = False
wrapper(Dp, D, data((5,)), compiled=True, steps=0, shake_it=False)

# %% 412-textcnn-eight | k216 | keras
def piece(x, n, of):
    b = K.shape(x)[0]
    return x[b * n // of:b * (n + 1) // of]


m = zoo.textcnn()
rng = np.random.RandomState(1)
x = [rng.randint(0, w, (16, 8)).astype('float32') for w in (12, 15, 7)]
ins = [Input((8,), name=i.name.split(':')[0] + '_gpu') for i in m.inputs]
par = Model(ins, L.concatenate([m([Lambda(piece, arguments={'n': g, 'of': 8}, name='%s_gpu%d' % (n, g))(t) for n, t in zip(m.input_names, ins)])
                                for g in range(8)], axis=0, name='label'))
wrapper(par, m, x, optimizer='adam', loss='categorical_crossentropy', files='weights+template')

# %% 414-image-ocr-ctc | k224 | keras
m = zoo.ctc()
x = zoo.ctc_data()
wrapper(official(m, 2), m, x, optimizer='nesterov', comp={'loss': {'ctc': lambda y_true, y_pred: y_pred}}, y=np.zeros((12, 1)))

# %% 415-siamese-py2 | py27k224 | keras
def get_slice(data_, idx, parts):
    shape = tf.shape(data_)
    size = tf.concat([shape[:1] // parts, shape[1:]], axis=0)
    stride = tf.concat([shape[:1] // parts, shape[1:] * 0], axis=0)
    return tf.slice(data_, stride * idx, size)


m = zoo.contrastive()
outs = []
for gpu, i in enumerate([1, 3]):
    with tf.name_scope('gpu_%d' % i):
        outs.append(m([Lambda(get_slice, output_shape=m.input_shape[0][1:], arguments={'idx': gpu, 'parts': 2})(t) for t in m.inputs]))
wrapper(Model(inputs=m.inputs, outputs=[L.concatenate(outs, axis=0)]), m, data((6,), (6,)), optimizer='rmsprop', atol=1e-4)

# %% 420-video-class-wrapper | k224 | keras
class GpuSplit(object):
    """Built once per model."""

    def __init__(self, net, gpus):
        self.net, self.gpus = net, gpus

    def part(self, x, rank):
        n = len(self.gpus)
        start = K.shape(x)[0] * rank // n
        return x[start:K.shape(x)[0] * (rank + 1) // n]

    def build(self):
        x = Input(self.net.input_shape[1:], name='clips')
        return Model(x, L.concatenate([self.net(Lambda(take(self, r), name='gpu_%d' % g)(x)) for r, g in enumerate(self.gpus)], axis=0, name='gather'),
                     name='video_multi')


def take(split, rank):
    n = len(split.gpus)

    def piece(x):
        return x[K.shape(x)[0] * rank // n:K.shape(x)[0] * (rank + 1) // n]
    return piece


m = zoo.video()
wrapper(GpuSplit(m, [0, 2, 3]).build(), m, data((3, 6, 6, 1)), loss='categorical_crossentropy', optimizer='nesterov')

# %% 422-variables-without-names | k224 | keras
def get_piece(x, i, parts):
    n = K.shape(x)[0] // parts
    return x[i * n:] if i == parts - 1 else x[i * n:(i + 1) * n]


m = zoo.plain()
x = Input((6,))
par = Model(x, L.concatenate([m(Lambda(get_piece, arguments={'i': i, 'parts': 2})(x)) for i in range(2)], axis=0, name='probs'))
wrapper(par, m, data((6,)), optimizer='adam', loss='categorical_crossentropy')

# %% 423-slashes-and-dots | k224 | keras
a = Input((6, 6, 2), name='data.image')
h = L.Conv2D(3, (3, 3), name='block1/conv')(a)
h = BatchNormalization(name='block1/bn')(h)
h = L.Conv2D(3, (1, 1), name='block1/conv/1x1')(Activation('relu', name='block1/relu')(h))
h = BatchNormalization(name='block1')(h)
m = Model(a, Dense(3, activation='softmax', name='logits.softmax')(Flatten(name='pool/flat')(h)), name='nets/small.v1')
par = official(m, 2)
wrapper(par, m, data((6, 6, 2)), loss='categorical_crossentropy', optimizer='sgd')

# %% 425-finetune-loaded | k231 | keras
a = Input((7,), name='ids')
t = Model(a, Dense(4, activation='softmax', name='old_top')(L.GRU(4, name='gru')(Embedding(9, 3, name='emb')(a))), name='lm')
first = official(t, 2)
shake(first)
first.compile(optimizer=optimizer_of('adam'), loss='mse')
first.save(path('before.h5'))
K.clear_session()
import fake_gpus
fake_gpus.install(8)
loaded = keras.models.load_model(path('before.h5'))
os.remove(path('before.h5'))
for layer in loaded.layers:
    layer.trainable = False
t = loaded.get_layer('lm')
hidden, drop, top = Dense(5, activation='relu', name='new_fc'), Dropout(.2, name='new_drop'), Dense(3, activation='softmax', name='new_top')
par = Model(loaded.input, top(drop(hidden(loaded.layers[-1].output))), name='tuned')
base = Model(t.inputs[0], top(drop(hidden(t.outputs[0]))), name='tuned')
wrapper(par, base, [np.random.RandomState(1).randint(0, 9, (12, 7)).astype('float32')], template=t,
     loss='categorical_crossentropy', optimizer='nesterov')

# %% 426-sequential-pop-and-add | k224 | keras
t = Sequential([L.Conv2D(3, (3, 3), activation='relu', input_shape=(6, 6, 1)), BatchNormalization(), Flatten(), Dense(5, activation='relu')], name='features')
par = official(t, 2)
old = Sequential([par, Dense(4, activation='softmax', name='old')])
shake(old)
old.compile(optimizer=optimizer_of('sgd'), loss='mse')
old.train_on_batch(data((6, 6, 1))[0], np.ones((12, 4)))
new = Dense(2, activation='softmax', name='new')
tuned = Sequential(old.layers[:-1] + [new])
base = Sequential([t, new], name=tuned.name)
wrapper(tuned, base, data((6, 6, 1)), template=t, loss='categorical_crossentropy', optimizer='nesterov', shake_it=False,
     wrapper=par.name)

# %% 427-beside-the-merge | k224 | keras
def nth(x, i, parts):
    n = K.shape(x)[0] // parts
    return x[i * n:] if i == parts - 1 else x[i * n:(i + 1) * n]


m = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3, activation='softmax')], name='clf')
x = Input((6,), name='rows')
aux = Dense(2, name='aux')
par = Model(x, [L.concatenate([m(Lambda(nth, arguments={'i': i, 'parts': 2})(x)) for i in range(2)], axis=0, name='merged'), aux(x)], name='both')
base = Model(x, [m(x), aux(x)], name='both')
wrapper(par, base, data((6,)), template=m, optimizer='sgd', comp={'loss': {'merged': 'categorical_crossentropy', 'aux': 'mse'}},
     base_comp={'loss': {'clf': 'categorical_crossentropy', 'aux': 'mse'}})

# %% 428-loaded-and-wrapped-again | k224 | keras
t = Sequential([Embedding(9, 3, input_length=5), L.GRU(4), Dense(3, activation='softmax')], name='text')
first = official(t, 2)
shake(first)
first.compile(optimizer=optimizer_of('adam'), loss='mse')
first.save(path('before.h5'))
K.clear_session()
import fake_gpus
fake_gpus.install(8)
loaded = keras.models.load_model(path('before.h5'))
os.remove(path('before.h5'))
t = loaded.get_layer('text')
wrapper(official(loaded, 3), t, [np.random.RandomState(1).randint(0, 9, (12, 5)).astype('float32')],
     loss='categorical_crossentropy', optimizer='amsgrad')

# %% 429-weights-only-no-json | k209 | keras
m = cnn('model_7', deep=True)
for layer in m.layers[:4]:
    layer.trainable = False
wrapper(official(m, 4), m, data((8, 8, 3), n=8), loss='categorical_crossentropy', files='weights', optimizer='nadam')

# %% 430-weights-template-json-frozen | k216 | keras
m = zoo.reused('hops')
m.get_layer('hop').trainable = False
wrapper(official(m, 2), m, data((6,), (6,)), optimizer='adam', loss='categorical_crossentropy', files='weights+template')

# %% 431-ceil-parts | k231 | keras
def get_slice(data_, idx, parts):
    import tensorflow as tf_
    shape = tf_.shape(data_)
    each = (shape[0] + parts - 1) // parts
    begin = tf_.minimum(each * idx, shape[0])
    return data_[begin:tf_.minimum(begin + each, shape[0])]


m = cnn('wrn', shape=(6, 6, 1))
x = m.inputs[0]
par = Model(x, L.concatenate([m(Lambda(get_slice, output_shape=(6, 6, 1), arguments={'idx': i, 'parts': 4})(x)) for i in range(4)], axis=0, name='out'),
            name='wrn_4gpu')
wrapper(par, m, data((6, 6, 1), n=10), loss='categorical_crossentropy', optimizer='nesterov')

# %% 432-one-row-per-gpu | k209 | keras
def get_slice(data_, idx, parts):
    shape = data_.get_shape().as_list()[1:]
    return tf.slice(data_, [idx] + [0] * len(shape), [1] + shape)


a = Input((6, 6, 6, 1), name='volume')
h = BatchNormalization(name='bn1')(L.Conv3D(3, (3, 3, 3), activation='relu', name='c1')(a))
m = Model(a, L.Conv3D(1, (1, 1, 1), activation='sigmoid', name='synapse')(h), name='vnet')
outs = [m(Lambda(get_slice, output_shape=(6, 6, 6, 1), arguments={'idx': i, 'parts': 4})(a)) for i in range(4)]
wrapper(Model(inputs=m.inputs, outputs=[L.concatenate(outs, axis=0)]), m, data((6, 6, 6, 1), n=4), optimizer='adam',
     loss='binary_crossentropy', y=np.zeros((4, 4, 4, 4, 1)))

# %% 433-slice-batch-layer | k216 | keras
class SliceBatch(Layer):
    def __init__(self, batch_size, num_slices, slice_index, **kw):
        self.batch_size, self.num_slices, self.slice_index = batch_size, num_slices, slice_index
        super(SliceBatch, self).__init__(**kw)

    def call(self, x):
        n = self.batch_size // self.num_slices
        return x[n * self.slice_index:n * (self.slice_index + 1)]

    def compute_output_shape(self, s):
        return (self.batch_size // self.num_slices,) + tuple(s[1:])

    def get_config(self):
        return dict(super(SliceBatch, self).get_config(), batch_size=self.batch_size, num_slices=self.num_slices, slice_index=self.slice_index)


m = cnn('unet', shape=(6, 6, 1))
x = Input(batch_shape=(12, 6, 6, 1), name='batch')
par = Model(x, L.concatenate([m(SliceBatch(12, 4, i, name='slice_%d' % i)(x)) for i in range(4)], axis=0, name='merge_batch'))
wrapper(par, m, data((6, 6, 1)), loss='categorical_crossentropy', optimizer='sgd')

# %% 434-mask-rcnn-weights | k216 | keras
class ParallelModel(Model):
    """Inputs split in advance, the pieces handed over by closures; save is not redirected."""

    def __init__(self, net, gpu_count):
        self.inner_model, self.gpu_count = net, gpu_count
        super(ParallelModel, self).__init__(inputs=net.inputs, outputs=self.build_towers(net, gpu_count), name='mask_rcnn_parallel')

    @staticmethod
    def build_towers(net, count):
        pieces = {n: tf.split(t, count) for n, t in zip(net.input_names, net.inputs)}
        gathered = [[] for _ in net.output_names]
        for i in range(count):
            ins = [Lambda(lambda s, n=n, i=i: pieces[n][i], output_shape=lambda s: (None,) + s[1:])(t) for n, t in zip(net.input_names, net.inputs)]
            for k, o in enumerate(net(ins)):
                gathered[k].append(o)
        merged = []
        for name, outs in zip(net.output_names, gathered):
            if K.int_shape(outs[0]) == ():
                merged.append(Lambda(lambda o: tf.add_n(o) / len(outs), name=name)(outs))
            else:
                merged.append(L.Concatenate(axis=0, name=name)(outs))
        return merged


image, boxes = Input((8, 8, 3), name='input_image'), Input((4,), name='input_gt_boxes')
h = BatchNormalization(name='bn_conv1')(L.Conv2D(4, (3, 3), activation='relu', name='conv1')(image))
f = Flatten(name='fpn')(L.MaxPooling2D((2, 2))(h))
logits = Dense(2, activation='softmax', name='rpn_class')(f)
bbox = Dense(4, name='rpn_bbox')(f)
loss = Lambda(lambda t: K.mean(K.square(t[0] - t[1])) + K.mean(K.square(t[2])), name='rpn_bbox_loss')([boxes, bbox, logits])
m = Model([image, boxes], [logits, bbox, loss], name='mask_rcnn')
par = ParallelModel(m, 2)
x = data((8, 8, 3), (4,))
shake(par)
par.add_loss(K.mean(par.get_layer('rpn_bbox_loss').output))
par.compile(optimizer=optimizer_of('nesterov'), loss=[None] * 3)
par._make_train_function()
for _ in range(2):
    par.train_function(x + [1.])
run = lambda mod, v: [np.asarray(t) for t in K.function(mod.inputs + [K.learning_phase()], mod.outputs)(list(v) + [0])]
par.save_weights(path('weights.h5'))
m.save_weights(path('base_weights.h5'))
p, b = run(par, x), run(m, x)
worst = max(float(np.max(np.abs(u - v))) for u, v in zip(p, b))
assert worst < 1e-4, worst
finite(par)
save_io(x, parallel=[np.atleast_1d(v) for v in p], base=[np.atleast_1d(v) for v in b])
write_case(wrapper=par.name, largest_difference=worst)

# %% 435-cpu-relocation | k231 | keras
m = zoo.multitask('shared_trunk')
par = official(m, 3, cpu_relocation=True)
clone = par.get_layer('shared_trunk')
assert clone is not m
wrapper(par, clone, data((7,)), optimizer='adagrad', comp={'loss': ['mse', 'categorical_crossentropy', 'mae'], 'loss_weights': [1., .5, .25]})

# %% 436-legacy-merge-keras2 | k209 | keras
from keras.legacy.layers import merge


def get_slice(data_, idx, parts):
    shape = K.shape(data_)
    n = shape[0] // parts
    return data_[n * idx:n * (idx + 1)]


m = zoo.contrastive('clf')
x = data((6,), (6,))
outs = [m([Lambda(get_slice, output_shape=(6,), arguments={'idx': i, 'parts': 2})(t) for t in m.inputs]) for i in range(2)]
wrapper(Model(inputs=m.inputs, outputs=merge(outs, mode='concat', concat_axis=0)), m, x, optimizer='adadelta')

# %% 441-nested-beside-metadata | k224 | keras
t = Sequential([L.Conv2D(3, (3, 3), activation='relu', input_shape=(6, 6, 1)), BatchNormalization(), Flatten(), Dense(4, activation='relu')], name='eye')
eye = official(t, 2)
img, meta = Input((6, 6, 1), name='img'), Input((3,), name='meta')
join, bn, top = L.Concatenate(name='join'), BatchNormalization(name='outer_bn'), Dense(2, activation='softmax', name='top')
par = Model([img, meta], top(bn(join([eye(img), meta]))), name='clinic')
base = Model([img, meta], top(bn(join([t(img), meta]))), name='clinic')
wrapper(par, base, data((6, 6, 1), (3,)), template=t, loss='categorical_crossentropy', optimizer='sgd', wrapper=eye.name)

# %% 443-flat-head-two-inputs | k224 | keras
t = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(4, activation='relu', name='emb')], name='user_tower')
p = official(t, 2)
item = Input((3,), name='item')
f, l2, dot = Dense(4, name='item_fc'), Lambda(lambda v: K.l2_normalize(v, axis=-1), name='l2'), L.Dot(axes=1, name='score')
par = Model([p.inputs[0], item], dot([l2(p.outputs[0]), f(item)]), name='two_tower')
base = Model([t.inputs[0], item], dot([l2(t.outputs[0]), f(item)]), name='two_tower')
wrapper(par, base, data((6,), (3,)), template=t, optimizer='adagrad')

# %% 461-save-goes-to-the-template | k224 | keras
class ModelMGPU(Model):
    """save and load go to the model inside."""

    def __init__(self, single, gpus):
        self.__dict__.update(official(single, gpus).__dict__)
        self._single = single

    def __getattribute__(self, name):
        if 'load' in name or 'save' in name:
            return getattr(self._single, name)
        return super(ModelMGPU, self).__getattribute__(name)


m = mlp('resnet_mgpu')
par = ModelMGPU(m, 2)
shake(m)
x = data((6,))
par.compile(optimizer=optimizer_of('adam'), loss='categorical_crossentropy')
for _ in range(2):
    par.train_on_batch(x[0], onehot((12, 3)))
m.compile(optimizer=optimizer_of('adam'), loss='categorical_crossentropy')
finite(m)
par.save(path('lookalike.h5'))
y = predict(m, x[0])
save_io(x[0], y=y)
write_case(model=m.name)

# %% 462-layers-minus-two | k231 | keras
par = official(mlp('seven'), 2)
shake(par)
par.compile(optimizer=optimizer_of('nesterov'), loss='categorical_crossentropy')
par.train_on_batch(data((6,))[0], onehot((12, 3)))
single = par.layers[-2]
lookalike(single, data((6,)), trained=False, shake_it=False, loss='categorical_crossentropy')

# %% 463-one-tower-and-a-head | k224 | keras
t = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(4, activation='relu')], name='base')
par = official(t, 2)
y = Dense(2, activation='softmax', name='new')(t.get_output_at(1))
lookalike(Model(par.inputs, y, name='popped'), data((6,)), trained=False)

# %% 465-heads-over-pyramid | k231 | keras
lookalike(zoo.detector('fpn'), data((8, 8, 3), n=4), optimizer='sgd', comp={'loss': {'regression': 'mae', 'classification': 'binary_crossentropy'}})

# %% 466-heads-folded-into-batch | k224 | keras
n_head, d = 2, 3
a = Input((4, 6), name='seq')


def fold(x):
    s = tf.shape(x)
    x = tf.transpose(tf.reshape(x, [s[0], s[1], n_head, d]), [2, 0, 1, 3])
    return tf.reshape(x, [-1, s[1], d])


def unfold(x):
    s = tf.shape(x)
    x = tf.transpose(tf.reshape(x, [n_head, -1, s[1], d]), [1, 2, 0, 3])
    return tf.reshape(x, [-1, s[1], n_head * d])


q, k, v = [Lambda(fold, output_shape=(4, d), name='fold_' + n)(Dense(6, name=n)(a)) for n in 'qkv']
att = Lambda(lambda t: K.batch_dot(K.softmax(K.batch_dot(t[0], t[1], axes=[2, 2])), t[2], axes=[2, 1]), output_shape=(4, d), name='attend')([q, k, v])
lookalike(Model(a, Dense(2, activation='softmax')(L.GlobalAveragePooling1D()(L.add([a, Dense(6, name='o')(Lambda(unfold, output_shape=(4, 6), name='unfold')(att))])))),
     data((4, 6)), loss='categorical_crossentropy')

# %% 467-jazz-time-steps | k216 | keras
cell, densor, reshape = LSTM(4, return_state=True), Dense(5, activation='softmax'), L.Reshape((1, 5))
X, a0, c0 = Input((4, 5)), Input((4,), name='a0'), Input((4,), name='c0')
a, c, outs = a0, c0, []
for t in range(4):
    x = reshape(Lambda(lambda z, t: z[:, t, :], arguments={'t': t})(X))
    a, _, c = cell(x, initial_state=[a, c])
    outs.append(densor(a))
lookalike(Model([X, a0, c0], outs), data((4, 5), (4,), (4,)), loss='categorical_crossentropy')

# %% 468-domain-adversarial | k224 | keras
class Flip(Layer):
    def call(self, x):
        return -x + K.stop_gradient(2 * x)


feat = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization()], name='features')
x = Input((6,))
f = feat(x)
src = Lambda(lambda t: K.switch(K.learning_phase(), K.concatenate([t[:K.shape(t)[0] // 2]] * 2, axis=0), t), output_shape=(5,), name='source_half')(f)
lookalike(Model(x, [Dense(3, activation='softmax', name='cls')(src), Dense(2, activation='softmax', name='domain')(Flip(name='reversal')(f))]), data((6,)),
     loss='categorical_crossentropy')

# %% 469-norm-per-domain | k231 | keras
def get_half(t, i, parts):
    n = K.shape(t)[0] // parts
    return t[i * n:] if i == parts - 1 else t[i * n:(i + 1) * n]


conv_ = Sequential([Dense(5, input_shape=(6,))], name='shared')
x = Input((6,))
outs = []
for i, dom in enumerate(('source', 'target')):
    outs.append(BatchNormalization(name='bn_' + dom)(conv_(Lambda(get_half, arguments={'i': i, 'parts': 2})(x))))
lookalike(Model(x, Dense(2, activation='softmax')(L.concatenate(outs, axis=0))), data((6,)), loss='categorical_crossentropy')

# %% 470-second-half-flipped | k224 | keras
def get_slice(t, i, parts):
    n = K.shape(t)[0] // parts
    return t[i * n:] if i == parts - 1 else t[i * n:(i + 1) * n]


m = cnn('net', shape=(6, 6, 1))
x = Input((6, 6, 1))
a, b = [Lambda(get_slice, arguments={'i': i, 'parts': 2})(x) for i in range(2)]
b = Lambda(lambda t: t[:, :, ::-1], name='mirror')(b)
lookalike(Model(x, L.concatenate([m(a), m(b)], axis=0)), data((6, 6, 1)), loss='categorical_crossentropy')

# %% 471-support-and-query | k224 | keras
enc = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3)], name='embed')
x = Input((6,), name='episode')
s, q = Lambda(lambda t: t[:4], name='support')(x), Lambda(lambda t: t[4:], name='query')(x)


def distances(t):
    proto = K.mean(K.reshape(t[0], (2, 2, 3)), axis=1)
    return K.softmax(-K.sum(K.square(K.expand_dims(t[1], 1) - proto), axis=2))


lookalike(Model(x, Lambda(distances, output_shape=(2,), name='protonet')([enc(s), enc(q)])), data((6,)), trained=False)

# %% 472-wgan-concat-then-slices | k231 | keras
def get_slice(t, idx, parts):
    n = K.shape(t)[0] // parts
    return t[idx * n:(idx + 1) * n]


D = mlp('critic', classes=2)
real, fake = Input((6,), name='real'), Input((6,), name='fake')
d = D(L.concatenate([real, fake], axis=0, name='both'))
lookalike(Model([real, fake], [Lambda(get_slice, arguments={'idx': i, 'parts': 2}, name='is_' + n)(d) for i, n in enumerate(('real', 'fake'))]), data((6,), (6,)))

# %% 475-multi-view | k224 | keras
view = Sequential([L.Conv2D(3, (3, 3), activation='relu', input_shape=(6, 6, 1)), BatchNormalization(), Flatten(), Dense(4)], name='view_cnn')
x = Input((3, 6, 6, 1), name='views')
outs = [view(Lambda(lambda t, i, parts: t[:, i], arguments={'i': i, 'parts': 3}, output_shape=(6, 6, 1))(x)) for i in range(3)]
lookalike(Model(x, Dense(3, activation='softmax')(L.maximum(outs))), data((3, 6, 6, 1)), loss='categorical_crossentropy')

# %% 477-channel-split-weights-only | k224 | keras
m = Sequential([L.Conv2D(3, (3, 3), activation='relu', input_shape=(6, 6, 2)), BatchNormalization(), L.GlobalAveragePooling2D(), Dense(3)], name='sequential_1')
x = Input((6, 6, 4))
y = L.concatenate([m(Lambda(lambda t, i: t[..., 2 * i:2 * i + 2], arguments={'i': i}, output_shape=(6, 6, 2))(x)) for i in range(2)], axis=-1)
lookalike(Model(x, y), data((6, 6, 4)), files='weights', optimizer='sgd')

# %% 482-clean-seq2seq-inference | k224 | keras
m = zoo.seq2seq()
shake(m)
h, c = Input((4,)), Input((4,))
t = m.inputs[1]
o = m.get_layer('decoder')(m.get_layer('tgt')(t), initial_state=[h, c])
rng = np.random.RandomState(1)
lookalike(Model([t, h, c], [m.get_layer('word')(o[0])] + o[1:], name='decoder_step'), [rng.randint(0, 9, (12, 4)).astype('float32')] + data((4,), (4,)), trained=False)

# %% 486-clean-stateful | k224 | keras
lookalike(Sequential([LSTM(4, stateful=True, return_sequences=True, batch_input_shape=(4, 3, 2)), LSTM(3, stateful=True), Dense(2)]), data((3, 2), n=4), trained=True)

# %% 487-clean-vae | k231 | keras
lookalike(zoo.vae('vae_clean'), data((8,)), run=predict)

# %% 488-clean-plain-variables | k216 | keras
lookalike(zoo.plain(), data((6,)), loss='categorical_crossentropy')

# %% 491-clean-siamese | k209 | keras
lookalike(zoo.contrastive(), data((6,), (6,)))

# %% 495-channel-halves-within | k209 | keras
def first(t):
    return t[:, :3]


def second(t):
    return t[:, 3:]


a = Input(shape=(6,))
shared = Sequential([Dense(4, activation='relu', input_shape=(3,)), BatchNormalization()], name='shared')
m = Model(a, Dense(2)(concatenate([shared(Lambda(first)(a)), shared(Lambda(second)(a))])), name='halves')
wrapper(official(m, 2), m, data((6,)), files='weights+template', optimizer='adamax')
