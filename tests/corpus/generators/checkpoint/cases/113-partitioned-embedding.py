# stack: k224, keras
import tensorflow as tf
import keras
from keras import backend as K
from keras.layers import Dense, Flatten, Input, Lambda, Layer, concatenate
from keras.models import Model
from kit import data, finish, ids, soft_session

session = soft_session(K)


class ShardedEmbedding(Layer):
    def __init__(self, rows, cols, shards, **kwargs):
        super(ShardedEmbedding, self).__init__(**kwargs)
        self.rows, self.cols, self.shards = rows, cols, shards

    def build(self, input_shape):
        self.table = tf.get_variable(self.name + '/table', [self.rows, self.cols], partitioner=tf.fixed_size_partitioner(self.shards),
                                     initializer=tf.random_normal_initializer(stddev=0.1))
        self._trainable_weights.extend(list(self.table))
        super(ShardedEmbedding, self).build(input_shape)

    def call(self, x):
        return tf.nn.embedding_lookup(self.table, K.cast(x, 'int32'), partition_strategy='div')

    def compute_output_shape(self, s):
        return s + (self.cols,)

    def get_config(self):
        return dict(super(ShardedEmbedding, self).get_config(), rows=self.rows, cols=self.cols, shards=self.shards)


user = Input((3,), name='items')
h = ShardedEmbedding(11, 4, 3, name='item_table')(user)
model = Model(user, Dense(1, name='rating')(Flatten()(h)), name='recommender')

outs = []
for i in range(2):
    with tf.device('/gpu:%d' % i):
        outs.append(model(Lambda(lambda t, i: tf.split(t, 2)[i], arguments=dict(i=i), output_shape=(3,), name='half%d' % i)(user)))
par = Model(user, concatenate(outs, axis=0, name='rating_all'))
par.compile(loss='mse', optimizer=keras.optimizers.SGD(0.1, momentum=0.5))
par.fit(ids(1, 32, 3, 11), data(2, 32, (1,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
finish('A custom layer with a partitioned variable (3 parts) in the template, tf.split in Lambdas; the Saver stores the table as one sliced tensor; with .meta.',
       par, model, ids(3, 8, 3, 11), towers=2, scope='whole', without='parallel', complete=None,
       ok=['fix refused with a reason: the .h5 of the base has three weights item_table/table/part_K, the checkpoint one sliced tensor'],
       doubts='The parts are in the checkpoint as slices of item_table/table; tensors.npz has the whole table.')
