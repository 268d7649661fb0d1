# stack: k224 keras: keras
from second import *

t = Sequential([Embedding(9, 3, input_length=5), L.GRU(4), Dense(3, activation='softmax')], name='text')
first = official(t, 2)
shake(first)
first.compile(optimizer=opt('adam'), loss='mse')
first.save(path('before.h5'))
K.clear_session()
import fake_gpus
fake_gpus.install(8)
loaded = keras.models.load_model(path('before.h5'))
os.remove(path('before.h5'))
t = loaded.get_layer('text')
wrap(official(loaded, 3), t, [np.random.RandomState(1).randint(0, 9, (12, 5)).astype('float32')], towers=3, wrappers=2, depths=[3, 2],
     loss='categorical_crossentropy', optimizer='amsgrad', merge=['model_1'],
     how='multi_gpu_model(2) saved, loaded on a bigger machine in a new session and wrapped with multi_gpu_model(3); AMSGrad',
     reason='a wrapper in a wrapper: both go')
