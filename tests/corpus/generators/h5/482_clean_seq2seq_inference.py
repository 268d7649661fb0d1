# stack: k224 keras: keras
from second import *
import zoo

m = zoo.seq2seq()
shake(m)
h, c = Input((4,)), Input((4,))
t = m.inputs[1]
o = m.get_layer('decoder')(m.get_layer('tgt')(t), initial_state=[h, c])
rng = np.random.RandomState(1)
same(Model([t, h, c], [m.get_layer('word')(o[0])] + o[1:], name='decoder_step'), [rng.randint(0, 9, (12, 4)).astype('float32')] + data((4,), (4,)),
     kind='clean', trained=False, how='inference decoder cut out of a seq2seq model', reason='no wrapper')
