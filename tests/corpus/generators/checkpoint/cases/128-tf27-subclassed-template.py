# stack: tf27, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers


class Backbone(tf.keras.Model):
    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.convs = [L.Conv2D(width, 3, padding='same', name='conv_%d' % i) for i in range(2)]
        self.norms = {'a': L.BatchNormalization(name='norm_a'), 'b': L.BatchNormalization(name='norm_b')}
        self.pool = L.GlobalAveragePooling2D()
        self.out = L.Dense(2, name='out')

    def call(self, x, training=None):
        for conv, key in zip(self.convs, 'ab'):
            x = tf.nn.relu(self.norms[key](conv(x), training=training))
        return self.out(self.pool(x))

    def get_config(self):
        return {'width': self.width, 'name': self.name}


net = Backbone(name='backbone')
net(tf.zeros((1, 6, 6, 1)))
a = tf.keras.Input((6, 6, 1), name='image')
outs = []
for i in range(2):
    with tf.device('/cpu:0'):
        outs.append(net(L.Lambda(lambda t, i=i: t[tf.shape(t)[0] // 2 * i:tf.shape(t)[0] // 2 if i == 0 else tf.shape(t)[0]], name='g%d' % i)(a)))
par = tf.keras.Model(a, L.Concatenate(0, name='cat')(outs))
par.compile(loss='mse', optimizer=tf.keras.optimizers.Adam(0.01))
par.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
finish('TF 2.7: the template is a subclassed Model with get_config; its layers hang on a list and a dictionary in the object graph; save_weights.',
       par, net, data(3, 8, (6, 6, 1)), towers=2, scope='whole',
       ok=['with model.json: recognised as parallel, fix refused because the architecture of the subclassed template is not in the JSON'],
       doubts='Nothing on disk tells the order of the base\'s weights but variable names and the object graph. base_model.json holds only {"width": 3}.')
