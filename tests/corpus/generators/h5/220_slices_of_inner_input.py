# stack: k224 keras: keras
from common import *

# an old habit: Input on the outside, the parallel model nested as its only layer, saved after that
def slc(data_, shard, n_shards):
    bs = K.shape(data_)[0] // n_shards
    return data_[bs * shard:] if shard == n_shards - 1 else data_[bs * shard:bs * (shard + 1)]


m = mlp('vgg')
x = Input((6,))
par = Model(x, L.concatenate([m(Lambda(slc, arguments={'shard': s, 'n_shards': 2})(x)) for s in range(2)], axis=0), name='vgg_par')
o = Input((6,), name='outer')
outer = Model(o, par(o))
wrapper(outer, m, template=m, scope='whole', towers=2, x=data((6,)), loss='categorical_crossentropy', merge=['concatenate_1'],
        how='parallel model nested as the only layer of another model, with an Input of its own',
        reason='an extra outer Input around the wrapper: nothing else is in the outer model, so the user wants the template itself',
        doubts='by the letter the wrapper sits inside a larger model (embedded): then the result is Model(outer, template(outer)), saved '
               'beside base.h5 as base_embedded.h5. Either will do',
        extra={'wrapper': 'vgg_par', 'scope_also_acceptable': ['embedded']})
alt = Model(o, m(o), name=outer.name)
alt.compile(optimizer=outer.optimizer, loss='categorical_crossentropy')
alt.save(path('base_embedded.h5'))
