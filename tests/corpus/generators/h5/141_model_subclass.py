# stack: k231 keras: keras
from common import *


class DataParallel(Model):
    """Functional inside, a class outside; nobody overrode save()."""

    def __init__(self, module=None, device_ids=(0, 1), **kwargs):
        if module is None:  # rebuilt from a config
            super(DataParallel, self).__init__(**kwargs)
            return
        n = len(device_ids)
        x = [Input(s[1:]) for s in ([module.input_shape] if not isinstance(module.input_shape, list) else module.input_shape)]
        y = []
        for k, d in enumerate(device_ids):
            s = [Lambda(lambda t, k=k: t[k * (K.shape(t)[0] // n):(k + 1) * (K.shape(t)[0] // n)]
                        if k < n - 1 else t[k * (K.shape(t)[0] // n):])(t) for t in x]
            y.append(module(s[0] if len(s) == 1 else s))
        super(DataParallel, self).__init__(inputs=x, outputs=L.Concatenate(axis=0)(y), name='data_parallel')


m = mlp()
wrapper(DataParallel(m, (0, 1)), m, towers=2, x=data((6,)), loss='categorical_crossentropy', merge=['concatenate_1'],
        how='subclass of Model (class_name DataParallel in the config) whose __init__ builds the graph; save not redirected',
        reason='the class name is only evidence, the graph is in the file: whole')
