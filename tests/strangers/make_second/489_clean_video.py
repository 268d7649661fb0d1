# stack: tf22 keras: tf.keras
from second import *
import zoo

same(zoo.video(), data((3, 6, 6, 1)), kind='clean', loss='categorical_crossentropy', optimizer='amsgrad', how='TimeDistributed CNN + LSTM', reason='no wrapper')
