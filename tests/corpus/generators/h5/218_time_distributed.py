# stack: k224 keras: keras
from common import *


def part(x, i, n):
    r = K.shape(x)[0] // n
    return x[i * r:] if i == n - 1 else x[i * r:(i + 1) * r]


frame = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(4)], name='frame')
x = Input((6,))
par = Model(x, L.concatenate([frame(Lambda(part, arguments={'i': i, 'n': 2})(x)) for i in range(2)], axis=0), name='frame_2gpu')
top = [L.GlobalAveragePooling1D(), Dense(3, activation='softmax')]


def video(inner):
    v = Input((5, 6), name='video')
    h = L.TimeDistributed(inner, name='frames')(v)
    for t in top:
        h = t(h)
    return Model(v, h, name='video_net')


outer = video(par)
wrapper(outer, video(frame), template=frame, scope='embedded', towers=2, x=data((5, 6)), loss='categorical_crossentropy',
        merge=['concatenate_1'], how='a wrapped frame model inside TimeDistributed',
        reason='the wrapper sits inside a larger model, as the layer of a TimeDistributed: embedded')
