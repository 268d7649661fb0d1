# stack: k231 keras: keras
from second import *

a = Input((7,), name='ids')
t = Model(a, Dense(4, activation='softmax', name='old_top')(L.GRU(4, name='gru')(Embedding(9, 3, name='emb')(a))), name='lm')
first = official(t, 2)
shake(first)
first.compile(optimizer=opt('adam'), loss='mse')
first.save(path('before.h5'))
K.clear_session()
import fake_gpus
fake_gpus.install(8)
loaded = keras.models.load_model(path('before.h5'))
os.remove(path('before.h5'))
for layer in loaded.layers:
    layer.trainable = False
t = loaded.get_layer('lm')
hidden, drop, top = Dense(5, activation='relu', name='new_fc'), Dropout(.2, name='new_drop'), Dense(3, activation='softmax', name='new_top')
par = Model(loaded.input, top(drop(hidden(loaded.layers[-1].output))), name='tuned')
base = Model(t.inputs[0], top(drop(hidden(t.outputs[0]))), name='tuned')
wrap(par, base, [np.random.RandomState(1).randint(0, 9, (12, 7)).astype('float32')], template=t, towers=2, scope='head', merge=['old_top'],
     loss='categorical_crossentropy', optimizer='nesterov',
     how='a saved parallel model loaded again, every layer set to trainable=False, and a new head put on its output',
     reason='layers follow the merge: head; the template\'s layers become the model\'s own',
     doubts='trainable=False was set on the template as a whole: its layers\' configs say trainable, in base.h5 too. The outer Input and the template\'s have one name; '
            'base starts from the template\'s. '
            'The optimizer\'s state covers only the new head, as in the parallel file; once flat, the template\'s layers count as trainable again, so a finding that '
            'the state could not be carried is defensible too')
