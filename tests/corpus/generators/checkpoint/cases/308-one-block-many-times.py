# stack: tf221, tf_keras
import tensorflow as tf
import tf_keras as keras
from kit import data, finish

keras.utils.set_random_seed(308)
L = keras.layers
i = L.Input((4, 3), name='state')
h = L.LayerNormalization(name='ln')(L.add([i, L.MultiHeadAttention(1, 3, name='mha')(i, i)]))
block = keras.Model(i, L.Dense(3, name='ff')(h), name='universal_block')
a = L.Input((4, 3), name='seq')
states, h = [], a
for _ in range(3):
    h = block(h)
    states.append(L.Lambda(lambda t: t[:, :1], name='cls_%d' % len(states))(h))
model = keras.Model(a, L.Dense(2, name='read')(L.Concatenate(axis=1, name='all_depths')(states)))
model.compile(loss='mse', optimizer=keras.optimizers.Adam(0.01))
model.fit(data(1, 32, (4, 3)), data(2, 32, (3, 2)), batch_size=16, epochs=2, verbose=0)
model.save_weights('./parallel.ckpt', save_format='tf')
finish('A universal transformer: one block called three times in a row, slices and a concat after it; save_weights(save_format="tf").',
       model, model, data(3, 8, (4, 3)), expected='clean', without='clean with a warning', without_ok=['clean'])
