# stack: k231 keras: tf.keras
from common import *


def strided(t, begin_num, end_num, den):
    n = tf.shape(t)[0]
    return tf.strided_slice(t, [n * begin_num // den], [n * end_num // den], [1])


tok = Input((5,), dtype='int32')
h = Embedding(11, 4, mask_zero=False)(tok)
m = Model(tok, Dense(2, activation='softmax')(L.Bidirectional(L.GRU(3))(h)), name='bigru')
x = Input((5,), dtype='int32')
wrapper(Model(x, L.concatenate([m(Lambda(strided, arguments=dict(begin_num=b, end_num=e, den=5))(x)) for b, e in ((0, 3), (3, 5))], axis=0)),
        m, towers=2, x=[np.random.RandomState(1).randint(0, 11, (10, 5)).astype('int32')], loss='categorical_crossentropy',
        merge=['concatenate'],
        how='tf.keras 1.15, tf.strided_slice with {begin_num, end_num, den}: shares 3/5 and 2/5, integer input',
        reason='the bounds 0-3-5 of 5 cover the batch in order: whole, unequal shares')
