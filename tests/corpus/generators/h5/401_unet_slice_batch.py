# stack: k224 keras: keras
from second import *
import zoo


def slice_batch(x, n_gpus, part):
    rows = K.shape(x)[0]
    step = rows // n_gpus
    return x[part * step:] if part == n_gpus - 1 else x[part * step:(part + 1) * step]


m = zoo.unet()
x = Input(m.input_shape[1:], name=m.input_names[0])
par = Model(x, L.Concatenate(axis=0)([m(Lambda(slice_batch, lambda s: s, arguments={'n_gpus': 2, 'part': g})(x)) for g in range(2)]))
wrap(par, m, data((8, 8, 1), n=6), towers=2, optimizer='sgd', loss='binary_crossentropy', merge=['concatenate_3'], y=np.zeros((6, 8, 8, 1)),
     how="U-Net; output_shape is a Lambda too; the outer Input has the template's own input name; template and merge are Concatenate users",
     reason='two batch slices, one template, one batch merge: whole')
