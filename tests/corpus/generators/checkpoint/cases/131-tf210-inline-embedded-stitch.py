# stack: tf210, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
v = L.Input((4,), name='v')
feat = tf.keras.Model(v, L.Dense(3, activation='relu', name='f2')(L.BatchNormalization(name='fbn')(L.Dense(4, name='f1')(v))), name='features')

raw = L.Input((4,), name='raw')
pre = L.Dense(4, name='pre')
post = L.Dense(2, name='post')
skip = L.Dense(3, use_bias=False, name='skip')
h = pre(raw)
pieces = [L.Lambda(lambda t, k: t[k::2], arguments={'k': k}, name='every_second_from_%d' % k)(h) for k in range(2)]
rows = [feat(p) for p in pieces]
merged = L.Lambda(lambda ts: tf.reshape(tf.stack(ts, axis=1), (-1, 3)), name='interleave')(rows)
par = tf.keras.Model(raw, post(L.add([merged, skip(raw)], name='plus')), name='outer')
par.compile(loss='mse', optimizer=tf.keras.optimizers.Adadelta(0.5))
par.fit(data(1, 32, (4,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
base = tf.keras.Model(raw, post(L.add([feat(h), skip(raw)], name='plus_')), name='outer')
finish('TF 2.10: round-robin slices t[k::2] interleaved again by stack and reshape, inlined in a larger model with a skip; save_weights.',
       par, base, data(3, 8, (4,)), template=feat, towers=2, scope='embedded', without='clean with a warning',
       ok=['clean: the merge is not a concat, a tool may not recognise it', 'refused'],
       doubts='A wrapper in meaning (slice, same template, join in the original order) but not slice/concat. Leaving it alone does no harm.')
