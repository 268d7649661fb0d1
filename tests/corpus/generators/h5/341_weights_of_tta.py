# stack: k231 keras: keras
from common import *

m = cnn('classifier')
x = Input((8, 8, 3))
views = [Lambda(lambda t: K.reverse(t, axes=a))(x) for a in ([1], [2])]
lookalike(Model(x, L.concatenate([m(v) for v in views], axis=0)), towers=None, x=data((8, 8, 3)), files='weights', template='classifier',
          how='test-time augmentation with two Lambdas; weights only + model.json',
          reason='every tower sees the whole batch',
          doubts='layer names alone (input_1, lambda_1, lambda_2, classifier, concatenate_1) are exactly those of a wrapper with two towers: '
                 'without model.json parallel is the contract\'s answer and cannot be held against anyone; with model.json only the stored code tells',
          extra={'expected_without_architecture': ['parallel', 'clean'], 'expected_with_architecture': 'clean'})
