# stack: k224 keras: keras
from common import *


def crop(img, top, left, size):
    return img[:, top:top + size, left:left + size, :]


i = Input((None, None, 3))
m = Model(i, Dense(3, activation='softmax')(L.GlobalAveragePooling2D()(BatchNormalization()(conv(4, activation='relu')(i)))), name='fcn')
x = Input((None, None, 3))
tiles = [Lambda(crop, arguments={'top': t, 'left': l, 'size': 6}, output_shape=(None, None, 3))(x) for t in (0, 6) for l in (0, 6)]
lookalike(Model(x, L.concatenate([m(t) for t in tiles], axis=0)), towers=4, x=data((12, 12, 3), n=4), template='fcn',
          how='four crops by a Lambda {top, left, size} of an image of unknown size, one fully convolutional net, batch concat',
          reason='multi-crop: every tower sees the whole batch, rows multiply by four',
          doubts='all declared shapes agree with a batch slice; {top, left} as two grid coordinates and an unreadable code must not be '
                 'taken for shares of a batch')
