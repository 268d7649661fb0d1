# stack: k216 keras: keras
from second import *
import zoo


def piece(x, n, of):
    b = K.shape(x)[0]
    return x[b * n // of:b * (n + 1) // of]


m = zoo.textcnn()
rng = np.random.RandomState(1)
x = [rng.randint(0, w, (16, 8)).astype('float32') for w in (12, 15, 7)]
ins = [Input((8,), name=i.name.split(':')[0] + '_gpu') for i in m.inputs]
par = Model(ins, L.concatenate([m([Lambda(piece, arguments={'n': g, 'of': 8}, name='%s_gpu%d' % (n, g))(t) for n, t in zip(m.input_names, ins)])
                                for g in range(8)], axis=0, name='label'))
wrap(par, m, x, towers=8, loss='categorical_crossentropy', merge=['label'], files='weights+template',
     how='three inputs, eight towers, 24 named slice Lambdas; save_weights and the TEMPLATE\'s JSON',
     reason='names tell of eight towers; the JSON is what should come out')
