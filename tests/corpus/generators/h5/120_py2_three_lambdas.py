# stack: py27k224 keras: keras
from common import *


def parallelize(model, gpu_list):
    pieces = len(gpu_list)

    def piece_of(number):
        def piece(batch):
            total = K.shape(batch)[0]
            lower = total * number / pieces
            upper = total * (number + 1) / pieces
            return batch[lower:upper]
        return piece

    source = Input(batch_shape=model.input_shape, name='source')
    replies = []
    for number, gpu in enumerate(gpu_list):
        with tf.device(gpu):
            replies.append(model(Lambda(piece_of(number), name='piece%d' % number)(source)))
    return Model(source, Lambda(lambda all_: tf.concat(all_, 0), name='whole')(replies))


m = mlp()
wrapper(parallelize(m, ['/gpu:0', '/gpu:1', '/gpu:3']), m, towers=3, x=data((6,)), loss='categorical_crossentropy',
        merge=['whole'], optimizer='momentum',
        how='Python 2.7, closures number/pieces, Lambda with tf.concat as merge',
        reason='one input, three slices with closure numbers 0..2, one template, one joining layer that is the output: whole',
        doubts='slices and merge are both stored code')
