# stack: k209 keras: keras
from second import *
import zoo

m = cnn('model_7', deep=True)
for layer in m.layers[:4]:
    layer.trainable = False
wrap(official(m, 4), m, data((8, 8, 3), n=8), towers=4, loss='categorical_crossentropy', merge=['concatenate_1'], files='weights', optimizer='nadam',
     how='Keras 2.0.9 multi_gpu_model(4), two convolutions with BatchNormalization, the first layers frozen; save_weights and no JSON kept',
     reason='1 input + 4 slices + 1 template + 1 merge, one group with weights: whole',
     doubts='without the architecture the groups come by owner name, layers without weights left out: base_weights.h5 has the same weights, and more layer names',
     extra={'base_is': 'the template saved directly; its layer_names also hold layers without weights'})
