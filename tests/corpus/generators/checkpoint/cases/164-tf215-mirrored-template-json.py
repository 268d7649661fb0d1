# stack: tf215, tf.keras
import tensorflow as tf
from second import finish, rows, two_cpus

both = two_cpus()
L = tf.keras.layers
with both.scope():
    L.Dense(2)(L.Input((2,)))
    model = tf.keras.Sequential(
        [
            L.Input((7, 7, 2)),
            L.Conv2D(3, 3),
            L.BatchNormalization(),
            L.ReLU(),
            L.DepthwiseConv2D(2),
            L.BatchNormalization(),
            L.Flatten(),
            L.Dense(3),
        ]
    )
    x = L.Input((7, 7, 2))
    outs = [
        model(
            L.Lambda(lambda t, k: t[k * (tf.shape(t)[0] // 2) : (k + 1) * (tf.shape(t)[0] // 2)], arguments={"k": k})(x)
        )
        for k in range(2)
    ]
    par = tf.keras.Model(x, L.Concatenate(axis=0)(outs))
    par.compile(tf.keras.optimizers.Adam(0.01), "mse")
    kept = tf.train.CheckpointManager(
        tf.train.Checkpoint(net=par, optimizer=par.optimizer), ".", max_to_keep=1, checkpoint_name="parallel.ckpt"
    )
for epoch in range(2):
    par.fit(rows(epoch, 32, (7, 7, 2)), rows(epoch + 5, 32, (3,)), batch_size=16, verbose=0)
    kept.save()
finish(
    "TF 2.15 under MirroredStrategy (two virtual CPUs): a wrapped Sequential CNN, new Adam, CheckpointManager(max_to_keep=1) over net= and optimizer=. "
    "Only the template's JSON was kept.",
    par,
    model,
    rows(3, 8, (7, 7, 2)),
    towers=2,
    scope="whole",
    prefix="parallel.ckpt-2",
    json_of="template",
    ok=[
        "clean with a warning that the tree is not that of the JSON",
        "towers null: the tree tells two Lambdas and one nested model, not their connections",
    ],
    doubts="The object graph has the layers of the parallel model, the JSON those of the template: they contradict each other unless a wrapper is assumed.",
)
