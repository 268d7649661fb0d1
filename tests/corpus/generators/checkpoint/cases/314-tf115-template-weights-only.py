# stack: k231, tf.keras
import fake_gpus

fake_gpus.install(2)
import tensorflow as tf
from second import finish, rows, session_of

K, L = tf.keras.backend, tf.keras.layers
sess = session_of(K)
with tf.device("/cpu:0"):
    L.Dense(3)(L.Input((3,)))
    model = tf.keras.Sequential(
        [L.Conv1D(3, 2, input_shape=(6, 2)), L.BatchNormalization(), L.Bidirectional(L.GRU(2)), L.Dense(2)]
    )
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile("adam", "mse")
par.fit(rows(1, 32, (6, 2)), rows(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.compat.v1.train.Saver(model.weights).save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(
    "tf.keras of TF 1.15: trained as multi_gpu_model, Saver(template.weights) without .meta, and the template's JSON: nothing of the wrapper is on the disk.",
    model,
    model,
    rows(3, 8, (6, 2)),
    expected="clean",
    without="clean",
    without_ok=["clean with a warning"],
)
