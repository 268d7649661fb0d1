# stack: tf215, tf.keras
import tensorflow as tf
from second import eager, finish, rows

eager()
L = tf.keras.layers
maker = tf.keras.Sequential([L.Dense(4, activation="relu", input_shape=(2,)), L.BatchNormalization(), L.Dense(3)])
judge = tf.keras.Sequential([L.Dense(4, input_shape=(3,)), L.LeakyReLU(), L.LayerNormalization(), L.Dense(1)])
noise, real = L.Input((2,)), L.Input((3,))
both = L.Concatenate(axis=0)([real, maker(noise)])
verdicts = tf.split(judge(both), 2)
model = tf.keras.Model([noise, real], verdicts)
model.compile(tf.keras.optimizers.AdamW(0.01), "mse")
kept = tf.train.CheckpointManager(
    tf.train.Checkpoint(gan=model, opt=model.optimizer), ".", 1, checkpoint_name="parallel.ckpt"
)
for k in range(2):
    model.fit(rows(k, 32, (2,), (3,)), rows(k + 5, 32, (1,), (1,)), batch_size=16, verbose=0)
    kept.save()
finish(
    "TF 2.15, a GAN: real and made rows joined along the batch, one call of the judge, its verdicts split again (concat before, split after); CheckpointManager(max_to_keep=1).",
    model,
    model,
    rows(3, 8, (2,), (3,)),
    expected="clean",
    prefix="parallel.ckpt-2",
    without_ok=["clean"],
)
