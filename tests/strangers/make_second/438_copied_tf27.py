# stack: tf27 keras: tf.keras
from second import *
import zoo


def multi_gpu_model(model, gpus):
    def get_slice(data_, i, parts):
        shape = tf.shape(data_)
        batch, rest = shape[:1], shape[1:]
        step = batch // parts
        size = tf.concat([batch - step * i if i == parts - 1 else step, rest], axis=0)
        return tf.slice(data_, tf.concat([step * i, rest * 0], axis=0), size)
    outs = []
    for i in range(gpus):
        pieces = []
        for t in model.inputs:
            piece = Lambda(get_slice, output_shape=tuple(t.shape.as_list())[1:], arguments={'i': i, 'parts': gpus})(t)
            piece.set_shape([None] + t.shape.as_list()[1:])
            pieces.append(piece)
        outs.append(model(pieces))
    return Model(model.inputs, L.concatenate(outs, axis=0, name=model.output_names[0]))


m = zoo.masked('tagger')
wrap(multi_gpu_model(m, 4), m, data((5, 3)), towers=4, loss='categorical_crossentropy', merge=['tags'], optimizer='nadam',
     y=np.eye(3)[np.random.RandomState(1).randint(0, 3, (12, 5))], files='h5',
     how='the removed multi_gpu_model carried along to TF 2.7, as a local function; Masking, Bidirectional, Nadam',
     reason='four slices, one template, one merge: whole')
