# stack: k231 keras: keras
from common import *

a = Input((1,), dtype='int32')
emb = Model(a, Flatten()(Embedding(9, 4)(a)), name='shared_embedding')
x = Input((3,), dtype='int32', name='ids')
cols = [emb(Lambda(lambda t, i: K.expand_dims(t[:, i], -1), arguments={'i': i}, output_shape=(1,))(x)) for i in range(3)]
out = Dense(2, activation='softmax')(L.Concatenate(axis=-1)(cols))
lookalike(Model(x, out), towers=3, x=[np.random.RandomState(2).randint(0, 9, (12, 3)).astype('int32')], template='shared_embedding',
          how='three id columns, each through one embedding, concatenated on the last axis; Lambda argument {i}',
          reason='the slices cut columns and the merge joins features')
