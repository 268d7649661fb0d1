# stack: tf23, tf.keras
import fake_gpus

fake_gpus.install(2)
import tensorflow as tf
from second import eager, finish, rows

eager()
L = tf.keras.layers
img = L.Input((8, 8, 3))
h = L.SeparableConv2D(4, 3, use_bias=False)(img)
h = L.BatchNormalization()(h)
h = L.ReLU(6.0)(h)
h = L.SeparableConv2D(3, 3, depth_multiplier=2)(h)
h = L.LayerNormalization(axis=[1, 2])(h)
model = tf.keras.Model(img, [L.Dense(2)(L.GlobalAveragePooling2D()(h)), L.Conv2DTranspose(1, 3)(h)])
par = tf.keras.utils.multi_gpu_model(model, gpus=2, cpu_relocation=True)
par.compile(tf.keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True), "mse")
step = tf.Variable(0, dtype=tf.int64)
kept = tf.train.CheckpointManager(
    tf.train.Checkpoint(step=step, model=par, opt=par.optimizer), ".", max_to_keep=1, checkpoint_name="parallel.ckpt"
)
for _ in range(3):
    step.assign_add(1)
    par.fit(rows(int(step), 32, (8, 8, 3)), rows(int(step) + 5, 32, (2,), (6, 6, 1)), batch_size=16, verbose=0)
    kept.save()
(inner,) = [l for l in par.layers if isinstance(l, tf.keras.Model)]
assert inner is not model
finish(
    "TF 2.3 multi_gpu_model(cpu_relocation=True): the clone holds the weights; separable convolutions, LayerNormalization over two axes, two outputs; RMSprop with momentum, "
    "centered; CheckpointManager(max_to_keep=1), the newest of three.",
    par,
    inner,
    rows(3, 8, (8, 8, 3)),
    towers=2,
    scope="whole",
    prefix="parallel.ckpt-3",
)
