"""Small template models, for any Keras handed in as K."""


def cnn(K, name=None, shape=(8, 8, 1), classes=3, prefix=None, batch=None):
    L = K.layers
    n = (lambda s: None if prefix is None else prefix + s)
    i = K.Input(shape, batch_size=batch, name=n("image"))
    h = L.Conv2D(4, 3, padding="same", use_bias=False, name=n("conv"))(i)
    h = L.BatchNormalization(name=n("bn"))(h)
    h = L.Activation("relu", name=n("relu"))(h)
    h = L.MaxPooling2D(name=n("pool"))(h)
    h = L.Flatten(name=n("flat"))(h)
    o = L.Dense(classes, activation="softmax", name=n("probs"))(h)
    return K.Model(i, o, **({"name": name} if name else {}))


def residual(K, name="resnet_mini", batch=None):
    L = K.layers
    i = K.Input((8, 8, 2), batch_size=batch, name="img")
    h = L.Conv2D(3, 3, padding="same", name="stem")(i)
    for k in range(2):
        s = h
        h = L.BatchNormalization(name="bn%da" % k)(h)
        h = L.LeakyReLU(name="act%d" % k)(h)
        h = L.SeparableConv2D(3, 3, padding="same", name="sep%d" % k)(h)
        h = L.BatchNormalization(name="bn%db" % k)(h)
        h = L.Add(name="add%d" % k)([s, h])
    h = L.GlobalAveragePooling2D(name="gap")(h)
    o = L.Dense(4, name="logits")(h)
    return K.Model(i, o, name=name)


def mlp(K, name=None, width=6, out=2):
    L = K.layers
    return K.Sequential(
        [K.Input((5,)), L.Dense(width, activation="tanh"), L.BatchNormalization(), L.Dropout(0.3), L.Dense(out)],
        **({"name": name} if name else {}))


def bilstm(K, name="tagger", batch=None):
    L = K.layers
    i = K.Input((6,), dtype="int32", batch_size=batch, name="tokens")
    h = L.Embedding(12, 4, name="emb")(i)
    h = L.Bidirectional(L.LSTM(3, return_sequences=True, name="lstm"), name="bi")(h)
    h = L.TimeDistributed(L.Dense(3, activation="relu"), name="per_step")(h)
    h = L.Bidirectional(L.GRU(2), merge_mode="sum", name="bi2")(h)
    o = L.Dense(2, activation="softmax", name="label")(h)
    return K.Model(i, o, name=name)


def stacked(K, name=None):
    L = K.layers
    i = K.Input((5, 3))
    h = L.RNN(L.StackedRNNCells([L.LSTMCell(4), L.GRUCell(3), L.SimpleRNNCell(2)]))(i)
    o = L.Dense(1)(h)
    return K.Model(i, o, **({"name": name} if name else {}))


def attention(K, name="encoder"):
    L = K.layers
    i = K.Input((6, 4), name="seq")
    a = L.MultiHeadAttention(num_heads=2, key_dim=3, name="mha")(i, i)
    h = L.LayerNormalization(name="ln1")(L.Add(name="res1")([i, a]))
    f = L.Dense(8, activation="gelu", name="ff1")(h)
    f = L.Dropout(0.1, name="drop")(f)
    f = L.Dense(4, name="ff2")(f)
    h = L.LayerNormalization(name="ln2")(L.Add(name="res2")([h, f]))
    h = L.GlobalAveragePooling1D(name="mean")(h)
    o = L.Dense(2, name="score")(h)
    return K.Model(i, o, name=name)


def two_in_two_out(K, name="multitask"):
    L = K.layers
    a = K.Input((6, 6, 1), name="picture")
    b = K.Input((4,), name="meta")
    h = L.Flatten(name="f")(L.Conv2D(2, 3, activation="relu", name="c")(a))
    m = L.Dense(4, activation="relu", name="m")(b)
    h = L.Concatenate(name="join")([h, m])
    h = L.BatchNormalization(name="n")(h)
    y = L.Dense(3, activation="softmax", name="klass")(h)
    z = L.Dense(1, name="age")(h)
    return K.Model([a, b], [y, z], name=name)


def nested_shared(K, name="matcher"):
    """A sub-model called twice inside the template, next to a nested Sequential."""
    L = K.layers
    si = K.Input((4,), name="part_in")
    sh = L.BatchNormalization(name="part_bn")(L.Dense(3, activation="relu", name="part_dense")(si))
    part = K.Model(si, sh, name="part")
    tail = K.Sequential([K.Input((6,)), L.Dense(4, activation="relu", name="t1"), L.Dense(2, name="t2")], name="tail")
    a = K.Input((4,), name="left")
    b = K.Input((4,), name="right")
    h = L.Concatenate(name="both")([part(a), part(b)])
    return K.Model([a, b], tail(h), name=name)
