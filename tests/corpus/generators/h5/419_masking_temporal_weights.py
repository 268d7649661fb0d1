# stack: k224 keras: tf.keras
from second import *
import zoo

m = zoo.masked()
wrap(official(m, 2), m, data((5, 3)), towers=2, merge=['tags'], optimizer='nadam', loss='categorical_crossentropy',
     comp={'sample_weight_mode': 'temporal'}, fit_kw={'sample_weight': np.ones((12, 5))}, y=np.eye(3)[np.random.RandomState(1).randint(0, 3, (12, 5))],
     how="tf.keras 1.13 multi_gpu_model(2); Masking, Bidirectional LSTM, TimeDistributed(Dense); sample_weight_mode='temporal'",
     reason='official wrapper: whole; sample_weight_mode stays')
