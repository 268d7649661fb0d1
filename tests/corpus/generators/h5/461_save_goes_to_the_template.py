# stack: k224 keras: keras
from second import *
import zoo


class ModelMGPU(Model):
    """save and load go to the model inside."""

    def __init__(self, single, gpus):
        self.__dict__.update(official(single, gpus).__dict__)
        self._single = single

    def __getattribute__(self, name):
        if 'load' in name or 'save' in name:
            return getattr(self._single, name)
        return super(ModelMGPU, self).__getattribute__(name)


m = mlp('resnet_mgpu')
par = ModelMGPU(m, 2)
shake(m)
x = data((6,))
par.compile(optimizer=opt('adam'), loss='categorical_crossentropy')
for _ in range(2):
    par.train_on_batch(x[0], onehot((12, 3)))
m.compile(optimizer=opt('adam'), loss='categorical_crossentropy')
finite(m)
par.save(path('lookalike.h5'))
y = predict(m, x[0])
save_io(x[0], y=y)
write_case(collections.OrderedDict([
    ('how', 'subclass of Model with multi_gpu_model inside whose save is redirected to the template; saved by par.save()'), ('kind', 'lookalike'),
    ('towers', None), ('scope', None), ('model', m.name), ('template', None), ('expected', 'clean'),
    ('reason', 'what was written is the template: the redirect did its work'), ('doubts', '')]))
print('lookalike %s' % os.environ['STRANGER_CASE'])
