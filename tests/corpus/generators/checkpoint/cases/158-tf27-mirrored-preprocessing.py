# stack: tf27, tf.keras
import tensorflow as tf
from second import finish, rows, two_cpus

both = two_cpus()
L = tf.keras.layers
scale = rows(9, 40, (3,)) * 2 + 1
with both.scope():
    norm, bins = L.Normalization(), L.Discretization(num_bins=4)
    norm.adapt(scale)
    bins.adapt(scale[:, :1])
    nums, age = L.Input((3,)), L.Input((1,))
    e = L.Flatten()(L.Embedding(5, 2)(bins(age)))
    h = L.Concatenate()([L.Rescaling(0.5)(norm(nums)), e])
    h = L.Dense(4, activation="swish")(h)
    h = L.BatchNormalization()(h)
    model = tf.keras.Model([nums, age], {"mean": L.Dense(1)(h), "spread": L.Dense(1, activation="softplus")(h)})
    n = tf.shape(nums)[0]
    outs = [model([t[n * k // 3 : n * (k + 1) // 3] for t in (nums, age)]) for k in range(3)]
    par = tf.keras.Model([nums, age], [tf.concat([o[key] for o in outs], 0) for key in ("mean", "spread")])
    par.compile(tf.keras.optimizers.Nadam(0.01), "mse")
par.fit(rows(1, 36, (3,), (1,)), rows(2, 36, (1,), (1,)), batch_size=18, epochs=2, verbose=0)
with both.scope():
    tf.train.Checkpoint(model=par, optimizer=par.optimizer).save("./parallel.ckpt")

with both.scope():
    base = tf.keras.Model(model.inputs, [model.output["mean"], model.output["spread"]])
finish(
    "TF 2.7 under MirroredStrategy(two virtual CPUs): adapted Normalization and Discretization, Rescaling, Embedding; two inputs; outputs of the template a dictionary, "
    "joined key by key; slices x[b:e] on symbolic bounds; Nadam; Checkpoint(model=, optimizer=).save.",
    par,
    base,
    rows(3, 8, (3,), (1,)),
    template=model,
    towers=3,
    scope="whole",
    prefix="parallel.ckpt-1",
    ok=["the base's JSON with a dictionary of outputs (\"output_layers\": {...}) as the template's own is"],
    doubts="The template itself gives a dictionary; the base files were written with the outputs as a list on the same layers.",
)
