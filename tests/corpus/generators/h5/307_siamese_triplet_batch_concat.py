# stack: k224 keras: keras
from common import *

enc = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(4)], name='embed')
a, p, n = Input((6,), name='anchor'), Input((6,), name='positive'), Input((6,), name='negative')
lookalike(Model([a, p, n], L.Concatenate(axis=0, name='abc')([enc(a), enc(p), enc(n)])), towers=3, x=data((6,), (6,), (6,)),
          how='triplet network: anchor, positive and negative through one encoder, embeddings stacked on the batch axis',
          reason='siamese towers on three different inputs; nothing is sliced', template='embed', opaque_slices=False)
