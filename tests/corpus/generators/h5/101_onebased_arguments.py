# stack: k122 keras: keras
from common import *


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
wrapper(distribute(m, 2), m, towers=2, x=data((8, 8, 3)), loss='categorical_crossentropy', merge=['merge_1'],
        optimizer='adam',
        how="Keras 1, Lambda with named function and arguments {nr, of}, nr from 1; merge(mode='concat', concat_axis=0)",
        reason='slices read the model\'s own input, one template on each, one merge on the batch axis: whole')
