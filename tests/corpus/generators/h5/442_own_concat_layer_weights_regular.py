# stack: k231 keras: tf.keras
from second import *
import zoo


def _take(t, which, total):
    b = tf.shape(t)[0]
    lo, hi = (b * which) // total, (b * (which + 1)) // total
    return t[lo:hi]


m = zoo.attention('doc_model')
x = Input((6,), name='doc')
par = Model(x, Lambda(lambda ts: K.concatenate(ts, axis=0), name='cpu_merge')(
    [m(Lambda(_take, arguments={'which': w, 'total': 3}, name='gpu%d_input' % w)(x)) for w in range(3)]), name='doc_model')
wrap(par, m, [np.random.RandomState(1).randint(0, 11, (12, 6)).astype('float32')], towers=3, loss='categorical_crossentropy', merge=['cpu_merge'], optimizer='sgd',
     how='TF 1.15; merge is a Lambda over the three towers; the wrapper has the template\'s own name; custom attention layer with weights',
     reason='slice Lambdas {which 0..2, total 3}, one template, one join of all towers: whole')
