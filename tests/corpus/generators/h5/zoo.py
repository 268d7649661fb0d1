"""Small models of the kinds people wrapped. Keras 2 in all its stacks; nothing here slices a batch."""
from common import *

C = lambda n, k=3, **kw: L.Conv2D(n, (k, k), **dict({'padding': 'same'}, **kw))


def unet(name='unet', size=8):
    a = Input((size, size, 1), name='image')
    d1 = C(3, activation='relu', name='down1')(a)
    d2 = C(4, activation='relu', name='down2')(L.MaxPooling2D((2, 2))(d1))
    b = L.Dropout(.2)(C(5, activation='relu', name='bottom')(L.MaxPooling2D((2, 2))(d2)))
    u2 = L.concatenate([L.Conv2DTranspose(4, (2, 2), strides=(2, 2), padding='same', name='up2')(b), d2], axis=3)
    u2 = C(4, activation='relu')(u2)
    u1 = L.concatenate([L.UpSampling2D((2, 2))(u2), d1], axis=3)
    return Model(a, C(1, 1, activation='sigmoid', name='mask')(C(3, activation='relu')(u1)), name=name)


def resnet(name='resnet', classes=4, out='fc', stages=(('2a', 4), ('3a', 6))):
    a = Input((8, 8, 3))
    h = BatchNormalization(name='bn_conv1')(C(4, name='conv1', use_bias=False)(a))
    h = Activation('relu')(h)
    for s, n in stages:
        r = Activation('relu')(BatchNormalization(name='bn%s_2a' % s)(C(n, name='res%s_2a' % s)(h)))
        r = BatchNormalization(name='bn%s_2b' % s)(C(n, name='res%s_2b' % s)(r))
        if s == '3a':
            h = BatchNormalization(name='bn%s_1' % s, scale=False)(C(n, 1, name='res%s_1' % s)(h))
        h = Activation('relu')(L.add([r, h]))
    return Model(a, Dense(classes, activation='softmax', name=out)(L.GlobalAveragePooling2D()(h)), name=name)


def inception(name='inception', freeze=False):
    a = Input((6, 6, 2))
    bn = lambda t: Activation('relu')(BatchNormalization(axis=3, scale=False)(t))
    h = bn(C(3, use_bias=False)(a))
    mixed = L.concatenate([bn(C(2, 1, use_bias=False)(h)), bn(C(3, 3, use_bias=False)(h)),
                           bn(C(2, 1, use_bias=False)(L.AveragePooling2D((3, 3), strides=(1, 1), padding='same')(h)))], axis=3, name='mixed0')
    m = Model(a, Dense(3, activation='softmax', name='predictions')(L.GlobalMaxPooling2D()(mixed)), name=name)
    if freeze:
        for layer in m.layers[:6]:
            layer.trainable = False
    return m


def seq2seq(name='nmt', words=9, units=4):
    s, t = Input((5,), name='encoder_in'), Input((4,), name='decoder_in')
    _, h, c = LSTM(units, return_state=True, name='encoder')(Embedding(words, 3, name='src')(s))
    d = LSTM(units, return_sequences=True, return_state=True, name='decoder')(Embedding(words, 3, name='tgt')(t), initial_state=[h, c])[0]
    return Model([s, t], Dense(words, activation='softmax', name='word')(d), name=name)


class Attention1(Layer):
    """Weighted sum over time. The initializer is not in the config."""

    def __init__(self, width=4, **kw):
        self.width = width
        super(Attention1, self).__init__(**kw)

    def build(self, s):
        self.W = self.add_weight(name='att_W', shape=(int(s[-1]), self.width), initializer='uniform', trainable=True)
        self.u = self.add_weight(name='att_u', shape=(self.width,), initializer='uniform', trainable=True)
        super(Attention1, self).build(s)

    def call(self, x):
        a = K.softmax(K.sum(K.tanh(K.dot(x, self.W)) * self.u, axis=-1))
        return K.sum(x * K.expand_dims(a), axis=1)

    def compute_output_shape(self, s):
        return (s[0], s[-1])

    def get_config(self):
        return dict(super(Attention1, self).get_config(), width=self.width)


def attention(name='han'):
    a = Input((6,), name='tokens')
    h = L.Bidirectional(L.GRU(3, return_sequences=True), name='bi')(Embedding(11, 4)(a))
    return Model(a, Dense(2, activation='softmax')(Attention1(name='att')(BatchNormalization()(h))), name=name)


def vae(name='vae', loss=True):
    a = Input((8,), name='x_in')
    h = Dense(6, activation='relu')(a)
    mean, logvar = Dense(2, name='z_mean')(h), Dense(2, name='z_log_var')(h)

    def sampling(args):
        m, v = args
        return K.in_train_phase(m + K.exp(v / 2) * K.random_normal(shape=K.shape(m)), m)

    z = Lambda(sampling, output_shape=(2,), name='z')([mean, logvar])
    y = Dense(8, activation='sigmoid', name='x_out')(Dense(6, activation='relu')(z))
    m = Model(a, y, name=name)
    if loss:
        m.add_loss(K.mean(-.05 * K.sum(1 + logvar - K.square(mean) - K.exp(logvar), axis=-1)))
    return m


def detector(name='retinanet'):
    """Two heads shared over three levels, joined along the anchors."""
    a = Input((8, 8, 3), name='image')
    p = [C(4, strides=(2, 2), activation='relu', name='C3')(a)]
    for i in (4, 5):
        p.append(C(4, strides=(2, 2), activation='relu', name='P%d' % i)(p[-1]))
    f1, f2 = Input((None, None, 4)), Input((None, None, 4))
    reg = Model(f1, L.Reshape((-1, 4), name='reg_reshape')(C(8, name='reg_conv')(f1)), name='regression_submodel')
    cls = Model(f2, Activation('sigmoid')(L.Reshape((-1, 3), name='cls_reshape')(C(6, name='cls_conv')(f2))), name='classification_submodel')
    return Model(a, [L.Concatenate(axis=1, name='regression')([reg(q) for q in p]),
                     L.Concatenate(axis=1, name='classification')([cls(q) for q in p])], name=name)


def transfer(name='transfer'):
    b = Input((8, 8, 3))
    h = BatchNormalization(name='b_bn')(C(4, activation='relu', name='b_conv')(b))
    h = L.SeparableConv2D(5, (3, 3), padding='same', name='b_sep')(h)
    back = Model(b, BatchNormalization(name='b_bn2')(h), name='mobilenet')
    back.trainable = False
    a = Input((8, 8, 3), name='photo')
    h = L.GlobalAveragePooling2D()(back(a))
    h = Dropout(.3)(BatchNormalization(name='top_bn')(Dense(6, activation='relu', name='top_fc')(h)))
    return Model(a, Dense(3, activation='softmax', name='top')(h), name=name)


def textcnn(name='textcnn'):
    ins, parts = [], []
    for n, words in (('title', 12), ('body', 15), ('tags', 7)):
        i = Input((8,), name=n)
        e = Embedding(words, 4, name='emb_' + n)(i)
        parts += [L.GlobalMaxPooling1D()(L.Conv1D(3, k, activation='relu', name='conv_%s_%d' % (n, k))(e)) for k in (3,)]
        ins.append(i)
    h = Dropout(.4)(L.concatenate(parts))
    return Model(ins, Dense(3, activation='softmax', name='label')(BatchNormalization()(h)), name=name)


def multitask(name='mtl'):
    a = Input((7,), name='features')
    t = BatchNormalization(name='trunk_bn')(Dense(6, activation='relu', name='trunk')(a))
    return Model(a, [Dense(1, activation='sigmoid', name='click')(t), Dense(4, activation='softmax', name='category')(Dense(5)(t)),
                     Dense(1, name='price')(t)], name=name)


def ctc(name='ocr'):
    a = Input((8, 6, 1), name='the_input')
    h = L.MaxPooling2D((1, 2))(BatchNormalization()(C(3, activation='relu', name='conv1')(a)))
    h = L.Bidirectional(L.GRU(4, return_sequences=True), merge_mode='sum')(L.Reshape((8, 9))(h))
    y = Activation('softmax', name='softmax')(Dense(5, name='dense2')(h))
    lab, il, ll = Input((3,), name='the_labels'), Input((1,), name='input_length', dtype='int64'), Input((1,), name='label_length', dtype='int64')

    def ctc_lambda_func(args):
        p, labels, input_length, label_length = args
        return K.ctc_batch_cost(labels, p[:, 2:, :], input_length, label_length)

    return Model([a, lab, il, ll], Lambda(ctc_lambda_func, output_shape=(1,), name='ctc')([y, lab, il, ll]), name=name)


def ctc_data(n=12):
    rng = np.random.RandomState(2)
    return {'the_input': data((8, 6, 1), n=n)[0], 'the_labels': rng.randint(0, 4, (n, 3)).astype('float32'),
            'input_length': np.full((n, 1), 6, 'int64'), 'label_length': np.full((n, 1), 2, 'int64')}


def contrastive(name='siam'):
    enc = Sequential([Dense(6, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3)], name='tower')
    u, v = Input((6,), name='left'), Input((6,), name='right')

    def euclid(t):
        return K.sqrt(K.maximum(K.sum(K.square(t[0] - t[1]), axis=1, keepdims=True), K.epsilon()))

    return Model([u, v], Lambda(euclid, output_shape=(1,), name='distance')([enc(u), enc(v)]), name=name)


def widedeep(name='wide_deep'):
    w, d = Input((9,), name='wide'), Input((3,), name='ids')
    e = Flatten()(Embedding(10, 3, name='item')(d))
    h = BatchNormalization()(Dense(5, activation='relu')(L.concatenate([e, w])))
    return Model([w, d], Dense(1, activation='sigmoid', name='score')(L.concatenate([w, h])), name=name)


def video(name='video'):
    cnn_ = Sequential([L.Conv2D(3, (3, 3), activation='relu', input_shape=(6, 6, 1)), BatchNormalization(), Flatten(), Dense(4)], name='frame')
    a = Input((3, 6, 6, 1), name='clip')
    return Model(a, Dense(2, activation='softmax')(LSTM(4)(L.TimeDistributed(cnn_, name='td')(a))), name=name)


def masked(name='masked'):
    a = Input((5, 3), name='steps')
    h = L.Masking(-1.)(a)
    h = L.Bidirectional(LSTM(3, return_sequences=True))(h)
    return Model(a, L.TimeDistributed(Dense(3, activation='softmax'), name='tags')(h), name=name)


class Plain(Layer):
    """Weights made by K.variable, some without a name."""

    def __init__(self, units=3, **kw):
        self.units = units
        super(Plain, self).__init__(**kw)

    def build(self, s):
        self.k = K.variable(np.zeros((int(s[-1]), self.units)))
        self.b = K.variable(np.zeros((self.units,)))
        self.gain = K.variable(1., name='gain')
        self.seen = K.variable(np.zeros((self.units,)))
        self.trainable_weights = [self.k, self.b, self.gain]
        self.non_trainable_weights = [self.seen]
        super(Plain, self).build(s)

    def call(self, x):
        return self.gain * K.dot(x, self.k) + self.b + self.seen

    def compute_output_shape(self, s):
        return (s[0], self.units)

    def get_config(self):
        return dict(super(Plain, self).get_config(), units=self.units)


def plain(name='plain'):
    a = Input((6,))
    h = Plain(5, name='p1')(a)
    h = BatchNormalization()(Activation('relu')(h))
    return Model(a, Activation('softmax', name='probs')(Plain(3, name='p2')(h)), name=name)


def reused(name='reused'):
    a, b = Input((6,), name='q1'), Input((6,), name='q2')
    d, bn = Dense(6, activation='tanh', name='hop'), BatchNormalization(name='hop_bn')
    h = a
    for _ in range(3):
        h = bn(d(h))
    return Model([a, b], Dense(3, activation='softmax')(L.multiply([h, d(b)])), name=name)
