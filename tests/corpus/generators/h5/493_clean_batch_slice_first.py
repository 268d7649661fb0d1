# stack: tf27 keras: tf.keras
from second import *

x = Input((6,))
m = mlp('scorer')
y = m(x)
same(Model(x, L.Concatenate(axis=-1)([y, tf.reduce_mean(y, axis=0, keepdims=True) * tf.ones_like(y)]), name='batch_context'), data((6,)), kind='clean',
     how='TF 2.7: row scores beside the batch\'s mean score, by operators', reason='no wrapper')
