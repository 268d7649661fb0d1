from common import *


# %% 101-onebased-arguments | k122 | keras
def take(x, nr, of):
    # nr counts from 1
    rows = K.shape(x)[0]
    step = rows // of
    begin = step * (nr - 1)
    if nr == of:
        return x[begin:]
    return x[begin:begin + step]


def distribute(model, devices):
    img = Input(shape=model.input_shape[1:])
    results = []
    for nr in range(1, devices + 1):
        with tf.device('/gpu:%d' % (nr - 1)):
            piece = Lambda(take, output_shape=model.input_shape[1:], arguments={'nr': nr, 'of': devices})(img)
            results.append(model(piece))
    return Model(input=img, output=L.merge(results, mode='concat', concat_axis=0))


m = cnn(deep=True)
wrapper(distribute(m, 2), m, x=data((8, 8, 3)), loss='categorical_crossentropy', optimizer='adam')

# %% 102-json-and-weights-closure | k122 | keras
def gpu_slice(i, n):
    return lambda t: t[i * tf.shape(t)[0] // n:(i + 1) * tf.shape(t)[0] // n]


def to_gpus(net, n):
    x = net.inputs[0]
    outs = [net(Lambda(gpu_slice(i, n), output_shape=lambda s: s, name='slice_gpu%d' % i)(x)) for i in range(n)]
    return Model(x, L.Merge(mode='concat', concat_axis=0, name='joined')(outs))


net = mlp('classifier')
wrapper(to_gpus(net, 3), net, x=data((6,)), files='weights+parallel', optimizer='sgd', loss='categorical_crossentropy')

# %% 103-py2-lambda-merge | py27k122 | keras
GPUS = 2
base = rnn()
inp = Input(shape=(5, 3))
towers = []
for g in xrange(GPUS):
    part = Lambda(lambda x, g, G: x[g * (K.shape(x)[0] / G):] if g == G - 1
                  else x[g * (K.shape(x)[0] / G):(g + 1) * (K.shape(x)[0] / G)],
                  arguments=dict(g=g, G=GPUS), output_shape=(5, 3))(inp)
    towers.append(base(part))
out = L.merge(towers, mode=lambda ts: K.concatenate(ts, axis=0), output_shape=lambda shapes: shapes[0])
wrapper(Model(inp, out), base, x=data((5, 3)), optimizer='rmsprop')

# %% 326-keras1-two-crops | k122 | keras
m = cnn('net')
x = Input((8, 8, 3))
ways = [Lambda(lambda t: t, output_shape=(8, 8, 3))(x), Lambda(lambda t: t[:, :, ::-1], output_shape=(8, 8, 3))(x)]
lookalike(Model(x, L.merge([m(w) for w in ways], mode='concat', concat_axis=0)), x=data((8, 8, 3)))

# %% 446-one-gpu-unmerged | k122 | keras
def get_slice(data_, idx, parts):
    shape = tf.shape(data_)
    size = tf.concat([shape[:1] // parts, shape[1:]], 0)
    stride = tf.concat([shape[:1] // parts, shape[1:] * 0], 0)
    return tf.slice(data_, stride * idx, size)


def make_parallel(model, gpu_count):
    outs = [model([Lambda(get_slice, output_shape=lambda s: s, arguments={'idx': i, 'parts': gpu_count})(t) for t in model.inputs])
            for i in range(gpu_count)]
    return Model(model.inputs, outs[0] if gpu_count == 1 else L.merge(outs, mode='concat', concat_axis=0))


m = mlp('only')
wrapper(make_parallel(m, 1), m, x=data((6,)), loss='categorical_crossentropy')
