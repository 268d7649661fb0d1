# stack: k224 keras: keras
from second import *

same(Sequential([LSTM(4, stateful=True, return_sequences=True, batch_input_shape=(4, 3, 2)), LSTM(3, stateful=True), Dense(2)]), data((3, 2), n=4),
     kind='clean', how='stateful, fixed batch', reason='no wrapper', trained=True)
