from second import *
import zoo


# %% 440-keras3-transformer | today | keras
@keras.saving.register_keras_serializable('train')
def get_slice(data_, i, parts):
    n = keras.ops.shape(data_)[0] // parts
    return data_[i * n:] if i == parts - 1 else data_[i * n:(i + 1) * n]


a = Input((5,), name='tokens')
e = Embedding(11, 6, name='emb')(a)
h = L.LayerNormalization()(L.Add()([e, L.MultiHeadAttention(2, 3, name='mha')(e, e)]))
h = L.Add()([h, Dense(6, activation='gelu')(h)])
m = Model(a, Dense(2, activation='softmax', name='sentiment')(L.GlobalAveragePooling1D()(h)), name='bert_mini')
x = Input((5,), name='batch_tokens')
par = Model(x, L.Concatenate(axis=0, name='sentiment')([m(Lambda(get_slice, output_shape=(5,), arguments={'i': i, 'parts': 2}, name='part_%d' % i)(x))
                                                        for i in range(2)]), name='bert_mini_2')
wrapper(par, m, [np.random.RandomState(1).randint(0, 11, (12, 5)).astype('float32')], loss={'sentiment': 'categorical_crossentropy'}, files='keras', optimizer='sgd')
