# stack: k216 keras: keras
from common import *


class BatchPiece(Layer):
    def __init__(self, piece, pieces, **kw):
        super(BatchPiece, self).__init__(**kw)
        self.piece, self.pieces = piece, pieces

    def call(self, x):
        n = K.shape(x)[0]
        return x[n * self.piece // self.pieces:n * (self.piece + 1) // self.pieces]

    def get_config(self):
        config = super(BatchPiece, self).get_config()
        config.update(piece=self.piece, pieces=self.pieces)
        return config


m = nested('net')
x = Input((6,))
y = concatenate([m(BatchPiece(i, 3)(x)) for i in range(3)], axis=0, name='net_out')
wrapper(Model(x, y), m, towers=3, x=data((6,)), files='weights', loss='categorical_crossentropy', merge=['net_out'],
        optimizer='momentum', opaque_slices=False,
        how='Keras 2.1.6, custom layer {piece, pieces}; weights and model.json',
        reason='whole; a template nested in the template stays one flat group, trainable first')
